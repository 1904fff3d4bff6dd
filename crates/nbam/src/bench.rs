//! How fast this machine runs the paper's step.
//!
//! The step: 512 rows of 512 features, two hidden layers of 256, three heads, the mixture's loss, Adam;
//! 586.5 million floating-point operations. An epoch is 88 of them: 45,000 rows.

use crate::net::{Operand, multiply};
use crate::train::{Monitor, Progress, in_pool};
use crate::{Classification, Features, LabelledRows, Params, Precision, Preset, Result};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Mutex;
use std::time::Instant;

const ROWS: usize = 45_000;
const COLUMNS: usize = 512;
const CLASSES: usize = 10;
/// Multiplications and additions of one epoch: 88 steps of 586.5 million, for the rows that there are.
const OPERATIONS_PER_ROW: f64 = 586.5e6 / 512.0;

/// What [`measure`] found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Speed {
    /// The fastest epoch with all threads asked for.
    pub seconds_per_epoch: f64,
    /// The fastest epoch on one thread.
    pub seconds_per_epoch_1t: f64,
    /// Arithmetic of the fastest epoch, in billions of operations a second.
    pub gflops: f64,
    /// The best rate of a large single-precision matrix product on as many threads.
    pub peak_gflops: f64,
    /// Rows whose posterior is computed in a second.
    pub score_rows_per_second: f64,
    /// Threads of all figures but the second.
    pub threads: usize,
    /// What the processor computed products in; the peak is that of single precision.
    pub precision: Precision,
}

/// Runs the step for some epochs (after one to warm up) and reports the fastest; `threads` 0 is all. What was measured may be single precision where
/// more speed was asked for: [`Precision::here`].
///
/// # Errors
/// When the threads cannot be started.
pub fn measure(epochs: usize, threads: usize, precision: Precision) -> Result<Speed> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let values: Vec<f32> = (0..ROWS * COLUMNS).map(|_| random.random_range(-1.7..1.7)).collect();
    let labels: Vec<usize> =
        (0..ROWS).map(|row| usize::from(values[row * COLUMNS] > 0.0) + row % (CLASSES - 1)).collect();
    let features = Features::new(&values, COLUMNS)?;
    let rows = LabelledRows { features, labels: &labels, weights: None, known: None };
    let count = in_pool(threads, rayon::current_num_threads)?;
    let epochs = epochs.clamp(1, 1000);

    let fit = |threads: usize| -> Result<(f64, crate::Classifier)> {
        let clock = Clock::default();
        let params = Params::<Classification>::preset(Preset::Paper).epochs(epochs + 1).threads(threads);
        let model = params.precision(precision).check()?.fit_rows(&rows, &clock)?;
        Ok((clock.fastest(), model))
    };
    let (seconds_per_epoch_1t, model_1t) = fit(1)?;
    let (seconds_per_epoch, model) = if count == 1 { (seconds_per_epoch_1t, model_1t) } else { fit(count)? };
    let fastest_scoring = (0..=epochs)
        .map(|_| {
            let start = Instant::now();
            model.contamination(&features, &labels).map(|_| start.elapsed().as_secs_f64())
        })
        .collect::<Result<Vec<f64>>>()?
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    Ok(Speed {
        seconds_per_epoch,
        seconds_per_epoch_1t,
        gflops: OPERATIONS_PER_ROW * ROWS as f64 / seconds_per_epoch / 1e9,
        peak_gflops: in_pool(count, peak_gflops)?,
        score_rows_per_second: ROWS as f64 / fastest_scoring,
        threads: count,
        precision: precision.here(),
    })
}

/// The fastest of several large products on each thread of the current pool at once.
fn peak_gflops() -> f64 {
    const SIZE: usize = 1024;
    const PRODUCTS: usize = 4;
    let left = vec![0.5_f32; SIZE * SIZE];
    let threads = rayon::current_num_threads();
    let mut outputs = vec![vec![0.0_f32; SIZE * SIZE]; threads];
    let run = |outputs: &mut Vec<Vec<f32>>| {
        let start = Instant::now();
        outputs.par_iter_mut().with_max_len(1).for_each(|output| {
            for _ in 0..PRODUCTS {
                let left = Operand::new(&left, SIZE, SIZE);
                multiply(output, left, left, Precision::Single);
            }
        });
        start.elapsed().as_secs_f64()
    };
    let fastest = (0..12).map(|_| run(&mut outputs)).fold(f64::INFINITY, f64::min);
    (threads * PRODUCTS * 2 * SIZE.pow(3)) as f64 / fastest / 1e9
}

/// Notes when each epoch ends.
#[derive(Default)]
struct Clock(Mutex<Vec<Instant>>);

impl Clock {
    /// The shortest time between two ends: the first epoch, which also warms up, does not count.
    fn fastest(&self) -> f64 {
        let ends = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ends.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).fold(f64::INFINITY, f64::min)
    }
}

impl Monitor for Clock {
    fn epoch(&self, _: Progress) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(Instant::now());
    }
}
