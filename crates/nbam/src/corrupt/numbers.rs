//! Protocols for numeric targets.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::{Corrupted, Rates, Streams, check_rows};
use crate::Result;
use crate::error::{Error, ErrorKind};

/// What becomes of the value of a hit row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GrossError {
    /// A draw from N(mean, sd^2) that knows nothing of the true value. The paper's example has mean 0 and sd
    /// 1.5.
    Gaussian {
        /// Mean of the draws.
        mean: f64,
        /// Their standard deviation, at least 0.
        sd: f64,
    },
    /// A mistaken unit: the value times a factor, such as 1000 (metres and kilometres) or 2.54 (inches and
    /// centimetres).
    Unit {
        /// The factor; neither 0 nor 1.
        factor: f64,
    },
    /// A code for a missing value that was read as a number, such as -999.
    Sentinel {
        /// The code.
        value: f64,
    },
    /// An offset: the value plus a constant.
    Shift {
        /// What is added; not 0.
        offset: f64,
    },
    /// An offset in units of the clean values' standard deviation (that of the whole column, dividing by n).
    ShiftInSd {
        /// How many standard deviations are added; not 0.
        multiple: f64,
    },
    /// Two neighbouring digits, swapped as by a typist: 152 becomes 512 or 125.
    ///
    /// Only pairs of different digits on one side of the decimal point are swapped, and only among the
    /// leading digits, so that the mistake is visible. A value without such a pair (7, 55) stays as it is.
    SwapDigits {
        /// How many digits count, from the first that is not 0; at least 2.
        leading: usize,
    },
}

/// Corrupts numeric targets: each row is hit with its probability and its value suffers the `error`.
///
/// ```
/// use nbam::corrupt::{self, GrossError};
///
/// let heights = [1.72, 1.65, 1.80];
/// let corrupted = corrupt::values(&heights, &[0.0, 1.0, 0.0][..], GrossError::Unit { factor: 100.0 }, 0)?;
/// assert_eq!(corrupted.targets, [1.72, 165.0, 1.80]);
/// assert_eq!(corrupted.is_contaminated, [false, true, false]);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When there are no rows, a value is not finite or becomes so, a rate is no probability, or a parameter of
/// the error is out of range.
pub fn values<'a>(
    values: &[f64],
    rates: impl Into<Rates<'a>>,
    error: GrossError,
    seed: u64,
) -> Result<Corrupted<f64>> {
    let rates = rates.into();
    check_rows(values.len())?;
    if let Some(row) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::new(
            ErrorKind::Value,
            format!("the value {} of row {row} is not finite", values[row]),
        ));
    }
    rates.check(values.len())?;
    error.check()?;
    let unit = match error {
        GrossError::ShiftInSd { .. } => standard_deviation(values)?,
        _ => 1.0,
    };

    let mut streams = Streams::new(seed);
    let mut is_drawn = Vec::with_capacity(values.len());
    let mut targets = Vec::with_capacity(values.len());
    for (row, &value) in values.iter().enumerate() {
        let is_hit = streams.is_hit(rates.of(row));
        let replacement = match error {
            GrossError::Gaussian { mean, sd } => {
                let draw: f64 = streams.outcomes.sample(StandardNormal);
                mean + sd * draw
            }
            GrossError::Unit { factor } => value * factor,
            GrossError::Sentinel { value } => value,
            GrossError::Shift { offset } => value + offset,
            GrossError::ShiftInSd { multiple } => value + multiple * unit,
            GrossError::SwapDigits { leading } => swap_digits(value, leading, streams.outcomes.random()),
        };
        if is_hit && !replacement.is_finite() {
            return Err(Error::new(
                ErrorKind::Value,
                format!("corrupting the value {value} of row {row} gives {replacement}, which is not finite"),
            )
            .with_hint("use a smaller factor, offset or standard deviation"));
        }
        is_drawn.push(is_hit);
        targets.push(if is_hit { replacement } else { value });
    }
    Ok(Corrupted::new(values, targets, is_drawn))
}

impl GrossError {
    fn check(&self) -> Result<()> {
        let wrong = |name: &str, expected: &str, value: f64| {
            Err(Error::new(ErrorKind::Parameter, format!("{name} must be {expected}, got {value}")))
        };
        match *self {
            Self::Gaussian { mean, .. } if !mean.is_finite() => {
                wrong("the mean of the draws", "finite", mean)
            }
            Self::Gaussian { sd, .. } if !(sd.is_finite() && sd >= 0.0) => {
                wrong("the standard deviation of the draws", "finite and not negative", sd)
            }
            Self::Unit { factor } if !factor.is_finite() || factor == 0.0 || factor == 1.0 => {
                wrong("the factor of a unit mistake", "finite and neither 0 nor 1", factor)
            }
            Self::Sentinel { value } if !value.is_finite() => wrong("the sentinel", "finite", value),
            Self::Shift { offset } if !offset.is_finite() || offset == 0.0 => {
                wrong("the offset of a shift", "finite and not 0", offset)
            }
            Self::ShiftInSd { multiple } if !multiple.is_finite() || multiple == 0.0 => {
                wrong("the number of standard deviations of a shift", "finite and not 0", multiple)
            }
            Self::SwapDigits { leading } if leading < 2 => {
                wrong("the number of leading digits to swap among", "at least 2", leading as f64)
            }
            _ => Ok(()),
        }
    }
}

fn standard_deviation(values: &[f64]) -> Result<f64> {
    // Compared value by value: rounding in the mean may leave a spread where there is none.
    if values.iter().all(|value| *value == values[0]) {
        return Err(Error::new(
            ErrorKind::Value,
            format!("all values are {}, so a shift in standard deviations moves nothing", values[0]),
        )
        .with_hint("give the shift in the target's own unit"));
    }
    let rows = values.len() as f64;
    let mean = values.iter().sum::<f64>() / rows;
    Ok((values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / rows).sqrt())
}

/// The value with one pair of neighbouring digits swapped, the pair chosen by `uniform` in [0, 1).
fn swap_digits(value: f64, leading: usize, uniform: f64) -> f64 {
    let mut text = value.to_string().into_bytes();
    let Some(first) = text.iter().position(|byte| (b'1'..=b'9').contains(byte)) else {
        return value;
    };
    let digits = text.iter().enumerate().skip(first).filter(|(_, byte)| byte.is_ascii_digit());
    let places: Vec<usize> = digits.map(|(place, _)| place).take(leading).collect();
    let pairs: Vec<usize> = places
        .windows(2)
        .filter(|pair| pair[1] == pair[0] + 1 && text[pair[0]] != text[pair[1]])
        .map(|pair| pair[0])
        .collect();
    let Some(&place) = pairs.get((uniform * pairs.len() as f64) as usize) else {
        return value;
    };
    text.swap(place, place + 1);
    std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_swap_in_every_place_that_counts() {
        let swaps = |value, leading| {
            let mut swaps: Vec<f64> =
                (0..100).map(|i| swap_digits(value, leading, f64::from(i) / 100.0)).collect();
            swaps.sort_by(f64::total_cmp);
            swaps.dedup();
            swaps
        };
        assert_eq!(swaps(152.0, 4), [125.0, 512.0]);
        assert_eq!(swaps(-152.0, 2), [-512.0]);
        assert_eq!(swaps(10.0, 4), [1.0]);
        // Not across the decimal point, and not the equal pair.
        assert_eq!(swaps(3.4, 4), [3.4]);
        assert_eq!(swaps(12.334, 5), [12.343, 21.334]);
        // Zeros before the first digit do not count.
        assert_eq!(swaps(0.00123, 2), [0.00213]);
        for unchanged in [0.0, 7.0, 55.0] {
            assert_eq!(swaps(unchanged, 4), [unchanged]);
        }
        assert_eq!(swaps(1.2e300, 2), [2.1e300]);
    }
}
