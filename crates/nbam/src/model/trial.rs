//! A fit to part of the rows, and what it says of the others.

use super::belief::Belief;
use super::borders::{self, Contradicted, Place};
use super::fit_labels::Fit;
use super::left_out::{Parts, is_better};
use super::warning::{label_counts, vanished};
use crate::density::categorical::log_softmax;
use crate::net::Network;
use crate::switch::Known;
use crate::train::Scoring;
use crate::{ErrorKind, Result};

/// Rows of a trial fit's batch at least, where the batches are smaller because the rows are fewer.
const SMALLEST_BATCH: usize = 128;
/// Part of what labels cost without features that these must save, or they say nothing about them.
const LEAST_GAIN: f64 = 0.02;

/// What a trial fit says.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrialFit {
    /// The cost of each left-out label.
    pub(crate) losses: Vec<f64>,
    /// The classes that vanished from the fit.
    pub(crate) lost: Vec<usize>,
    /// The share of the labels that are contaminated.
    pub(crate) contaminated: f64,
    /// Where labels are contradicted; nowhere if nothing may be wrong.
    pub(crate) contradicted: Contradicted,
}

impl TrialFit {
    /// Whether every class is still there and the borders between them are clear.
    pub(crate) fn leaves_borders(&self) -> bool {
        self.lost.is_empty() && !self.contradicted.may_be_unclear()
    }
}

impl Fit<'_> {
    /// Whether a trial's left-out labels cost less than they do if all that is known is how frequent each is among the rows inside.
    ///
    /// Where features say nothing about the labels, any share of wrong labels explains them equally well, and what a fit says of single rows rests on
    /// its beliefs alone.
    pub(crate) fn has_signal(&self, losses: &[f64], inside: &[u32], left_out: &[u32]) -> bool {
        let weight = |row: u32| self.labels.weights.map_or(1.0, |weights| f64::from(weights[row as usize]));
        // Half a row more of each class: a label that only left-out rows have is not impossible.
        let mut totals = vec![0.5; self.classes];
        inside.iter().for_each(|&row| totals[self.labels.labels[row as usize]] += weight(row));
        let total: f64 = totals.iter().sum();
        // What a verified row costs says how probable its switch is, too.
        let is_judged =
            |row: u32| self.labels.known.is_none_or(|known| known[row as usize] == Known::Unknown);
        let judged = left_out.iter().zip(losses).filter(|(row, _)| is_judged(**row));
        let (by_share, by_features): (Vec<f64>, Vec<f64>) = judged
            .map(|(&row, &loss)| {
                let share = totals[self.labels.labels[row as usize]] / total;
                (-weight(row) * share.ln() * (1.0 - LEAST_GAIN), loss)
            })
            .unzip();
        // No standard errors are asked for: labels that are rare, or often wrong, cost little less with features that tell them.
        by_share.is_empty() || is_better(&by_share, &by_features, 0.0)
    }

    /// Trains on some rows, and looks at what the labels of others cost.
    pub(crate) fn trial(
        &self,
        strength: f64,
        belief: Belief,
        Parts { inside, left_out, whole }: &Parts,
        is_parallel: bool,
    ) -> Result<TrialFit> {
        let batch = trial_batch(self.params.batch_size, *whole, self.features.rows());
        let trained = match self.train(strength, belief, Some(inside), batch, (0, 1), is_parallel) {
            Err(error) if error.kind() == ErrorKind::Diverged => {
                let losses = vec![f64::INFINITY; left_out.len()];
                return Ok(TrialFit { losses, ..TrialFit::default() });
            }
            trained => trained?,
        };
        let labels = inside.iter().map(|&row| self.labels.labels[row as usize]);
        let counts = label_counts(labels, self.classes);
        let channel = trained.objective.channel();
        let lost = channel.map_or_else(Vec::new, |channel| vanished(&counts, &channel.shares()));
        let contaminated = channel.map_or(0.0, |channel| channel.contaminated());
        let contradicted =
            channel.map_or_else(Contradicted::default, |_| self.contradicted(&trained.network, inside));
        // A verified row's likelihood would depend on guesses.
        let state = trained.objective.into_state().without_guesses();
        let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(left_out) };
        let losses = scoring.each_row(&trained.network, |row, outputs| {
            let known = self.labels.known.map_or(Known::Unknown, |known| known[row]);
            let weight = self.labels.weights.map_or(1.0, |weights| f64::from(weights[row]));
            let mut log_p = vec![0.0; self.classes];
            let evidence = state.evidence(outputs, self.classes, self.labels.labels[row], &mut log_p);
            weight * if state.is_mixture() { evidence.row(known).loss } else { -evidence.log_clean }
        });
        Ok(TrialFit { losses, lost, contaminated, contradicted })
    }

    /// Where the labels of these rows are contradicted.
    fn contradicted(&self, network: &Network, inside: &[u32]) -> Contradicted {
        let has_weight = |row: u32| self.labels.weights.is_none_or(|weights| weights[row as usize] > 0.0);
        let sample = borders::sample(inside.iter().copied(), has_weight);
        let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(&sample) };
        let places = scoring.each_row(network, |row, outputs| {
            let mut probabilities = vec![0.0; self.classes];
            log_softmax(&outputs[..self.classes], &mut probabilities);
            probabilities.iter_mut().for_each(|log_p| *log_p = log_p.exp());
            Place::of(&probabilities, self.labels.labels[row])
        });
        borders::contradicted(places)
    }
}

/// Rows of the batches of a trial fit that stands for part of the rows. A pass over them takes as many steps as one over all, so that as many
/// passes are enough.
fn trial_batch(usual: usize, whole: usize, rows: usize) -> usize {
    (usual * whole / rows).max(SMALLEST_BATCH.min(usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_of_part_of_the_rows_takes_as_many_steps() {
        assert_eq!(trial_batch(512, 15_001, 15_001), 512);
        assert_eq!(trial_batch(512, 20_000, 40_000), 256);
        assert_eq!(trial_batch(512, 20_000, 1_000_000), SMALLEST_BATCH);
        assert_eq!(trial_batch(64, 20_000, 1_000_000), 64);
    }
}
