//! Adam with decoupled weight decay, on a flat parameter vector.

use super::vector::{self, AdamStep};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How the learning rate changes over a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The same from the first step to the last, as in the paper.
    #[default]
    Constant,
    /// Half a cosine from the full rate to zero.
    Cosine,
    /// The full rate for the first half of the fit, then half a cosine down to a twentieth of it: what is found at the full rate is settled at a small one.
    LateCosine,
}

impl Schedule {
    /// The factor on the learning rate when `progress` in [0, 1] of the fit is done.
    pub fn factor(self, progress: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => half_cosine(progress),
            Self::LateCosine => {
                const FROM: f64 = 0.5;
                const LAST: f64 = 0.05;
                LAST + (1.0 - LAST) * half_cosine((progress - FROM) / (1.0 - FROM))
            }
        }
    }
}

/// From 1 at 0 to 0 at 1.
fn half_cosine(progress: f64) -> f64 {
    0.5 * (1.0 + (std::f64::consts::PI * progress.clamp(0.0, 1.0)).cos())
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

    /// One step. The gradient is the sum of `shards`; `stretches` covers the parameters from first to last.
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
        // One list of short stretches, so that one fork and one join serve all parameters.
        let mut tasks = Vec::new();
        let mut rest = (parameters, &mut self.first[..], &mut self.second[..]);
        for (range, pull) in stretches {
            for start in range.clone().step_by(STRETCH) {
                let range = start..(start + STRETCH).min(range.end);
                let (parameters, first, second) = rest;
                let (parameters, parameters_rest) = parameters.split_at_mut(range.len());
                let (first, first_rest) = first.split_at_mut(range.len());
                let (second, second_rest) = second.split_at_mut(range.len());
                rest = (parameters_rest, first_rest, second_rest);
                tasks.push((range, pull, parameters, first, second));
            }
        }
        let run = |(range, pull, parameters, first, second): Task<'_>| {
            let shards: Vec<&[f32]> = shards.iter().map(|shard| &shard[range.clone()]).collect();
            vector::adam(&step_with(pull), parameters, first, second, &shards);
        };
        if parallel {
            tasks.into_par_iter().for_each(run);
        } else {
            tasks.into_iter().for_each(run);
        }
    }
}

/// Where a stretch lies, what pulls at it, and its parameters and moments.
type Task<'a> = (Range<usize>, &'a Pull, &'a mut [f32], &'a mut [f32], &'a mut [f32]);
