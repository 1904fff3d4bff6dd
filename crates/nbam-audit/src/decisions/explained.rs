//! How much of a regression's clean targets the features explain.

use crate::ValueTargets;

/// The share of the variance of the values that look right for which the predictions account:
///
/// ```text
/// 1 − Σ (yᵢ − ŷᵢ)² / Σ (yᵢ − ȳ)²        over the rows with a contamination below one half
/// ```
///
/// Below zero if the predictions are worse than the mean `ȳ`; none if those values do not vary.
pub(super) fn share(targets: &ValueTargets, contamination: &[f64]) -> Option<f64> {
    // Not weighted by 1 − contamination: a sentinel's square is so large that no small weight takes it away.
    let right = || (0..contamination.len()).filter(|&row| contamination[row] < 0.5);
    let mean = right().map(|row| targets.given[row]).sum::<f64>() / right().count() as f64;
    let squares = |centre: &dyn Fn(usize) -> f64| -> f64 {
        right().map(|row| (targets.given[row] - centre(row)).powi(2)).sum()
    };
    let left = squares(&|row| targets.predicted[row]) / squares(&|_| mean);
    // Without rows, or without variance, this is no number.
    left.is_finite().then_some(1.0 - left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(given: &[f64], predicted: &[f64], contamination: &[f64]) -> Option<f64> {
        let targets =
            ValueTargets { given: given.to_vec(), predicted: predicted.to_vec(), ..Default::default() };
        share(&targets, contamination)
    }

    #[test]
    fn only_values_that_look_right_count() {
        // Squares about the mean of 2: 1 + 0 + 1; about the predictions: 0.25 + 0 + 0.25.
        let given = [1.0, 2.0, 3.0, -999.0];
        let predicted = [1.5, 2.0, 2.5, 2.0];
        assert_eq!(explained(&given, &predicted, &[0.0, 0.1, 0.4, 1.0]), Some(0.75));
        assert_eq!(explained(&given[..3], &[2.0; 3], &[0.0; 3]), Some(0.0));
        assert_eq!(explained(&given[..3], &[3.0, 2.0, 1.0], &[0.0; 3]), Some(-3.0));
    }

    #[test]
    fn nothing_is_said_of_values_that_do_not_vary() {
        assert_eq!(explained(&[1.0, 1.0], &[0.5, 1.0], &[0.0, 0.0]), None);
        assert_eq!(explained(&[1.0, 2.0], &[1.0, 2.0], &[0.9, 0.9]), None);
    }
}
