//! A set of flagged rows: what the posterior promises of it, and what the truth says.

use super::check;
use crate::Result;

/// The share of false flags that the posterior expects: the mean of `1 - r` over the flagged rows, with `r`
/// the probability that a row is contaminated. Zero when nothing is flagged.
///
/// ```
/// let share = nbam::metrics::expected_fdr(&[0.9_f32, 0.8, 0.1], &[true, true, false])?;
/// assert!((share - 0.15).abs() < 1e-7);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, there are no rows, or a posterior is no probability.
pub fn expected_fdr<T: Copy + Into<f64>>(posterior: &[T], is_flagged: &[bool]) -> Result<f64> {
    check::same_length("the expected FDR", ("posteriors", posterior.len()), ("flags", is_flagged.len()))?;
    check::probabilities("the expected FDR", posterior)?;
    let flagged = posterior.iter().zip(is_flagged).filter(|(_, is_flagged)| **is_flagged);
    let (mut rows, mut expected_false) = (0_usize, 0.0);
    for (&probability, _) in flagged {
        rows += 1;
        expected_false += 1.0 - probability.into();
    }
    Ok(expected_false / rows.max(1) as f64)
}

/// How flags and truth agree, row by row.
///
/// ```
/// use nbam::metrics::FlagCounts;
///
/// let counts = FlagCounts::new(&[true, true, false, false], &[true, false, true, false])?;
/// assert_eq!(counts.precision(), Some(0.5));
/// assert_eq!(counts.recall(), Some(0.5));
/// # Ok::<(), nbam::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagCounts {
    /// Contaminated rows that are flagged.
    pub true_flags: usize,
    /// Clean rows that are flagged.
    pub false_flags: usize,
    /// Contaminated rows that are not flagged.
    pub missed: usize,
    /// Clean rows that are not flagged.
    pub cleared: usize,
}

impl FlagCounts {
    /// Counts the four cases.
    ///
    /// # Errors
    /// When the lengths differ or there are no rows.
    pub fn new(is_flagged: &[bool], is_contaminated: &[bool]) -> Result<Self> {
        check::same_length("counting flags", ("flags", is_flagged.len()), ("truths", is_contaminated.len()))?;
        let mut counts = Self { true_flags: 0, false_flags: 0, missed: 0, cleared: 0 };
        for case in is_flagged.iter().zip(is_contaminated) {
            match case {
                (true, true) => counts.true_flags += 1,
                (true, false) => counts.false_flags += 1,
                (false, true) => counts.missed += 1,
                (false, false) => counts.cleared += 1,
            }
        }
        Ok(counts)
    }

    /// The share of flagged rows that are contaminated; none when nothing is flagged.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_flags, self.true_flags + self.false_flags)
    }

    /// The share of contaminated rows that are flagged; none when no row is contaminated.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_flags, self.true_flags + self.missed)
    }

    /// The harmonic mean of precision and recall; none when nothing is flagged and nothing contaminated.
    pub fn f1(&self) -> Option<f64> {
        share(2 * self.true_flags, 2 * self.true_flags + self.false_flags + self.missed)
    }

    /// The realised share of false flags, the counterpart of [`expected_fdr`]. Zero when nothing is flagged.
    pub fn false_discovery_rate(&self) -> f64 {
        share(self.false_flags, self.true_flags + self.false_flags).unwrap_or(0.0)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    // scikit-learn 1.9.1: precision_score, recall_score and f1_score of scores >= 0.6 on the rows of
    // ranking.rs.
    #[test]
    fn agrees_with_scikit_learn() {
        let flags = [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0].map(|flag| flag == 1);
        let truth = [1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0].map(|truth| truth == 1);
        let counts = FlagCounts::new(&flags, &truth).unwrap();
        assert_eq!(counts, FlagCounts { true_flags: 5, false_flags: 2, missed: 1, cleared: 4 });
        assert!((counts.precision().unwrap() - 0.714_285_714_285_714_3).abs() < 1e-15);
        assert!((counts.recall().unwrap() - 0.833_333_333_333_333_4).abs() < 1e-15);
        assert!((counts.f1().unwrap() - 0.769_230_769_230_769_3).abs() < 1e-15);
        assert!((counts.false_discovery_rate() - 2.0 / 7.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_flagged_and_nothing_wrong() {
        let counts = FlagCounts::new(&[false; 3], &[false; 3]).unwrap();
        assert_eq!((counts.precision(), counts.recall(), counts.f1()), (None, None, None));
        assert_eq!(counts.false_discovery_rate(), 0.0);
        assert_eq!(expected_fdr(&[0.9; 3], &[false; 3]).unwrap(), 0.0);
    }

    #[test]
    fn expected_fdr_looks_at_flagged_rows_only() {
        assert_eq!(expected_fdr(&[1.0, 0.5, 0.0], &[true, true, false]).unwrap(), 0.25);
        assert_eq!(expected_fdr(&[1.0, 0.5, 0.0], &[false, false, true]).unwrap(), 1.0);
    }

    #[test]
    fn bad_input_is_an_error() {
        assert!(matches!(expected_fdr(&[0.5], &[true, false]).unwrap_err().kind(), ErrorKind::Shape));
        assert!(matches!(expected_fdr(&[1.5], &[true]).unwrap_err().kind(), ErrorKind::Value));
        assert!(matches!(FlagCounts::new(&[true], &[]).unwrap_err().kind(), ErrorKind::Shape));
        assert!(matches!(FlagCounts::new(&[], &[]).unwrap_err().kind(), ErrorKind::Shape));
    }
}
