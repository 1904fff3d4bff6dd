use num_traits::Float;

use super::{check_positive, constant};
use crate::Result;
use crate::error::{Error, ErrorKind};

/// The generalised cross-entropy of Zhang and Sabuncu (2018), with `p = exp(-l)` the probability of the given
/// class:
///
/// ```text
/// phi(l)  = (1 - p^q) / q = (1 - exp(-q l)) / q
/// phi'(l) = p^q           = exp(-q l)
/// ```
///
/// It bridges cross-entropy (`q -> 0`) and the mean absolute error `1 - p` (`q = 1`), and never exceeds `1 /
/// q`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Gce {
    q: f64,
}

impl Gce {
    /// The paper's q = 0.7.
    pub const PAPER: Self = Self { q: 0.7 };

    /// A loss with exponent `0 < q <= 1`.
    ///
    /// # Errors
    /// When `q` is not in (0, 1].
    pub fn new(q: f64) -> Result<Self> {
        if q > 1.0 {
            return Err(Error::new(
                ErrorKind::Parameter,
                format!("q of the GCE loss must be at most 1, got {q}"),
            )
            .with_hint("q = 1 is the mean absolute error, the most robust member of the family"));
        }
        check_positive("GCE", "q", q).map(|q| Self { q })
    }

    /// The exponent.
    pub fn q(&self) -> f64 {
        self.q
    }

    /// phi(l).
    pub fn value<T: Float>(&self, l: T) -> T {
        let q = constant::<T>(self.q);
        // exp_m1 keeps the digits of small l that 1 - exp(-q l) cancels away.
        -(-q * l).exp_m1() / q
    }

    /// phi'(l).
    pub fn derivative<T: Float>(&self, l: T) -> T {
        (-constant::<T>(self.q) * l).exp()
    }
}

impl Default for Gce {
    fn default() -> Self {
        Self::PAPER
    }
}
