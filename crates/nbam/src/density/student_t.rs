//! Student's t density: an anomaly that reaches far.

use super::gaussian::Gradient;
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A t density with a fixed number of degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct StudentT {
    nu: f64,
    /// `log Gamma((nu + 1) / 2) - log Gamma(nu / 2) - log(nu pi) / 2`.
    log_norm: f64,
}

impl StudentT {
    /// A density with `nu > 0` degrees of freedom.
    ///
    /// # Errors
    /// When `nu` is not a positive number.
    pub fn new(nu: f64) -> Result<Self> {
        if !(nu > 0.0 && nu.is_finite()) {
            return Err(Error::new(ErrorKind::Parameter, format!("nu is {nu}, expected a positive number")));
        }
        let log_norm = libm::lgamma((nu + 1.0) / 2.0) - libm::lgamma(nu / 2.0) - 0.5 * (nu * PI).ln();
        Ok(Self { nu, log_norm })
    }

    /// `(nu + 1) / (nu + z^2)`: how much a value at `z` scales from the centre counts in an estimate of the
    /// centre and the scale (EM for the t density).
    pub fn scale_weight(&self, z: f64) -> f64 {
        (self.nu + 1.0) / (self.nu + z * z)
    }

    /// Degrees of freedom.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// `log t_nu((y - mean) / s) - log s` with `s = exp(log_sd)`, with its gradient.
    pub fn log_density(&self, y: f64, mean: f64, log_sd: f64) -> Gradient {
        let scale = log_sd.exp();
        let z = (y - mean) / scale;
        let bent = z * z / self.nu;
        let slope = (self.nu + 1.0) / self.nu * z / (1.0 + bent);
        Gradient {
            log_density: self.log_norm - log_sd - 0.5 * (self.nu + 1.0) * bent.ln_1p(),
            d_mean: slope / scale,
            d_log_sd: slope * z - 1.0,
        }
    }
}

impl TryFrom<f64> for StudentT {
    type Error = Error;

    fn try_from(nu: f64) -> Result<Self> {
        Self::new(nu)
    }
}

impl From<StudentT> for f64 {
    fn from(density: StudentT) -> Self {
        density.nu
    }
}
