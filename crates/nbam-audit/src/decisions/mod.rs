//! The decisions: everything that follows from the posterior alone, as plain data.

mod budget;
mod classes;
mod evidence;
mod explained;
mod flags;
mod histogram;
mod rate;
mod transitions;

pub use budget::{Found, ReviewBudget};
pub use classes::ClassRate;
pub use evidence::Evidence;
pub use flags::{FlagRule, Flags};
pub use histogram::Histogram;
pub use rate::{Estimate, Rate};
pub use transitions::{Transition, Transitions};

use crate::{Scored, Targets};

/// The two-sided 95 % quantile of the normal distribution.
pub(crate) const NORMAL_95: f64 = 1.959_963_984_540_054;

/// What follows from a posterior.
#[derive(Debug, Clone)]
pub struct Decisions {
    /// How much of the data is contaminated.
    pub rate: Rate,
    /// Which rows are flagged.
    pub flags: Flags,
    /// Which label turned into which; no pairs for a regression.
    pub transitions: Transitions,
    /// How many bad rows a review of any size will find.
    pub budget: ReviewBudget,
    /// The prior and the posterior class by class; empty for a regression.
    pub classes: Vec<ClassRate>,
    /// The share of the variance of the values that look right for which the features account; `None` for a classification.
    pub explained: Option<f64>,
    /// How the posterior is distributed.
    pub histogram: Histogram,
    /// All rows by falling contamination; of rows with equal contamination (gross errors are all as good as certain), those come first
    /// whose target speaks most against being clean.
    pub order: Vec<usize>,
}

/// Decides: O(n log n) in the number of rows, the same result every time.
pub fn decide(scored: &Scored, rule: FlagRule) -> Decisions {
    let posterior = scored.posterior();
    let contamination = &posterior.contamination;
    let order = by_falling(contamination, |row| posterior.log_anomaly[row] - posterior.log_clean[row]);
    let flags = flags::flag(contamination, &order, rule);
    let (transitions, classes, explained) = match scored.targets() {
        Targets::Classification(targets) => (
            transitions::count(targets, &flags.is_flagged),
            classes::by_class(targets, posterior, &flags.is_flagged),
            None,
        ),
        Targets::Regression(targets) => {
            (Transitions::default(), Vec::new(), explained::share(targets, contamination))
        }
    };
    Decisions {
        rate: rate::estimate(contamination, &posterior.member_means),
        transitions,
        budget: ReviewBudget::new(contamination, &order),
        classes,
        explained,
        histogram: Histogram::new(contamination, &flags.is_flagged),
        flags,
        order,
    }
}

impl Decisions {
    /// The rows worth listing, most suspicious first: all that are flagged, then all with a contamination of at least
    /// 0.2, then enough to make 20; never more than `limit`.
    pub fn listed(&self, scored: &Scored, limit: usize) -> &[usize] {
        const WORTH_A_LOOK: f64 = 0.2;
        const AT_LEAST: usize = 20;
        let contamination = &scored.posterior().contamination;
        let worth = self.order.partition_point(|&row| contamination[row] >= WORTH_A_LOOK);
        let length = worth.max(self.flags.count).max(AT_LEAST).min(limit).min(self.order.len());
        &self.order[..length]
    }
}

/// Rows by falling contamination, and where that is equal by falling evidence.
fn by_falling(contamination: &[f64], evidence: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..contamination.len()).collect();
    // The row number as last key makes the order total, so that the faster unstable sort is deterministic.
    order.sort_unstable_by(|&a, &b| {
        let by_evidence = || evidence(b).total_cmp(&evidence(a));
        contamination[b].total_cmp(&contamination[a]).then_with(by_evidence).then(a.cmp(&b))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::by_falling;

    #[test]
    fn gross_errors_come_before_small_ones_that_are_as_certain() {
        let evidence = [30.0, 700.0, 900.0, 30.0];
        assert_eq!(by_falling(&[1.0, 1.0, 0.5, 1.0], |row| evidence[row]), [1, 0, 3, 2]);
    }
}
