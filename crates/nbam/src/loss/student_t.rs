use num_traits::Float;

use super::{check_positive, constant};
use crate::Result;

/// The Student-t loss of the cross-entropy `l`,
///
/// ```text
/// phi(l)  = (nu + 1) / 2 * ln(1 + l^2 / nu)
/// phi'(l) = (nu + 1) l / (nu + l^2)
/// ```
///
/// the negative logarithm of a Student-t density at residual `l`, up to its constant. The pull of a row is
/// greatest at `l = sqrt(nu)` and fades beyond: rows that fit very badly are let go.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentT {
    nu: f64,
}

impl StudentT {
    /// The paper's nu = 3.
    pub const PAPER: Self = Self { nu: 3.0 };

    /// A loss with `nu > 0` degrees of freedom.
    ///
    /// # Errors
    /// When `nu` is not a positive finite number.
    pub fn new(nu: f64) -> Result<Self> {
        check_positive("Student-t", "nu", nu).map(|nu| Self { nu })
    }

    /// The degrees of freedom.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// phi(l).
    pub fn value<T: Float>(&self, l: T) -> T {
        let half_power = constant::<T>((self.nu + 1.0) / 2.0);
        let scaled = l.abs() / constant::<T>(self.nu).sqrt();
        // The square overflows long before its logarithm does: beyond 1, ln(1 + s^2) = 2 ln s + ln(1 + s^-2).
        let logarithm = if scaled <= T::one() {
            (scaled * scaled).ln_1p()
        } else {
            let inverse = scaled.recip();
            scaled.ln() + scaled.ln() + (inverse * inverse).ln_1p()
        };
        half_power * logarithm
    }

    /// phi'(l).
    pub fn derivative<T: Float>(&self, l: T) -> T {
        let root = constant::<T>(self.nu).sqrt();
        let scaled = l / root;
        // s / (1 + s^2), written so that neither the square nor the quotient overflows.
        let slope = if scaled.abs() <= T::one() {
            scaled / (T::one() + scaled * scaled)
        } else {
            let inverse = scaled.recip();
            inverse / (T::one() + inverse * inverse)
        };
        constant::<T>(self.nu + 1.0) / root * slope
    }
}

impl Default for StudentT {
    fn default() -> Self {
        Self::PAPER
    }
}
