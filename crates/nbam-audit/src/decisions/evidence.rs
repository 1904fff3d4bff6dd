//! Why a row is suspected: three terms that add up.

use crate::Posterior;

/// The additive evidence of one row, in natural log-odds.
///
/// ```text
/// logit(contamination) = logit(prior) + (−log_clean) + log_anomaly
/// ```
///
/// A positive term speaks for contamination. For a single model the sum is exact; for an ensemble or an average over
/// epochs every column is a mean, the sum is approximate, and [`Evidence::gap`] says by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// logit(prior): what was expected of a row like this before its target was seen.
    pub prior: f64,
    /// −log_clean: how surprising the target is if it is right.
    pub clean: f64,
    /// log_anomaly: how well being wrong explains the target.
    pub anomaly: f64,
    /// logit(contamination), the sum of the other three for a single model.
    pub log_odds: f64,
}

impl Evidence {
    /// The evidence of a row; nothing if there is no such row.
    pub fn of(posterior: &Posterior, row: usize) -> Option<Self> {
        Some(Self {
            prior: logit(*posterior.prior.get(row)?),
            clean: -*posterior.log_clean.get(row)?,
            anomaly: *posterior.log_anomaly.get(row)?,
            log_odds: logit(*posterior.contamination.get(row)?),
        })
    }

    /// How many times likelier the target is if it is contaminated than if it is clean (the Bayes factor).
    pub fn bayes_factor(&self) -> f64 {
        (self.clean + self.anomaly).exp()
    }

    /// By how much the three terms miss the row's log-odds; not a number where the terms are infinite.
    pub fn gap(&self) -> f64 {
        self.log_odds - (self.prior + self.clean + self.anomaly)
    }
}

fn logit(probability: f64) -> f64 {
    probability.ln() - (-probability).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_of_a_single_model_add_up() {
        let (prior, log_clean, log_anomaly) = (0.2f64, -4.0, -0.5);
        let log_odds: f64 = (prior / (1.0 - prior)).ln() + log_anomaly - log_clean;
        let posterior = Posterior {
            contamination: vec![1.0 / (1.0 + (-log_odds).exp())],
            prior: vec![prior],
            log_clean: vec![log_clean],
            log_anomaly: vec![log_anomaly],
            member_means: vec![],
        };
        let evidence = Evidence::of(&posterior, 0).unwrap();
        assert!(evidence.gap().abs() < 1e-12);
        assert!((evidence.bayes_factor() - 3.5f64.exp()).abs() < 1e-9);
        assert_eq!(Evidence::of(&posterior, 1), None);
    }
}
