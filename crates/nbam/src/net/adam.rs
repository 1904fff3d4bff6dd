//! Adam with decoupled weight decay, on a flat parameter vector.

use super::vector::{self, AdamStep};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How the learning rate changes over a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The same from the first step to the last, as in the paper.
    #[default]
    Constant,
    /// Half a cosine from the full rate to zero.
    Cosine,
}

impl Schedule {
    /// The factor on the learning rate when `progress` in [0, 1] of the fit is done.
    pub fn factor(self, progress: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * progress.clamp(0.0, 1.0)).cos()),
        }
    }
}

/// What draws a stretch of parameters to zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pull {
    /// Decoupled decay: each step multiplies by `1 - rate * decay`.
    pub decay: f32,
    /// One over (rows times the variance) of a Gaussian prior: added to the gradient of the mean loss.
    pub gaussian: f32,
}

/// The state of the optimiser. Decay `w` multiplies a parameter by `1 - rate * w` before the update.
#[derive(Debug, Clone)]
pub struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;
/// Parameters that one task updates; the update is element-wise, so the split changes no bit.
const STRETCH: usize = 1 << 15;

impl Adam {
    /// A fresh state for this many parameters.
    pub fn new(parameters: usize) -> Self {
        Self { first: vec![0.0; parameters], second: vec![0.0; parameters], steps: 0 }
    }

    /// One step. The gradient is the sum of `shards`; `stretches` covers the parameters with their decay.
    pub fn step(
        &mut self,
        parameters: &mut [f32],
        shards: &[&[f32]],
        learning_rate: f32,
        stretches: &[(Range<usize>, Pull)],
        parallel: bool,
    ) {
        self.steps += 1;
        let correction = |beta: f32| (1.0 / (1.0 - f64::from(beta).powi(self.steps))) as f32;
        let step_with = |pull: &Pull| AdamStep {
            learning_rate,
            beta1: BETA1,
            beta2: BETA2,
            epsilon: EPSILON,
            correction1: correction(BETA1),
            correction2: correction(BETA2),
            shrink: 1.0 - learning_rate * pull.decay,
            pull: pull.gaussian,
        };
        let run = |(range, pull): &(Range<usize>, Pull),
                   parameters: &mut [f32],
                   first: &mut [f32],
                   second: &mut [f32]| {
            let step = step_with(pull);
            if !parallel || range.len() <= STRETCH {
                let shards: Shards<'_> = shards.iter().map(|shard| &shard[range.clone()]).collect();
                vector::adam(&step, parameters, first, second, &shards);
                return;
            }
            parameters
                .par_chunks_mut(STRETCH)
                .zip(first.par_chunks_mut(STRETCH))
                .zip(second.par_chunks_mut(STRETCH))
                .enumerate()
                .for_each(|(chunk, ((parameters, first), second))| {
                    let start = range.start + chunk * STRETCH;
                    let stretch = start..start + parameters.len();
                    let shards: Shards<'_> = shards.iter().map(|shard| &shard[stretch.clone()]).collect();
                    vector::adam(&step, parameters, first, second, &shards);
                });
        };
        for stretch in stretches {
            let range = stretch.0.clone();
            run(
                stretch,
                &mut parameters[range.clone()],
                &mut self.first[range.clone()],
                &mut self.second[range],
            );
        }
    }
}

type Shards<'a> = Vec<&'a [f32]>;
