//! The models: a classifier and a regressor that learn which of their rows are wrong.

mod anomaly;
mod belief;
mod borders;
mod channel;
mod classifier;
mod committee;
mod ensemble;
mod exchange;
mod fit_labels;
mod fit_values;
mod labels;
mod left_out;
mod params;
mod planted;
mod posterior;
mod regressor;
mod review;
mod rows;
mod search;
mod selection;
mod store;
mod target_scale;
mod trial;
mod values;
mod warning;

pub use classifier::{Classifier, LabelledRows};
pub use labels::{LabelModel, TransitionPrior};
pub use params::{Checked, Classification, Params, Preset, Regression, usual_weight_prior};
pub use planted::PlantedCheck;
pub use posterior::Posterior;
pub use regressor::{MeasuredRows, Prediction, Regressor};
pub use review::Review;
pub use store::{Model, ModelBytes};
pub use values::{CleanNoise, ValueAnomaly, ValuePrior};
pub use warning::Warning;
