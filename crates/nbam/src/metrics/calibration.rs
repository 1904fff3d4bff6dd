//! Whether a probability means what it says.

use super::check;
use crate::Result;
use crate::error::{Error, ErrorKind};

/// The usual number of bins of a reliability curve.
pub const DEFAULT_BINS: usize = 15;

/// One bin of a [`ReliabilityCurve`]: the rows whose probability lies in `[low, high)`, the last bin
/// including 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReliabilityBin {
    /// Lower edge, included.
    pub low: f64,
    /// Upper edge, excluded except in the last bin.
    pub high: f64,
    /// Number of rows in the bin.
    pub rows: usize,
    /// Mean probability of these rows; none in an empty bin.
    pub mean_probability: Option<f64>,
    /// Share of these rows that are positive; none in an empty bin.
    pub observed_share: Option<f64>,
}

/// Predicted probability against observed share, in bins of equal width that cover [0, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct ReliabilityCurve {
    /// The bins from 0 up, empty ones included.
    pub bins: Vec<ReliabilityBin>,
}

impl ReliabilityCurve {
    /// The expected calibration error: the gap between probability and share, averaged over rows,
    ///
    /// ```text
    /// ECE = sum_b (n_b / n) |share_b - probability_b|
    /// ```
    pub fn expected_calibration_error(&self) -> f64 {
        let rows: usize = self.bins.iter().map(|bin| bin.rows).sum();
        let gaps = self.bins.iter().filter_map(|bin| {
            let gap = (bin.observed_share? - bin.mean_probability?).abs();
            Some(bin.rows as f64 * gap)
        });
        gaps.sum::<f64>() / rows as f64
    }
}

/// The reliability curve of `probabilities` against `truth`, in `bins` bins of equal width.
///
/// ```
/// use nbam::metrics::reliability;
///
/// let curve = reliability(&[0.1, 0.2, 0.9], &[false, true, true], 2)?;
/// assert_eq!(curve.bins[0].rows, 2);
/// assert_eq!(curve.bins[0].observed_share, Some(0.5));
/// assert_eq!(curve.bins[1].mean_probability, Some(0.9));
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, there are no rows or no bins, or a value is no probability.
pub fn reliability<T: Copy + Into<f64>>(
    probabilities: &[T],
    truth: &[bool],
    bins: usize,
) -> Result<ReliabilityCurve> {
    check_probabilities("the reliability curve", probabilities, truth)?;
    if bins == 0 {
        return Err(Error::new(ErrorKind::Parameter, "the reliability curve needs at least one bin, got 0")
            .with_hint(format!("{DEFAULT_BINS} is usual")));
    }
    let mut sums = vec![(0_usize, 0.0_f64, 0_usize); bins];
    for (&probability, &is_positive) in probabilities.iter().zip(truth) {
        let probability: f64 = probability.into();
        let (rows, sum, positives) = &mut sums[((probability * bins as f64) as usize).min(bins - 1)];
        *rows += 1;
        *sum += probability;
        *positives += usize::from(is_positive);
    }
    let width = |bin: usize| bin as f64 / bins as f64;
    let bins = sums.iter().enumerate().map(|(bin, &(rows, sum, positives))| ReliabilityBin {
        low: width(bin),
        high: width(bin + 1),
        rows,
        mean_probability: (rows > 0).then(|| sum / rows as f64),
        observed_share: (rows > 0).then(|| positives as f64 / rows as f64),
    });
    Ok(ReliabilityCurve { bins: bins.collect() })
}

/// The expected calibration error in [`DEFAULT_BINS`] bins; see
/// [`ReliabilityCurve::expected_calibration_error`]. For another number of bins, take the [`reliability`]
/// curve first.
///
/// # Errors
/// When the lengths differ, there are no rows, or a value is no probability.
pub fn expected_calibration_error<T: Copy + Into<f64>>(probabilities: &[T], truth: &[bool]) -> Result<f64> {
    Ok(reliability(probabilities, truth, DEFAULT_BINS)?.expected_calibration_error())
}

/// The Brier score: the mean squared difference between probability and truth (0 or 1).
///
/// ```
/// let score = nbam::metrics::brier(&[1.0, 0.5], &[true, false])?;
/// assert_eq!(score, 0.125);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, there are no rows, or a value is no probability.
pub fn brier<T: Copy + Into<f64>>(probabilities: &[T], truth: &[bool]) -> Result<f64> {
    check_probabilities("the Brier score", probabilities, truth)?;
    Ok(mean_over_rows(probabilities, truth, |probability, truth| {
        let difference = f64::from(truth) - probability;
        difference * difference
    }))
}

/// The mean negative log-probability of the truth, in nats.
///
/// Nothing is clipped: a row that was declared impossible and happened makes the loss infinite.
///
/// # Errors
/// When the lengths differ, there are no rows, or a value is no probability.
pub fn log_loss<T: Copy + Into<f64>>(probabilities: &[T], truth: &[bool]) -> Result<f64> {
    check_probabilities("the log loss", probabilities, truth)?;
    Ok(mean_over_rows(
        probabilities,
        truth,
        |probability, truth| {
            if truth { -probability.ln() } else { -(-probability).ln_1p() }
        },
    ))
}

fn check_probabilities<T: Copy + Into<f64>>(metric: &str, probabilities: &[T], truth: &[bool]) -> Result<()> {
    check::same_length(metric, ("probabilities", probabilities.len()), ("truths", truth.len()))?;
    check::probabilities(metric, probabilities)
}

fn mean_over_rows<T: Copy + Into<f64>>(
    probabilities: &[T],
    truth: &[bool],
    cost: impl Fn(f64, bool) -> f64,
) -> f64 {
    let costs = probabilities.iter().zip(truth).map(|(&probability, &truth)| cost(probability.into(), truth));
    costs.sum::<f64>() / truth.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCORES: [f64; 12] = [0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.4, 0.3, 0.3, 0.2, 0.1];

    fn truth() -> [bool; 12] {
        [1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0].map(|truth| truth == 1)
    }

    // scikit-learn 1.9.1: brier_score_loss(truth, scores) and log_loss(truth, scores).
    #[test]
    fn brier_and_log_loss_agree_with_scikit_learn() {
        assert!((brier(&SCORES, &truth()).unwrap() - 0.1875).abs() < 1e-15);
        assert!((log_loss(&SCORES, &truth()).unwrap() - 0.552_711_361_812_808_3).abs() < 1e-15);
    }

    // scikit-learn 1.9.1: calibration_curve(truth, scores, n_bins=4).
    #[test]
    fn reliability_agrees_with_scikit_learn() {
        let curve = reliability(&SCORES, &truth(), 4).unwrap();
        let expected =
            [(2, 0.15, 0.0), (3, 1.0 / 3.0, 1.0 / 3.0), (4, 0.625, 0.75), (3, 2.5 / 3.0, 2.0 / 3.0)];
        for (bin, (rows, mean, share)) in curve.bins.iter().zip(expected) {
            assert_eq!(bin.rows, rows);
            assert!((bin.mean_probability.unwrap() - mean).abs() < 1e-15);
            assert!((bin.observed_share.unwrap() - share).abs() < 1e-15);
        }
        // (2 * 0.15 + 3 * 0 + 4 * 0.125 + 3 / 6) / 12, by hand from the curve.
        assert!((curve.expected_calibration_error() - 1.3 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn edges_belong_to_the_upper_bin_and_one_to_the_last() {
        let curve = reliability(&[0.0, 0.5, 1.0], &[false, true, true], 2).unwrap();
        assert_eq!(curve.bins.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((curve.bins[0].low, curve.bins[0].high, curve.bins[1].high), (0.0, 0.5, 1.0));
        let empty = reliability(&[1.0_f32], &[true], 3).unwrap().bins[0];
        assert_eq!((empty.rows, empty.mean_probability, empty.observed_share), (0, None, None));
    }

    #[test]
    fn the_default_has_fifteen_bins() {
        // Either side of 1/15, and of no edge of 14 or 16 bins.
        let error = expected_calibration_error(&[0.065, 0.068], &[true, false]).unwrap();
        assert!((error - (0.935 + 0.068) / 2.0).abs() < 1e-15);
    }

    #[test]
    fn an_impossible_event_costs_everything() {
        assert_eq!(log_loss(&[0.0, 0.5], &[true, true]).unwrap(), f64::INFINITY);
        assert_eq!(log_loss(&[1.0, 0.0], &[true, false]).unwrap(), 0.0);
    }

    #[test]
    fn bad_input_is_an_error() {
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(brier(&[0.5, bad], &[true, true]).unwrap_err().kind(), ErrorKind::Value));
            assert!(matches!(log_loss(&[bad], &[true]).unwrap_err().kind(), ErrorKind::Value));
            assert!(matches!(reliability(&[bad], &[true], 3).unwrap_err().kind(), ErrorKind::Value));
        }
        assert!(matches!(brier(&[0.5], &[]).unwrap_err().kind(), ErrorKind::Shape));
        assert!(matches!(brier::<f64>(&[], &[]).unwrap_err().kind(), ErrorKind::Shape));
        assert!(matches!(reliability(&[0.5], &[true], 0).unwrap_err().kind(), ErrorKind::Parameter));
    }

    proptest! {
        #[test]
        fn curve_holds_every_row_within_its_bin(
            rows in prop::collection::vec((0.0..=1.0_f64, any::<bool>()), 1..200),
            bins in 1..40_usize,
        ) {
            let (probabilities, truth): (Vec<f64>, Vec<bool>) = rows.into_iter().unzip();
            let curve = reliability(&probabilities, &truth, bins).unwrap();
            prop_assert_eq!(curve.bins.iter().map(|bin| bin.rows).sum::<usize>(), truth.len());
            for bin in &curve.bins {
                if let Some(mean) = bin.mean_probability {
                    prop_assert!(bin.low - 1e-12 <= mean && mean <= bin.high + 1e-12);
                }
            }
            let error = curve.expected_calibration_error();
            prop_assert!((0.0..=1.0).contains(&error));
            // One bin compares the means only: a lower bound for any binning.
            let coarse = reliability(&probabilities, &truth, 1).unwrap().expected_calibration_error();
            prop_assert!(coarse <= error + 1e-12);
        }
    }
}
