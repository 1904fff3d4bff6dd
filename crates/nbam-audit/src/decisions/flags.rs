//! Which rows to flag: Bayesian control of the false discovery rate.

use crate::{Error, ErrorKind};

/// How rows are flagged: the promised share of false flags, and optionally a posterior below which no row is flagged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlagRule {
    fdr: f64,
    floor: f64,
}

impl FlagRule {
    /// Flags the largest set of rows whose expected share of false flags is at most `fdr`.
    ///
    /// # Errors
    /// `Range` unless `fdr` is at least 0 and below 1.
    pub fn at(fdr: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&fdr) {
            return Err(Error::new(
                ErrorKind::Range,
                format!(
                    "The false discovery rate is {fdr}; it must be at least 0 and below 1, such as 0.05."
                ),
            ));
        }
        Ok(Self { fdr, floor: 0.0 })
    }

    /// Also flags no row with a contamination below `floor`. The set may then be smaller, and its expected share of
    /// false flags only falls.
    ///
    /// # Errors
    /// `Range` unless `floor` lies in [0, 1].
    pub fn with_floor(self, floor: f64) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&floor) {
            return Err(Error::new(
                ErrorKind::Range,
                format!("The lowest contamination to flag is {floor}; it must lie between 0 and 1."),
            ));
        }
        Ok(Self { floor, ..self })
    }

    /// The highest expected share of false flags.
    pub fn fdr(&self) -> f64 {
        self.fdr
    }

    /// The lowest contamination that is flagged.
    pub fn floor(&self) -> f64 {
        self.floor
    }
}

/// The flagged rows.
///
/// Rows are taken by falling contamination `r` while the expected share of false flags
///
/// ```text
/// FDR(k) = (1/k) Σ (1 − rᵢ)   over the first k rows
/// ```
///
/// is at most the rule's. FDR(k) never falls with k, so the set is the largest there is. A row of contamination 0 is
/// never flagged. When many rows are certain the set may end with rows that are more probably right than wrong:
/// the promise is about the set as a whole. `unlikely` counts them; [`FlagRule::with_floor`] leaves them out.
#[derive(Debug, Clone, PartialEq)]
pub struct Flags {
    /// Whether each row is flagged, in input order.
    pub is_flagged: Vec<bool>,
    /// The number of flagged rows.
    pub count: usize,
    /// The expected share of false flags in the set; 0 if it is empty.
    pub expected_fdr: f64,
    /// The number of flags that are expected to be false.
    pub expected_false: f64,
    /// The smallest contamination among the flagged rows; nothing if there are none.
    pub threshold: Option<f64>,
    /// The number of flagged rows with a contamination below one half.
    pub unlikely: usize,
    /// The rule that was applied.
    pub rule: FlagRule,
}

pub(super) fn flag(contamination: &[f64], order: &[usize], rule: FlagRule) -> Flags {
    // The mean of `k` numbers is compared as a sum with `k` times the limit, which needs a hair of tolerance: ten rows
    // of exactly 0.95 must pass at 0.05.
    const TOLERANCE: f64 = 1e-9;
    let mut is_flagged = vec![false; contamination.len()];
    let (mut count, mut expected_false, mut threshold, mut unlikely) = (0, 0.0, None, 0);
    for &row in order {
        let posterior = contamination[row];
        let candidate = expected_false + (1.0 - posterior);
        let limit = rule.fdr * (count + 1) as f64;
        if posterior <= 0.0 || posterior < rule.floor || candidate > limit + TOLERANCE {
            break;
        }
        (count, expected_false, threshold) = (count + 1, candidate, Some(posterior));
        unlikely += usize::from(posterior < 0.5);
        is_flagged[row] = true;
    }
    // The tolerance must not show: what was promised is what is reported.
    let expected_fdr = if count == 0 { 0.0 } else { (expected_false / count as f64).min(rule.fdr) };
    Flags { is_flagged, count, expected_fdr, expected_false, threshold, unlikely, rule }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::by_falling;
    use proptest::prelude::*;

    fn flags(contamination: &[f64], fdr: f64) -> Flags {
        flag(contamination, &by_falling(contamination, |_| 0.0), FlagRule::at(fdr).unwrap())
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        assert_eq!(flags(&[0.95; 10], 0.05).count, 10);
        assert_eq!(flags(&[0.949; 10], 0.05).count, 0);
    }

    #[test]
    fn ties_are_taken_in_input_order() {
        let flags = flags(&[0.8, 1.0, 0.8, 1.0, 0.8], 0.1);
        assert_eq!(flags.is_flagged, [true, true, true, true, false]);
        assert!((flags.expected_fdr - 0.1).abs() < 1e-12);
        assert_eq!(flags.threshold, Some(0.8));
    }

    #[test]
    fn a_row_of_probability_zero_is_never_flagged() {
        assert_eq!(flags(&[1.0, 1.0, 0.0], 0.5).count, 2);
    }

    #[test]
    fn unlikely_rows_are_counted_and_a_floor_leaves_them_out() {
        let contamination = [1.0, 1.0, 1.0, 0.3];
        assert_eq!((flags(&contamination, 0.2).count, flags(&contamination, 0.2).unlikely), (4, 1));
        let rule = FlagRule::at(0.2).unwrap().with_floor(0.5).unwrap();
        assert_eq!(flag(&contamination, &[0, 1, 2, 3], rule).count, 3);
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        for fdr in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(FlagRule::at(fdr).unwrap_err().kind(), ErrorKind::Range);
        }
    }

    proptest! {
        /// No subset at all, of any shape, beats the set that was found.
        #[test]
        fn no_larger_set_keeps_the_promise(
            contamination in prop::collection::vec(prop_oneof![0.0..=1.0f64, 0.9..=1.0f64, Just(0.5), Just(1.0)], 1..12),
            fdr in 0.0..0.6f64,
        ) {
            let found = flags(&contamination, fdr);
            let mut largest = 0;
            for subset in 1u32..1 << contamination.len() {
                let members = || (0..contamination.len()).filter(|row| subset >> row & 1 == 1);
                if members().any(|row| contamination[row] == 0.0) {
                    continue;
                }
                let size = members().count();
                let share = members().map(|row| 1.0 - contamination[row]).sum::<f64>() / size as f64;
                if share <= fdr + 1e-9 / size as f64 {
                    largest = largest.max(size);
                }
            }
            prop_assert_eq!(found.count, largest);
            prop_assert_eq!(found.is_flagged.iter().filter(|&&flag| flag).count(), found.count);
            prop_assert!(found.expected_fdr <= fdr);
            let lowest_in = contamination.iter().zip(&found.is_flagged).filter(|(_, f)| **f).map(|(c, _)| *c);
            let highest_out = contamination.iter().zip(&found.is_flagged).filter(|(_, f)| !**f).map(|(c, _)| *c);
            prop_assert!(lowest_in.fold(1.0, f64::min) >= highest_out.fold(0.0, f64::max));
        }
    }
}
