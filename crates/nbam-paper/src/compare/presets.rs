//! Our own two: the paper's preset with the experiment's epochs, and the default preset as it is shipped, with its own.
//!
//! ```text
//! L = -log[(1 - pi(x)) p(y|x) + pi(x) q(y|x)]
//! ```
//!
//! The score is the posterior probability that the row is contaminated. See [`nbam::Preset`].

use nbam::{Classification, Classifier, LabelledRows, Params, Preset};
use serde_json::Value;

use super::network::Task;
use crate::error::{Error, ErrorKind, Result};

fn params(preset: Preset, epochs: usize) -> Params<Classification> {
    let params = Params::<Classification>::preset(preset);
    match preset {
        Preset::Paper => params.epochs(epochs),
        Preset::Default => params,
    }
}

pub(super) fn settings(preset: Preset, epochs: usize) -> Result<Value> {
    serde_json::to_value(params(preset, epochs)).map_err(|error| {
        Error::new(ErrorKind::Method, format!("the settings of a preset are no JSON: {error}"))
    })
}

pub(super) fn run(preset: Preset, task: &Task<'_>) -> Result<Box<Classifier>> {
    let rows = LabelledRows { features: task.features, labels: task.labels, weights: None, known: None };
    let params = params(preset, task.epochs).seed(task.seed).threads(1).check()?;
    Ok(Box::new(params.fit_rows(&rows, task.monitor)?))
}
