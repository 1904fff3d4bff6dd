//! Co-teaching: B. Han, Q. Yao, X. Yu, G. Niu, M. Xu, W. Hu, I. Tsang, M. Sugiyama, "Co-teaching: robust training of
//! deep neural networks with extremely noisy labels", NeurIPS 2018.
//!
//! Two networks see the same batches. Each picks the rows whose cross-entropy it finds smallest, and the *other* one is
//! trained on them. The share of a batch that is kept falls over the first `T_k` epochs,
//!
//! ```text
//! R(t) = 1 - tau min(t / T_k, 1)
//! ```
//!
//! with `T_k = 10` and `tau` the share of wrong labels, both as in the publication. `tau` has to be known: the method is told
//! the true share, which no other method here is. Prediction and score `1 - p(y|x)` are the first network's, so that one network is
//! compared with one network.

use nbam::loss::RobustLoss;
use serde_json::{Value, json};

use super::network::{Answer, Learner, Task, each_batch};
use crate::error::Result;

/// Epochs in which the share of kept rows falls.
const GRADUAL: usize = 10;

/// `R(t)`.
fn kept_share(epoch: usize, wrong_share: f64) -> f64 {
    1.0 - wrong_share * (epoch as f64 / GRADUAL as f64).min(1.0)
}

/// One over their number for the rows with the smallest losses, 0 for the others.
fn weights_of_smallest(losses: &[f64], share: f64) -> Vec<f64> {
    let count = ((share * losses.len() as f64) as usize).clamp(1, losses.len().max(1));
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.sort_by(|&a, &b| losses[a].total_cmp(&losses[b]));
    let mut weights = vec![0.0; losses.len()];
    order.iter().take(count).for_each(|&place| weights[place] = 1.0 / count as f64);
    weights
}

pub(super) fn settings() -> Value {
    json!({"forget_rate": "the true share of wrong labels", "gradual_epochs": GRADUAL, "predicts": "first network"})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let rows = task.all_rows();
    let mut first = Learner::new(task, rows.len(), task.seed)?;
    // Far away in seed space, so that no neighbouring seed has the same network.
    let mut second = Learner::new(task, rows.len(), task.seed.wrapping_add(0x9E37_79B9_7F4A_7C15))?;
    each_batch(task, &rows, task.epochs, |epoch, batch| {
        let share = kept_share(epoch, task.wrong_share);
        let pick = |learner: &mut Learner| {
            let log_p = learner.look(task, batch).chunks_exact(task.classes);
            let losses: Vec<f64> =
                batch.iter().zip(log_p).map(|(&row, log_p)| -log_p[task.labels[row as usize]]).collect();
            weights_of_smallest(&losses, share)
        };
        let (of_first, of_second) = (pick(&mut first), pick(&mut second));
        first.learn(task, batch, &of_second, &mut RobustLoss::CrossEntropy)?;
        second.learn(task, batch, &of_first, &mut RobustLoss::CrossEntropy)
    })?;
    Ok(task.answer(&first.network))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_losses_are_kept() {
        assert_eq!(weights_of_smallest(&[3.0, 1.0, 2.0, 4.0], 0.5), [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(weights_of_smallest(&[3.0, 1.0, 2.0], 0.1), [0.0, 1.0, 0.0]);
        let shares: Vec<f64> = [0, 5, 10, 50].map(|epoch| kept_share(epoch, 0.4)).to_vec();
        assert_eq!(shares, [1.0, 0.8, 0.6, 0.6]);
    }
}
