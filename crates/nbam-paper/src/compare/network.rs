//! The network that all methods share, and the loop that trains it.
//!
//! Backbone, head, initial weights, order of the batches and optimiser are those of the paper's settings, and, for the
//! same seed, those of [`nbam::Classifier`] (a test holds the two against each other). The loop is written out here
//! because some methods need what a loss of the library's loop does not see: which row it is looking at, or a second network.

use nbam::density::categorical::log_softmax;
use nbam::net::{Adam, Head, Network, Pull, Scaler, Shape, Workspace};
use nbam::{Activation, Features, Monitor, Scaling};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::ops::Range;

use super::row_loss::{Row, RowLoss};
use crate::error::{Error, ErrorKind, Result};

/// Widths of the hidden layers.
const HIDDEN: [usize; 2] = [256, 256];
const BATCH: usize = 512;
const LEARNING_RATE: f64 = 1e-3;

/// What every method is given.
pub(super) struct Task<'a> {
    pub(super) features: Features<'a>,
    /// The labels, some of them wrong.
    pub(super) labels: &'a [usize],
    pub(super) classes: usize,
    /// The rows whose classes are to be predicted.
    pub(super) test: Features<'a>,
    pub(super) epochs: usize,
    pub(super) seed: u64,
    /// The share of labels that are wrong, for a method that must be told.
    pub(super) wrong_share: f64,
    pub(super) monitor: &'a dyn Monitor,
    /// Fitted on the training features.
    pub(super) scaler: Scaler,
}

/// What a method says.
pub(super) struct Answer {
    /// The classes of the test rows.
    pub(super) predicted: Vec<usize>,
    /// How suspicious each training row is: more is worse.
    pub(super) scores: Vec<f64>,
}

/// The settings that all networks of the experiment share.
pub(super) fn settings(epochs: usize) -> Value {
    json!({
        "epochs": epochs,
        "batch_size": BATCH,
        "hidden": HIDDEN,
        "activation": "tanh",
        "optimiser": "adam",
        "learning_rate": LEARNING_RATE,
        "weight_decay": 0.0,
        "scaling": "common",
    })
}

/// The same in words.
pub(super) fn description(epochs: usize) -> String {
    let [first, second] = HIDDEN;
    format!(
        "{epochs} epochs, batches of {BATCH}, hidden layers of {first} and {second} with tanh, Adam at {LEARNING_RATE}, no weight decay"
    )
}

impl Task<'_> {
    /// How features are brought to one scale: all columns are divided by one number.
    pub(super) const SCALING: Scaling = Scaling::Common;

    /// All training rows.
    pub(super) fn all_rows(&self) -> Vec<u32> {
        (0..self.features.rows() as u32).collect()
    }

    /// Trains a network with a loss on all rows; it predicts, and a row's score is `1 - p(y|x)`.
    pub(super) fn answer_of_loss(&self, loss: &mut dyn RowLoss) -> Result<Answer> {
        Ok(self.answer(&fit(self, &self.all_rows(), self.epochs, loss)?))
    }

    /// What a network predicts, and `1 - p(y|x)` of the training rows.
    pub(super) fn answer(&self, network: &Network) -> Answer {
        let log_p = self.log_probabilities(network, &self.features, &self.all_rows());
        let given = log_p.chunks_exact(self.classes).zip(self.labels);
        Answer {
            predicted: self.predict(network),
            // exp_m1 keeps rows apart that fit almost perfectly.
            scores: given.map(|(log_p, &label)| -log_p[label].exp_m1()).collect(),
        }
    }

    /// The most probable class of each test row.
    pub(super) fn predict(&self, network: &Network) -> Vec<usize> {
        let rows: Vec<u32> = (0..self.test.rows() as u32).collect();
        let log_p = self.log_probabilities(network, &self.test, &rows);
        log_p.chunks_exact(self.classes).map(largest).collect()
    }

    /// `log p(k|x)` of these rows, row after row.
    pub(super) fn log_probabilities(
        &self,
        network: &Network,
        features: &Features<'_>,
        rows: &[u32],
    ) -> Vec<f64> {
        let mut work = Workspace::new(network, BATCH.min(rows.len()), false);
        let mut log_p = vec![0.0; rows.len() * self.classes];
        for (rows, log_p) in rows.chunks(BATCH).zip(log_p.chunks_mut(BATCH * self.classes)) {
            work.load(features, &self.scaler, rows.iter().map(|&row| row as usize));
            network.forward(&mut work);
            let outputs = work.outputs(network).chunks_exact(self.classes);
            outputs
                .zip(log_p.chunks_exact_mut(self.classes))
                .for_each(|(logits, out)| log_softmax(logits, out));
        }
        log_p
    }
}

/// The place of the largest value, the first if there are several.
pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, place| if values[place] > values[best] { place } else { best })
}

/// A network in training.
pub(super) struct Learner {
    pub(super) network: Network,
    adam: Adam,
    pulls: Vec<(Range<usize>, Pull)>,
    work: Workspace,
    /// `log p(k|x)` of the rows that were last looked at.
    log_p: Vec<f64>,
}

impl Learner {
    /// A fresh network for batches of a training set of this many rows.
    pub(super) fn new(task: &Task<'_>, rows: usize, seed: u64) -> Result<Self> {
        let clean = Head {
            name: "clean".to_owned(),
            outputs: task.classes,
            hidden: None,
            skip: false,
            starts_at_zero: false,
            bias: vec![0.0; task.classes],
        };
        let shape = Shape {
            inputs: task.features.columns(),
            hidden: HIDDEN.to_vec(),
            activation: Activation::Tanh,
            heads: vec![clean],
        };
        // The complement, as in the library: the batches are drawn from the seed itself.
        let network = Network::new(shape, &mut ChaCha8Rng::seed_from_u64(!seed))?;
        let batch = rows.div_ceil(steps(rows));
        Ok(Self {
            adam: Adam::new(network.parameters().len()),
            pulls: network.pulls(0.0, 0.0),
            work: Workspace::new(&network, batch, true),
            log_p: vec![0.0; batch * task.classes],
            network,
        })
    }

    /// Runs rows through the network; returns their `log p(k|x)`, row after row.
    pub(super) fn look(&mut self, task: &Task<'_>, rows: &[u32]) -> &[f64] {
        self.work.load(&task.features, &task.scaler, rows.iter().map(|&row| row as usize));
        self.network.forward(&mut self.work);
        let outputs = self.work.outputs(&self.network).chunks_exact(task.classes);
        for (logits, log_p) in outputs.zip(self.log_p.chunks_exact_mut(task.classes)) {
            log_softmax(logits, log_p);
        }
        &self.log_p[..rows.len() * task.classes]
    }

    /// One step on the rows that were last looked at; `weights` says what each counts in the sum of losses.
    pub(super) fn learn(
        &mut self,
        task: &Task<'_>,
        rows: &[u32],
        weights: &[f64],
        loss: &mut dyn RowLoss,
    ) -> Result<()> {
        let classes = task.classes;
        let (mut p, mut gradient) = (vec![0.0; classes], vec![0.0; classes]);
        let (_, d_outputs) = self.work.outputs_and_gradient(&self.network);
        let mut total = 0.0;
        let places = rows.iter().zip(weights).zip(self.log_p.chunks_exact(classes));
        for (((&index, &weight), log_p), d_outputs) in places.zip(d_outputs.chunks_exact_mut(classes)) {
            if weight == 0.0 {
                d_outputs.fill(0.0);
                continue;
            }
            p.iter_mut().zip(log_p).for_each(|(p, log_p)| *p = log_p.exp());
            let index = index as usize;
            let row = Row { index, label: task.labels[index], log_p, p: &p };
            total += weight * loss.row(&row, &mut gradient);
            for (out, slope) in d_outputs.iter_mut().zip(&gradient) {
                *out = (weight * slope) as f32;
            }
        }
        if !total.is_finite() {
            return Err(Error::new(ErrorKind::Method, "the loss stopped being finite"));
        }
        self.network.backward(&mut self.work);
        let shards = [self.work.gradient()];
        let parameters = self.network.parameters_mut();
        self.adam.step(parameters, &shards, LEARNING_RATE as f32, &self.pulls, false);
        Ok(())
    }
}

/// Trains a network with a loss on these rows.
pub(super) fn fit(task: &Task<'_>, rows: &[u32], epochs: usize, loss: &mut dyn RowLoss) -> Result<Network> {
    let mut learner = Learner::new(task, rows.len(), task.seed)?;
    each_batch(task, rows, epochs, |_, batch| {
        learner.look(task, batch);
        let weights = vec![1.0 / batch.len() as f64; batch.len()];
        learner.learn(task, batch, &weights, loss)
    })?;
    Ok(learner.network)
}

/// Calls `step` with the number of the epoch, from 0, and each of its batches; the rows are shuffled by the seed.
pub(super) fn each_batch(
    task: &Task<'_>,
    rows: &[u32],
    epochs: usize,
    mut step: impl FnMut(usize, &[u32]) -> Result<()>,
) -> Result<()> {
    let mut order = rows.to_vec();
    let mut random = ChaCha8Rng::seed_from_u64(task.seed);
    let (count, steps) = (rows.len(), steps(rows.len()));
    for epoch in 0..epochs {
        order.shuffle(&mut random);
        for place in 0..steps {
            if task.monitor.is_cancelled() {
                return Err(Error::new(ErrorKind::Cancelled, "the fit was cancelled"));
            }
            step(epoch, &order[count * place / steps..count * (place + 1) / steps])?;
        }
    }
    Ok(())
}

/// Steps of an epoch: batches of equal size, instead of a last one of a few rows.
fn steps(rows: usize) -> usize {
    rows.div_ceil(BATCH).max(1)
}
