//! NCE + RCE, an active passive loss: X. Ma, H. Huang, Y. Wang, S. Romano, S. Erfani, J. Bailey, "Normalized loss functions
//! for deep learning with noisy labels", ICML 2020.
//!
//! The cross-entropy divided by its sum over all labels, and the reverse cross-entropy with `log 0` taken for `A`:
//!
//! ```text
//! L = alpha NCE + beta RCE        NCE = l_y / S        S = sum_k l_k        l_k = -log p_k        RCE = -A (1 - p_y)
//! dNCE/dz_j = (p_j - [j = y]) / S - l_y (K p_j - 1) / S^2
//! dRCE/dz_j = A p_y ([j = y] - p_j)
//! ```
//!
//! with `alpha = beta = 1` for CIFAR-10 as published, and `A = log 1e-4` as in the authors' code.

use serde_json::{Value, json};

use super::network::{Answer, Task};
use super::row_loss::{Row, RowLoss};
use super::symmetric::ZERO;
use crate::error::Result;

pub(super) struct Normalised {
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

const PUBLISHED: Normalised = Normalised { alpha: 1.0, beta: 1.0 };

impl RowLoss for Normalised {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let log_zero = ZERO.ln();
        let classes = row.p.len() as f64;
        // At least K log K, as the classes' probabilities cannot all be large.
        let sum = -row.log_p.iter().sum::<f64>();
        let share = row.cross_entropy() / sum;
        for (class, slope) in gradient.iter_mut().enumerate() {
            let of_sum = classes * row.p[class] - 1.0;
            let normalised = (row.cross_entropy_slope(class) - share * of_sum) / sum;
            *slope = self.alpha * normalised + self.beta * row.reverse_cross_entropy_slope(class, log_zero);
        }
        self.alpha * share + self.beta * row.reverse_cross_entropy(log_zero)
    }
}

pub(super) fn settings() -> Value {
    json!({"alpha": PUBLISHED.alpha, "beta": PUBLISHED.beta, "zero": ZERO})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let mut loss = PUBLISHED;
    task.answer_of_loss(&mut loss)
}
