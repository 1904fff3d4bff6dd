//! 'If I can check only 500 rows, how many bad ones will I find?'

use super::{Estimate, NORMAL_95};

/// What a review of the most suspicious rows is expected to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The number of rows that are checked.
    pub budget: usize,
    /// The number of contaminated rows among them.
    pub found: Estimate,
}

/// The yield of a review of any size, when rows are checked by falling contamination.
///
/// The number of bad rows among the `b` most suspicious is a sum of independent switches (Poisson binomial):
///
/// ```text
/// mean(b) = Σ rᵢ      variance(b) = Σ rᵢ (1 − rᵢ)      over the first b rows
/// [low, high] = mean ± 1.96 √variance, clipped to [0, b]
/// ```
///
/// The interval takes the posterior at its word; it does not cover an error of the model itself.
#[derive(Debug, Clone)]
pub struct ReviewBudget {
    // Entry b is the sum over the first b rows, so both start with a zero.
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl ReviewBudget {
    pub(super) fn new(contamination: &[f64], order: &[usize]) -> Self {
        let mut mean = Vec::with_capacity(order.len() + 1);
        let mut variance = Vec::with_capacity(order.len() + 1);
        let (mut sum, mut spread) = (0.0, 0.0);
        mean.push(sum);
        variance.push(spread);
        for &row in order {
            sum += contamination[row];
            spread += contamination[row] * (1.0 - contamination[row]);
            mean.push(sum);
            variance.push(spread);
        }
        Self { mean, variance }
    }

    /// The number of rows that there are to check.
    pub fn rows(&self) -> usize {
        self.mean.len() - 1
    }

    /// The expected number of bad rows among the `budget` most suspicious; a larger budget than there are rows
    /// counts as all of them.
    pub fn expected_found(&self, budget: usize) -> Found {
        let budget = budget.min(self.rows());
        let mean = self.mean[budget];
        let half = NORMAL_95 * self.variance[budget].sqrt();
        let found = Estimate { mean, low: (mean - half).max(0.0), high: (mean + half).min(budget as f64) };
        Found { budget, found }
    }

    /// The smallest budget that is expected to find the given share of all bad rows.
    pub fn budget_for(&self, share: f64) -> usize {
        let wanted = share.clamp(0.0, 1.0) * self.mean[self.rows()];
        self.mean.partition_point(|&mean| mean < wanted).min(self.rows())
    }

    /// About `points` evenly spaced budgets from none up to `last` rows, both included.
    pub fn curve(&self, last: usize, points: usize) -> Vec<Found> {
        let last = last.min(self.rows());
        let steps = points.saturating_sub(1).clamp(1, last.max(1));
        (0..=steps)
            .map(|step| self.expected_found((last as u128 * step as u128 / steps as u128) as usize))
            .collect()
    }

    /// A horizon at which the curve has flattened: past the row that completes 98 % of what there is to find.
    pub fn horizon(&self) -> usize {
        let knee = self.budget_for(0.98);
        (knee + knee / 4).max(20).min(self.rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::by_falling;
    use proptest::prelude::*;

    fn budget(contamination: &[f64]) -> ReviewBudget {
        ReviewBudget::new(contamination, &by_falling(contamination, |_| 0.0))
    }

    /// The exact distribution of a sum of independent switches, by convolution.
    fn poisson_binomial(probabilities: &[f64]) -> Vec<f64> {
        let mut mass = vec![1.0];
        for p in probabilities {
            let mut next = vec![0.0; mass.len() + 1];
            for (count, weight) in mass.iter().enumerate() {
                next[count] += weight * (1.0 - p);
                next[count + 1] += weight * p;
            }
            mass = next;
        }
        mass
    }

    #[test]
    fn a_curve_has_both_ends_and_no_more_points_than_rows() {
        let budget = budget(&[0.9; 5]);
        let budgets = |points| budget.curve(5, points).iter().map(|found| found.budget).collect::<Vec<_>>();
        assert_eq!(budgets(100), [0, 1, 2, 3, 4, 5]);
        assert_eq!(budgets(2), [0, 5]);
        assert_eq!(budget.curve(0, 100).len(), 2);
    }

    #[test]
    fn the_budget_for_a_share_is_the_smallest() {
        let budget = budget(&[0.5, 1.0, 1.0, 0.0]);
        assert_eq!((budget.budget_for(0.8), budget.budget_for(0.81), budget.budget_for(1.0)), (2, 3, 3));
        assert_eq!(budget.budget_for(0.0), 0);
    }

    proptest! {
        #[test]
        fn moments_are_those_of_the_exact_distribution(contamination in prop::collection::vec(0.0..=1.0f64, 1..15)) {
            let budget = budget(&contamination);
            let mut sorted = contamination.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            for checked in 0..=contamination.len() {
                let mass = poisson_binomial(&sorted[..checked]);
                let mean: f64 = mass.iter().enumerate().map(|(count, weight)| count as f64 * weight).sum();
                let square: f64 = mass.iter().enumerate().map(|(count, weight)| (count * count) as f64 * weight).sum();
                prop_assert!((budget.mean[checked] - mean).abs() < 1e-9);
                prop_assert!((budget.variance[checked] - (square - mean * mean)).abs() < 1e-9);
            }
        }

        #[test]
        fn the_curve_rises_and_flattens(contamination in prop::collection::vec(0.0..=1.0f64, 1..200)) {
            let budget = budget(&contamination);
            let found: Vec<f64> = (0..=contamination.len()).map(|b| budget.expected_found(b).found.mean).collect();
            let steps: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
            prop_assert!(steps.iter().all(|&step| step >= 0.0));
            prop_assert!(steps.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9));
            let end = budget.expected_found(usize::MAX);
            prop_assert_eq!(end.budget, contamination.len());
            prop_assert!((end.found.mean - contamination.iter().sum::<f64>()).abs() < 1e-9);
        }
    }
}
