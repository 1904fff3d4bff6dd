use num_traits::Float;

use super::RobustLoss;
use crate::switch::{self, Known, Row};

/// The switch with a robust loss as its clean branch: `-phi(l)` takes the place of `log p(y | x)`,
///
/// ```text
/// L = -ln[ (1 - pi) exp(-phi(l)) + pi exp(a) ]        r = sigmoid(g + phi(l) + a)
/// dL/dl = (1 - r) phi'(l)        dL/da = -r        dL/dg = pi - r
/// ```
///
/// with `pi = sigmoid(g)`, and `r` fixed where the switch is `known`. The paper names this composition as
/// future work. `d_clean` of the result is the gradient with respect to `l`, so a training loop needs no
/// change.
///
/// # What is lost
///
/// Only cross-entropy keeps the reading as a probability. For the others `exp(-phi(l))` does not sum to one
/// over the classes, so `L` is no negative log-likelihood, `r` is a score between 0 and 1 and not the
/// probability that the row is contaminated, and the Occam cost of the anomaly branch is measured against a
/// moved zero. In particular:
///
/// * GCE is bounded by `1 / q`, so `r` never exceeds `sigmoid(g + 1 / q + a)`, however badly the row fits.
///   With the paper's q = 0.7, ten classes, a uniform anomaly branch and a prior of 0.1, that is 0.044:
///   nothing is flagged.
/// * Student-t grows like `(nu + 1) ln l`. With nu = 3 it stays within 0.6 of `l` up to `l = 5` and falls
///   ever further behind beyond, so `r` reaches 1 more slowly than the likelihood's.
/// * Huber grows like `delta l`. With delta = 1 it lies at most half a unit below `l`, and `r` is close to
///   the likelihood's.
pub fn composed<T: Float>(loss: &RobustLoss, l: T, g: T, a: T, known: Known) -> Row<T> {
    let mut row = switch::row(loss.value(l), g, a, known);
    row.d_clean = row.d_clean * loss.derivative(l);
    row
}
