//! The models: a classifier and a regressor that learn which of their rows are wrong.

mod channel;
mod classifier;
mod ensemble;
mod folds;
mod labels;
mod params;
mod posterior;
mod rows;

pub use classifier::{Classifier, LabelledRows, Review};
pub use labels::{LabelModel, TransitionPrior};
pub use params::{Checked, Classification, Params, Preset};
pub use posterior::Posterior;
