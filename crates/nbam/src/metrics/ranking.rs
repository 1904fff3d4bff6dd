//! How well a score ranks the positive rows above the others.

use super::check;
use crate::Result;
use crate::error::{Error, ErrorKind};

/// Rows that share one score, and cannot be told apart by any threshold.
struct Tie {
    positives: u64,
    negatives: u64,
}

/// The area under the receiver operating characteristic: the probability that a random positive row scores
/// higher than a random negative one, where an equal score counts one half.
///
/// ```text
/// AUROC = [ #(s+ > s-) + #(s+ = s-) / 2 ] / (P N)
/// ```
///
/// Sorting makes it O(n log n), and the pairs are counted in integers, so ties and order cost no digit. It is
/// undefined, and an error, when one of the two classes is absent.
///
/// ```
/// let area = nbam::metrics::auroc(&[0.9_f32, 0.4, 0.4, 0.1], &[true, true, false, false])?;
/// assert_eq!(area, 0.875);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, a score is NaN, or all rows are of one class.
pub fn auroc<T: Copy + Into<f64>>(scores: &[T], truth: &[bool]) -> Result<f64> {
    let ties = descending_ties("AUROC", scores, truth)?;
    let positives: u64 = ties.iter().map(|tie| tie.positives).sum();
    let negatives: u64 = ties.iter().map(|tie| tie.negatives).sum();
    if positives == 0 || negatives == 0 {
        let present = if positives == 0 { "negative" } else { "positive" };
        return Err(Error::new(
            ErrorKind::Label,
            format!("AUROC needs positive and negative rows, but all {} rows are {present}", truth.len()),
        ));
    }
    // Twice the count of ordered pairs, so that a tie is a whole number. It can exceed 64 bits.
    let mut pairs: u128 = 0;
    let mut positives_above: u64 = 0;
    for tie in &ties {
        pairs += u128::from(tie.negatives) * u128::from(2 * positives_above + tie.positives);
        positives_above += tie.positives;
    }
    Ok(pairs as f64 / (2.0 * positives as f64 * negatives as f64))
}

/// The average precision: the area under the precision-recall curve, as a step function without
/// interpolation,
///
/// ```text
/// AP = sum_n (R_n - R_{n-1}) P_n
/// ```
///
/// over the distinct scores from the highest down, with P_n and R_n the precision and recall of flagging
/// every row that scores at least the n-th. Rows of equal score enter together. An error when no row is
/// positive.
///
/// ```
/// let precision = nbam::metrics::average_precision(&[0.9, 0.4, 0.4, 0.1], &[true, true, false, false])?;
/// assert!((precision - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-15);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, a score is NaN, or no row is positive.
pub fn average_precision<T: Copy + Into<f64>>(scores: &[T], truth: &[bool]) -> Result<f64> {
    let ties = descending_ties("average precision", scores, truth)?;
    let positives: u64 = ties.iter().map(|tie| tie.positives).sum();
    if positives == 0 {
        return Err(Error::new(
            ErrorKind::Label,
            format!("average precision needs a positive row, but all {} rows are negative", truth.len()),
        ));
    }
    let mut sum = 0.0;
    let (mut found, mut flagged) = (0, 0);
    for tie in &ties {
        found += tie.positives;
        flagged += tie.positives + tie.negatives;
        sum += tie.positives as f64 * (found as f64 / flagged as f64);
    }
    Ok(sum / positives as f64)
}

/// The rows grouped by score, highest first.
fn descending_ties<T: Copy + Into<f64>>(metric: &str, scores: &[T], truth: &[bool]) -> Result<Vec<Tie>> {
    check::same_length(metric, ("scores", scores.len()), ("truths", truth.len()))?;
    check::rankable(metric, scores)?;
    let mut rows: Vec<(f64, bool)> =
        scores.iter().zip(truth).map(|(&score, &is_positive)| (score.into(), is_positive)).collect();
    rows.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    // The total order puts -0 beside +0, and == joins them.
    let tie = |rows: &[(f64, bool)]| {
        let positives = rows.iter().filter(|row| row.1).count();
        Tie { positives: positives as u64, negatives: (rows.len() - positives) as u64 }
    };
    Ok(rows.chunk_by(|left, right| left.0 == right.0).map(tie).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every pair, one by one.
    fn auroc_by_pairs(scores: &[f64], truth: &[bool]) -> f64 {
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (positive, _) in scores.iter().zip(truth).filter(|(_, truth)| **truth) {
            for (negative, _) in scores.iter().zip(truth).filter(|(_, truth)| !**truth) {
                pairs += 1.0;
                sum += if positive > negative { 1.0 } else { f64::from(positive == negative) / 2.0 };
            }
        }
        sum / pairs
    }

    /// Precision and recall at every threshold, each counted from scratch.
    fn average_precision_by_thresholds(scores: &[f64], truth: &[bool]) -> f64 {
        let mut thresholds = scores.to_vec();
        thresholds.sort_by(|left, right| right.total_cmp(left));
        thresholds.dedup();
        let positives = truth.iter().filter(|truth| **truth).count() as f64;
        let (mut sum, mut last_recall) = (0.0, 0.0);
        for threshold in thresholds {
            let flagged: Vec<bool> = scores
                .iter()
                .zip(truth)
                .filter(|(score, _)| **score >= threshold)
                .map(|(_, truth)| *truth)
                .collect();
            let hits = flagged.iter().filter(|truth| **truth).count() as f64;
            sum += (hits / positives - last_recall) * hits / flagged.len() as f64;
            last_recall = hits / positives;
        }
        sum
    }

    // scikit-learn 1.9.1: roc_auc_score(truth, scores) and average_precision_score(truth, scores).
    #[test]
    fn agrees_with_scikit_learn() {
        let scores = [0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.4, 0.3, 0.3, 0.2, 0.1];
        let truth = [1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0].map(|truth| truth == 1);
        assert!((auroc(&scores, &truth).unwrap() - 0.777_777_777_777_777_9).abs() < 1e-15);
        assert!((average_precision(&scores, &truth).unwrap() - 0.740_873_015_873_015_9).abs() < 1e-15);
    }

    #[test]
    fn a_score_that_says_nothing_gives_one_half_and_the_base_rate() {
        let truth = [true, false, false, false];
        assert_eq!(auroc(&[0.5_f32; 4], &truth).unwrap(), 0.5);
        assert_eq!(average_precision(&[0.5_f32; 4], &truth).unwrap(), 0.25);
        assert_eq!(auroc(&[0.0, -0.0, 0.0, -0.0], &truth).unwrap(), 0.5);
    }

    #[test]
    fn infinite_scores_have_a_rank() {
        let scores = [f64::INFINITY, 1.0, f64::NEG_INFINITY];
        assert_eq!(auroc(&scores, &[true, false, false]).unwrap(), 1.0);
        assert_eq!(auroc(&scores, &[false, false, true]).unwrap(), 0.0);
    }

    #[test]
    fn bad_input_is_an_error() {
        let kind = |scores: &[f64], truth: &[bool]| auroc(scores, truth).unwrap_err();
        assert!(matches!(kind(&[0.1, 0.2], &[true]).kind(), ErrorKind::Shape));
        assert!(matches!(kind(&[], &[]).kind(), ErrorKind::Shape));
        assert!(matches!(kind(&[0.1, f64::NAN], &[true, false]).kind(), ErrorKind::Value));
        assert!(matches!(kind(&[0.1, 0.2], &[true, true]).kind(), ErrorKind::Label));
        assert!(matches!(kind(&[0.1, 0.2], &[false, false]).kind(), ErrorKind::Label));
        assert!(matches!(average_precision(&[0.1], &[false]).unwrap_err().kind(), ErrorKind::Label));
        assert_eq!(average_precision(&[0.1], &[true]).unwrap(), 1.0);
    }

    /// Scores on a coarse grid, so that ties are common.
    fn scored_rows() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
        prop::collection::vec((0..12_i32, any::<bool>()), 2..80)
            .prop_filter("both classes", |rows| rows.iter().any(|row| row.1) && rows.iter().any(|row| !row.1))
            .prop_map(|rows| rows.into_iter().map(|(score, truth)| (f64::from(score) / 7.0, truth)).unzip())
    }

    proptest! {
        #[test]
        fn auroc_counts_pairs((scores, truth) in scored_rows()) {
            prop_assert!((auroc(&scores, &truth).unwrap() - auroc_by_pairs(&scores, &truth)).abs() < 1e-13);
        }

        #[test]
        fn reversed_scores_reverse_the_area((scores, truth) in scored_rows()) {
            let reversed: Vec<f64> = scores.iter().map(|score| -score).collect();
            let sum = auroc(&scores, &truth).unwrap() + auroc(&reversed, &truth).unwrap();
            prop_assert!((sum - 1.0).abs() < 1e-15);
        }

        #[test]
        fn average_precision_sums_thresholds((scores, truth) in scored_rows()) {
            let slow = average_precision_by_thresholds(&scores, &truth);
            prop_assert!((average_precision(&scores, &truth).unwrap() - slow).abs() < 1e-13);
        }
    }
}
