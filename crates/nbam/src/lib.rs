//! Neural Bayesian Anomaly Mitigation: learn from partly wrong targets, and learn which ones are wrong.
//!
//! Every row has a hidden switch, clean or contaminated. The likelihood is marginalised over it,
//!
//! ```text
//! P(y|x) = (1 - pi(x)) p(y|x) + pi(x) q(y|x)
//! ```
//!
//! with a clean predictor `p`, a prior `pi` that depends on the input and a normalised anomaly density `q`, all learned
//! together. The marginal likelihood is a robust loss; Bayes' rule gives each row's probability of being
//! contaminated. [`switch`] is that kernel and nothing else; [`Classifier`] and [`Regressor`] are the models.
//!
//! ```
//! use nbam::corrupt::symmetric;
//! use nbam::{Classifier, Features};
//!
//! let x: Vec<f32> = (0..300).map(|i| (i % 3) as f32 * 4.0 + (i % 7) as f32 * 0.1).collect();
//! let truth: Vec<usize> = (0..300).map(|i| i % 3).collect();
//! let given = symmetric(&truth, 3, 0.2, 0)?;
//!
//! let features = Features::new(&x, 1)?;
//! let model = Classifier::params().hidden(&[16]).members(1).seed(0).fit(&features, &given.targets)?;
//! let contamination = model.contamination(&features, &given.targets)?;
//! let found = contamination.iter().zip(&given.is_contaminated).filter(|(p, bad)| (**p > 0.5) == **bad).count();
//! assert!(found > 290);
//! # Ok::<(), nbam::Error>(())
//! ```

pub mod bench;
pub mod corrupt;
pub mod density;
pub mod error;
pub mod loss;
pub mod metrics;
pub mod model;
pub mod net;
pub mod switch;
mod train;

pub use error::{Error, ErrorKind, Result};
pub use model::{
    Checked, Classification, Classifier, CleanNoise, LabelModel, LabelledRows, MeasuredRows, Model,
    ModelBytes, Params, PlantedCheck, Posterior, Prediction, Preset, Regression, Regressor, Review,
    TransitionPrior, ValueAnomaly, ValuePrior, Warning, usual_weight_prior,
};
pub use net::{Activation, Features, Precision, Scaling, Schedule};
pub use train::{Monitor, Progress, Silent};
