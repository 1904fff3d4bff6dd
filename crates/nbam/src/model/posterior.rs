//! What a model says of each row.

use crate::switch::{Evidence, Known, sigmoid};

/// The contamination posterior of a set of rows, with the evidence that it is made of.
///
/// For a single model, `contamination = sigmoid(logit(prior) + log_anomaly - log_clean)`. For an ensemble, or an
/// average over epochs, every column is the mean over what is averaged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Posterior {
    /// The probability that each row's target is contaminated.
    pub contamination: Vec<f64>,
    /// The probability that each row is contaminated before its target is seen, `pi(x)`.
    pub prior: Vec<f64>,
    /// `log p(y|x)` under the clean branch.
    pub log_clean: Vec<f64>,
    /// `log q(y|x)` under the anomaly branch.
    pub log_anomaly: Vec<f64>,
    /// The mean contamination that each member of the ensemble finds: how far they disagree about the rate.
    pub member_means: Vec<f64>,
    /// The mean over rows of the standard deviation between members of a row's contamination.
    pub member_spread: f64,
}

impl Posterior {
    /// The mean contamination of the rows.
    pub(crate) fn mean(&self) -> f64 {
        self.contamination.iter().sum::<f64>() / self.contamination.len().max(1) as f64
    }

    /// Rows whose switch is known are as certain as that.
    pub(crate) fn with_known(mut self, known: Option<&[Known]>) -> Self {
        for (contamination, known) in self.contamination.iter_mut().zip(known.unwrap_or_default()) {
            match known {
                Known::Unknown => {}
                Known::Clean => *contamination = 0.0,
                Known::Contaminated => *contamination = 1.0,
            }
        }
        self
    }
}

/// Adds up members' opinions row by row.
pub(crate) struct PosteriorSum {
    sums: Vec<[f64; 4]>,
    squares: Vec<f64>,
    member_means: Vec<f64>,
}

impl PosteriorSum {
    pub(crate) fn new(rows: usize) -> Self {
        Self { sums: vec![[0.0; 4]; rows], squares: vec![0.0; rows], member_means: Vec::new() }
    }

    /// Adds one member: posterior, prior, log clean and log anomaly of each row.
    pub(crate) fn add(&mut self, rows: impl Iterator<Item = [f64; 4]>) {
        let mut total = 0.0;
        for ((sums, square), row) in self.sums.iter_mut().zip(&mut self.squares).zip(rows) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
            *square += row[0] * row[0];
            total += row[0];
        }
        self.member_means.push(total / self.sums.len().max(1) as f64);
    }

    pub(crate) fn finish(self) -> Posterior {
        let count = self.member_means.len().max(1) as f64;
        let column = |index: usize| self.sums.iter().map(|sums| sums[index] / count).collect();
        let spread =
            |(sums, square): (&[f64; 4], &f64)| (square / count - (sums[0] / count).powi(2)).max(0.0).sqrt();
        let spreads = self.sums.iter().zip(&self.squares).map(spread).sum::<f64>();
        Posterior {
            contamination: column(0),
            prior: column(1),
            log_clean: column(2),
            log_anomaly: column(3),
            member_spread: spreads / self.sums.len().max(1) as f64,
            member_means: self.member_means,
        }
    }
}

/// The four numbers of a row that are averaged.
pub(crate) fn columns(evidence: &Evidence) -> [f64; 4] {
    [evidence.posterior(), sigmoid(evidence.logit_prior), evidence.log_clean, evidence.log_anomaly]
}
