//! Confident learning: C. G. Northcutt, L. Jiang, I. L. Chuang, "Confident learning: estimating uncertainty in dataset
//! labels", Journal of Artificial Intelligence Research 70, 2021.
//!
//! Probabilities of each row come from a network that has not seen it (five folds, cross-entropy). Class `j` has the
//! threshold `t_j`, the mean of `p(j|x)` over the rows labelled `j`. A row labelled `i` is counted as
//!
//! ```text
//! C[i, j] += 1        j = argmax of p(k|x) over the classes with p(k|x) >= t_k
//! ```
//!
//! (not at all if there is no such class). Rows counted off the diagonal are pruned, and a fresh network is trained
//! on the others with cross-entropy, class `i` weighted by
//!
//! ```text
//! w_i = sum_k Q[k, i] / Q[i, i]        Q[i, j] ~ C[i, j] / sum_k C[i, k] * rows labelled i
//! ```
//!
//! to make up for the rows that it lost. The score is one minus the self-confidence, `1 - p(y|x)` out of sample. There is nothing to be set.
//! Features are scaled by all training rows, and every network takes all epochs.

use nbam::loss::RobustLoss;
use serde_json::{Value, json};

use super::network::{Answer, Task, fit};
use super::row_loss::{Row, RowLoss};
use crate::error::{Error, ErrorKind, Result};
use crate::identify::{FOLDS, folds};

/// Cross-entropy with a weight for each class.
pub(super) struct Weighted {
    pub(super) weights: Vec<f64>,
}

impl RowLoss for Weighted {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let weight = self.weights[row.label];
        for (class, slope) in gradient.iter_mut().enumerate() {
            *slope = weight * row.cross_entropy_slope(class);
        }
        weight * row.cross_entropy()
    }
}

/// What the confident joint says: which rows are kept, and what each class weighs.
struct Pruned {
    kept: Vec<u32>,
    weights: Vec<f64>,
}

/// Counts the confident joint from probabilities, row after row.
fn prune(p: &[f64], labels: &[usize], classes: usize) -> Pruned {
    let mut counts = vec![0.0; classes];
    let mut thresholds = vec![0.0; classes];
    for (p, &label) in p.chunks_exact(classes).zip(labels) {
        counts[label] += 1.0;
        thresholds[label] += p[label];
    }
    for (threshold, count) in thresholds.iter_mut().zip(&counts) {
        *threshold /= f64::max(*count, 1.0);
    }
    let mut joint = vec![0.0; classes * classes];
    let mut kept = Vec::new();
    for (row, (p, &label)) in p.chunks_exact(classes).zip(labels).enumerate() {
        let confident = (0..classes).filter(|&class| p[class] >= thresholds[class]);
        let class = confident.max_by(|&a, &b| p[a].total_cmp(&p[b]));
        if let Some(class) = class {
            joint[label * classes + class] += 1.0;
        }
        if class.is_none_or(|class| class == label) {
            kept.push(row as u32);
        }
    }
    // Rows that were not counted are taken to be like those of the same label that were.
    for (joint, count) in joint.chunks_exact_mut(classes).zip(&counts) {
        let total: f64 = joint.iter().sum();
        joint.iter_mut().for_each(|value| *value *= if total > 0.0 { count / total } else { 0.0 });
    }
    let weight = |class: usize| {
        let own = joint[class * classes + class];
        let all: f64 = (0..classes).map(|label| joint[label * classes + class]).sum();
        // A class of which no row is confidently right has nothing to be weighted by.
        if own > 0.0 { all / own } else { 1.0 }
    };
    Pruned { kept, weights: (0..classes).map(weight).collect() }
}

/// `log p(k|x)` of each row under a network that has not seen it.
fn out_of_sample(task: &Task<'_>) -> Result<Vec<f64>> {
    let fold_of = folds(task.labels, task.classes, task.seed);
    let mut log_p = vec![0.0; task.labels.len() * task.classes];
    for fold in 0..FOLDS {
        let (left_out, seen): (Vec<u32>, Vec<u32>) =
            task.all_rows().into_iter().partition(|&row| fold_of[row as usize] == fold);
        if left_out.is_empty() {
            continue;
        }
        let network = fit(task, &seen, task.epochs, &mut RobustLoss::CrossEntropy)?;
        let predicted = task.log_probabilities(&network, &task.features, &left_out);
        for (&row, predicted) in left_out.iter().zip(predicted.chunks_exact(task.classes)) {
            log_p[row as usize * task.classes..][..task.classes].copy_from_slice(predicted);
        }
    }
    Ok(log_p)
}

pub(super) fn settings() -> Value {
    json!({"folds": FOLDS, "prunes": "off the diagonal of the confident joint", "score": "self-confidence"})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let log_p = out_of_sample(task)?;
    let p: Vec<f64> = log_p.iter().map(|log_p| log_p.exp()).collect();
    let Pruned { kept, weights } = prune(&p, task.labels, task.classes);
    if kept.is_empty() {
        return Err(Error::new(ErrorKind::Method, "the confident joint leaves no row to train on"));
    }
    let network = fit(task, &kept, task.epochs, &mut Weighted { weights })?;
    let given = log_p.chunks_exact(task.classes).zip(task.labels);
    Ok(Answer {
        predicted: task.predict(&network),
        scores: given.map(|(log_p, &label)| -log_p[label].exp_m1()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_confident_joint_of_six_rows() {
        // Thresholds: (0.9 + 0.8 + 0.1 + 0.7) / 4 = 0.625 and (0.9 + 0.7) / 2 = 0.8.
        let first = [0.9, 0.8, 0.1, 0.7, 0.1, 0.3];
        let p: Vec<f64> = first.iter().flat_map(|&p| [p, 1.0 - p]).collect();
        let labels = [0, 0, 0, 0, 1, 1];
        let Pruned { kept, weights } = prune(&p, &labels, 2);
        // Row 2, labelled 0, is confidently of class 1; row 5 is of neither class and stays.
        assert_eq!(kept, [0, 1, 3, 4, 5]);
        // Counts (3, 1; 0, 1), and with row 5 (3, 1; 0, 2): weights 3 / 3 and 3 / 2.
        assert_eq!(weights, [1.0, 1.5]);
    }

    #[test]
    fn a_class_without_confident_rows_keeps_its_weight() {
        let p = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let Pruned { kept, weights } = prune(&p, &[0, 1], 3);
        assert_eq!(kept, [0]);
        assert!(weights.iter().all(|weight| weight.is_finite()));
    }
}
