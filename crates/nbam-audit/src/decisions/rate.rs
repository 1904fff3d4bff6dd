//! How much of the data is contaminated, and how sure that is.

use super::NORMAL_95;

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The expected value.
    pub mean: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
}

/// The estimated share of contaminated rows.
///
/// With `r` the posterior of the `n` rows and `m` the means of the `M` ensemble members,
///
/// ```text
/// mean    = Σ rᵢ / n
/// count   = Σ rᵢ (1 − rᵢ) / n²          variance of a sum of independent switches (Poisson binomial)
/// members = (1 + 1/M) · var(m)          one more member would differ from the mean by about this much
/// [low, high] = mean ± 1.96 √(count + members), clipped to [0, 1]
/// ```
///
/// The interval is conditional on the model: it covers the chance in the switches and the disagreement of the
/// members, not an error that all members share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The mean posterior and its 95 % interval.
    pub estimate: Estimate,
    /// Standard deviation of the rate given the posterior: the square root of `count` above.
    pub count_sd: f64,
    /// Standard deviation from the members' disagreement: the square root of `members` above. Zero, because it is
    /// unknown, for fewer than two members.
    pub member_sd: f64,
    /// The number of members that were compared.
    pub members: usize,
}

pub(super) fn estimate(contamination: &[f64], member_means: &[f64]) -> Rate {
    let rows = contamination.len() as f64;
    let mean = contamination.iter().sum::<f64>() / rows;
    let count_variance = contamination.iter().map(|r| r * (1.0 - r)).sum::<f64>() / (rows * rows);
    let member_variance = between_members(member_means);
    let half = NORMAL_95 * (count_variance + member_variance).sqrt();
    Rate {
        estimate: Estimate { mean, low: (mean - half).max(0.0), high: (mean + half).min(1.0) },
        count_sd: count_variance.sqrt(),
        member_sd: member_variance.sqrt(),
        members: member_means.len(),
    }
}

fn between_members(means: &[f64]) -> f64 {
    if means.len() < 2 {
        return 0.0;
    }
    let members = means.len() as f64;
    let centre = means.iter().sum::<f64>() / members;
    let variance = means.iter().map(|mean| (mean - centre).powi(2)).sum::<f64>() / (members - 1.0);
    variance * (1.0 + 1.0 / members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_the_formula() {
        let rate = estimate(&[0.5, 0.5, 0.0, 1.0], &[0.4, 0.6]);
        assert!((rate.estimate.mean - 0.5).abs() < 1e-15);
        assert!((rate.count_sd - (0.5f64 / 16.0).sqrt()).abs() < 1e-15);
        assert!((rate.member_sd - (0.02f64 * 1.5).sqrt()).abs() < 1e-15);
        assert_eq!(rate.members, 2);
    }

    #[test]
    fn certain_rows_and_one_member_leave_no_width() {
        let rate = estimate(&[0.0, 1.0], &[0.5]);
        assert_eq!((rate.estimate.low, rate.estimate.high), (0.5, 0.5));
    }

    #[test]
    fn interval_is_clipped_to_the_unit_interval() {
        let rate = estimate(&[0.01], &[0.0, 1.0]);
        assert_eq!((rate.estimate.low, rate.estimate.high), (0.0, 1.0));
    }
}
