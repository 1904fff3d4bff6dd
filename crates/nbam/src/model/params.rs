//! Parameters: an unchecked builder, one check, and training that takes only what was checked.

use super::labels::{LabelModel, TransitionPrior};
use super::values::{CleanNoise, ValueAnomaly, ValueModel, ValuePrior};
use crate::loss::RobustLoss;
use crate::net::{Activation, Precision, Scaling, Schedule};
use crate::train::Plan;
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// A named set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// What we recommend: identified, calibrated, no knobs.
    #[default]
    Default,
    /// The paper's architecture and optimiser, 200 epochs, no weight decay.
    ///
    /// What the paper leaves open, and what was chosen: Glorot-uniform weights; the prior head's bias starts at -2
    /// and the last layers of the prior and anomaly heads start at zero weights (anything else may swap the
    /// branches); the anomaly head is one linear layer; features are centred and divided by one common number.
    Paper,
}

/// Parameters of a fit, not yet checked. `T` holds those of the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params<T> {
    pub(crate) preset: Preset,
    pub(crate) epochs: Option<usize>,
    pub(crate) batch_size: usize,
    pub(crate) learning_rate: f64,
    pub(crate) schedule: Schedule,
    pub(crate) hidden: Vec<usize>,
    pub(crate) activation: Activation,
    pub(crate) weight_decay: f64,
    pub(crate) weight_prior: Option<f64>,
    pub(crate) scaling: Scaling,
    #[serde(default, skip_serializing_if = "Precision::is_single")]
    pub(crate) precision: Precision,
    pub(crate) members: usize,
    pub(crate) averaged_share: f64,
    pub(crate) seed: u64,
    #[serde(skip)]
    pub(crate) threads: usize,
    pub(crate) task: T,
}

/// Parameters that passed their check: the only ones that a fit takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<T>(pub(crate) Params<T>);

/// The parameters that only a classifier has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classification {
    pub(crate) model: LabelModel,
    pub(crate) prior_hidden: usize,
    pub(crate) prior_bias: f32,
}

/// The parameters that only a regressor has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    pub(crate) model: ValueModel,
    pub(crate) linear_path: bool,
    pub(crate) prior_hidden: usize,
    pub(crate) prior_bias: f32,
}

/// How long a fit without a given number of epochs takes.
pub(crate) trait Length {
    /// Epochs that it takes at least.
    const EPOCHS: usize;
    /// Steps that it takes at least.
    const STEPS: usize;
}

impl Length for Classification {
    const EPOCHS: usize = 12;
    const STEPS: usize = 1000;
}

impl Length for Regression {
    const EPOCHS: usize = 25;
    const STEPS: usize = 1500;
}

impl Default for Params<Classification> {
    fn default() -> Self {
        Self {
            preset: Preset::Default,
            epochs: None,
            batch_size: 512,
            learning_rate: 2e-3,
            schedule: Schedule::LateCosine,
            hidden: vec![256, 256],
            activation: Activation::Tanh,
            weight_decay: 0.0,
            weight_prior: None,
            scaling: Scaling::Columns,
            precision: Precision::Single,
            members: 3,
            // After doubt has faded.
            averaged_share: 0.2,
            seed: 0,
            threads: 0,
            task: Classification {
                model: LabelModel::Transition(TransitionPrior::default()),
                prior_hidden: 128,
                prior_bias: -2.0,
            },
        }
    }
}

impl Params<Classification> {
    /// The parameters of a preset.
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Default => Self::default(),
            Preset::Paper => Self {
                preset,
                epochs: Some(200),
                learning_rate: 1e-3,
                schedule: Schedule::Constant,
                weight_prior: Some(0.0),
                scaling: Scaling::Common,
                members: 1,
                averaged_share: 0.0,
                task: Classification {
                    model: LabelModel::Free { clean: RobustLoss::CrossEntropy },
                    prior_hidden: 128,
                    prior_bias: -2.0,
                },
                ..Self::default()
            },
        }
    }

    /// What is assumed of contaminated labels.
    #[must_use]
    pub fn label_model(mut self, model: LabelModel) -> Self {
        self.task.model = model;
        self
    }

    /// Checks the parameters once.
    ///
    /// # Errors
    /// Naming the first parameter that is out of range.
    pub fn check(self) -> Result<Checked<Classification>> {
        self.check_common()?;
        if self.task.prior_hidden == 0 {
            return fault("the prior head's width", 0, "at least 1");
        }
        if let LabelModel::Transition(prior) = &self.task.model {
            let counts = [prior.rate_counts.0, prior.rate_counts.1, prior.destination_count];
            if !(prior.initial_share > 0.0 && prior.initial_share < 1.0) {
                return fault("the initial share", prior.initial_share, "between 0 and 1");
            }
            if let Some(sharpness) = prior.sharpness.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return fault("sharpness", sharpness, "0 or more");
            }
            if !(0.0 <= prior.ramp.0 && prior.ramp.0 <= prior.ramp.1 && prior.ramp.1 <= 1.0) {
                return fault(
                    "the ramp",
                    format!("{:?}", prior.ramp),
                    "two shares of the fit in ascending order",
                );
            }
            if !(prior.window.0 >= 0.0 && prior.window.0.is_finite() && prior.window.1 >= 1.0) {
                return fault(
                    "the window",
                    format!("{:?}", prior.window),
                    "epochs of at least 0 and steps of at least 1",
                );
            }
            if !(0.0..=1.0).contains(&prior.doubt) {
                return fault("doubt", prior.doubt, "0 to 1");
            }
            if !(0.0..1.0).contains(&prior.guessed) {
                return fault("the share of guessed labels", prior.guessed, "at least 0 and below 1");
            }
            if counts.iter().any(|count| !(*count > 0.0 && count.is_finite())) {
                return fault("a pseudo-count", format!("{counts:?}"), "positive numbers");
            }
        }
        Ok(Checked(self))
    }
}

impl Default for Params<Regression> {
    fn default() -> Self {
        let common = Params::<Classification>::default();
        Self {
            preset: Preset::Default,
            epochs: None,
            batch_size: 512,
            learning_rate: 5e-3,
            schedule: Schedule::Cosine,
            hidden: vec![128, 128],
            activation: common.activation,
            weight_decay: 0.0,
            weight_prior: None,
            scaling: Scaling::Columns,
            precision: common.precision,
            members: 4,
            averaged_share: 1.0 / 3.0,
            seed: 0,
            threads: 0,
            task: Regression {
                model: ValueModel {
                    noise: CleanNoise::PerRow,
                    anomaly: ValueAnomaly::Mixture { components: 2 },
                    prior: ValuePrior::Head,
                },
                linear_path: true,
                prior_hidden: 32,
                prior_bias: -2.0,
            },
        }
    }
}

impl Params<Regression> {
    /// The parameters of a preset.
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::Default => Self::default(),
            // The one-dimensional example's width and rate; its 20,000 steps are a matter of the data's size.
            Preset::Paper => Self {
                preset,
                learning_rate: 1e-2,
                hidden: vec![48, 48],
                schedule: Schedule::Constant,
                weight_prior: Some(0.0),
                members: 1,
                averaged_share: 0.0,
                task: Regression {
                    model: ValueModel {
                        noise: CleanNoise::Common,
                        anomaly: ValueAnomaly::Head,
                        prior: ValuePrior::Head,
                    },
                    linear_path: false,
                    prior_hidden: 48,
                    prior_bias: -2.0,
                },
                ..Self::default()
            },
        }
    }

    /// How the spread of clean targets is modelled.
    #[must_use]
    pub fn clean_noise(mut self, noise: CleanNoise) -> Self {
        self.task.model.noise = noise;
        self
    }

    /// What is assumed of contaminated values.
    #[must_use]
    pub fn value_anomaly(mut self, anomaly: ValueAnomaly) -> Self {
        self.task.model.anomaly = anomaly;
        self
    }

    /// Whether the probability of contamination depends on the features.
    #[must_use]
    pub fn value_prior(mut self, prior: ValuePrior) -> Self {
        self.task.model.prior = prior;
        self
    }

    /// Whether a linear path leads from the features straight to the mean, beside the network.
    #[must_use]
    pub fn linear_path(mut self, has_path: bool) -> Self {
        self.task.linear_path = has_path;
        self
    }

    /// Checks the parameters once.
    ///
    /// # Errors
    /// Naming the first parameter that is out of range.
    pub fn check(self) -> Result<Checked<Regression>> {
        self.check_common()?;
        if self.task.prior_hidden == 0 {
            return fault("the prior head's width", 0, "at least 1");
        }
        match self.task.model.anomaly {
            ValueAnomaly::Mixture { components } if components == 0 || components > 100 => {
                fault("the number of anomaly components", components, "1 to 100")
            }
            ValueAnomaly::StudentT { nu } if !(nu > 0.0 && nu.is_finite()) => {
                fault("nu", nu, "a positive number")
            }
            _ => Ok(Checked(self)),
        }
    }
}

impl<T> Params<T> {
    /// Passes over the data; without it, a classifier takes at least 12 and at least 1,000 steps, a regressor at least 25 and 1,500 steps.
    #[must_use]
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = Some(epochs);
        self
    }

    /// Rows of a batch.
    #[must_use]
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// Adam's learning rate.
    #[must_use]
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.learning_rate = rate;
        self
    }

    /// How the learning rate changes over the fit.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Widths of the hidden layers.
    #[must_use]
    pub fn hidden(mut self, widths: &[usize]) -> Self {
        self.hidden = widths.to_vec();
        self
    }

    /// The hidden layers' nonlinearity.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Decoupled decay of the weight matrices (AdamW); see [`Self::weight_prior`] for a prior that knows the number of rows.
    #[must_use]
    pub fn weight_decay(mut self, decay: f64) -> Self {
        self.weight_decay = decay;
        self
    }

    /// Strength of a Gaussian prior on the weights: one over its variance, in units of one over a layer's inputs.
    /// Without it, the likelihood of rows that were left out decides: a classifier starts from a value that grows slowly with
    /// the number of rows, and takes a weaker one where that is better; a regressor takes the best of three. They also decide whether columns
    /// enter in [pieces](crate::net::Pieces), which they never do under a strength that was given.
    #[must_use]
    pub fn weight_prior(mut self, strength: f64) -> Self {
        self.weight_prior = Some(strength);
        self
    }

    /// How features are brought to a common scale.
    #[must_use]
    pub fn scaling(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// In which precision matrix products are computed, in the fit and by the fitted model.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// How many networks are trained from different starts and averaged.
    #[must_use]
    pub fn members(mut self, members: usize) -> Self {
        self.members = members;
        self
    }

    /// Over which share of the last epochs each training row's posterior is averaged; 0 takes the final networks'.
    #[must_use]
    pub fn averaged_share(mut self, share: f64) -> Self {
        self.averaged_share = share;
        self
    }

    /// Where all random numbers come from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many threads are used; 0 is as many as the machine has. The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn check_common(&self) -> Result<()> {
        if let Some(epochs) = self.epochs.filter(|epochs| !(1..=1_000_000).contains(epochs)) {
            return fault("epochs", epochs, "1 to 1,000,000");
        }
        if self.batch_size == 0 {
            return fault("batch_size", 0, "at least 1");
        }
        if self.members == 0 || self.members > 1000 {
            return fault("members", self.members, "1 to 1,000");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return fault("learning_rate", self.learning_rate, "a positive number");
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay * self.learning_rate < 1.0) {
            return fault("weight_decay", self.weight_decay, "0 or more, and below 1 / learning_rate");
        }
        if let Some(strength) =
            self.weight_prior.filter(|strength| !(*strength >= 0.0 && strength.is_finite()))
        {
            return fault("weight_prior", strength, "0 or more");
        }
        if !(0.0..=1.0).contains(&self.averaged_share) {
            return fault("averaged_share", self.averaged_share, "0 to 1");
        }
        if self.threads > MOST_THREADS {
            return fault("threads", self.threads, "0 to 1,024");
        }
        if let Some(width) = self.hidden.iter().find(|&&width| width == 0 || width > 1 << 16) {
            return fault("a hidden layer's width", width, "1 to 65,536");
        }
        Ok(())
    }

    /// How each member is trained on this many rows, in batches of at most so many.
    pub(crate) fn plan(&self, rows: usize, batch: usize, member: usize) -> Plan
    where
        T: Length,
    {
        let batch = self.batch_size.min(batch).min(rows);
        let steps = rows.div_ceil(batch);
        let epochs = self.epochs.unwrap_or_else(|| T::EPOCHS.max(T::STEPS.div_ceil(steps)));
        Plan {
            epochs,
            batch,
            learning_rate: self.learning_rate,
            schedule: self.schedule,
            decay: self.weight_decay,
            prior: self.weight_prior.unwrap_or_else(|| usual_weight_prior(rows)),
            averaged: (self.averaged_share * epochs as f64).round() as usize,
            // Members are far apart in seed space, so that fits with neighbouring seeds share none.
            seed: self.seed.wrapping_add((member as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        }
    }
}

/// A machine is brought to its knees by a million threads before it refuses them.
const MOST_THREADS: usize = 1024;

/// The strength of a classifier's weight prior from which the choice starts: `0.035 rows^0.2`.
pub fn usual_weight_prior(rows: usize) -> f64 {
    0.035 * (rows as f64).powf(0.2)
}

pub(crate) fn fault<R>(name: &str, got: impl std::fmt::Display, expected: &str) -> Result<R> {
    Err(Error::new(ErrorKind::Parameter, format!("{name} is {got}, expected {expected}")))
}
