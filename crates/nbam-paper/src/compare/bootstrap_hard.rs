//! Hard bootstrapping: S. Reed, H. Lee, D. Anguelov, C. Szegedy, D. Erhan, A. Rabinovich, "Training deep neural networks
//! on noisy labels with bootstrapping", ICLR 2015 workshop.
//!
//! The target is a mean of the label and the class that the network itself thinks most probable:
//!
//! ```text
//! c = argmax_k p_k        L = -beta log p_y - (1 - beta) log p_c
//! dL/dz_j = p_j - beta [j = y] - (1 - beta) [j = c]
//! ```
//!
//! with `beta = 0.8`, the publication's. `c` counts as given: it jumps, and has no gradient.

use serde_json::{Value, json};

use super::network::{Answer, Task, largest};
use super::row_loss::{Row, RowLoss};
use crate::error::Result;

pub(super) struct HardBootstrap {
    pub(super) beta: f64,
}

const PUBLISHED: HardBootstrap = HardBootstrap { beta: 0.8 };

impl RowLoss for HardBootstrap {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let own = Row { label: largest(row.log_p), ..*row };
        let mix = |label: f64, own: f64| self.beta * label + (1.0 - self.beta) * own;
        for (class, slope) in gradient.iter_mut().enumerate() {
            *slope = mix(row.cross_entropy_slope(class), own.cross_entropy_slope(class));
        }
        mix(row.cross_entropy(), own.cross_entropy())
    }
}

pub(super) fn settings() -> Value {
    json!({"beta": PUBLISHED.beta})
}

pub(super) fn run(task: &Task<'_>) -> Result<Answer> {
    let mut loss = PUBLISHED;
    task.answer_of_loss(&mut loss)
}
