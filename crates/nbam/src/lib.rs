//! Neural Bayesian Anomaly Mitigation.

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
    Checked, Classification, Classifier, CleanNoise, LabelModel, LabelledRows, MeasuredRows, Model, Params,
    Posterior, Prediction, Preset, Regression, Regressor, Review, TransitionPrior, ValueAnomaly, ValuePrior,
    Warning,
};
pub use net::{Activation, Features, Scaling, Schedule};
pub use train::{Monitor, Progress, Silent};
