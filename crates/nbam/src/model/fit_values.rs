//! Fitting one regression network, and choosing how strongly its weights are held.

use super::ensemble::fit_members;
use super::left_out::{Division, FOLDS, Trial, is_better};
use super::params::{Params, Regression};
use super::search::CLEAR;
use super::values::{ValueObjective, ValueState, Values};
use crate::net::{Features, Network, Scaler, Shape};
use crate::switch::Known;
use crate::train::{Monitor, Scoring, Setting, Trained, train};
use crate::{ErrorKind, Result};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// The training rows with scaled targets, and what all fits on them share.
pub(crate) struct Fit<'a> {
    pub(crate) params: &'a Params<Regression>,
    pub(crate) features: &'a Features<'a>,
    pub(crate) scaler: &'a Scaler,
    pub(crate) values: Values<'a>,
    /// Width of the targets' range, for a uniform anomaly.
    pub(crate) range: f64,
    pub(crate) monitor: &'a dyn Monitor,
}

/// Strengths of the weight prior that are tried: a free network, a smooth one, and nearly a line.
const STRENGTHS: [f64; 3] = [0.1, 0.4, 2.0];
/// What is taken if there are too few rows to leave any out.
const STIFFEST: f64 = STRENGTHS[2];
/// Up to this many rows, every row is left out once; of more, one fifth is left out.
const FEW_ROWS: usize = 2000;

impl<'a> Fit<'a> {
    /// Trains one network on these rows, or on all.
    pub(crate) fn train(
        &self,
        weight_prior: f64,
        rows: Option<&[u32]>,
        (member, members): (usize, usize),
        is_parallel: bool,
    ) -> Result<Trained<ValueObjective<'_>>> {
        let (params, task) = (self.params, &self.params.task);
        let mut plan =
            params.plan(rows.map_or(self.features.rows(), <[u32]>::len), params.batch_size, member);
        plan.prior = weight_prior;
        if rows.is_some() {
            plan.averaged = 0;
        }
        let shape = Shape {
            inputs: self.scaler.inputs(),
            hidden: params.hidden.clone(),
            activation: params.activation,
            heads: task.model.heads(task.linear_path, task.prior_hidden, task.prior_bias),
        };
        let network = Network::new(shape, &mut ChaCha8Rng::seed_from_u64(!plan.seed))?;
        let network = network.with_precision(params.precision);
        let model = task.model.for_rows(self.features.rows());
        let state = ValueState::new(model, self.range, f64::from(task.prior_bias));
        let trial = Trial(self.monitor);
        let monitor: &dyn Monitor = if rows.is_some() { &trial } else { self.monitor };
        let setting = Setting {
            features: self.features,
            scaler: self.scaler,
            rows,
            member,
            members,
            is_parallel,
            monitor,
        };
        train(network, ValueObjective::new(self.values, state), &plan, &setting)
    }

    /// The strength of the weight prior under which rows that were left out have the highest marginal likelihood. The other scaler is taken on if its
    /// columns make them clearly more probable.
    ///
    /// A free network beats a line where the signal is rich and loses to it where rows are few and the signal is weak;
    /// the mixture's likelihood is robust, so wrong targets among the left-out rows do not decide.
    pub(crate) fn choose(&mut self, in_pieces: Option<&'a Scaler>) -> Result<f64> {
        let rows = self.features.rows();
        if rows < 2 * FOLDS {
            return Ok(STIFFEST);
        }
        let division = Division::new(rows, self.params.seed);
        let folds = if rows <= FEW_ROWS { FOLDS } else { 1 };
        let own = self.trials(&division, 0..folds)?;
        let chosen = best(&own);
        let Some(scaler) = in_pieces else { return Ok(STRENGTHS[chosen]) };
        let other = Fit { scaler, ..*self };
        let mut trials = other.trials(&division, 0..1)?;
        // What one part of the rows is against is hardly made up for by the others.
        let first_part = &own[chosen][..trials[0].len()];
        if !is_better(first_part, &trials[best(&trials)], 0.0) {
            return Ok(STRENGTHS[chosen]);
        }
        for (trial, rest) in trials.iter_mut().zip(other.trials(&division, 1..folds)?) {
            trial.extend(rest);
        }
        let better = best(&trials);
        if !is_better(&own[chosen], &trials[better], CLEAR) {
            return Ok(STRENGTHS[chosen]);
        }
        *self = other;
        Ok(STRENGTHS[better])
    }

    /// What the values of these parts of the rows cost when they are left out, for each strength.
    fn trials(&self, division: &Division, folds: Range<usize>) -> Result<Vec<Vec<f64>>> {
        let mut trials = fit_members(STRENGTHS.len() * folds.len(), |trial, is_parallel| {
            let (strength, fold) = (STRENGTHS[trial / folds.len()], folds.start + trial % folds.len());
            let left_out = division.part(fold);
            // The same start and the same batches for every strength: only the strength is compared.
            let trained =
                match self.train(strength, Some(&division.without(fold)), (fold, FOLDS), is_parallel) {
                    Err(error) if error.kind() == ErrorKind::Diverged => {
                        return Ok(vec![f64::INFINITY; left_out.len()]);
                    }
                    trained => trained?,
                };
            let state = &trained.objective.state;
            let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(&left_out) };
            Ok(scoring.each_row(&trained.network, |row, outputs| {
                let known = self.values.known.map_or(Known::Unknown, |known| known[row]);
                let weight = self.values.weights.map_or(1.0, |weights| f64::from(weights[row]));
                let evidence = state.evidence(outputs, self.values.values[row], self.values.error(row));
                let loss = weight * evidence.row(known).loss;
                if loss.is_nan() { f64::INFINITY } else { loss }
            }))
        })?;
        Ok(STRENGTHS.map(|_| trials.drain(..folds.len()).flatten().collect()).into())
    }
}

/// The strength that costs least.
fn best(trials: &[Vec<f64>]) -> usize {
    let total = |strength: usize| trials[strength].iter().sum::<f64>();
    (0..trials.len()).min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0)
}
