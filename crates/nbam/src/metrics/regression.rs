//! How far numeric predictions are from the truth.

use super::check;
use crate::Result;

/// The root of the mean squared difference between prediction and truth.
///
/// ```
/// let error = nbam::metrics::root_mean_squared_error(&[1.0, 5.0], &[1.0, 3.0])?;
/// assert_eq!(error, 2.0_f64.sqrt());
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, there are no rows, or a value is not finite.
pub fn root_mean_squared_error<T: Copy + Into<f64>>(predicted: &[T], truth: &[T]) -> Result<f64> {
    let differences = differences("the root mean squared error", predicted, truth)?;
    // Divided by the largest first: the square of a difference may overflow where the root does not.
    let largest = differences.iter().fold(0.0_f64, |largest, difference| largest.max(difference.abs()));
    if largest == 0.0 || largest.is_infinite() {
        return Ok(largest);
    }
    let squares: f64 = differences.iter().map(|difference| (difference / largest).powi(2)).sum();
    Ok(largest * (squares / differences.len() as f64).sqrt())
}

/// The mean absolute difference between prediction and truth.
///
/// ```
/// let error = nbam::metrics::mean_absolute_error(&[1.0_f32, 5.0], &[1.0, 3.0])?;
/// assert_eq!(error, 1.0);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, there are no rows, or a value is not finite.
pub fn mean_absolute_error<T: Copy + Into<f64>>(predicted: &[T], truth: &[T]) -> Result<f64> {
    let differences = differences("the mean absolute error", predicted, truth)?;
    Ok(differences.iter().map(|difference| difference.abs()).sum::<f64>() / differences.len() as f64)
}

fn differences<T: Copy + Into<f64>>(metric: &str, predicted: &[T], truth: &[T]) -> Result<Vec<f64>> {
    check::same_length(metric, ("predictions", predicted.len()), ("truths", truth.len()))?;
    check::finite(metric, "predictions", predicted)?;
    check::finite(metric, "truths", truth)?;
    Ok(predicted.iter().zip(truth).map(|(&predicted, &truth)| predicted.into() - truth.into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    // scikit-learn 1.9.1: root_mean_squared_error and mean_absolute_error.
    #[test]
    fn agrees_with_scikit_learn() {
        let (truth, predicted) = ([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]);
        assert!(
            (root_mean_squared_error(&predicted, &truth).unwrap() - 0.612_372_435_695_794_5).abs() < 1e-15
        );
        assert_eq!(mean_absolute_error(&predicted, &truth).unwrap(), 0.5);
    }

    #[test]
    fn perfect_and_huge_differences() {
        assert_eq!(root_mean_squared_error(&[1.0, 2.0], &[1.0, 2.0]).unwrap(), 0.0);
        assert_eq!(root_mean_squared_error(&[1e200, -1e200], &[0.0, 0.0]).unwrap(), 1e200);
    }

    #[test]
    fn bad_input_is_an_error() {
        let nan = [f64::NAN];
        assert!(matches!(mean_absolute_error(&nan, &[1.0]).unwrap_err().kind(), ErrorKind::Value));
        assert!(matches!(root_mean_squared_error(&[1.0], &nan).unwrap_err().kind(), ErrorKind::Value));
        assert!(matches!(root_mean_squared_error(&[1.0], &[1.0, 2.0]).unwrap_err().kind(), ErrorKind::Shape));
        assert!(matches!(mean_absolute_error::<f32>(&[], &[]).unwrap_err().kind(), ErrorKind::Shape));
    }
}
