//! A second opinion for few rows of classes that are hard to tell apart: networks that judge only rows which they left out.
//!
//! With few rows a network is certain of what it was shown, right or wrong, and a sharp one takes what it could not learn for wrong labels. Here the rows are
//! divided in five, several times; one network is fitted to every four fifths, and a row's class is the mean of what the networks say that did not see it,
//!
//! ```text
//! p(k|x) = mean over divisions of p_d(k|x),     d fitted without the part that holds x
//! ```
//!
//! Where they differ the mean is in doubt: what too few rows leave open is in `p`, not in the rate. The class transition is then estimated from
//! these predictions of all rows, and goes with the mean prediction of all networks for new rows. With `p` fixed the likelihood is concave in
//! the transition's flows, so that there is one optimum and nothing to be swapped.

use super::belief::Belief;
use super::channel::Channel;
use super::ensemble::fit_members;
use super::fit_labels::Fit;
use super::labels::{LabelModel, Labels, TransitionPrior};
use super::left_out::{Division, FOLDS, Parts, is_better};
use super::params::usual_weight_prior;
use super::search::{CLEAR, FEW_ROWS, Settled};
use crate::density::categorical::log_softmax;
use crate::density::transition::Transition;
use crate::net::Network;
use crate::switch::Known;
use crate::train::{Context, Scoring};
use crate::{ErrorKind, Result};

/// Rows from which one fit to all of them is as good.
pub(crate) const MANY_ROWS: usize = 1500;
/// By how much weaker than usual the weights are held: what a network learns by heart does not count here.
const WEAKER: f64 = 5.0;
/// Rows of a batch: with few rows, small ones take as many steps in less time.
const BATCH: usize = 64;
/// Parts of the rows that must each find the committee better. A single fit that ends in a wrong optimum makes the labels of its part improbable,
/// which says nothing of the fit to all rows.
const AGREEING: usize = FOLDS - 1;
/// Steps of the channel's estimate at most, and the change of a rate below which it is done.
const STEPS: usize = 500;
const DONE: f64 = 1e-7;

/// Networks, what they say of the rows that they left out, and the transition that goes with it.
pub(crate) struct Committee {
    pub(crate) networks: Vec<Network>,
    /// The mean loss of each epoch, for each network.
    pub(crate) losses: Vec<Vec<f64>>,
    pub(crate) transition: Transition,
    /// `log p(.|x)` of every row by the networks that left it out, row-major.
    pub(crate) log_p: Vec<f32>,
    /// The mean posterior that each division finds by itself.
    pub(crate) division_means: Vec<f64>,
    pub(crate) weight_prior: f64,
    /// Whether the features predict labels better than their frequencies do.
    pub(crate) has_signal: bool,
}

/// What the networks of one division are, and what each says of the rows that it left out.
struct Divided {
    networks: Vec<Network>,
    losses: Vec<Vec<f64>>,
    /// `p(.|x)` of every row, row-major.
    probabilities: Vec<f64>,
}

impl Fit<'_> {
    /// A committee, if labels that were left out are more probable under it than under what was settled on.
    pub(crate) fn second_opinion(&self, settled: &Settled) -> Result<Option<Committee>> {
        let is_small = (FEW_ROWS..MANY_ROWS).contains(&self.features.rows());
        let is_channel = matches!(self.params.task.model, LabelModel::Transition(_));
        if !(is_small && is_channel && self.params.weight_prior.is_none()) {
            return Ok(None);
        }
        match self.better_committee(&self.left_out_losses(settled)?) {
            Err(error) if error.kind() == ErrorKind::Diverged => Ok(None),
            committee => committee,
        }
    }

    fn better_committee(&self, usual: &[f64]) -> Result<Option<Committee>> {
        let first = self.divided(0)?;
        // More divisions help, but not that much.
        if is_better(&self.pooled_losses(&log_of(&first.probabilities)), usual, CLEAR) {
            return Ok(None);
        }
        let committee = self.committee_from(vec![first])?;
        let division = Division::new(usual.len(), self.params.seed);
        Ok(is_clear(usual, &self.pooled_losses(&committee.log_p), &division).then_some(committee))
    }

    /// What each row's label costs under what was settled on, if the row is left out.
    fn left_out_losses(&self, settled: &Settled) -> Result<Vec<f64>> {
        let rows = self.features.rows();
        let division = Division::new(rows, self.params.seed);
        let parts = fit_members(FOLDS, |fold, is_parallel| {
            let (inside, left_out) = (division.without(fold), division.part(fold));
            let parts = Parts { inside, left_out, whole: rows };
            let trial = self.trial(settled.weight_prior, settled.belief, &parts, is_parallel)?;
            Ok((parts.left_out, trial.losses))
        })?;
        let mut losses = vec![0.0; rows];
        for (left_out, part) in parts {
            left_out.iter().zip(part).for_each(|(&row, loss)| losses[row as usize] = loss);
        }
        Ok(losses)
    }

    /// Fits a committee without a look at anything else.
    pub(crate) fn committee(&self) -> Result<Committee> {
        self.committee_from(Vec::new())
    }

    fn weight_prior(&self) -> f64 {
        usual_weight_prior(self.features.rows()) / WEAKER
    }

    /// One network for each part that is left out.
    fn divided(&self, at: usize) -> Result<Divided> {
        let (rows, classes, members) = (self.features.rows(), self.classes, self.params.members * FOLDS);
        let division = Division::new(rows, self.params.seed.wrapping_add(at as u64));
        let fitted = fit_members(FOLDS, |fold, is_parallel| {
            let (inside, left_out) = (division.without(fold), division.part(fold));
            let member = (at * FOLDS + fold, members);
            let trained = self.train(
                self.weight_prior(),
                Belief::COMMITTEE,
                Some(&inside),
                BATCH,
                member,
                is_parallel,
            )?;
            let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(&left_out) };
            let predictions = scoring.each_row(&trained.network, |_, outputs| {
                let mut log_p = vec![0.0; classes];
                log_softmax(&outputs[..classes], &mut log_p);
                log_p.iter().map(|log_p| log_p.exp()).collect::<Vec<f64>>()
            });
            Ok((trained, left_out, predictions))
        })?;
        let (mut networks, mut losses) = (Vec::new(), Vec::new());
        let mut probabilities = vec![0.0; rows * classes];
        for (trained, left_out, predictions) in fitted {
            networks.push(trained.network);
            losses.push(trained.losses);
            for (&row, prediction) in left_out.iter().zip(predictions) {
                let at = row as usize * classes;
                probabilities[at..at + classes].copy_from_slice(&prediction);
            }
        }
        Ok(Divided { networks, losses, probabilities })
    }

    /// Adds divisions until there are as many as there would be members.
    fn committee_from(&self, mut divisions: Vec<Divided>) -> Result<Committee> {
        let rows = self.features.rows();
        for at in divisions.len()..self.params.members {
            divisions.push(self.divided(at)?);
        }
        let count = divisions.len() as f64;
        let mut mean = vec![0.0; rows * self.classes];
        for division in &divisions {
            mean.iter_mut().zip(&division.probabilities).for_each(|(mean, p)| *mean += p / count);
        }
        let log_p = log_of(&mean);
        let everything: Vec<u32> = (0..rows as u32).collect();
        Ok(Committee {
            transition: self.estimate(&log_p, |_| true),
            has_signal: self.has_signal(&self.pooled_losses(&log_p), &everything, &everything),
            division_means: divisions
                .iter()
                .map(|division| self.mean_posterior(&log_of(&division.probabilities)))
                .collect(),
            weight_prior: self.weight_prior(),
            log_p,
            losses: divisions.iter_mut().flat_map(|division| std::mem::take(&mut division.losses)).collect(),
            networks: divisions.into_iter().flat_map(|division| division.networks).collect(),
        })
    }

    fn mean_posterior(&self, log_p: &[f32]) -> f64 {
        let transition = self.estimate(log_p, |_| true);
        let posterior = |(row, log_p): (usize, &[f32])| {
            transition.evidence(&wide(log_p), self.labels.labels[row]).posterior()
        };
        log_p.chunks_exact(self.classes).enumerate().map(posterior).sum::<f64>() / self.features.rows() as f64
    }

    /// What each label costs, under a transition that was estimated without it.
    fn pooled_losses(&self, log_p: &[f32]) -> Vec<f64> {
        let transitions: Vec<Transition> = (0..FOLDS)
            .map(|fold| self.estimate(log_p, |row| row % FOLDS != fold).without_guesses())
            .collect();
        let loss = |(row, log_p): (usize, &[f32])| {
            let Labels { labels, weights, known } = self.labels;
            let known = known.map_or(Known::Unknown, |known| known[row]);
            let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
            weight * transitions[row % FOLDS].evidence(&wide(log_p), labels[row]).row(known).loss
        };
        log_p.chunks_exact(self.classes).enumerate().map(loss).collect()
    }

    fn estimate(&self, log_p: &[f32], is_used: impl Fn(usize) -> bool) -> Transition {
        let prior = match Belief::COMMITTEE.model(self.params.task.model) {
            LabelModel::Transition(prior) => prior,
            _ => TransitionPrior::default(),
        };
        estimate(prior, self.classes, self.labels, log_p, is_used)
    }
}

/// Whether labels cost clearly less the second way, and not only in one part of the rows.
fn is_clear(first: &[f64], second: &[f64], division: &Division) -> bool {
    let agrees = |fold: &usize| {
        let part = division.part(*fold);
        let of_part = |losses: &[f64]| -> Vec<f64> { part.iter().map(|&row| losses[row as usize]).collect() };
        is_better(&of_part(first), &of_part(second), 0.0)
    };
    is_better(first, second, CLEAR) && (0..FOLDS).filter(agrees).count() >= AGREEING
}

/// The transition that makes the labels of these rows most probable given the predictions, by expectation maximisation.
fn estimate(
    prior: TransitionPrior,
    classes: usize,
    labels: Labels<'_>,
    log_p: &[f32],
    is_used: impl Fn(usize) -> bool,
) -> Transition {
    // Every step sees all rows: nothing is to be averaged.
    let mut channel = Channel::new(classes, TransitionPrior { window: (0.0, 1.0), ..prior });
    let p: Vec<f32> = log_p.iter().map(|log_p| log_p.exp()).collect();
    let (mut moved, mut unused) = (vec![0.0; classes], vec![0.0; classes]);
    for _ in 0..STEPS {
        let mut counts = vec![0.0; channel.statistics()];
        let mut rows = 0;
        for (row, p) in p.chunks_exact(classes).enumerate().filter(|(row, _)| is_used(*row)) {
            let y = labels.labels[row];
            let known = labels.known.map_or(Known::Unknown, |known| known[row]);
            let weight = labels.weights.map_or(1.0, |weights| f64::from(weights[row]));
            let log_p_y = f64::from(log_p[row * classes + y]);
            let (judged, _) = channel.transition.train_row(p, log_p_y, y, known, &mut moved, &mut unused);
            moved.iter().enumerate().for_each(|(k, moved)| counts[k * classes + y] += weight * moved);
            counts[classes * classes + y] += weight * (1.0 - judged.posterior);
            rows += 1;
        }
        let before = channel.transition.rates().to_vec();
        channel.absorb(&counts, &Context { batch: rows, rows, progress: 1.0, learning_rate: 0.0 });
        let after = channel.transition.rates();
        if before.iter().zip(after).all(|(before, after)| (before - after).abs() < DONE) {
            break;
        }
    }
    channel.transition
}

/// Logarithms of probabilities, as a network's outputs would be.
pub(crate) fn log_of(probabilities: &[f64]) -> Vec<f32> {
    probabilities.iter().map(|p| p.max(f64::from(f32::MIN_POSITIVE)).ln() as f32).collect()
}

fn wide(log_p: &[f32]) -> Vec<f64> {
    log_p.iter().map(|log_p| f64::from(*log_p)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    fn labels(labels: &[usize]) -> Labels<'_> {
        Labels { labels, weights: None, known: None }
    }

    #[test]
    fn one_part_does_not_decide() {
        let division = Division::new(100, 1);
        // What labels cost more the first way, in so many of the parts.
        let losses = |parts: usize| {
            let mut losses = vec![0.9; 100];
            (0..parts).flat_map(|part| division.part(part)).for_each(|row| losses[row as usize] = 9.0);
            losses
        };
        let second = vec![1.0; 100];
        let decisions = [1, 3, 4, 5].map(|parts| is_clear(&losses(parts), &second, &division));
        assert_eq!(decisions, [false, false, true, true]);
        assert!(is_better(&losses(1), &second, CLEAR));
        assert!(!is_clear(&losses(0), &second, &division));
    }

    #[test]
    fn the_transition_of_certain_predictions_is_counted() {
        // 100 rows of class 0, of which 30 are labelled 1, and 100 of class 1.
        let given: Vec<usize> = (0..200).map(|row| usize::from(!(30..100).contains(&row))).collect();
        let p: Vec<f64> = (0..200).flat_map(|row| if row < 100 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
        let prior = TransitionPrior::default();
        let (bad, good) = prior.rate_counts;
        let found = estimate(prior, 2, labels(&given), &log_of(&p), |_| true);
        assert!((found.rates()[0] - (30.0 + bad) / (100.0 + bad + good)).abs() < 1e-6, "{:?}", found.rates());
        assert!((found.rates()[1] - bad / (100.0 + bad + good)).abs() < 1e-6, "{:?}", found.rates());
        // Half of the rows, and rows whose switch is known.
        let found = estimate(prior, 2, labels(&given), &log_of(&p), |row| row >= 30);
        assert!(found.rates()[0] < 0.01, "{:?}", found.rates());
        let known = vec![Known::Clean; 200];
        let told = Labels { known: Some(&known), ..labels(&given) };
        assert!(estimate(prior, 2, told, &log_of(&p), |_| true).rates()[0] < 0.01);
    }

    /// Predictions in doubt that are right as often as they say: the transition is found all the same.
    #[test]
    fn the_transition_is_found_behind_doubt() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (mut p, mut given) = (Vec::new(), Vec::new());
        for _ in 0..40_000 {
            let row: [f64; 3] = std::array::from_fn(|_| random.random::<f64>().powi(3) + 1e-3);
            let total: f64 = row.iter().sum();
            let position = random.random::<f64>() * total;
            let class = if position < row[0] { 0 } else { 1 + usize::from(position >= row[0] + row[1]) };
            // 30 % of class 0 become 1, 10 % of class 1 become 2.
            let rate = [0.3, 0.1, 0.0][class];
            given.push(if random.random::<f64>() < rate { class + 1 } else { class });
            p.extend(row.map(|value| value / total));
        }
        let found = estimate(TransitionPrior::default(), 3, labels(&given), &log_of(&p), |_| true);
        for (rate, expected) in found.rates().iter().zip([0.3, 0.1, 0.0]) {
            assert!((rate - expected).abs() < 0.03, "{:?}", found.rates());
        }
        assert!(found.flow(0, 1) > 0.26 && found.flow(0, 2) < 0.03);
    }
}
