//! What a fit found by true class, and how its posterior is spread: all that the figures need.

use serde::{Deserialize, Serialize};

/// Bins of the posterior's histograms.
const BINS: usize = 40;

/// Means by true class over the training rows, and histograms of the posterior.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByClass {
    /// The mean prior `pi(x)` of each true class.
    pub prior: Vec<f64>,
    /// The mean of `q(y|x)`, a row for each true class and a column for each label.
    pub anomaly: Vec<Vec<f64>>,
    /// How many rows with right labels have their posterior in each of equal bins from 0 to 1.
    pub clean: Vec<u64>,
    /// The same of rows with wrong labels.
    pub contaminated: Vec<u64>,
}

impl ByClass {
    /// Nothing yet, for so many classes.
    pub(crate) fn new(classes: usize) -> Self {
        Self {
            prior: vec![0.0; classes],
            anomaly: vec![vec![0.0; classes]; classes],
            clean: vec![0; BINS],
            contaminated: vec![0; BINS],
        }
    }

    /// Means of the prior of each row.
    pub(crate) fn add_prior(&mut self, true_labels: &[usize], prior: &[f64]) {
        let counts = self.counts(true_labels);
        for (&label, prior) in true_labels.iter().zip(prior) {
            self.prior[label] += prior / counts[label];
        }
        self.prior.iter_mut().for_each(short);
    }

    /// Means of the anomaly distribution of each row, row-major.
    pub(crate) fn add_anomaly(&mut self, true_labels: &[usize], anomaly: &[f64]) {
        let counts = self.counts(true_labels);
        for (&label, row) in true_labels.iter().zip(anomaly.chunks_exact(counts.len().max(1))) {
            for (mean, q) in self.anomaly[label].iter_mut().zip(row) {
                *mean += q / counts[label];
            }
        }
        self.anomaly.iter_mut().flatten().for_each(short);
    }

    /// Histograms of the posterior of each row.
    pub(crate) fn add_posterior(&mut self, posterior: &[f64], is_wrong: &[bool]) {
        for (&posterior, &is_wrong) in posterior.iter().zip(is_wrong) {
            let bin = ((posterior * BINS as f64) as usize).min(BINS - 1);
            let counts = if is_wrong { &mut self.contaminated } else { &mut self.clean };
            counts[bin] += 1;
        }
    }

    fn counts(&self, labels: &[usize]) -> Vec<f64> {
        let mut counts = vec![0.0; self.prior.len()];
        labels.iter().for_each(|&label| counts[label] += 1.0);
        counts
    }
}

/// Five digits are enough for a figure and keep the file small.
fn short(value: &mut f64) {
    *value = (*value * 1e5).round() / 1e5;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_by_true_class_and_histograms_by_truth() {
        let mut found = ByClass::new(2);
        found.add_prior(&[0, 1, 1], &[0.5, 0.1, 0.3]);
        assert_eq!(found.prior, [0.5, 0.2]);
        found.add_anomaly(&[0, 1, 1], &[0.25, 0.75, 1.0, 0.0, 0.5, 0.5]);
        assert_eq!(found.anomaly, [[0.25, 0.75], [0.75, 0.25]]);
        found.add_posterior(&[0.0, 1.0, 0.024, 0.5], &[false, true, true, false]);
        assert_eq!((found.clean[0], found.clean[20], found.clean.iter().sum()), (1, 1, 2));
        assert_eq!((found.contaminated[0], found.contaminated[39]), (1, 1));
    }
}
