//! The objectives of classification: from a network's outputs and a label to the kernel.

use super::channel::Channel;
use crate::density::categorical::{log_softmax, log_sum_exp};
use crate::density::{transition::Transition, uniform};
use crate::loss::RobustLoss;
use crate::net::{Head, vector};
use crate::switch::{Evidence, Known, row};
use crate::train::{Context, Objective, ShardRows};
use serde::{Deserialize, Serialize};

/// What is assumed of contaminated labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LabelModel {
    /// A contaminated label is drawn from the row's true class ([`crate::density::transition`]): the default.
    Transition(TransitionPrior),
    /// The paper's free heads: a prior `pi(x)` and an anomaly `q(y|x)` with outputs of their own. `clean` is the
    /// loss of the clean branch; anything but cross-entropy gives up the probability reading of the posterior.
    Free {
        /// What takes the place of `-log p(y|x)`.
        clean: RobustLoss,
    },
    /// A prior `pi(x)` with a uniform anomaly, the classical form.
    Uniform {
        /// What takes the place of `-log p(y|x)`.
        clean: RobustLoss,
    },
    /// No mixture: a loss to be compared with. Its contamination is `1 - p(y|x)`, a score and not a probability.
    Plain {
        /// The loss.
        loss: RobustLoss,
    },
}

/// The priors of [`LabelModel::Transition`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransitionPrior {
    /// Share of the labels that are taken for random when training starts.
    pub initial_share: f64,
    /// Weight of the sharpness prior: how certain clean labels are given the features. The loss adds this
    /// times the mean entropy of `p(.|x)`. `None` takes `1.66 rows^-0.16`, between 0.3 and 0.7: with few rows the weight prior
    /// blurs `p` by itself, and that has to be made up for.
    pub sharpness: Option<f64>,
    /// Shares of the fit at which sharpness starts to rise and at which it has its full weight.
    pub ramp: (f64, f64),
    /// Over how many epochs, and over how many steps at least, the channel's expected counts are averaged.
    pub window: (f64, f64),
    /// Pseudo-counts of contaminated and clean rows of each class (a Beta prior on the rate).
    pub rate_counts: (f64, f64),
    /// Pseudo-count of each class's contaminated labels, spread evenly over the others (a Dirichlet prior).
    pub destination_count: f64,
    /// Doubt: pseudo-rows with contaminated labels, as a share of all rows, while sharpness rises; they fade to none
    /// in the tenth of the fit that follows. A rate that EM has brought to zero stays there, and before sharpness is
    /// felt a predictor may take errors for ambiguity: doubt opens the question again. It does not start earlier,
    /// because flips of most labels of a class are found before sharpness, and doubt would dilute them.
    pub doubt: f64,
    /// Whether all classes are held to one rate and to even destinations until sharpness starts to rise; they are let go
    /// in the first half of its rise. What the network has not learned yet then cannot be explained away as flips between two classes. Flips
    /// of most labels of a class are found only without it. A classifier decides by rows that it leaves out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts_even: bool,
    /// Share of guesses among the labels that the channel leaves alone ([`crate::density::transition`]). Nothing in the data speaks of it and
    /// nothing in training depends on it; it makes unlikely labels near a border a little suspicious.
    #[serde(default)]
    pub guessed: f64,
    /// Whether errors are taken to lie near borders only: the channel keeps a trace of a rate and is not learned, and guesses lie between the label and the
    /// most probable other class. A classifier decides by rows that it leaves out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub borders_only: bool,
}

/// The share of the fit in which doubt fades.
const DOUBT_FADES: f64 = 0.1;
/// The rate that every class keeps where errors lie near borders only: a logarithm of it is finite, and nothing is seen of it.
const TRACE: f64 = 1e-9;
/// Pseudo-rows of each class that hold it to the rate and the destinations of all, as a multiple of all rows.
const HOLD: f64 = 2.0;

impl Default for TransitionPrior {
    fn default() -> Self {
        Self {
            initial_share: 0.5,
            sharpness: None,
            ramp: (0.3, 0.7),
            window: (0.1, 10.0),
            rate_counts: (0.1, 1.0),
            destination_count: 1.0,
            doubt: 0.1,
            starts_even: false,
            guessed: 0.02,
            borders_only: false,
        }
    }
}

impl TransitionPrior {
    /// The rate of every class when training starts: a random label may be the right one.
    pub fn first_rate(&self, classes: usize) -> f64 {
        if self.borders_only { TRACE } else { self.initial_share * (classes as f64 - 1.0) / classes as f64 }
    }

    /// The doubt when this share of the fit is done.
    pub fn doubt_at(&self, progress: f64) -> f64 {
        let (start, end) = self.ramp;
        if progress < start {
            0.0
        } else {
            self.doubt * (1.0 - (progress - end) / DOUBT_FADES).clamp(0.0, 1.0)
        }
    }

    /// How tightly a class is held to what all classes have when this share of the fit is done: pseudo-rows of each, as a multiple of all rows.
    pub fn hold_at(&self, progress: f64) -> f64 {
        let (start, end) = self.ramp;
        let middle = f64::midpoint(start, end);
        if !self.starts_even || progress >= middle {
            0.0
        } else {
            HOLD * ((middle - progress) / (middle - start)).min(1.0)
        }
    }

    /// The full weight of the sharpness prior with this many rows: the one given, or the usual one.
    pub fn sharpness_for(&self, rows: usize) -> f64 {
        self.sharpness.unwrap_or_else(|| (1.66 * (rows as f64).powf(-0.16)).clamp(0.3, 0.7))
    }

    /// The weight of the sharpness prior when this share of the fit is done.
    pub fn sharpness_at(&self, progress: f64, rows: usize) -> f64 {
        let (start, end) = self.ramp;
        let sharpness = self.sharpness_for(rows);
        if progress >= end { sharpness } else { sharpness * ((progress - start) / (end - start)).max(0.0) }
    }
}

/// What a fitted member keeps beside its network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LabelState {
    Transition(Transition),
    Free { clean: RobustLoss },
    Uniform { clean: RobustLoss },
    Plain,
}

impl LabelModel {
    /// The heads that a network needs for this many classes.
    pub(crate) fn heads(&self, classes: usize, prior_hidden: usize, prior_bias: f32) -> Vec<Head> {
        let head =
            |name: &str, outputs: usize, hidden: Option<usize>, starts_at_zero: bool, bias: f32| Head {
                name: name.into(),
                outputs,
                hidden,
                skip: false,
                starts_at_zero,
                bias: vec![bias; outputs],
            };
        // With a channel to be learned beside it, p starts uniform: a random p that happens to contradict the labels would be
        // believed before it is corrected, and classes would change names.
        let is_channel = matches!(self, Self::Transition(_));
        let clean = head("clean", classes, None, is_channel, 0.0);
        // Started at zero weights: q starts uniform and pi constant and small, so that the branches know their roles.
        let prior = head("prior", 1, Some(prior_hidden), true, prior_bias);
        match self {
            Self::Transition(_) | Self::Plain { .. } => vec![clean],
            Self::Uniform { .. } => vec![clean, prior],
            Self::Free { .. } => vec![clean, head("anomaly", classes, None, true, 0.0), prior],
        }
    }
}

impl LabelState {
    /// Whether this can have come from that model.
    pub(crate) fn fits(&self, model: &LabelModel, classes: usize) -> bool {
        match (self, model) {
            (Self::Transition(transition), LabelModel::Transition(_)) => transition.classes() == classes,
            (Self::Free { .. }, LabelModel::Free { .. })
            | (Self::Uniform { .. }, LabelModel::Uniform { .. })
            | (Self::Plain, LabelModel::Plain { .. }) => true,
            _ => false,
        }
    }

    /// Whether it is a mixture, or a loss to be compared with.
    pub(crate) fn is_mixture(&self) -> bool {
        !matches!(self, Self::Plain)
    }

    /// The same without guesses, so that nothing which is chosen by likelihood can depend on them.
    pub(crate) fn without_guesses(self) -> Self {
        match self {
            Self::Transition(transition) => Self::Transition(transition.without_guesses()),
            other => other,
        }
    }

    /// The evidence of label `y`, from the network's outputs, in double precision.
    pub(crate) fn evidence(&self, outputs: &[f32], classes: usize, y: usize, log_p: &mut [f64]) -> Evidence {
        log_softmax(&outputs[..classes], log_p);
        match self {
            Self::Transition(transition) => transition.evidence(log_p, y),
            Self::Uniform { clean } => Evidence {
                log_clean: -clean.value(-log_p[y]),
                logit_prior: f64::from(outputs[classes]),
                log_anomaly: uniform::log_density(classes as f64),
            },
            Self::Free { clean } => {
                let logits = &outputs[classes..2 * classes];
                Evidence {
                    log_clean: -clean.value(-log_p[y]),
                    logit_prior: f64::from(outputs[2 * classes]),
                    log_anomaly: f64::from(logits[y]) - log_sum_exp(logits),
                }
            }
            // sigmoid(0 + l + log(1 - p)) = 1 - p.
            Self::Plain => {
                let others =
                    log_p.iter().enumerate().filter(|(k, _)| *k != y).map(|(_, p)| p.exp()).sum::<f64>();
                Evidence {
                    log_clean: log_p[y],
                    logit_prior: 0.0,
                    log_anomaly: others.max(f64::MIN_POSITIVE).ln(),
                }
            }
        }
    }

    /// The probability of each true class given the label, into `out`, from `log p(.|x)` and the posterior.
    pub(crate) fn true_class(&self, log_p: &[f64], y: usize, posterior: f64, out: &mut [f64]) {
        if let Self::Transition(transition) = self {
            transition.true_class(log_p, y, out);
            return;
        }
        // If the label is wrong, the class is one of the others, as probable as the predictor says.
        let others = -log_p[y].exp_m1();
        for (k, out) in out.iter_mut().enumerate() {
            let moved = if others > 0.0 { log_p[k].exp() / others } else { 1.0 / (log_p.len() - 1) as f64 };
            *out = if k == y { 1.0 - posterior } else { posterior * moved };
        }
    }

    /// The probability of each true class given the network's outputs and the label, into `out`.
    pub(crate) fn suggest(&self, outputs: &[f32], y: usize, log_p: &mut [f64], out: &mut [f64]) {
        let evidence = self.evidence(outputs, log_p.len(), y, log_p);
        self.true_class(log_p, y, evidence.posterior(), out);
    }

    /// The prior logit of a row, which needs no label.
    pub(crate) fn logit_prior(&self, outputs: &[f32], classes: usize, log_p: &mut [f64]) -> f64 {
        self.evidence(outputs, classes, 0, log_p).logit_prior
    }
}

/// The training rows as the objective sees them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Labels<'a> {
    pub(crate) labels: &'a [usize],
    /// Relative weights with mean one.
    pub(crate) weights: Option<&'a [f32]>,
    pub(crate) known: Option<&'a [Known]>,
}

/// The objective of a classifier in training.
#[derive(Debug, Clone)]
pub(crate) struct LabelObjective<'a> {
    rows: Labels<'a>,
    classes: usize,
    model: LabelModel,
    channel: Option<Channel>,
}

impl<'a> LabelObjective<'a> {
    pub(crate) fn new(rows: Labels<'a>, classes: usize, model: LabelModel) -> Self {
        let channel = match model {
            LabelModel::Transition(prior) => Some(Channel::new(classes, prior)),
            _ => None,
        };
        Self { rows, classes, model, channel }
    }

    /// The label channel, where the model has one.
    pub(crate) fn channel(&self) -> Option<&Channel> {
        self.channel.as_ref()
    }

    /// What is left of the objective when training is over.
    pub(crate) fn into_state(self) -> LabelState {
        match (self.model, self.channel) {
            (_, Some(channel)) => LabelState::Transition(channel.transition),
            (LabelModel::Free { clean }, _) => LabelState::Free { clean },
            (LabelModel::Uniform { clean }, _) => LabelState::Uniform { clean },
            (LabelModel::Plain { .. } | LabelModel::Transition(_), _) => LabelState::Plain,
        }
    }
}

impl Objective for LabelObjective<'_> {
    fn statistics(&self) -> usize {
        self.channel.as_ref().map_or(0, Channel::statistics)
    }

    fn evaluate(&self, shard: ShardRows<'_>, context: &Context) -> f64 {
        let classes = self.classes;
        let width = shard.outputs.len() / shard.rows.len().max(1);
        // p in the first half, q in the second.
        let mut probabilities = std::mem::take(shard.probabilities);
        probabilities.resize(2 * classes, 0.0);
        let (p, q) = probabilities.split_at_mut(classes);
        shard.scratch.resize(classes, 0.0);
        let mut total = 0.0;
        let rows = shard.rows.iter().zip(shard.outputs.chunks_exact(width));
        let rows = rows.zip(shard.d_outputs.chunks_exact_mut(width)).zip(shard.evidence.iter_mut());
        for (((&index, outputs), d_outputs), evidence) in rows {
            let index = index as usize;
            let y = self.rows.labels[index];
            let known = self.rows.known.map_or(Known::Unknown, |known| known[index]);
            let weight = self.rows.weights.map_or(1.0, |weights| weights[index]);
            let logits = &outputs[..classes];
            let log_sum = vector::softmax(p, logits);
            let log_p_y = f64::from(logits[y] - log_sum);
            let mut loss;
            match self.model {
                LabelModel::Transition(prior) => {
                    let Some(channel) = &self.channel else { continue };
                    let (row, row_evidence) = channel.transition.train_row(
                        p,
                        log_p_y,
                        y,
                        known,
                        shard.scratch,
                        &mut d_outputs[..classes],
                    );
                    loss = row.loss;
                    *evidence = row_evidence;
                    for (k, moved) in shard.scratch.iter().enumerate() {
                        shard.statistics[k * classes + y] += f64::from(weight) * moved;
                    }
                    shard.statistics[classes * classes + y] += f64::from(weight) * (1.0 - row.posterior);
                    loss += sharpen(
                        prior.sharpness_at(context.progress, context.rows),
                        p,
                        logits,
                        log_sum,
                        d_outputs,
                    );
                }
                LabelModel::Plain { loss: robust } => {
                    // No second branch explains a label that is known to be wrong: it teaches nothing.
                    let is_taught = f64::from(known != Known::Contaminated);
                    loss = is_taught * robust.value(-log_p_y);
                    clean_gradient((is_taught * robust.derivative(-log_p_y)) as f32, p, y, d_outputs);
                    *evidence = Evidence {
                        log_clean: log_p_y,
                        logit_prior: 0.0,
                        log_anomaly: (-log_p_y.exp()).ln_1p(),
                    };
                }
                LabelModel::Free { clean } | LabelModel::Uniform { clean } => {
                    let is_free = matches!(self.model, LabelModel::Free { .. });
                    let prior_at = if is_free { 2 * classes } else { classes };
                    let log_anomaly = if is_free {
                        let anomaly_logits = &outputs[classes..2 * classes];
                        f64::from(anomaly_logits[y] - vector::softmax(q, anomaly_logits))
                    } else {
                        uniform::log_density(classes as f64)
                    };
                    let l = clean.value(-log_p_y);
                    let row = row(l, f64::from(outputs[prior_at]), log_anomaly, known);
                    loss = row.loss;
                    *evidence =
                        Evidence { log_clean: -l, logit_prior: f64::from(outputs[prior_at]), log_anomaly };
                    clean_gradient((row.d_clean * clean.derivative(-log_p_y)) as f32, p, y, d_outputs);
                    if is_free {
                        clean_gradient(-row.d_anomaly as f32, q, y, &mut d_outputs[classes..2 * classes]);
                    }
                    d_outputs[prior_at] = row.d_prior as f32;
                }
            }
            total += f64::from(weight) * loss;
            let scale = weight / context.batch as f32;
            d_outputs.iter_mut().for_each(|value| *value *= scale);
        }
        *shard.probabilities = probabilities;
        total
    }

    fn absorb(&mut self, statistics: &[f64], context: &Context) {
        if let Some(channel) = &mut self.channel {
            channel.absorb(statistics, context);
        }
    }
}

/// The gradient of `factor * -log p_y` by the logits: `factor * (p_k - [k = y])`.
fn clean_gradient(factor: f32, p: &[f32], y: usize, d_logits: &mut [f32]) {
    for (d_logit, p) in d_logits.iter_mut().zip(p) {
        *d_logit = factor * p;
    }
    d_logits[y] -= factor;
}

/// The sharpness prior: `weight * H(p)`, and its gradient `-weight p_k (log p_k + H)` added to `d_logits`.
fn sharpen(weight: f64, p: &[f32], logits: &[f32], log_sum: f32, d_logits: &mut [f32]) -> f64 {
    if weight == 0.0 {
        return 0.0;
    }
    let mean_log: f32 = p.iter().zip(logits).map(|(p, z)| p * (z - log_sum)).sum();
    for ((d_logit, p), z) in d_logits.iter_mut().zip(p).zip(logits) {
        *d_logit -= weight as f32 * p * (z - log_sum - mean_log);
    }
    weight * f64::from(-mean_log)
}
