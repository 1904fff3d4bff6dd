//! Fitting one classification network, and choosing how strongly its weights are held.

use super::ensemble::fit_members;
use super::labels::{LabelObjective, Labels};
use super::left_out::{Division, Trial};
use super::params::{Classification, Params, usual_weight_prior};
use crate::net::{Features, Network, Scaler, Shape};
use crate::switch::Known;
use crate::train::{Monitor, Scoring, Setting, Trained, train};
use crate::{ErrorKind, Result};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The training rows, and what all fits on them share.
pub(crate) struct Fit<'a> {
    pub(crate) params: &'a Params<Classification>,
    pub(crate) classes: usize,
    pub(crate) features: &'a Features<'a>,
    pub(crate) scaler: &'a Scaler,
    pub(crate) labels: Labels<'a>,
    pub(crate) monitor: &'a dyn Monitor,
}

/// The weakest prior that is tried: each step divides the usual strength by the square root of five.
const WEAKEST: u8 = 6;
/// The step that is tried beside the usual strength. Patterns such as one class around the other leave no trace at all
/// in a network that is held too tightly, so that small steps would not find the way to it.
const FAR: u8 = 4;
/// Rows below which the left-out ones are too few to decide, and below which only a clear difference does.
const FEW_ROWS: usize = 100;
const SMALL: usize = 1000;

impl Fit<'_> {
    /// Trains one network on these rows, or on all.
    pub(crate) fn train(
        &self,
        weight_prior: f64,
        rows: Option<&[u32]>,
        (member, members): (usize, usize),
        is_parallel: bool,
    ) -> Result<Trained<LabelObjective<'_>>> {
        let (params, task) = (self.params, &self.params.task);
        let mut plan = params.plan(rows.map_or(self.features.rows(), <[u32]>::len), member);
        plan.prior = weight_prior;
        if rows.is_some() {
            plan.averaged = 0;
        }
        let shape = Shape {
            inputs: self.features.columns(),
            hidden: params.hidden.clone(),
            activation: params.activation,
            heads: task.model.heads(self.classes, task.prior_hidden, task.prior_bias),
        };
        let network = Network::new(shape, &mut ChaCha8Rng::seed_from_u64(!plan.seed))?;
        let objective = LabelObjective::new(self.labels, self.classes, task.model);
        let trial = Trial(self.monitor);
        let monitor: &dyn Monitor = if rows.is_some() { &trial } else { self.monitor };
        let (features, scaler) = (self.features, self.scaler);
        let setting = Setting { features, scaler, rows, member, members, is_parallel, monitor };
        train(network, objective, &plan, &setting)
    }

    /// The strength that was given, or the one that left-out rows decide for.
    pub(crate) fn weight_prior(&self) -> Result<f64> {
        self.params.weight_prior.map_or_else(|| self.choose_weight_prior(), Ok)
    }

    /// The strength under which left-out rows are most probable, the usual one or a weaker one.
    ///
    /// How smooth the classes' borders are is a property of the data: a strength that serves 512 features of a deep network
    /// is far too stiff for 26 letters told apart by 16 numbers. The mixture's likelihood is robust, so wrong labels among the
    /// left-out rows do not decide.
    fn choose_weight_prior(&self) -> Result<f64> {
        let rows = self.features.rows();
        let usual = usual_weight_prior(rows);
        if rows < FEW_ROWS {
            return Ok(usual);
        }
        let division = Division::new(rows, self.params.seed);
        let strength = |step: u8| usual / 5_f64.powf(f64::from(step) / 2.0);
        let trial = |step, is_parallel| self.left_out_losses(strength(step), &division, is_parallel);
        let first = fit_members(2, |at, is_parallel| trial([0, FAR][at], is_parallel))?;
        let mut losses = BTreeMap::from_iter([0, FAR].into_iter().zip(first));
        let step = weakest_that_helps(rows, |stronger, weaker, standard_errors| {
            for step in [stronger, weaker] {
                if let Entry::Vacant(missing) = losses.entry(step) {
                    missing.insert(trial(step, true)?);
                }
            }
            Ok(is_better(&losses[&stronger], &losses[&weaker], standard_errors))
        })?;
        Ok(strength(step))
    }

    /// What the labels of one part of the rows cost a network that was trained on the others.
    fn left_out_losses(&self, strength: f64, division: &Division, is_parallel: bool) -> Result<Vec<f64>> {
        let left_out = division.part(0);
        let trained = match self.train(strength, Some(&division.without(0)), (0, 1), is_parallel) {
            Err(error) if error.kind() == ErrorKind::Diverged => {
                return Ok(vec![f64::INFINITY; left_out.len()]);
            }
            trained => trained?,
        };
        // A verified row's likelihood would depend on guesses.
        let state = trained.objective.into_state().without_guesses();
        let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(&left_out) };
        Ok(scoring.each_row(&trained.network, |row, outputs| {
            let known = self.labels.known.map_or(Known::Unknown, |known| known[row]);
            let weight = self.labels.weights.map_or(1.0, |weights| f64::from(weights[row]));
            let mut log_p = vec![0.0; self.classes];
            let evidence = state.evidence(outputs, self.classes, self.labels.labels[row], &mut log_p);
            weight * if state.is_mixture() { evidence.row(known).loss } else { -evidence.log_clean }
        }))
    }
}

/// Searches for the weakest step that left-out rows prefer to the one before it. `prefers(stronger, weaker, standard_errors)` says
/// whether the weaker of two is better by that many standard errors of the difference.
fn weakest_that_helps(rows: usize, mut prefers: impl FnMut(u8, u8, f64) -> Result<bool>) -> Result<u8> {
    // With many rows, what chance decides are near ties, in which little is lost either way. With few, a network that is
    // held too loosely memorises wrong labels.
    let standard_errors = if rows < SMALL { 2.0 } else { 0.5 };
    let mut step = 0;
    if prefers(0, FAR, standard_errors)? {
        step = FAR;
        // The way is found: what is left is to settle on the best. At the strongest prior that is about as good as
        // that, some networks miss the pattern.
        while step > 1 && !prefers(step - 1, step, 0.0)? {
            step -= 1;
        }
        if step < FAR {
            return Ok(step);
        }
    }
    while step < WEAKEST && prefers(step, step + 1, standard_errors)? {
        step += 1;
    }
    Ok(step)
}

/// Whether the second losses are lower by more than some standard errors of the difference.
fn is_better(first: &[f64], second: &[f64], standard_errors: f64) -> bool {
    let gains: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / count;
    mean > standard_errors * (variance / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_does_not_decide() {
        let first = [1.0, 2.0, 3.0, 4.0];
        assert!(is_better(&first, &[0.9, 1.8, 2.9, 3.9], 2.0));
        assert!(is_better(&first, &[0.0, 2.5, 2.0, 4.4], 0.5));
        assert!(!is_better(&first, &[0.0, 2.5, 2.0, 4.4], 2.0));
        assert!(!is_better(&first, &first, 0.5));
        assert!(!is_better(&first, &[f64::INFINITY; 4], 0.5));
    }

    /// What is found when the mean loss of each step is this and differences are certain, and the steps that were looked at.
    fn found(losses: [f64; 7]) -> (u8, Vec<u8>) {
        let mut seen = std::collections::BTreeSet::new();
        let step = weakest_that_helps(5000, |stronger, weaker, _| {
            seen.extend([stronger, weaker]);
            Ok(losses[usize::from(weaker)] < losses[usize::from(stronger)])
        });
        (step.unwrap(), seen.into_iter().collect())
    }

    #[test]
    fn the_search_ends_where_left_out_rows_are_most_probable() {
        assert_eq!(found([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]), (0, vec![0, 1, 4]));
        assert_eq!(found([1.0, 0.9, 0.8, 1.0, 1.4, 1.5, 1.6]), (2, vec![0, 1, 2, 3, 4]));
        // Nothing is seen before the third step: one class around the other.
        assert_eq!(found([1.0, 1.0, 1.0, 0.5, 0.6, 0.7, 0.8]), (3, vec![0, 2, 3, 4]));
        assert_eq!(found([1.0, 1.0, 1.0, 0.5, 0.4, 0.3, 0.2]), (6, vec![0, 3, 4, 5, 6]));
        // A stronger prior that is as good is taken.
        assert_eq!(found([1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]).0, 1);
    }
}
