//! The training loop.

use super::{Context, Monitor, Objective, Plan, Progress, ShardRows};
use crate::net::{Adam, Features, Network, Pull, Scaler, Workspace};
use crate::switch::{Evidence, sigmoid};
use crate::{Error, ErrorKind, Result};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one shard of a batch holds at most. Fixed: the number of shards must not depend on threads.
const SHARD: usize = 256;

/// A network in training, with the buffers of its shards.
pub(crate) struct Trainer<O> {
    pub(crate) network: Network,
    pub(crate) objective: O,
    adam: Adam,
    pulls: Vec<(Range<usize>, Pull)>,
    shards: Vec<Shard>,
    statistics: Vec<f64>,
    is_parallel: bool,
}

struct Shard {
    work: Workspace,
    statistics: Vec<f64>,
    evidence: Vec<Evidence>,
    scratch: Vec<f64>,
    probabilities: Vec<f32>,
    loss: f64,
}

/// The means of each row's evidence over the last epochs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Averages {
    epochs: usize,
    sums: Vec<RowSums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct RowSums {
    /// In double precision: in single precision all rows of more than 17 nats would be equally certain, gross errors and what was only badly predicted.
    posterior: f64,
    /// Prior, log clean and log anomaly.
    others: [f32; 3],
}

/// What a finished fit of one network leaves.
pub(crate) struct Trained<O> {
    pub(crate) network: Network,
    pub(crate) objective: O,
    /// The mean loss of each epoch.
    pub(crate) losses: Vec<f64>,
    pub(crate) averages: Averages,
}

impl Averages {
    fn add(&mut self, row: u32, evidence: &Evidence) {
        let sums = &mut self.sums[row as usize];
        sums.posterior += evidence.posterior();
        // A label that no contamination can give has no likelihood; the mean must stay a number.
        let log_anomaly = evidence.log_anomaly.max(-1e6);
        for (sum, value) in
            sums.others.iter_mut().zip([sigmoid(evidence.logit_prior), evidence.log_clean, log_anomaly])
        {
            *sum += value as f32;
        }
    }

    /// Mean posterior, prior, log clean and log anomaly of a row.
    pub(crate) fn row(&self, row: usize) -> [f64; 4] {
        let RowSums { posterior, others: [prior, log_clean, log_anomaly] } = self.sums[row];
        [posterior, prior.into(), log_clean.into(), log_anomaly.into()].map(|sum| sum / self.epochs as f64)
    }

    /// Whether anything was averaged.
    pub(crate) fn is_empty(&self) -> bool {
        self.epochs == 0
    }
}

impl<O: Objective> Trainer<O> {
    pub(crate) fn new(
        network: Network,
        objective: O,
        plan: &Plan,
        rows: usize,
        batch: usize,
        is_parallel: bool,
    ) -> Self {
        let count = batch.div_ceil(SHARD).max(1);
        let capacity = batch.div_ceil(count);
        let none = Evidence { log_clean: 0.0, logit_prior: 0.0, log_anomaly: 0.0 };
        let shards = (0..count).map(|_| Shard {
            work: Workspace::new(&network, capacity, true),
            statistics: vec![0.0; objective.statistics()],
            evidence: vec![none; capacity],
            scratch: Vec::new(),
            probabilities: Vec::new(),
            loss: 0.0,
        });
        Self {
            adam: Adam::new(network.parameters().len()),
            pulls: network.pulls(plan.decay as f32, (plan.prior / rows as f64) as f32),
            shards: shards.collect(),
            statistics: vec![0.0; objective.statistics()],
            is_parallel,
            network,
            objective,
        }
    }

    /// One step on these rows; returns the summed loss.
    pub(crate) fn step(
        &mut self,
        features: &Features<'_>,
        scaler: &Scaler,
        rows: &[u32],
        context: &Context,
    ) -> f64 {
        let (network, objective) = (&self.network, &self.objective);
        let size = rows.len().div_ceil(self.shards.len()).max(1);
        let run = |(shard, rows): (&mut Shard, &[u32])| {
            shard.work.load(features, scaler, rows.iter().map(|&row| row as usize));
            network.forward(&mut shard.work);
            shard.statistics.fill(0.0);
            let (outputs, d_outputs) = shard.work.outputs_and_gradient(network);
            shard.loss = objective.evaluate(
                ShardRows {
                    rows,
                    outputs,
                    d_outputs,
                    statistics: &mut shard.statistics,
                    evidence: &mut shard.evidence[..rows.len()],
                    scratch: &mut shard.scratch,
                    probabilities: &mut shard.probabilities,
                },
                context,
            );
            network.backward(&mut shard.work);
        };
        let used = rows.len().div_ceil(size);
        if self.is_parallel && used > 1 {
            self.shards[..used].par_iter_mut().zip(rows.par_chunks(size)).for_each(run);
        } else {
            self.shards[..used].iter_mut().zip(rows.chunks(size)).for_each(run);
        }
        let gradients: Vec<&[f32]> = self.shards[..used].iter().map(|shard| shard.work.gradient()).collect();
        let parameters = self.network.parameters_mut();
        self.adam.step(parameters, &gradients, context.learning_rate as f32, &self.pulls, self.is_parallel);
        self.statistics.fill(0.0);
        let mut loss = 0.0;
        for shard in &self.shards[..used] {
            loss += shard.loss;
            for (sum, value) in self.statistics.iter_mut().zip(&shard.statistics) {
                *sum += value;
            }
        }
        self.objective.absorb(&self.statistics, context);
        loss
    }

    /// The evidence of the rows of the last step, in their order.
    fn evidence(&self, rows: usize) -> impl Iterator<Item = &Evidence> {
        let size = rows.div_ceil(self.shards.len()).max(1);
        self.shards.iter().flat_map(move |shard| &shard.evidence[..size.min(shard.evidence.len())]).take(rows)
    }
}

/// Where and for whom a network is trained.
pub(crate) struct Setting<'a> {
    pub(crate) features: &'a Features<'a>,
    pub(crate) scaler: &'a Scaler,
    /// The rows to train on; all without it.
    pub(crate) rows: Option<&'a [u32]>,
    /// Which member of how many this is, for the monitor.
    pub(crate) member: usize,
    pub(crate) members: usize,
    /// Whether the batch may be split over the pool's threads.
    pub(crate) is_parallel: bool,
    pub(crate) monitor: &'a dyn Monitor,
}

/// Trains one network.
pub(crate) fn train<O: Objective>(
    network: Network,
    objective: O,
    plan: &Plan,
    setting: &Setting<'_>,
) -> Result<Trained<O>> {
    let Setting { features, scaler, monitor, .. } = *setting;
    let mut order = setting.rows.map_or_else(|| (0..features.rows() as u32).collect(), <[u32]>::to_vec);
    let rows = order.len();
    let steps = rows.div_ceil(plan.batch).max(1);
    // Batches of equal size instead of a last one of a few rows, whose gradient would be mostly noise.
    let batch = rows.div_ceil(steps);
    let mut trainer = Trainer::new(network, objective, plan, rows, batch, setting.is_parallel);
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let first_averaged = plan.epochs - plan.averaged.min(plan.epochs);
    let mut averages = Averages::default();
    if first_averaged < plan.epochs {
        averages = Averages {
            epochs: plan.epochs - first_averaged,
            sums: vec![RowSums::default(); features.rows()],
        };
    }
    let mut losses = Vec::new();
    for epoch in 0..plan.epochs {
        order.shuffle(&mut random);
        let mut total = 0.0;
        for step in 0..steps {
            let rows_of_batch = &order[rows * step / steps..rows * (step + 1) / steps];
            if monitor.is_cancelled() {
                return Err(Error::new(ErrorKind::Cancelled, "the fit was cancelled"));
            }
            let progress = (epoch * steps + step) as f64 / (plan.epochs * steps) as f64;
            let learning_rate = plan.learning_rate * plan.schedule.factor(progress);
            let context = Context { batch: rows_of_batch.len(), rows, progress, learning_rate };
            let loss = trainer.step(features, scaler, rows_of_batch, &context);
            if !loss.is_finite() {
                return Err(diverged(epoch, step));
            }
            total += loss;
            if epoch >= first_averaged {
                for (row, evidence) in rows_of_batch.iter().zip(trainer.evidence(rows_of_batch.len())) {
                    averages.add(*row, evidence);
                }
            }
        }
        losses.push(total / rows as f64);
        monitor.epoch(Progress {
            member: setting.member,
            members: setting.members,
            epoch: epoch + 1,
            epochs: plan.epochs,
            loss: total / rows as f64,
        });
    }
    if trainer.network.parameters().iter().any(|value| !value.is_finite()) {
        return Err(diverged(plan.epochs - 1, steps - 1));
    }
    Ok(Trained { network: trainer.network, objective: trainer.objective, losses, averages })
}

fn diverged(epoch: usize, step: usize) -> Error {
    Error::new(ErrorKind::Diverged, format!("the loss stopped being finite in epoch {epoch}, step {step}"))
        .with_hint("lower the learning rate, or look for extreme values in the features and targets")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_tell_what_is_certain_from_what_is_more_certain() {
        let mut averages = Averages { epochs: 3, sums: vec![RowSums::default(); 2] };
        for (row, log_anomaly) in [(0, 20.0), (1, 30.0)] {
            let evidence = Evidence { log_clean: 0.0, logit_prior: 0.0, log_anomaly };
            (0..3).for_each(|_| averages.add(row, &evidence));
        }
        let [first, second] = [averages.row(0), averages.row(1)];
        assert!(first[0] < second[0] && second[0] < 1.0, "{} {}", first[0], second[0]);
        assert_eq!((second[1], second[2], second[3]), (0.5, 0.0, 30.0));
    }
}
