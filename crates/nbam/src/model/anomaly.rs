//! Anomaly densities that are common to all rows, estimated by online EM.

use super::values::ValueAnomaly;
use crate::density::{gaussian, student_t::StudentT, uniform};
use crate::switch::log_add_exp;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// One Gaussian of a mixture, in units of the scaled target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Component {
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    pub(crate) log_sd: f64,
}

/// A density that contaminated values are drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Anomaly {
    /// The network's own head gives it.
    Head,
    /// There is none.
    Absent,
    Uniform {
        range: f64,
    },
    Mixture(Vec<Component>),
    StudentT {
        density: StudentT,
        mean: f64,
        log_sd: f64,
    },
}

/// Standard deviation of the first anomaly, in units of the target's spread: wide, so that it takes only what the
/// clean branch cannot explain.
const FIRST_SD: f64 = 5.0;
/// Pseudo-rows with this spread, so that a component on one repeated value keeps a width.
const SCALE_COUNT: f64 = 2.0;
const SCALE_SD: f64 = 1.0;
/// Pseudo-row of each component's weight.
const WEIGHT_COUNT: f64 = 1.0;

/// Running means over rows of each component's mass, first and second moment.
#[derive(Debug, Clone)]
pub(crate) struct AnomalySums(Vec<[f64; 3]>);

impl Anomaly {
    pub(crate) fn new(kind: &ValueAnomaly, range: f64) -> Self {
        match *kind {
            ValueAnomaly::Head => Self::Head,
            ValueAnomaly::Plain { .. } => Self::Absent,
            ValueAnomaly::Uniform => Self::Uniform { range },
            ValueAnomaly::Mixture { components } => {
                // Spread the means, so that the components have a reason to part.
                let offset = |k: usize| (k as f64 - (components as f64 - 1.0) / 2.0) * FIRST_SD;
                let component = |k: usize| Component {
                    weight: 1.0 / components as f64,
                    mean: offset(k),
                    log_sd: FIRST_SD.ln(),
                };
                Self::Mixture((0..components).map(component).collect())
            }
            ValueAnomaly::StudentT { nu } => match StudentT::new(nu) {
                Ok(density) => Self::StudentT { density, mean: 0.0, log_sd: FIRST_SD.ln() },
                // Parameters are checked before they come here; a uniform anomaly is a safe answer all the same.
                Err(_) => Self::Uniform { range },
            },
        }
    }

    /// `log q(y)`; the known error widens Gaussians.
    pub(crate) fn log_density(&self, y: f64, error: f64) -> f64 {
        match self {
            Self::Head | Self::Absent => f64::NEG_INFINITY,
            Self::Uniform { range } => uniform::log_density(*range),
            Self::Mixture(components) => components
                .iter()
                .map(|component| component.log_joint(y, error))
                .fold(f64::NEG_INFINITY, log_add_exp),
            Self::StudentT { density, mean, log_sd } => density.log_density(y, *mean, *log_sd).log_density,
        }
    }

    /// A value from the density; `low` is the lower end of a uniform one. `None` where the density is not here.
    pub(crate) fn draw(&self, error: f64, low: f64, random: &mut ChaCha8Rng) -> Option<f64> {
        let normal: f64 = random.sample(StandardNormal);
        match self {
            Self::Head | Self::Absent => None,
            Self::Uniform { range } => Some(low + range * random.random::<f64>()),
            Self::Mixture(components) => {
                let mut left = random.random::<f64>();
                let past = |component: &&Component| {
                    left -= component.weight;
                    left < 0.0
                };
                let component = components.iter().find(past).or(components.last())?;
                Some(component.mean + component.log_sd.exp().hypot(error) * normal)
            }
            Self::StudentT { density, mean, log_sd } => {
                let freedom = rand_distr::ChiSquared::new(density.nu()).ok()?;
                let scale = (density.nu() / random.sample(freedom)).sqrt();
                Some(mean + log_sd.exp() * scale * normal)
            }
        }
    }

    /// Adds a row of contaminated mass `mass` to the sums: mass, first and second moment for each component.
    ///
    /// The moments are those of the value without its known error, given the value: with `gain = s^2 / (s^2 + e^2)` it
    /// has mean `m + gain (y - m)` and variance `gain e^2`.
    pub(crate) fn count(&self, y: f64, error: f64, mass: f64, sums: &mut [f64]) {
        let mut add = |at: usize, count: f64, weight: f64, mean: f64, variance: f64| {
            sums[3 * at] += count;
            sums[3 * at + 1] += weight * mean;
            sums[3 * at + 2] += weight * (mean * mean + variance);
        };
        match self {
            Self::Head | Self::Absent | Self::Uniform { .. } => {}
            Self::Mixture(components) => {
                let total = self.log_density(y, error);
                for (at, component) in components.iter().enumerate() {
                    let share = mass * (component.log_joint(y, error) - total).exp();
                    let (variance, error) = ((2.0 * component.log_sd).exp(), error * error);
                    let gain = variance / (variance + error);
                    add(at, share, share, component.mean + gain * (y - component.mean), gain * error);
                }
            }
            Self::StudentT { density, mean, log_sd } => {
                // A t is a Gaussian with a random scale: EM weighs far rows down.
                let weight = mass * density.scale_weight((y - mean) / log_sd.exp());
                add(0, mass, weight, y, 0.0);
                add(1, weight, 0.0, 0.0, 0.0);
            }
        }
    }

    /// Re-estimates the density from the running means.
    pub(crate) fn update(&mut self, sums: &AnomalySums, rows: f64) {
        // The mean of an empty component stays where it is; elsewhere the pseudo-mass is far below one row.
        let centre = |first: f64, norm: f64, old: f64| (first + 1e-9 * old) / (norm + 1e-9);
        let spread = |count: f64, norm: f64, mean: f64, second: f64, first: f64| {
            let squares = (second - 2.0 * mean * first + mean * mean * norm).max(0.0);
            0.5 * ((squares + SCALE_COUNT * SCALE_SD * SCALE_SD) / (count + SCALE_COUNT)).ln()
        };
        match self {
            Self::Head | Self::Absent | Self::Uniform { .. } => {}
            Self::Mixture(components) => {
                let total: f64 = sums.0.iter().map(|sums| sums[0] * rows + WEIGHT_COUNT).sum();
                for (component, sums) in components.iter_mut().zip(&sums.0) {
                    let [count, first, second] = sums.map(|mean| mean * rows);
                    component.weight = (count + WEIGHT_COUNT) / total;
                    component.mean = centre(first, count, component.mean);
                    component.log_sd = spread(count, count, component.mean, second, first);
                }
            }
            Self::StudentT { mean, log_sd, .. } => {
                let [count, first, second] = sums.0[0].map(|mean| mean * rows);
                let norm = sums.0[1][0] * rows;
                *mean = centre(first, norm, *mean);
                *log_sd = spread(count, norm, *mean, second, first);
            }
        }
    }
}

impl Component {
    fn log_joint(&self, y: f64, error: f64) -> f64 {
        self.weight.ln() + gaussian::log_density(y, self.mean, self.log_sd, error).log_density
    }
}

impl AnomalySums {
    /// Sums that give the starting density back, as if a share `rate` of the rows came from it.
    pub(crate) fn new(anomaly: &Anomaly, rate: f64) -> Self {
        let moments = |mass: f64, mean: f64, log_sd: f64| {
            [mass, mass * mean, mass * (mean * mean + (2.0 * log_sd).exp())]
        };
        Self(match anomaly {
            Anomaly::Head | Anomaly::Absent | Anomaly::Uniform { .. } => Vec::new(),
            Anomaly::Mixture(components) => {
                components.iter().map(|part| moments(rate * part.weight, part.mean, part.log_sd)).collect()
            }
            // The second entry holds the sum of the scale weights.
            Anomaly::StudentT { mean, log_sd, .. } => vec![moments(rate, *mean, *log_sd), [rate, 0.0, 0.0]],
        })
    }

    pub(crate) fn len(&self) -> usize {
        3 * self.0.len()
    }

    pub(crate) fn blend(&mut self, batch: &[f64], blend: f64, scale: f64) {
        for (mean, sum) in self.0.iter_mut().flatten().zip(batch) {
            *mean += blend * (sum * scale - *mean);
        }
    }
}
