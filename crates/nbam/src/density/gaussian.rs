//! The Gaussian density, with a known error added in quadrature where there is one.

use std::f64::consts::PI;

/// A log density with its gradient by the mean and by the logarithm of the (learned) standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gradient {
    /// `log N(y; mean, sd^2 + error^2)`.
    pub log_density: f64,
    /// Its derivative by the mean.
    pub d_mean: f64,
    /// Its derivative by `log sd`.
    pub d_log_sd: f64,
}

/// `log N(y; mean, s^2 + e^2)` with `s = exp(log_sd)` learned and `e = error` known (0 where it is not).
pub fn log_density(y: f64, mean: f64, log_sd: f64, error: f64) -> Gradient {
    let learned = (2.0 * log_sd).exp();
    let variance = learned + error * error;
    let residual = y - mean;
    let scaled = residual * residual / variance;
    Gradient {
        log_density: -0.5 * ((2.0 * PI * variance).ln() + scaled),
        d_mean: residual / variance,
        d_log_sd: (scaled - 1.0) * learned / variance,
    }
}
