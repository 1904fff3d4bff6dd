//! The checks that every metric makes before it computes.

use crate::Result;
use crate::error::{Error, ErrorKind};

/// Both inputs have the same length, and it is not zero.
pub(super) fn same_length(metric: &str, first: (&str, usize), second: (&str, usize)) -> Result<()> {
    let ((first_name, first_length), (second_name, second_length)) = (first, second);
    if first_length != second_length {
        return Err(Error::new(
            ErrorKind::Shape,
            format!(
                "{metric} needs as many {first_name} as {second_name}, got {first_length} and {second_length}"
            ),
        ));
    }
    if first_length == 0 {
        return Err(Error::new(ErrorKind::Shape, format!("{metric} needs at least one row, got none")));
    }
    Ok(())
}

/// No NaN. Infinite scores have a rank and are allowed.
pub(super) fn rankable<T: Copy + Into<f64>>(metric: &str, scores: &[T]) -> Result<()> {
    every(
        scores,
        |score| !score.is_nan(),
        |row, score| format!("{metric} cannot rank the score {score} of row {row}"),
    )
}

/// Every value is a finite number.
pub(super) fn finite<T: Copy + Into<f64>>(metric: &str, name: &str, values: &[T]) -> Result<()> {
    every(values, f64::is_finite, |row, value| {
        format!("{metric} needs finite {name}, got {value} in row {row}")
    })
}

/// Every value is a probability.
pub(super) fn probabilities<T: Copy + Into<f64>>(metric: &str, values: &[T]) -> Result<()> {
    every(
        values,
        |value| (0.0..=1.0).contains(&value),
        |row, value| format!("{metric} needs probabilities between 0 and 1, got {value} in row {row}"),
    )
}

fn every<T: Copy + Into<f64>>(
    values: &[T],
    holds: impl Fn(f64) -> bool,
    message: impl Fn(usize, f64) -> String,
) -> Result<()> {
    match values.iter().position(|&value| !holds(value.into())) {
        Some(row) => Err(Error::new(ErrorKind::Value, message(row, values[row].into()))),
        None => Ok(()),
    }
}
