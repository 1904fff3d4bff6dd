//! The classical form: prior and anomaly volume are given, not learned.
//!
//! The same kernel with `g = logit(omega)` and `a = -log Delta`, for scientists who have a log-likelihood
//! for each datum and want it corrected for contamination.

use super::{Known, log_sigmoid, logit, loss, posterior, row};
use crate::{Error, ErrorKind, Result};

/// A positive number for all rows, or one for each.
#[derive(Debug, Clone, PartialEq)]
pub enum Rate {
    /// The same for every row.
    One(f64),
    /// One for each row.
    PerRow(Vec<f64>),
}

impl Rate {
    fn at(&self, row: usize) -> f64 {
        match self {
            Self::One(value) => *value,
            Self::PerRow(values) => values[row],
        }
    }

    fn check(&self, name: &str, is_valid: impl Fn(f64) -> bool, expected: &str) -> Result<()> {
        let fault = match self {
            Self::One(value) => (!is_valid(*value)).then(|| format!("{name} is {value}")),
            Self::PerRow(values) => values
                .iter()
                .position(|&value| !is_valid(value))
                .map(|row| format!("{name} of row {row} is {}", values[row])),
        };
        match fault {
            None => Ok(()),
            Some(fault) => Err(Error::new(ErrorKind::Value, format!("{fault}, expected {expected}"))),
        }
    }
}

/// The static anomaly model: contamination probability `omega` and anomaly volume `Delta`.
#[derive(Debug, Clone, PartialEq)]
pub struct Classical {
    omega: Rate,
    delta: Rate,
}

impl Classical {
    /// A model with contamination probability `omega` in (0, 1) and anomaly volume `delta > 0`.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn new(omega: Rate, delta: Rate) -> Result<Self> {
        omega.check("omega", |value| value > 0.0 && value < 1.0, "a probability strictly between 0 and 1")?;
        delta.check("delta", |value| value > 0.0 && value.is_finite(), "a positive volume")?;
        Ok(Self { omega, delta })
    }

    /// The exact log marginal likelihood of each datum, `log[L (1 - omega) + omega / Delta]`.
    ///
    /// # Errors
    /// When the number of rows differs from that of `omega` or `delta`, or a value is NaN.
    pub fn log_marginal(&self, log_likelihood: &[f64]) -> Result<Vec<f64>> {
        self.each(log_likelihood, |l, g, a| -loss(l, g, a))
    }

    /// The dominant-mask approximation, `max{log L + log(1 - omega), log omega - log Delta}`.
    ///
    /// # Errors
    /// As [`Self::log_marginal`].
    pub fn log_dominant(&self, log_likelihood: &[f64]) -> Result<Vec<f64>> {
        self.each(log_likelihood, |l, g, a| (log_sigmoid(-g) - l).max(log_sigmoid(g) + a))
    }

    /// The hard assignment: a datum is clean iff `log L + log Delta > logit omega`.
    ///
    /// # Errors
    /// As [`Self::log_marginal`].
    pub fn is_clean(&self, log_likelihood: &[f64]) -> Result<Vec<bool>> {
        self.each(log_likelihood, |l, g, a| -l - a > g)
    }

    /// The probability that each datum is contaminated.
    ///
    /// # Errors
    /// As [`Self::log_marginal`].
    pub fn posterior(&self, log_likelihood: &[f64]) -> Result<Vec<f64>> {
        self.each(log_likelihood, posterior)
    }

    /// The derivative of each log marginal likelihood with respect to its `log L`: the weight `1 - r`.
    ///
    /// # Errors
    /// As [`Self::log_marginal`].
    pub fn weight(&self, log_likelihood: &[f64]) -> Result<Vec<f64>> {
        self.each(log_likelihood, |l, g, a| row(l, g, a, Known::Unknown).d_clean)
    }

    fn each<R>(&self, log_likelihood: &[f64], value: impl Fn(f64, f64, f64) -> R) -> Result<Vec<R>> {
        for (name, rate) in [("omega", &self.omega), ("delta", &self.delta)] {
            if let Rate::PerRow(values) = rate {
                super::same_length(name, log_likelihood.len(), values.len())?;
            }
        }
        if let Some(row) = log_likelihood.iter().position(|value| value.is_nan()) {
            return Err(Error::new(ErrorKind::Value, format!("the log-likelihood of row {row} is NaN")));
        }
        let rows = log_likelihood.iter().enumerate();
        Ok(rows
            .map(|(row, &log_l)| value(-log_l, logit(self.omega.at(row)), -self.delta.at(row).ln()))
            .collect())
    }
}
