//! Fitting one classification network.

use super::belief::Belief;
use super::labels::{LabelObjective, Labels};
use super::left_out::Trial;
use super::params::{Classification, Params};
use crate::Result;
use crate::net::{Features, Network, Scaler, Shape};
use crate::train::{Monitor, Setting, Trained, train};
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

impl Fit<'_> {
    /// Trains one network under a belief, on these rows or on all, in batches of at most so many.
    pub(crate) fn train(
        &self,
        weight_prior: f64,
        belief: Belief,
        rows: Option<&[u32]>,
        batch: usize,
        (member, members): (usize, usize),
        is_parallel: bool,
    ) -> Result<Trained<LabelObjective<'_>>> {
        let (params, task) = (self.params, &self.params.task);
        let mut plan = params.plan(rows.map_or(self.features.rows(), <[u32]>::len), batch, member);
        plan.prior = weight_prior;
        if rows.is_some() {
            plan.averaged = 0;
        }
        let shape = Shape {
            inputs: self.scaler.inputs(),
            hidden: params.hidden.clone(),
            activation: params.activation,
            heads: task.model.heads(self.classes, task.prior_hidden, task.prior_bias),
        };
        let network = Network::new(shape, &mut ChaCha8Rng::seed_from_u64(!plan.seed))?;
        let network = network.with_precision(params.precision);
        let objective = LabelObjective::new(self.labels, self.classes, belief.model(task.model));
        let trial = Trial(self.monitor);
        let monitor: &dyn Monitor = if rows.is_some() { &trial } else { self.monitor };
        let (features, scaler) = (self.features, self.scaler);
        let setting = Setting { features, scaler, rows, member, members, is_parallel, monitor };
        train(network, objective, &plan, &setting)
    }
}
