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

/// The training rows, and what all fits on them share.
pub(crate) struct Fit<'a> {
    pub(crate) params: &'a Params<Classification>,
    pub(crate) classes: usize,
    pub(crate) features: &'a Features<'a>,
    pub(crate) scaler: &'a Scaler,
    pub(crate) labels: Labels<'a>,
    pub(crate) monitor: &'a dyn Monitor,
}

/// By how much a trial's prior is weaker than the one before it, and how often it is weakened at most.
const STEP: f64 = 5.0;
const STEPS: i32 = 2;
/// A weaker prior must be better by this many standard errors: networks that are held too loosely memorise wrong labels.
const DECISIVE: f64 = 2.0;
/// Rows below which the left-out ones are too few to decide.
const FEW_ROWS: usize = 100;

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

    /// The usual strength, or a weaker one under which left-out rows are decisively more probable.
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
        let strength = |step: i32| usual / STEP.powi(step);
        let mut losses = fit_members(2, |step, is_parallel| {
            self.left_out_losses(strength(step as i32), &division, is_parallel)
        })?;
        for step in 1..=STEPS {
            if losses.len() <= step as usize {
                losses.push(self.left_out_losses(strength(step), &division, true)?);
            }
            if !is_decisive(&losses[step as usize - 1], &losses[step as usize]) {
                return Ok(strength(step - 1));
            }
        }
        Ok(strength(STEPS))
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

/// Whether the second losses are lower, by more than chance in the rows allows.
fn is_decisive(first: &[f64], second: &[f64]) -> bool {
    let gains: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / count;
    mean > DECISIVE * (variance / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_does_not_decide() {
        let first = [1.0, 2.0, 3.0, 4.0];
        assert!(is_decisive(&first, &[0.9, 1.8, 2.9, 3.9]));
        assert!(!is_decisive(&first, &[0.0, 2.5, 2.0, 4.4]));
        assert!(!is_decisive(&first, &first));
        assert!(!is_decisive(&first, &[f64::INFINITY; 4]));
    }
}
