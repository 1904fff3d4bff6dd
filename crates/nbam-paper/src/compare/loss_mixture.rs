//! A two-component Gaussian mixture on the losses of rows, the detector inside DivideMix: J. Li, R. Socher, S. C. H. Hoi,
//! "DivideMix: learning with noisy labels as semi-supervised learning", ICLR 2020, after E. Arazo, D. Ortego, P. Albert,
//! N. O'Connor, K. McGuinness, "Unsupervised label noise modeling and loss correction", ICML 2019.
//!
//! A network is warmed up with cross-entropy for a few epochs, before it memorises labels. The losses of the training rows,
//! brought to the range 0 to 1, are taken for draws from
//!
//! ```text
//! w_0 N(m_0, s_0^2) + w_1 N(m_1, s_1^2)        m_0 < m_1
//! ```
//!
//! which EM fits; a row is clean with the probability of component 0 given its loss. The score is the log odds of
//! component 1: it ranks as one minus that probability does, but without the ties that rounding to 1 would make.
//!
//! As published: 10 epochs of warm-up, at most 10 rounds of EM, an end when the mean log-likelihood gains less than 0.01, and 5e-4
//! added to variances. Left out is what DivideMix goes on to do, semi-supervised training of two networks, and the confidence
//! penalty that it adds to the warm-up when it is told that noise is asymmetric. So the accuracy is that of a *plain network
//! stopped after the warm-up*, and not DivideMix's.

use nbam::loss::RobustLoss;
use nbam::switch::{log_sigmoid, sigmoid};
use serde_json::{Value, json};

use super::network::{Answer, Task, fit};
use crate::error::Result;

const WARM_UP: usize = 10;
const ROUNDS: usize = 10;
const LEAST_GAIN: f64 = 1e-2;
const ADDED_VARIANCE: f64 = 5e-4;
/// Rounds of 2-means that may be needed to start from; far more than are.
const START_ROUNDS: usize = 100;

/// One component of the mixture.
#[derive(Debug, Clone, Copy)]
struct Component {
    weight: f64,
    mean: f64,
    variance: f64,
}

impl Component {
    /// The component that these rows make, each counted with its share.
    fn of(values: &[f64], share: impl Fn(usize) -> f64) -> Self {
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            values.iter().enumerate().map(|(row, &value)| share(row) * of(value)).sum()
        };
        let count = sum(&|_| 1.0).max(f64::MIN_POSITIVE);
        let mean = sum(&|value| value) / count;
        let variance = sum(&|value| (value - mean).powi(2)) / count + ADDED_VARIANCE;
        Self { weight: count / values.len() as f64, mean, variance }
    }

    /// `log (w N(value; m, s^2))`.
    fn log_joint(&self, value: f64) -> f64 {
        let distance = (value - self.mean).powi(2) / self.variance;
        self.weight.ln() - 0.5 * (distance + (std::f64::consts::TAU * self.variance).ln())
    }
}

/// The log odds that each value is of the component with the larger mean.
fn log_odds(losses: &[f64]) -> Vec<f64> {
    let low = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let high = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high <= low {
        return vec![0.0; losses.len()];
    }
    let values: Vec<f64> = losses.iter().map(|loss| (loss - low) / (high - low)).collect();
    let border = two_means(&values);
    let is_high = |row: usize| f64::from(u8::from(values[row] > border));
    let mut small = Component::of(&values, |row| 1.0 - is_high(row));
    let mut large = Component::of(&values, is_high);
    let odds = |small: &Component, large: &Component| -> Vec<f64> {
        values.iter().map(|&value| large.log_joint(value) - small.log_joint(value)).collect()
    };
    let mut before = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let log_odds = odds(&small, &large);
        let likelihoods =
            values.iter().zip(&log_odds).map(|(&value, odds)| small.log_joint(value) - log_sigmoid(-*odds));
        let now = likelihoods.sum::<f64>() / values.len() as f64;
        small = Component::of(&values, |row| sigmoid(-log_odds[row]));
        large = Component::of(&values, |row| sigmoid(log_odds[row]));
        if (now - before).abs() < LEAST_GAIN {
            break;
        }
        before = now;
    }
    if small.mean <= large.mean { odds(&small, &large) } else { odds(&large, &small) }
}

/// The value halfway between the means of two clusters, which start at 0 and 1.
fn two_means(values: &[f64]) -> f64 {
    let mut border = 0.5;
    for _ in 0..START_ROUNDS {
        let mean = |is_above: bool| {
            let side = || values.iter().filter(|&&value| (value > border) == is_above);
            side().sum::<f64>() / side().count().max(1) as f64
        };
        let next = 0.5 * (mean(false) + mean(true));
        if next == border {
            break;
        }
        border = next;
    }
    border
}

pub(super) fn settings() -> Value {
    json!({
        "warm_up_epochs": WARM_UP,
        "rounds": ROUNDS,
        "least_gain": LEAST_GAIN,
        "added_variance": ADDED_VARIANCE,
        "predicts": "the warmed-up network",
    })
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let rows = task.all_rows();
    let network = fit(task, &rows, task.epochs.min(WARM_UP), &mut RobustLoss::CrossEntropy)?;
    let log_p = task.log_probabilities(&network, &task.features, &rows);
    let given = log_p.chunks_exact(task.classes).zip(task.labels);
    let losses: Vec<f64> = given.map(|(log_p, &label)| -log_p[label]).collect();
    Ok(Answer { predicted: task.predict(&network), scores: log_odds(&losses) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    #[test]
    fn two_clusters_are_told_apart() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let is_large: Vec<bool> = (0..2000).map(|row| row % 5 == 0).collect();
        let losses: Vec<f64> = is_large
            .iter()
            .map(|&is_large| {
                let draw: f64 = random.sample(StandardNormal);
                if is_large { 6.0 + draw } else { 0.5 + 0.3 * draw }
            })
            .collect();
        let odds = log_odds(&losses);
        let right = odds.iter().zip(&is_large).filter(|(odds, is_large)| (**odds > 0.0) == **is_large);
        assert!(right.count() > 1990);
        // A row between the means is less certain than one at either.
        assert!(odds.iter().any(|odds| *odds > 5.0) && odds.iter().any(|odds| *odds < -3.0));
    }

    #[test]
    fn equal_losses_say_nothing() {
        assert_eq!(log_odds(&[0.7; 4]), [0.0; 4]);
        assert!(log_odds(&[0.1, 0.1, 0.9]).iter().all(|odds| odds.is_finite()));
    }
}
