//! The paper's four losses: cross-entropy, Student-t (`nu = 3`), Huber (`delta = 1`) and the generalised
//! cross-entropy (`q = 0.7`), each a function `phi(l)` of the row's cross-entropy `l`:
//!
//! ```text
//! L = phi(l)        dL/dz_k = phi'(l) (p_k - [k = y])
//! ```
//!
//! The functions and their citations are in [`nbam::loss`].

use nbam::loss::RobustLoss;
use serde_json::{Value, json};

use super::network::{Answer, Task};
use super::row_loss::{Row, RowLoss};
use crate::error::Result;

impl RowLoss for RobustLoss {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        let l = row.cross_entropy();
        let weight = self.derivative(l);
        for (class, slope) in gradient.iter_mut().enumerate() {
            *slope = weight * row.cross_entropy_slope(class);
        }
        self.value(l)
    }
}

pub(super) fn settings(loss: RobustLoss) -> Value {
    json!({"loss": loss.to_string()})
}

pub(super) fn run(mut loss: RobustLoss, task: &Task<'_>) -> Result<Answer> {
    task.answer_of_loss(&mut loss)
}
