//! Checks that both models make of their rows.

use crate::net::Features;
use crate::{Error, ErrorKind, Result};

/// Checks that there is one element for each row.
pub(crate) fn check_length(name: &str, got: usize, expected: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Shape,
        format!("got {got} {name}, expected {expected}: one for each row of the features"),
    ))
}

/// Checks that the weights are finite, not negative and not all zero.
pub(crate) fn check_weights(weights: Option<&[f64]>, rows: usize) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    check_length("weights", weights.len(), rows)?;
    if let Some(row) = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err(Error::new(
            ErrorKind::Value,
            format!("the weight of row {row} is {}, expected a finite number of at least 0", weights[row]),
        ));
    }
    let total = weights.iter().sum::<f64>();
    if total == 0.0 {
        return Err(Error::new(ErrorKind::Value, "every weight is 0, expected at least one above"));
    }
    if !total.is_finite() {
        return Err(Error::new(ErrorKind::Value, "the weights add up to infinity, expected a finite sum"));
    }
    Ok(())
}

/// Weights with mean one.
pub(crate) fn relative_weights(weights: Option<&[f64]>) -> Option<Vec<f32>> {
    let weights = weights?;
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    Some(weights.iter().map(|weight| (weight / mean) as f32).collect())
}

/// Checks that new rows have the features that the model was trained on.
pub(crate) fn check_features(features: &Features<'_>, expected: usize) -> Result<()> {
    if features.columns() != expected {
        return Err(Error::new(
            ErrorKind::Shape,
            format!("the rows have {} features, expected {expected}: as in training", features.columns()),
        ));
    }
    features.check()
}
