//! The losses that the method is compared with, and their use as its clean branch.
//!
//! Every one of them is a function phi of the row's cross-entropy `l = -log p(y | x)`, so a value and a
//! derivative are all that a training loop needs: the chain rule gives the gradient with respect to the
//! logits z,
//!
//! ```text
//! dphi/dz_k = phi'(l) (softmax(z)_k - [k = y])
//! ```
//!
//! | loss | phi(l) | phi'(l) | far away |
//! | --- | --- | --- | --- |
//! | [`RobustLoss::CrossEntropy`] | `l` | `1` | a wrong row pulls as hard as a right one |
//! | [`StudentT`] | `(nu + 1) / 2 * ln(1 + l^2 / nu)` | `(nu + 1) l / (nu + l^2)` | pull falls like `1 / l` |
//! | [`Huber`] | `l^2 / 2` up to delta, then `delta (l - delta / 2)` | `min(l, delta)` | pull is constant |
//! | [`Gce`] | `(1 - exp(-q l)) / q` | `exp(-q l)` | pull falls like `p^q` |
//!
//! The paper names the Student-t and Huber losses "on the per-sample cross-entropy" and leaves the exact form
//! open. Here `l` takes the place of the residual in both textbook formulas.
//!
//! All of them are meant for `l >= 0`, which every categorical likelihood satisfies. The log-density of a
//! continuous target may be positive (`l < 0`); there Student-t and Huber, even functions of `l`, would
//! punish a fit for being good.

mod composed;
mod cross_entropy;
mod gce;
mod huber;
mod student_t;

use std::fmt;
use std::str::FromStr;

use num_traits::Float;

use crate::Result;
use crate::error::{Error, ErrorKind};

pub use composed::composed;
pub use cross_entropy::cross_entropy;
pub use gce::Gce;
pub use huber::Huber;
pub use student_t::StudentT;

/// A loss phi(l) of the per-row cross-entropy `l`.
///
/// ```
/// use nbam::loss::RobustLoss;
///
/// let loss: RobustLoss = "gce".parse()?;
/// assert_eq!(loss, RobustLoss::gce(0.7)?);
/// // A row whose given class has probability one half.
/// let l = 2.0_f64.ln();
/// assert!((loss.value(l) - (1.0 - 0.5_f64.powf(0.7)) / 0.7).abs() < 1e-15);
/// assert!((loss.derivative(l) - 0.5_f64.powf(0.7)).abs() < 1e-15);
/// # Ok::<(), nbam::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobustLoss {
    /// The negative log-likelihood itself: phi(l) = l.
    #[default]
    CrossEntropy,
    /// The Student-t loss of the cross-entropy.
    StudentT(StudentT),
    /// The Huber loss of the cross-entropy.
    Huber(Huber),
    /// The generalised cross-entropy.
    Gce(Gce),
}

impl RobustLoss {
    /// The four baselines of the paper with its parameters, in the order of its table.
    pub const PAPER: [Self; 4] = [
        Self::CrossEntropy,
        Self::StudentT(StudentT::PAPER),
        Self::Huber(Huber::PAPER),
        Self::Gce(Gce::PAPER),
    ];

    /// The Student-t loss with `nu` degrees of freedom; see [`StudentT::new`].
    ///
    /// # Errors
    /// When `nu` is not a positive finite number.
    pub fn student_t(nu: f64) -> Result<Self> {
        StudentT::new(nu).map(Self::StudentT)
    }

    /// The Huber loss that turns linear at `delta`; see [`Huber::new`].
    ///
    /// # Errors
    /// When `delta` is not a positive finite number.
    pub fn huber(delta: f64) -> Result<Self> {
        Huber::new(delta).map(Self::Huber)
    }

    /// The generalised cross-entropy with exponent `q`; see [`Gce::new`].
    ///
    /// # Errors
    /// When `q` is not in (0, 1].
    pub fn gce(q: f64) -> Result<Self> {
        Gce::new(q).map(Self::Gce)
    }

    /// The loss phi(l) of a row with cross-entropy `l`.
    pub fn value<T: Float>(&self, l: T) -> T {
        match self {
            Self::CrossEntropy => l,
            Self::StudentT(loss) => loss.value(l),
            Self::Huber(loss) => loss.value(l),
            Self::Gce(loss) => loss.value(l),
        }
    }

    /// The derivative phi'(l): the weight of the row's cross-entropy gradient. Finite for every `l >= 0`.
    pub fn derivative<T: Float>(&self, l: T) -> T {
        match self {
            Self::CrossEntropy => T::one(),
            Self::StudentT(loss) => loss.derivative(l),
            Self::Huber(loss) => loss.derivative(l),
            Self::Gce(loss) => loss.derivative(l),
        }
    }

    /// The loss of one row from its `logits` and its class `target`; writes the gradient with respect to the
    /// logits into `gradient`, which has their length.
    ///
    /// ```
    /// use nbam::loss::RobustLoss;
    ///
    /// let mut gradient = [0.0_f32; 3];
    /// let value = RobustLoss::huber(1.0)?.row(&[2.0, 0.5, -1.0], 1, &mut gradient)?;
    /// assert!(value > 0.0 && gradient[1] < 0.0 && gradient[0] > 0.0);
    /// # Ok::<(), nbam::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the lengths differ, there is no class `target`, or a logit is not finite.
    pub fn row<T: Float>(&self, logits: &[T], target: usize, gradient: &mut [T]) -> Result<T> {
        let l = cross_entropy(logits, target, gradient)?;
        let weight = self.derivative(l);
        for slope in gradient {
            *slope = *slope * weight;
        }
        Ok(self.value(l))
    }

    /// The name that [`FromStr`] understands, without the parameter.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CrossEntropy => "ce",
            Self::StudentT(_) => "student-t",
            Self::Huber(_) => "huber",
            Self::Gce(_) => "gce",
        }
    }
}

/// The name and, where there is one, the parameter: `ce`, `gce:0.7`. Parses back to the same loss.
impl fmt::Display for RobustLoss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::CrossEntropy => formatter.write_str(name),
            Self::StudentT(loss) => write!(formatter, "{name}:{}", loss.nu()),
            Self::Huber(loss) => write!(formatter, "{name}:{}", loss.delta()),
            Self::Gce(loss) => write!(formatter, "{name}:{}", loss.q()),
        }
    }
}

/// Reads `ce`, `student-t`, `huber` or `gce`; a parameter other than the paper's follows a colon (`gce:0.5`).
impl FromStr for RobustLoss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, number)) => (name, Some(parse_parameter(text, number)?)),
            None => (text, None),
        };
        match (name, parameter) {
            ("ce", None) => Ok(Self::CrossEntropy),
            ("ce", Some(_)) => Err(Error::new(
                ErrorKind::Parameter,
                format!("the loss \"{text}\" has a parameter, but cross-entropy takes none"),
            )
            .with_hint("write \"ce\"")),
            ("student-t", nu) => nu.map_or(Ok(Self::StudentT(StudentT::PAPER)), Self::student_t),
            ("huber", delta) => delta.map_or(Ok(Self::Huber(Huber::PAPER)), Self::huber),
            ("gce", q) => q.map_or(Ok(Self::Gce(Gce::PAPER)), Self::gce),
            _ => Err(Error::new(ErrorKind::Parameter, format!("there is no loss named \"{name}\""))
                .with_hint(
                    "use ce, student-t, huber or gce, with a parameter after a colon if you like: gce:0.5",
                )),
        }
    }
}

fn parse_parameter(text: &str, number: &str) -> Result<f64> {
    number.trim().parse().map_err(|_| {
        Error::new(
            ErrorKind::Parameter,
            format!("the parameter of the loss \"{text}\" is not a number: \"{number}\""),
        )
        .with_hint("write for example gce:0.5")
    })
}

/// A parameter in the precision of the computation. Single and double precision hold every checked parameter.
fn constant<T: Float>(parameter: f64) -> T {
    T::from(parameter).unwrap_or_else(T::nan)
}

/// Checks that a shape parameter is positive and stays so in single precision.
fn check_positive(loss: &str, parameter: &str, value: f64) -> Result<f64> {
    let single = value as f32;
    if single.is_normal() && single > 0.0 {
        Ok(value)
    } else {
        Err(Error::new(
            ErrorKind::Parameter,
            format!("{parameter} of the {loss} loss must be a positive finite number, got {value}"),
        ))
    }
}

#[cfg(test)]
mod tests;
