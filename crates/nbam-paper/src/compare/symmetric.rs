//! Symmetric cross-entropy (SCE): Y. Wang, X. Ma, Z. Chen, Y. Luo, J. Yi, J. Bailey, "Symmetric cross entropy for robust
//! learning with noisy labels", ICCV 2019.
//!
//! The cross-entropy and its reverse, in which label and prediction change places and `log 0` is taken for a number `A`:
//!
//! ```text
//! L = alpha l + beta RCE        RCE = -sum_k p_k log [k = y] = -A (1 - p_y)
//! dL/dz_j = alpha (p_j - [j = y]) + beta A p_y ([j = y] - p_j)
//! ```
//!
//! with `alpha = 0.1` and `beta = 1` for CIFAR-10 as published, and `A = log 1e-4` as in the authors' code.

use serde_json::{Value, json};

use super::network::{Answer, Task};
use super::row_loss::{Row, RowLoss};
use crate::error::Result;

pub(super) struct Symmetric {
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

const PUBLISHED: Symmetric = Symmetric { alpha: 0.1, beta: 1.0 };
/// What the authors put in place of a probability of zero.
pub(super) const ZERO: f64 = 1e-4;

impl RowLoss for Symmetric {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let log_zero = ZERO.ln();
        for (class, slope) in gradient.iter_mut().enumerate() {
            *slope = self.alpha * row.cross_entropy_slope(class)
                + self.beta * row.reverse_cross_entropy_slope(class, log_zero);
        }
        self.alpha * row.cross_entropy() + self.beta * row.reverse_cross_entropy(log_zero)
    }
}

pub(super) fn settings() -> Value {
    json!({"alpha": PUBLISHED.alpha, "beta": PUBLISHED.beta, "zero": ZERO})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let mut loss = PUBLISHED;
    task.answer_of_loss(&mut loss)
}
