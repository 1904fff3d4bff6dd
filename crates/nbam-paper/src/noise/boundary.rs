//! Label noise that depends on the input: rows near the decision boundary are wrong more often.

use nbam::corrupt::{self, BoundaryRates, Corrupted, Destination};
use nbam::loss::RobustLoss;
use nbam::{Classifier, LabelModel, LabelledRows, Monitor};

use crate::data::Matrix;
use crate::error::Result;

/// No row is wrong with a higher probability: the true label stays the most probable one everywhere.
const HIGHEST_RATE: f64 = 0.5;
/// Halvings of the temperature's interval.
const HALVINGS: usize = 30;

/// Labels with this mean rate of errors, more of them where the classes are close.
pub(super) fn apply(
    features: &Matrix,
    labels: &[usize],
    classes: usize,
    rate: f64,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Corrupted<usize>> {
    let probabilities = clean_probabilities(features, labels, seed, monitor)?;
    let noise = tempered_rates(&probabilities, labels, classes, rate)?;
    let destinations = Destination::Labels(&noise.destinations);
    Ok(corrupt::input_dependent(labels, classes, &noise.rates, destinations, seed)?)
}

/// Class probabilities of one network that was trained on the true labels.
fn clean_probabilities(
    features: &Matrix,
    labels: &[usize],
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>> {
    let features = features.features()?;
    let params = Classifier::params()
        .label_model(LabelModel::Plain { loss: RobustLoss::CrossEntropy })
        .members(1)
        .seed(seed)
        .threads(1);
    let rows = LabelledRows { features, labels, weights: None, known: None };
    let model = params.check()?.fit_rows(&rows, monitor)?;
    Ok(model.predict_proba(&features)?)
}

/// Rates from the sharpest probabilities `p^(1/t) / sum p^(1/t)`, `t >= 1`, under which no rate is too high.
fn tempered_rates(
    probabilities: &[f64],
    labels: &[usize],
    classes: usize,
    rate: f64,
) -> Result<BoundaryRates> {
    let rates_at = |sharpness: f64| {
        corrupt::boundary_rates(&tempered(probabilities, classes, sharpness), labels, classes, rate)
    };
    // A mean above the limit cannot be kept below it: then all rows have the same rate.
    let limit = HIGHEST_RATE.max(rate);
    let is_mild = |noise: &BoundaryRates| noise.rates.iter().all(|&rate| rate <= limit);
    let (mut mild, mut sharp) = (0.0, 1.0);
    // Probabilities may be so certain that the rate cannot be reached: that is too sharp as well.
    if let Ok(noise) = rates_at(sharp)
        && is_mild(&noise)
    {
        return Ok(noise);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (mild + sharp);
        match rates_at(middle) {
            Ok(noise) if is_mild(&noise) => mild = middle,
            _ => sharp = middle,
        }
    }
    Ok(rates_at(mild)?)
}

fn tempered(probabilities: &[f64], classes: usize, sharpness: f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(probabilities.len());
    for row in probabilities.chunks_exact(classes) {
        let start = out.len();
        // 1e-300 to the power of a small sharpness is not small: impossible classes stay comparable.
        out.extend(row.iter().map(|p| p.max(1e-300).powf(sharpness)));
        let total: f64 = out[start..].iter().sum();
        out[start..].iter_mut().for_each(|p| *p /= total);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rate_exceeds_one_half_and_close_rows_have_the_highest() {
        // Nearly all rows are certain, so that the untempered rates would be 1 for the few that are not.
        let margins: Vec<f64> = (0..1000).map(|row| f64::from(row) / 999.0).collect();
        let probabilities: Vec<f64> = margins
            .iter()
            .flat_map(|margin| {
                let p = 1.0 / (1.0 + (-40.0 * margin).exp());
                [p, 1.0 - p]
            })
            .collect();
        let labels = vec![0; 1000];
        let noise = tempered_rates(&probabilities, &labels, 2, 0.2).unwrap();
        let highest = noise.rates.iter().copied().fold(0.0, f64::max);
        let mean = noise.rates.iter().sum::<f64>() / 1000.0;
        assert!(highest <= 0.5 + 1e-9 && highest > 0.45, "{highest}");
        assert!((mean - 0.2).abs() < 1e-6, "{mean}");
        assert!(noise.rates.is_sorted_by(|a, b| a >= b));
        assert!(noise.destinations.iter().all(|&to| to == 1));
    }
}
