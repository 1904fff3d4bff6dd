//! The objective of regression: from a network's outputs and a numeric target to the kernel.

use super::anomaly::{Anomaly, AnomalySums};
use crate::density::{RobustDensity, gaussian};
use crate::net::Head;
use crate::switch::{Evidence, Known, logit};
use crate::train::{Context, Objective, ShardRows};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// How the spread of clean targets about their mean is modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CleanNoise {
    /// One learned standard deviation.
    Common,
    /// A standard deviation that depends on the features.
    #[default]
    PerRow,
}

/// What is assumed of contaminated values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ValueAnomaly {
    /// One mixture of Gaussians for all rows, estimated from the rows that look contaminated.
    Mixture {
        /// How many Gaussians, at most: a fit takes one for every 500 rows, and one at least.
        components: usize,
    },
    /// One Student-t density for all rows.
    StudentT {
        /// Degrees of freedom.
        nu: f64,
    },
    /// The paper's head: a Gaussian whose mean and scale depend on the features.
    Head,
    /// Uniform over the range of the targets, the classical form.
    Uniform,
    /// No mixture: a robust density of all targets, to be compared with. Its contamination is 0 everywhere; rows are
    /// ranked by their residuals. Belongs with [`CleanNoise::Common`] and [`ValuePrior::Common`].
    Plain {
        /// The density.
        density: RobustDensity,
    },
}

/// Whether the probability of contamination depends on the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValuePrior {
    /// One rate for all rows.
    Common,
    /// The paper's head `pi(x)`.
    #[default]
    Head,
}

/// Which outputs the network has, and where.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct ValueModel {
    pub(crate) noise: CleanNoise,
    pub(crate) anomaly: ValueAnomaly,
    pub(crate) prior: ValuePrior,
}

/// What a member learned beside its network, in units of the scaled target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ValueState {
    pub(crate) model: ValueModel,
    /// Logarithm of the clean standard deviation, to which the noise head adds.
    pub(crate) log_sd: f64,
    /// The common prior logit; a prior head has its own.
    pub(crate) logit_prior: f64,
    pub(crate) anomaly: Anomaly,
}

/// Logarithm of the standard deviation that the paper's anomaly head starts from, in units of the target's spread.
const HEAD_LOG_SD: f32 = 0.75;

/// Rows for each Gaussian of the anomaly. Of 300 rows, 30 may be wrong: they do not tell two Gaussians apart, and the second
/// takes the edge of the clean rows.
const ROWS_PER_COMPONENT: usize = 500;

impl ValueModel {
    /// The model that this many rows can carry.
    pub(crate) fn for_rows(self, rows: usize) -> Self {
        match self.anomaly {
            ValueAnomaly::Mixture { components } => {
                let components = components.min((rows / ROWS_PER_COMPONENT).max(1));
                Self { anomaly: ValueAnomaly::Mixture { components }, ..self }
            }
            _ => self,
        }
    }

    /// Whether `other` is this model for some number of rows.
    pub(crate) fn allows(&self, other: &Self) -> bool {
        let anomaly = match (self.anomaly, other.anomaly) {
            (ValueAnomaly::Mixture { components: most }, ValueAnomaly::Mixture { components }) => {
                components <= most
            }
            (one, other) => one == other,
        };
        anomaly && self.noise == other.noise && self.prior == other.prior
    }

    /// The heads; `linear` gives the mean a path straight from the features.
    pub(crate) fn heads(&self, linear: bool, prior_hidden: usize, prior_bias: f32) -> Vec<Head> {
        let head = |name: &str, hidden: Option<usize>, skip: bool, starts_at_zero: bool, bias: Vec<f32>| {
            Head { name: name.into(), outputs: bias.len(), hidden, skip, starts_at_zero, bias }
        };
        let mut heads = vec![head("mean", None, linear, false, vec![0.0])];
        if self.noise == CleanNoise::PerRow {
            heads.push(head("noise", None, false, true, vec![0.0]));
        }
        if self.anomaly == ValueAnomaly::Head {
            heads.push(head("anomaly", None, false, true, vec![0.0, HEAD_LOG_SD]));
        }
        if self.prior == ValuePrior::Head {
            heads.push(head("prior", Some(prior_hidden), false, true, vec![prior_bias]));
        }
        heads
    }

    fn noise_at(&self) -> Option<usize> {
        (self.noise == CleanNoise::PerRow).then_some(1)
    }

    fn anomaly_at(&self) -> Option<usize> {
        (self.anomaly == ValueAnomaly::Head).then_some(1 + usize::from(self.noise == CleanNoise::PerRow))
    }

    fn prior_at(&self) -> Option<usize> {
        let anomaly = if self.anomaly == ValueAnomaly::Head { 2 } else { 0 };
        (self.prior == ValuePrior::Head)
            .then_some(1 + usize::from(self.noise == CleanNoise::PerRow) + anomaly)
    }
}

/// A row's densities with what the gradient needs.
struct ValueRow {
    evidence: Evidence,
    clean: gaussian::Gradient,
    /// `log sd` of the learned noise.
    log_sd: f64,
    /// Present for the paper's head.
    anomaly: Option<gaussian::Gradient>,
}

impl ValueState {
    pub(crate) fn new(model: ValueModel, range: f64, prior_bias: f64) -> Self {
        Self { model, log_sd: 0.0, logit_prior: prior_bias, anomaly: Anomaly::new(&model.anomaly, range) }
    }

    /// Whether the anomaly can have come from the model.
    pub(crate) fn fits(&self) -> bool {
        matches!(
            (&self.anomaly, self.model.anomaly),
            (Anomaly::Head, ValueAnomaly::Head)
                | (Anomaly::Uniform { .. }, ValueAnomaly::Uniform)
                | (Anomaly::Mixture(_), ValueAnomaly::Mixture { .. })
                | (Anomaly::StudentT { .. }, ValueAnomaly::StudentT { .. })
                | (Anomaly::Absent, ValueAnomaly::Plain { .. })
        )
    }

    /// The clean mean and the logarithm of the learned standard deviation.
    pub(crate) fn clean(&self, outputs: &[f32]) -> (f64, f64) {
        let noise = self.model.noise_at().map_or(0.0, |at| f64::from(outputs[at]));
        (f64::from(outputs[0]), self.log_sd + noise)
    }

    pub(crate) fn prior_logit(&self, outputs: &[f32]) -> f64 {
        self.model.prior_at().map_or(self.logit_prior, |at| f64::from(outputs[at]))
    }

    fn row(&self, outputs: &[f32], y: f64, error: f64) -> ValueRow {
        let (mean, log_sd) = self.clean(outputs);
        let clean = match self.model.anomaly {
            ValueAnomaly::Plain { density } => density.log_density(y, mean, log_sd),
            _ => gaussian::log_density(y, mean, log_sd, error),
        };
        let anomaly = self
            .model
            .anomaly_at()
            .map(|at| gaussian::log_density(y, f64::from(outputs[at]), f64::from(outputs[at + 1]), error));
        let log_anomaly = anomaly.map_or_else(|| self.anomaly.log_density(y, error), |row| row.log_density);
        let evidence =
            Evidence { log_clean: clean.log_density, logit_prior: self.prior_logit(outputs), log_anomaly };
        ValueRow { evidence, clean, log_sd, anomaly }
    }

    /// A (scaled) value from `q(y|x)`; `low` is the lowest target. `None` if the model has no anomaly.
    pub(crate) fn draw_anomaly(
        &self,
        outputs: &[f32],
        error: f64,
        low: f64,
        random: &mut ChaCha8Rng,
    ) -> Option<f64> {
        match self.model.anomaly_at() {
            Some(at) => {
                let sd = f64::from(outputs[at + 1]).exp().hypot(error);
                Some(f64::from(outputs[at]) + sd * random.sample::<f64, _>(StandardNormal))
            }
            None => self.anomaly.draw(error, low, random),
        }
    }

    /// The evidence of a (scaled) target with a (scaled) known error.
    pub(crate) fn evidence(&self, outputs: &[f32], y: f64, error: f64) -> Evidence {
        self.row(outputs, y, error).evidence
    }
}

/// The training rows as the objective sees them; targets and errors are scaled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) errors: Option<&'a [f64]>,
    pub(crate) weights: Option<&'a [f32]>,
    pub(crate) known: Option<&'a [Known]>,
}

impl Values<'_> {
    pub(crate) fn error(&self, row: usize) -> f64 {
        self.errors.map_or(0.0, |errors| errors[row])
    }
}

/// The objective of a regressor in training.
///
/// The clean scale, the common prior and the common anomaly are estimated by online EM, as the label channel is: gross
/// errors may be a thousand spreads away, further than any learning rate would walk.
#[derive(Debug, Clone)]
pub(crate) struct ValueObjective<'a> {
    rows: Values<'a>,
    pub(crate) state: ValueState,
    /// Running means over rows: clean mass, its squared scaled residual, contaminated mass.
    clean: [f64; 3],
    sums: AnomalySums,
}

/// Epochs over which the running means reach back, and steps at least.
const WINDOW: (f64, f64) = (1.0, 1.0);
/// Pseudo-rows with a residual of [`SMALLEST_SD`] that keep the clean scale from collapsing.
const SCALE_COUNT: f64 = 2.0;
const SMALLEST_SD: f64 = 0.05;
/// Pseudo-rows, contaminated and clean, of the common prior.
const PRIOR_COUNTS: (f64, f64) = (0.5, 4.5);

impl<'a> ValueObjective<'a> {
    pub(crate) fn new(rows: Values<'a>, state: ValueState) -> Self {
        let rate = crate::switch::sigmoid(state.logit_prior);
        let sums = AnomalySums::new(&state.anomaly, rate);
        Self { rows, clean: [1.0 - rate, 1.0 - rate, rate], sums, state }
    }
}

impl Objective for ValueObjective<'_> {
    fn statistics(&self) -> usize {
        3 + self.sums.len()
    }

    fn evaluate(&self, shard: ShardRows<'_>, context: &Context) -> f64 {
        let width = shard.outputs.len() / shard.rows.len().max(1);
        let model = &self.state.model;
        let (sums, anomaly_sums) = shard.statistics.split_at_mut(3);
        let mut total = 0.0;
        let rows = shard.rows.iter().zip(shard.outputs.chunks_exact(width));
        let rows = rows.zip(shard.d_outputs.chunks_exact_mut(width)).zip(shard.evidence.iter_mut());
        for (((&index, outputs), d_outputs), evidence) in rows {
            let index = index as usize;
            let (y, error) = (self.rows.values[index], self.rows.error(index));
            let known = self.rows.known.map_or(Known::Unknown, |known| known[index]);
            let weight = self.rows.weights.map_or(1.0, |weights| f64::from(weights[index]));
            let value = self.state.row(outputs, y, error);
            *evidence = value.evidence;
            let row = value.evidence.row(known);
            total += weight * row.loss;

            let scale = weight / context.batch as f64;
            // l = -log p, so the gradient by an output is -dL/dl times that of log p.
            d_outputs[0] = (-scale * row.d_clean * value.clean.d_mean) as f32;
            if let Some(at) = model.noise_at() {
                d_outputs[at] = (-scale * row.d_clean * value.clean.d_log_sd) as f32;
            }
            if let (Some(at), Some(anomaly)) = (model.anomaly_at(), value.anomaly) {
                d_outputs[at] = (scale * row.d_anomaly * anomaly.d_mean) as f32;
                d_outputs[at + 1] = (scale * row.d_anomaly * anomaly.d_log_sd) as f32;
            }
            if let Some(at) = model.prior_at() {
                d_outputs[at] = (scale * row.d_prior) as f32;
            }

            let clean = weight * (1.0 - row.posterior);
            sums[0] += clean;
            let residual = y - f64::from(outputs[0]);
            sums[1] += clean
                * match model.anomaly {
                    ValueAnomaly::Plain { density } => {
                        density.scale_weight(residual / value.log_sd.exp()) * residual * residual
                    }
                    _ => squared_noise(residual, value.log_sd, error, self.state.log_sd),
                };
            sums[2] += weight * row.posterior;
            self.state.anomaly.count(y, error, weight * row.posterior, anomaly_sums);
        }
        total
    }

    fn absorb(&mut self, statistics: &[f64], context: &Context) {
        let rows = context.rows as f64;
        let blend = context.blend(WINDOW.0, WINDOW.1);
        let scale = 1.0 / context.batch as f64;
        for (mean, sum) in self.clean.iter_mut().zip(statistics) {
            *mean += blend * (sum * scale - *mean);
        }
        let [clean, squares, contaminated] = self.clean.map(|mean| mean * rows);
        let variance = (squares + SCALE_COUNT * SMALLEST_SD * SMALLEST_SD) / (clean + SCALE_COUNT);
        self.state.log_sd = 0.5 * variance.ln();
        let (bad, good) = PRIOR_COUNTS;
        self.state.logit_prior = logit((contaminated + bad) / (contaminated + clean + bad + good));
        self.sums.blend(&statistics[3..], blend, scale);
        self.state.anomaly.update(&self.sums, rows);
    }
}

/// The expected squared learned noise of a row, in units where the noise head is divided out.
///
/// The residual is the sum of the learned noise (variance `s^2`) and the known error (variance `e^2`). Given the residual `d`,
/// the learned part has mean `d s^2 / (s^2 + e^2)` and variance `s^2 e^2 / (s^2 + e^2)`.
fn squared_noise(residual: f64, log_sd: f64, error: f64, common_log_sd: f64) -> f64 {
    let learned = (2.0 * log_sd).exp();
    let (error, total) = (error * error, learned + error * error);
    let squared = (residual * learned / total).powi(2) + learned * error / total;
    squared * (2.0 * (common_log_sd - log_sd)).exp()
}
