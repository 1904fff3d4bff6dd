//! Robust densities of all targets, clean or not: what a mixture is compared with in regression.

use super::gaussian::Gradient;
use super::student_t::StudentT;
use crate::loss::Huber;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A density whose tails make far targets pull less. `z` is the residual over the learned scale `s`.
///
/// | density | `-log p(y)` up to a constant | EM weight of a residual |
/// | --- | --- | --- |
/// | Student-t | `(nu + 1) / 2 * log(1 + z^2 / nu) + log s` | `(nu + 1) / (nu + z^2)` |
/// | Huber | `z^2 / 2` up to delta, then `delta (z - delta / 2)`, `+ log s` | `min(1, delta / z)` |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RobustDensity {
    /// Student's t: the pull of far targets falls to nothing.
    StudentT(StudentT),
    /// Huber's least favourable density: Gaussian in the middle, exponential tails, constant pull.
    Huber(Huber),
}

impl RobustDensity {
    /// `log p(y)` about `mean` with scale `exp(log_sd)`, with its gradient.
    pub fn log_density(&self, y: f64, mean: f64, log_sd: f64) -> Gradient {
        match self {
            Self::StudentT(density) => density.log_density(y, mean, log_sd),
            Self::Huber(huber) => {
                let scale = log_sd.exp();
                let z = (y - mean) / scale;
                let slope = huber.derivative(z);
                Gradient {
                    log_density: -huber.value(z) - log_sd - log_norm(huber.delta()),
                    d_mean: slope / scale,
                    d_log_sd: slope * z - 1.0,
                }
            }
        }
    }

    /// How much a residual of `z` scales counts in an estimate of the scale: `s^2` is the weighted mean square.
    pub fn scale_weight(&self, z: f64) -> f64 {
        match self {
            Self::StudentT(density) => density.scale_weight(z),
            Self::Huber(huber) => (huber.delta() / z.abs()).min(1.0),
        }
    }
}

/// `log` of the integral of `exp(-huber(z))`: the Gaussian middle and two exponential tails.
fn log_norm(delta: f64) -> f64 {
    let middle = (2.0 * PI).sqrt() * libm::erf(delta / 2.0_f64.sqrt());
    (middle + 2.0 / delta * (-0.5 * delta * delta).exp()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn densities() -> [RobustDensity; 2] {
        [
            RobustDensity::StudentT(StudentT::new(3.0).unwrap()),
            RobustDensity::Huber(Huber::new(1.345).unwrap()),
        ]
    }

    #[test]
    fn densities_integrate_to_one() {
        for density in densities() {
            let step = 0.01;
            let total: f64 = (-400_000..=400_000)
                .map(|i| (density.log_density(f64::from(i) * step, 0.3, 0.2).log_density).exp() * step)
                .sum();
            assert!((total - 1.0).abs() < 1e-5, "{density:?}: {total}");
        }
    }

    #[test]
    fn gradients_agree_with_differences_and_weights_with_the_scale() {
        let step = 1e-6;
        for density in densities() {
            for y in [-4.0, -0.3, 0.0, 0.9, 7.0] {
                let value = |mean: f64, log_sd: f64| density.log_density(y, mean, log_sd).log_density;
                let got = density.log_density(y, 0.1, -0.2);
                let by_mean = (value(0.1 + step, -0.2) - value(0.1 - step, -0.2)) / (2.0 * step);
                let by_scale = (value(0.1, -0.2 + step) - value(0.1, -0.2 - step)) / (2.0 * step);
                assert!((got.d_mean - by_mean).abs() < 1e-6, "{density:?} at {y}");
                assert!((got.d_log_sd - by_scale).abs() < 1e-6, "{density:?} at {y}");
                // Where the gradient by the scale vanishes on average, the weighted mean square is the scale's square.
                let z = (y - 0.1) / (-0.2_f64).exp();
                assert!((density.scale_weight(z) * z * z - 1.0 - got.d_log_sd).abs() < 1e-9);
            }
        }
    }
}
