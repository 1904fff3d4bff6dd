//! One run: rows, noise, a fit, and what it measured.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use nbam::switch::Known;
use nbam::{
    Checked, Classification, Classifier, LabelledRows, MeasuredRows, Monitor, Params, Regression, Warning,
};
use rand::SeedableRng as _;
use rand::seq::{SliceRandom as _, index};
use rand_chacha::ChaCha8Rng;

use super::cells::Cell;
use super::methods::{FOLDS, Fit, Method};
use crate::data::{DataSet, Matrix, Sample, Targets, Test, sample};
use crate::error::{Error, ErrorKind, Result};
use crate::results::{Judged, Measures, measure_labels, measure_scores, measure_values, relative_error};

/// The rows of a cell and seed, which all methods see alike.
pub(super) struct Prepared {
    pub(super) sample: Sample,
    /// The targets that the methods are given.
    pub(super) given: Targets,
    pub(super) is_wrong: Vec<bool>,
    /// What the methods are told of the switches; empty for nothing.
    known: Vec<Known>,
    /// The strength of the weight prior that the default chooses, which all other networks for labels share.
    weight_prior: Mutex<Option<f64>>,
}

impl Prepared {
    /// The default's choice of the weight prior, made when it is first asked for.
    fn weight_prior(&self, labels: &[usize], seed: u64, monitor: &dyn Monitor) -> Result<f64> {
        // Held while choosing: the other methods of this cell wait for the same number.
        let mut chosen = self.weight_prior.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chosen) = *chosen {
            return Ok(chosen);
        }
        let params = Classifier::params().seed(seed).threads(1).check()?;
        Ok(*chosen.insert(params.choose_weight_prior(&self.rows(labels)?, monitor)?))
    }

    fn rows<'a>(&'a self, labels: &'a [usize]) -> Result<LabelledRows<'a>> {
        let known = (!self.known.is_empty()).then_some(self.known.as_slice());
        Ok(LabelledRows { features: self.sample.features.features()?, labels, weights: None, known })
    }
}

/// Streams of a seed: the rows that are verified, and the folds.
const VERIFIED_STREAM: u64 = 13;
const FOLD_STREAM: u64 = 17;

/// Chooses the rows of a seed and corrupts their targets.
pub(super) fn prepare(data: &DataSet, cell: &Cell, seed: u64, monitor: &dyn Monitor) -> Result<Prepared> {
    let sample = sample(data, seed);
    let (given, is_wrong) = cell.noise.apply(&sample.features, &sample.targets, seed, monitor)?;
    let mut known = Vec::new();
    if cell.verified > 0.0 {
        known = vec![Known::Unknown; is_wrong.len()];
        let count = (cell.verified * is_wrong.len() as f64).round() as usize;
        for row in
            index::sample(&mut random(seed, VERIFIED_STREAM), is_wrong.len(), count.min(is_wrong.len()))
        {
            known[row] = if is_wrong[row] { Known::Contaminated } else { Known::Clean };
        }
    }
    Ok(Prepared { sample, given, is_wrong, known, weight_prior: Mutex::new(None) })
}

fn random(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}

/// What a run gives: measures, and out-of-sample probabilities where it made them.
pub(super) struct Outcome {
    pub(super) measures: Measures,
    pub(super) probabilities: Option<Matrix>,
}

/// Fits a method on one thread and measures it.
pub(super) fn run(method: Method, prepared: &Prepared, seed: u64, monitor: &dyn Monitor) -> Result<Outcome> {
    let is_classification = matches!(prepared.given, Targets::Labels { .. });
    let start = Instant::now();
    let mut outcome = match (method.fit(is_classification)?, &prepared.given) {
        (Some(Fit::Labels(params)), Targets::Labels { labels, .. }) => {
            let params = params.seed(seed).threads(1);
            let params = with_shared_prior(method, params, || prepared.weight_prior(labels, seed, monitor))?;
            let measures = run_labels(params.check()?, prepared, labels, monitor)?;
            Outcome { measures, probabilities: None }
        }
        (Some(Fit::Values(params)), Targets::Values(values)) => {
            let is_robust = !method.is_ours();
            let params = params.seed(seed).threads(1).check()?;
            let measures = run_values(params, is_robust, prepared, values, monitor)?;
            Outcome { measures, probabilities: None }
        }
        (Some(Fit::Folds(params)), Targets::Labels { labels, classes }) => {
            let given = (labels.as_slice(), *classes);
            let strength = prepared.weight_prior(labels, seed, monitor)?;
            let params = params.seed(seed).threads(1).weight_prior(strength);
            let probabilities = out_of_sample(&params, prepared, given, seed, monitor)?;
            let score =
                |(row, &label): (usize, &usize)| 1.0 - f64::from(probabilities[row * classes + label]);
            let scores: Vec<f64> = labels.iter().enumerate().map(score).collect();
            Outcome {
                measures: measure_scores(&scores, &prepared.is_wrong)?,
                probabilities: Some(Matrix::new(probabilities, *classes)),
            }
        }
        _ => {
            return Err(Error::new(
                ErrorKind::Input,
                format!("the method '{}' is not run by this command", method.name()),
            ));
        }
    };
    if outcome.measures.seconds == 0.0 {
        outcome.measures.seconds = start.elapsed().as_secs_f64();
    }
    outcome.measures.threads = 1;
    Ok(outcome)
}

/// The parameters with the strength of the weight prior that all methods for labels share, but for ours: it settles on all that it believes by
/// itself, as it does for a user, and a strength that is given would keep it from that.
fn with_shared_prior(
    method: Method,
    params: Params<Classification>,
    strength: impl FnOnce() -> Result<f64>,
) -> Result<Params<Classification>> {
    if method.is_ours() { Ok(params) } else { Ok(params.weight_prior(strength()?)) }
}

fn run_labels(
    params: Checked<Classification>,
    prepared: &Prepared,
    labels: &[usize],
    monitor: &dyn Monitor,
) -> Result<Measures> {
    let features = prepared.sample.features.features()?;
    let start = Instant::now();
    let model = params.fit_rows(&prepared.rows(labels)?, monitor)?;
    let seconds = start.elapsed().as_secs_f64();
    let (predicted, truth, measured_on) = match (&prepared.sample.test, &prepared.sample.targets) {
        (Test::Rows(features, Targets::Labels { labels, .. }), _) => {
            (model.predict(&features.features()?)?, labels, "test")
        }
        (_, Targets::Labels { labels, .. }) => (model.predict(&features)?, labels, "training"),
        _ => return Err(mixed_kinds()),
    };
    let is_told: Vec<bool> = prepared.known.iter().map(|known| *known != Known::Unknown).collect();
    let posterior = model.training().ok_or_else(no_posterior)?;
    let judged = Judged {
        posterior: &posterior.contamination,
        member_means: &posterior.member_means,
        is_wrong: &prepared.is_wrong,
        is_told: &is_told,
    };
    Ok(Measures {
        measured_on: Some(measured_on.to_owned()),
        warnings: codes(model.warnings()),
        seconds,
        ..measure_labels(&judged, &predicted, truth)?
    })
}

fn run_values(
    params: Checked<Regression>,
    is_robust: bool,
    prepared: &Prepared,
    values: &[f64],
    monitor: &dyn Monitor,
) -> Result<Measures> {
    let features = prepared.sample.features.features()?;
    let start = Instant::now();
    let rows = MeasuredRows { features, values, errors: None, weights: None, known: None };
    let model = params.fit_rows(&rows, monitor)?;
    let seconds = start.elapsed().as_secs_f64();
    let Test::Rows(test, Targets::Values(truth)) = &prepared.sample.test else { return Err(mixed_kinds()) };
    let predicted = model.predict(&test.features()?)?.mean;
    let measures = if is_robust {
        // A robust network has no posterior: its score is the absolute residual of the rows that it was fitted on.
        let fitted = model.predict(&features)?.mean;
        let scores: Vec<f64> = fitted.iter().zip(values).map(|(mean, value)| (value - mean).abs()).collect();
        Measures {
            rmse: Some(relative_error(&predicted, truth)?),
            ..measure_scores(&scores, &prepared.is_wrong)?
        }
    } else {
        let posterior = model.training().ok_or_else(no_posterior)?;
        let judged = Judged {
            posterior: &posterior.contamination,
            member_means: &posterior.member_means,
            is_wrong: &prepared.is_wrong,
            is_told: &[],
        };
        measure_values(&judged, &predicted, truth)?
    };
    let warnings = codes(model.warnings());
    Ok(Measures { measured_on: Some("test".to_owned()), warnings, seconds, ..measures })
}

/// Probabilities of each row under a network that has not seen it, row-major; the folds are stratified by label.
fn out_of_sample(
    params: &Params<Classification>,
    prepared: &Prepared,
    (labels, classes): (&[usize], usize),
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<f32>> {
    let fold_of = folds(labels, classes, seed);
    let mut probabilities = vec![0.0; labels.len() * classes];
    for fold in 0..FOLDS {
        let rows = |is_left_out: bool| -> Vec<usize> {
            (0..labels.len()).filter(|&row| (fold_of[row] == fold) == is_left_out).collect()
        };
        let (seen, left_out) = (rows(false), rows(true));
        if left_out.is_empty() {
            continue;
        }
        let matrix = prepared.sample.features.take(&seen);
        let seen_labels: Vec<usize> = seen.iter().map(|&row| labels[row]).collect();
        let rows =
            LabelledRows { features: matrix.features()?, labels: &seen_labels, weights: None, known: None };
        let model = params.clone().check()?.fit_rows(&rows, monitor)?;
        let matrix = prepared.sample.features.take(&left_out);
        let predicted = model.predict_proba(&matrix.features()?)?;
        // The last classes may have no row outside the fold; they then have no probability.
        for (&row, predicted) in left_out.iter().zip(predicted.chunks_exact(model.classes())) {
            for (out, p) in probabilities[row * classes..].iter_mut().zip(predicted) {
                *out = *p as f32;
            }
        }
    }
    Ok(probabilities)
}

/// The fold of each row: every label's rows are shuffled and dealt out in turn.
pub(crate) fn folds(labels: &[usize], classes: usize, seed: u64) -> Vec<usize> {
    let mut random = random(seed, FOLD_STREAM);
    let mut fold_of = vec![0; labels.len()];
    let mut next = 0;
    for class in 0..classes {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        rows.shuffle(&mut random);
        for row in rows {
            fold_of[row] = next % FOLDS;
            next += 1;
        }
    }
    fold_of
}

fn codes(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(|warning| warning.code.clone()).collect()
}

fn no_posterior() -> Error {
    Error::new(ErrorKind::Method, "the fit has no posterior of its training rows")
}

fn mixed_kinds() -> Error {
    Error::new(ErrorKind::Input, "the test targets are not of the same kind as those of training")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_other_methods_are_given_a_weight_prior() {
        let strength = |method: Method| {
            let params = with_shared_prior(method, Classifier::params(), || Ok(0.25)).unwrap();
            serde_json::to_value(params).unwrap()["weight_prior"].as_f64()
        };
        for method in [Method::Default, Method::DefaultOne] {
            assert_eq!(strength(method), None, "{}", method.name());
        }
        for method in [Method::CrossEntropy, Method::StudentT, Method::Huber, Method::Gce] {
            assert_eq!(strength(method), Some(0.25), "{}", method.name());
        }
    }

    #[test]
    fn folds_hold_the_same_share_of_every_label() {
        let labels: Vec<usize> = (0..1000).map(|row| usize::from(row % 10 == 0)).collect();
        let fold_of = folds(&labels, 2, 1);
        for fold in 0..FOLDS {
            for (class, expected) in [(0, 180), (1, 20)] {
                let rows = (0..1000).filter(|&row| fold_of[row] == fold && labels[row] == class).count();
                assert_eq!(rows, expected, "fold {fold}, class {class}");
            }
        }
    }
}
