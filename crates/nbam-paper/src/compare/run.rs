//! One run: rows, noise, a fit, and what it measured.

use std::time::Instant;

use nbam::Monitor;
use nbam::metrics::accuracy;
use nbam::net::Scaler;

use super::methods::{Method, Outcome};
use super::network::{Answer, Task};
use crate::data::{DataSet, Sample, Targets, Test, sample};
use crate::error::{Error, ErrorKind, Result};
use crate::noise::Noise;
use crate::results::{Judged, Measures, measure_labels, measure_scores};

/// The rows of a cell and seed, which all methods see alike.
pub(super) struct Prepared {
    sample: Sample,
    given: Vec<usize>,
    classes: usize,
    is_wrong: Vec<bool>,
}

/// Chooses the rows of a seed and corrupts their labels.
pub(super) fn prepare(data: &DataSet, noise: &Noise, seed: u64, monitor: &dyn Monitor) -> Result<Prepared> {
    let sample = sample(data, seed);
    let (given, is_wrong) = noise.apply(&sample.features, &sample.targets, seed, monitor)?;
    match given {
        Targets::Labels { labels, classes } => Ok(Prepared { sample, given: labels, classes, is_wrong }),
        Targets::Values(_) => Err(not_classes()),
    }
}

pub(super) fn not_classes() -> Error {
    Error::input("the targets are numbers; the methods of this comparison are for classes")
}

/// Fits a method on one thread and measures it.
pub(super) fn run(
    method: Method,
    prepared: &Prepared,
    epochs: usize,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Measures> {
    let Prepared { sample, given, classes, is_wrong } = prepared;
    let features = sample.features.features()?;
    // A set without test rows is judged on its own, against their true labels.
    let (test, targets, measured_on) = match &sample.test {
        Test::Rows(test, targets) => (test.features()?, targets, "test"),
        Test::Training => (features, &sample.targets, "training"),
    };
    let Targets::Labels { labels: truth, .. } = targets else { return Err(not_classes()) };
    let wrong = is_wrong.iter().filter(|is_wrong| **is_wrong).count();
    let task = Task {
        features,
        labels: given,
        classes: *classes,
        test,
        epochs,
        seed,
        wrong_share: wrong as f64 / is_wrong.len() as f64,
        monitor,
        scaler: Scaler::fit(&features, None, &Task::SCALING)?,
    };
    let start = Instant::now();
    let outcome = method.run(&task)?;
    let seconds = start.elapsed().as_secs_f64();
    let measures = match outcome {
        Outcome::Ranked(Answer { predicted, scores }) => {
            Measures { accuracy: Some(accuracy(&predicted, truth)?), ..measure_scores(&scores, is_wrong)? }
        }
        Outcome::Fitted(model) => {
            let posterior = model.training().ok_or_else(|| {
                Error::new(ErrorKind::Method, "the fit has no posterior of its training rows")
            })?;
            let judged = Judged {
                posterior: &posterior.contamination,
                member_means: &posterior.member_means,
                is_wrong,
                is_told: &[],
            };
            let warnings = model.warnings().iter().map(|warning| warning.code.clone()).collect();
            Measures { warnings, ..measure_labels(&judged, &model.predict(&test)?, truth)? }
        }
    };
    Ok(Measures { measured_on: Some(measured_on.to_owned()), seconds, threads: 1, ..measures })
}
