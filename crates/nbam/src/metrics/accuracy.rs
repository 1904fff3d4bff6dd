use super::check;
use crate::Result;

/// The share of rows whose prediction equals the truth.
///
/// ```
/// assert_eq!(nbam::metrics::accuracy(&[0, 2, 1, 1], &[0, 2, 2, 1])?, 0.75);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ or there are no rows.
pub fn accuracy<L: PartialEq>(predicted: &[L], truth: &[L]) -> Result<f64> {
    check::same_length("accuracy", ("predictions", predicted.len()), ("truths", truth.len()))?;
    let correct = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    Ok(correct as f64 / truth.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn counts_agreements() {
        assert_eq!(accuracy(&["a", "b", "c"], &["a", "x", "y"]).unwrap(), 1.0 / 3.0);
        assert_eq!(accuracy(&[true], &[true]).unwrap(), 1.0);
    }

    #[test]
    fn bad_input_is_an_error() {
        assert!(matches!(accuracy(&[1, 2], &[1]).unwrap_err().kind(), ErrorKind::Shape));
        assert!(matches!(accuracy::<u32>(&[], &[]).unwrap_err().kind(), ErrorKind::Shape));
    }
}
