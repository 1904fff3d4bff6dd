//! Forward correction with an estimated transition matrix: G. Patrini, A. Rozza, A. K. Menon, R. Nock, L. Qu, "Making
//! deep neural networks robust to label noise: a loss correction approach", CVPR 2017.
//!
//! ```text
//! L = -log sum_k p_k T[k, y]        dL/dz_j = p_j - p_j T[j, y] / sum_k p_k T[k, y]
//! ```
//!
//! `T[k, j]` is the probability that a row of class `k` is labelled `j`. It is read off a network that was trained with
//! cross-entropy: row `k` of `T` is what that network says of a row that is certainly of class `k`,
//!
//! ```text
//! x_k = argmax_x p(k|x)        T[k, j] = p(j|x_k)
//! ```
//!
//! with the maximum over the training rows below the 97th percentile of `p(k|x)`, as the authors do for CIFAR-10. Then a
//! fresh network is trained with the corrected loss. Both take all epochs. The authors keep the networks with the lowest
//! loss on left-out rows instead; a first network that has memorised its labels gives a matrix too close to the identity.

use serde_json::{Value, json};

use super::network::{Answer, Task, fit};
use super::row_loss::{Row, RowLoss};
use crate::error::Result;
use nbam::loss::RobustLoss;

/// The share of rows above which `p(k|x)` is taken for an outlier.
const PERCENTILE: f64 = 0.97;

/// The corrected loss, with the logarithms of the matrix, row after row.
pub(super) struct Forward {
    log_transition: Vec<f64>,
    joint: Vec<f64>,
}

impl Forward {
    /// `log_transition` holds `log T[k, j]`, `classes` rows of as many columns.
    pub(super) fn new(log_transition: Vec<f64>, classes: usize) -> Self {
        Self { log_transition, joint: vec![0.0; classes] }
    }
}

impl RowLoss for Forward {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let classes = self.joint.len();
        // log p_k T[k, y] in log space: neither factor may underflow.
        for (class, joint) in self.joint.iter_mut().enumerate() {
            *joint = row.log_p[class] + self.log_transition[class * classes + row.label];
        }
        let high = self.joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = high + self.joint.iter().map(|joint| (joint - high).exp()).sum::<f64>().ln();
        for (class, slope) in gradient.iter_mut().enumerate() {
            *slope = row.p[class] - (self.joint[class] - log_sum).exp();
        }
        -log_sum
    }
}

/// `log T` from `log p(k|x)` of the training rows.
fn estimate(log_p: &[f64], classes: usize) -> Vec<f64> {
    let rows = log_p.len() / classes;
    let mut log_transition = Vec::with_capacity(classes * classes);
    for class in 0..classes {
        let value = |row: usize| log_p[row * classes + class];
        let mut sorted: Vec<f64> = (0..rows).map(value).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let threshold = sorted[(PERCENTILE * (rows - 1) as f64).ceil() as usize];
        // All rows may be equal; then any of them will do.
        let below = (0..rows).filter(|&row| value(row) < threshold);
        let best = below.max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or(0);
        // A row of the softmax sums to one already.
        log_transition.extend_from_slice(&log_p[best * classes..(best + 1) * classes]);
    }
    log_transition
}

pub(super) fn settings() -> Value {
    json!({"transition": "estimated by cross-entropy", "percentile": PERCENTILE})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let rows = task.all_rows();
    let plain = fit(task, &rows, task.epochs, &mut RobustLoss::CrossEntropy)?;
    let log_transition = estimate(&task.log_probabilities(&plain, &task.features, &rows), task.classes);
    task.answer_of_loss(&mut Forward::new(log_transition, task.classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_read_off_the_best_row_that_is_no_outlier() {
        // 100 rows of two classes; row 99 is the surest of class 0, rows 96 to 98 come next.
        let log_p: Vec<f64> = (0..100)
            .flat_map(|row| {
                let p = 0.1 + 0.008 * f64::from(row);
                [p.ln(), (1.0 - p).ln()]
            })
            .collect();
        let transition: Vec<f64> = estimate(&log_p, 2).iter().map(|value| value.exp()).collect();
        // The threshold is row 97 (of 0 to 99) for class 0 and, in reverse order, row 2 for class 1.
        let expected = [0.1 + 0.008 * 96.0, 0.9 - 0.008 * 96.0, 0.1 + 0.008 * 3.0, 0.9 - 0.008 * 3.0];
        for (got, expected) in transition.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{transition:?}");
        }
        // Rows that are all the same give a matrix all the same.
        assert_eq!(estimate(&[0.5_f64.ln(); 8], 2), [0.5_f64.ln(); 4]);
    }
}
