//! Bringing targets of any unit to a common scale.

use super::posterior::Posterior;
use serde::{Deserialize, Serialize};

/// A robust affine map: `(y - centre) / spread`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetScale {
    pub(crate) centre: f64,
    pub(crate) spread: f64,
}

impl TargetScale {
    /// The median and 1.4826 times the median absolute deviation: half of the targets may be anything.
    ///
    /// Where more than half of the targets are equal, that deviation is zero, and the mean of the ones that differ
    /// takes its place.
    pub(crate) fn fit(values: Vec<f64>) -> Self {
        let centre = median(values.clone());
        let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
        let mut spread = 1.4826 * median(deviations.clone());
        if spread == 0.0 {
            let differing: Vec<f64> = deviations.into_iter().filter(|deviation| *deviation > 0.0).collect();
            spread = median(differing);
        }
        Self { centre, spread: if spread > 0.0 && spread.is_finite() { spread } else { 1.0 } }
    }

    pub(crate) fn scale(&self, value: f64) -> f64 {
        (value - self.centre) / self.spread
    }

    pub(crate) fn unscale(&self, value: f64) -> f64 {
        self.centre + self.spread * value
    }

    /// Densities of the scaled target as densities of the target: divided by the spread.
    pub(crate) fn in_target_units(&self, mut posterior: Posterior) -> Posterior {
        let shift = self.spread.ln();
        for value in posterior.log_clean.iter_mut().chain(&mut posterior.log_anomaly) {
            *value -= shift;
        }
        posterior
    }
}

/// The middle value; the mean of the two middle ones of an even number. Zero of none.
fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let (middle, is_even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, &mut high, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let low = if is_even { below.iter().copied().fold(f64::NEG_INFINITY, f64::max) } else { high };
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_targets_may_be_anything() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        let scale = TargetScale::fit(vec![1.0, 2.0, 3.0, 4.0, 1e9]);
        assert_eq!((scale.centre, scale.spread), (3.0, 1.4826));
        assert_eq!(scale.unscale(scale.scale(17.0)), 17.0);
        // Mostly one value: the spread is that of the others.
        assert_eq!(TargetScale::fit(vec![0.0, 0.0, 0.0, 2.0, 4.0]).spread, 3.0);
        assert_eq!(TargetScale::fit(vec![5.0, 5.0]).spread, 1.0);
    }
}
