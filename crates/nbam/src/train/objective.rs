//! What a network is trained for: the bridge from its outputs to the kernel.

use crate::switch::Evidence;

/// The rows of one shard, with everything that an objective reads and writes.
pub(crate) struct ShardRows<'a> {
    /// Which training rows they are.
    pub(crate) rows: &'a [u32],
    /// The network's outputs, row by row.
    pub(crate) outputs: &'a [f32],
    /// Receives the gradient of the batch's mean loss by the outputs.
    pub(crate) d_outputs: &'a mut [f32],
    /// Sums that the objective needs for its own parameters; zero on entry.
    pub(crate) statistics: &'a mut [f64],
    /// Receives each row's evidence.
    pub(crate) evidence: &'a mut [Evidence],
    /// Room that the objective may use as it likes; kept from step to step.
    pub(crate) scratch: &'a mut Vec<f64>,
    pub(crate) probabilities: &'a mut Vec<f32>,
}

/// Where in the fit a step stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Rows in the whole batch, and in the training set.
    pub(crate) batch: usize,
    pub(crate) rows: usize,
    /// Share of the fit that is done, 0 to 1.
    pub(crate) progress: f64,
    /// The learning rate of this step.
    pub(crate) learning_rate: f64,
}

impl Context {
    /// Weight of this batch in means that run over a window of this many epochs, and of this many steps at least.
    pub(crate) fn blend(&self, epochs: f64, steps: f64) -> f64 {
        let steps_of_epochs = epochs * self.rows as f64 / self.batch as f64;
        -(-1.0 / steps_of_epochs.max(steps)).exp_m1()
    }
}

/// A loss over a network's outputs, with parameters of its own beside the network's.
pub(crate) trait Objective: Clone + Send + Sync {
    /// How many sums [`ShardRows::statistics`] holds.
    fn statistics(&self) -> usize;

    /// Loss, gradient and evidence of a shard; returns the summed loss.
    fn evaluate(&self, shard: ShardRows<'_>, context: &Context) -> f64;

    /// Updates the objective's own parameters from the batch's summed statistics.
    fn absorb(&mut self, statistics: &[f64], context: &Context);
}
