//! Early-learning regularisation (ELR): S. Liu, J. Niles-Weed, N. Razavian, C. Fernandez-Granda, "Early-learning
//! regularization prevents memorization of noisy labels", NeurIPS 2020.
//!
//! Each row has a target `t`, the running mean of what the network said of it; agreeing with it is rewarded, so that what was
//! learned before wrong labels are memorised is not given up:
//!
//! ```text
//! t <- beta t + (1 - beta) p        L = l + lambda log(1 - <t, p>)
//! dL/dz_j = p_j - [j = y] - lambda p_j (t_j - <t, p>) / (1 - <t, p>)
//! ```
//!
//! with `lambda = 3` and `beta = 0.7`, the publication's for CIFAR-10 with symmetric noise. For asymmetric noise it has others
//! (1 and 0.9); a method that is not told the kind of noise has to do with one pair. As in the authors' code, `t` starts at zero, is
//! updated before the loss is taken, counts as given in the gradient, and sees probabilities no closer to 0 and 1 than
//! 1e-4: `1 - <t, p>` stays above that.

use serde_json::{Value, json};

use super::network::{Answer, Task};
use super::row_loss::{Row, RowLoss};
use crate::error::Result;

pub(super) struct EarlyLearning {
    lambda: f64,
    beta: f64,
    /// `t` of every row, row after row.
    targets: Vec<f64>,
}

const LAMBDA: f64 = 3.0;
const BETA: f64 = 0.7;
/// How close to 0 and 1 the probabilities come that enter `t`.
const MARGIN: f64 = 1e-4;

impl EarlyLearning {
    /// For this many rows and classes.
    pub(super) fn new(lambda: f64, beta: f64, rows: usize, classes: usize) -> Self {
        Self { lambda, beta, targets: vec![0.0; rows * classes] }
    }

    /// Moves the row's target towards what the network says now.
    fn update(&mut self, row: &Row<'_>) {
        let classes = row.p.len();
        let targets = &mut self.targets[row.index * classes..(row.index + 1) * classes];
        let clamped = |p: &f64| p.clamp(MARGIN, 1.0 - MARGIN);
        let total: f64 = row.p.iter().map(clamped).sum();
        for (target, p) in targets.iter_mut().zip(row.p) {
            *target = self.beta * *target + (1.0 - self.beta) * clamped(p) / total;
        }
    }

    /// The loss with the target that the row has.
    pub(super) fn loss(&self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let classes = row.p.len();
        let targets = &self.targets[row.index * classes..(row.index + 1) * classes];
        let agreement: f64 = targets.iter().zip(row.p).map(|(target, p)| target * p).sum();
        for (class, slope) in gradient.iter_mut().enumerate() {
            let pull = row.p[class] * (targets[class] - agreement) / (1.0 - agreement);
            *slope = row.cross_entropy_slope(class) - self.lambda * pull;
        }
        row.cross_entropy() + self.lambda * (-agreement).ln_1p()
    }
}

impl RowLoss for EarlyLearning {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        self.update(row);
        self.loss(row, gradient)
    }
}

pub(super) fn settings() -> Value {
    json!({"lambda": LAMBDA, "beta": BETA, "margin": MARGIN})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    task.answer_of_loss(&mut EarlyLearning::new(LAMBDA, BETA, task.features.rows(), task.classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_running_means_of_each_row() {
        let mut loss = EarlyLearning::new(3.0, 0.7, 2, 2);
        let p = [0.9_f64, 0.1];
        let log_p = p.map(f64::ln);
        let row = Row { index: 1, label: 0, log_p: &log_p, p: &p };
        let mut gradient = [0.0; 2];
        for _ in 0..2 {
            loss.row(&row, &mut gradient);
        }
        // 0.3 p, then 0.7 * 0.3 p + 0.3 p.
        let share = 0.51;
        for (got, expected) in loss.targets.iter().zip([0.0, 0.0, share * 0.9, share * 0.1]) {
            assert!((got - expected).abs() < 1e-12, "{:?}", loss.targets);
        }
        // A network that is sure for ever does not reach the pole of the logarithm.
        let row = Row { p: &[1.0, 0.0], log_p: &[0.0, -800.0], ..row };
        for _ in 0..500 {
            assert!(loss.row(&row, &mut gradient).is_finite());
        }
        assert!(1.0 - loss.targets[2] > 0.9 * MARGIN);
        assert!(gradient.iter().all(|slope| slope.is_finite()));
    }
}
