use num_traits::Float;

use super::{check_positive, constant};
use crate::Result;

/// The Huber loss of the cross-entropy `l`,
///
/// ```text
/// phi(l)  = l^2 / 2                  if |l| <= delta
///           delta (|l| - delta / 2)  otherwise
/// phi'(l) = l clipped to [-delta, delta]
/// ```
///
/// The pull of a row grows with `l` up to delta and is clipped there. A row that fits well (`l` near 0)
/// hardly pulls at all, which is where this differs most from cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// The paper's delta = 1.
    pub const PAPER: Self = Self { delta: 1.0 };

    /// A loss that turns linear at `delta > 0`.
    ///
    /// # Errors
    /// When `delta` is not a positive finite number.
    pub fn new(delta: f64) -> Result<Self> {
        check_positive("Huber", "delta", delta).map(|delta| Self { delta })
    }

    /// Where the loss turns linear.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// phi(l).
    pub fn value<T: Float>(&self, l: T) -> T {
        let delta = constant::<T>(self.delta);
        let half = constant::<T>(0.5);
        let size = l.abs();
        if size <= delta { half * size * size } else { delta * (size - half * delta) }
    }

    /// phi'(l).
    pub fn derivative<T: Float>(&self, l: T) -> T {
        let delta = constant::<T>(self.delta);
        // Not min and max: they would turn a NaN into a plausible number.
        if l > delta {
            delta
        } else if l < -delta {
            -delta
        } else {
            l
        }
    }
}

impl Default for Huber {
    fn default() -> Self {
        Self::PAPER
    }
}
