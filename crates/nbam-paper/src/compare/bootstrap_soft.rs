//! Soft bootstrapping: S. Reed, H. Lee, D. Anguelov, C. Szegedy, D. Erhan, A. Rabinovich, "Training deep neural networks
//! on noisy labels with bootstrapping", ICLR 2015 workshop.
//!
//! The target is a mean of the label and the network's own opinion:
//!
//! ```text
//! L = -sum_k (beta [k = y] + (1 - beta) p_k) log p_k = beta l + (1 - beta) H(p)
//! dL/dz_j = beta (p_j - [j = y]) - (1 - beta) p_j (log p_j + H(p))
//! ```
//!
//! with `beta = 0.95`, the publication's.

use serde_json::{Value, json};

use super::network::{Answer, Task};
use super::row_loss::{Row, RowLoss};
use crate::error::Result;

pub(super) struct SoftBootstrap {
    pub(super) beta: f64,
}

const PUBLISHED: SoftBootstrap = SoftBootstrap { beta: 0.95 };

impl RowLoss for SoftBootstrap {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let entropy = -row.p.iter().zip(row.log_p).map(|(p, log_p)| p * log_p).sum::<f64>();
        for (class, slope) in gradient.iter_mut().enumerate() {
            let own = row.p[class] * (row.log_p[class] + entropy);
            *slope = self.beta * row.cross_entropy_slope(class) - (1.0 - self.beta) * own;
        }
        self.beta * row.cross_entropy() + (1.0 - self.beta) * entropy
    }
}

pub(super) fn settings() -> Value {
    json!({"beta": PUBLISHED.beta})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let mut loss = PUBLISHED;
    task.answer_of_loss(&mut loss)
}
