//! Neural Bayesian Anomaly Mitigation.

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
    Checked, Classification, Classifier, CleanNoise, LabelModel, LabelledRows, MeasuredRows, Params, Posterior,
    Prediction, Preset, Regression, Regressor, Review, TransitionPrior, ValueAnomaly, ValuePrior,
};
pub use net::{Activation, Features, Scaling, Schedule};
pub use train::{Monitor, Progress, Silent};
