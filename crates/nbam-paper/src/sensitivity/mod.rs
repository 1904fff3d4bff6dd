//! The sweep of the paper's appendix: one setting at a time, symmetric noise at rates from 0.1 to 0.9, the paper's five methods.

mod axes;
mod render;

use std::path::PathBuf;

use crate::data::read_data;
use crate::error::{Error, Result};
use crate::noise::{Noise, NoiseKind};
use crate::runner::Watch;
use crate::study::{Method, Run, Setting, Study};

pub use axes::Axis;
pub use render::render;

/// The name of the experiment in records.
pub const EXPERIMENT: &str = "sensitivity";
/// Rates of the paper.
pub const RATES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Which part of the sweep is run or shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The settings that are varied.
    pub axes: Vec<Axis>,
    /// Rates of noise.
    pub rates: Vec<f64>,
    /// Seeds of every cell.
    pub seeds: usize,
    /// The first seed.
    pub first_seed: u64,
    /// Epochs of the default; the axis of epochs goes from a quarter to twice of it.
    pub epochs: usize,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            axes: Axis::ALL.to_vec(),
            rates: RATES.to_vec(),
            seeds: crate::table::SEEDS,
            first_seed: crate::table::FIRST_SEED,
            epochs: Setting::EPOCHS,
        }
    }
}

impl Selection {
    fn seeds(&self) -> std::ops::Range<u64> {
        self.first_seed..self.first_seed.saturating_add(self.seeds as u64)
    }
}

/// The sweep, read and planned.
#[derive(Debug)]
pub struct Experiment {
    results: PathBuf,
    threads: usize,
    study: Study,
    runs: Vec<Run>,
}

impl Experiment {
    /// Reads the data and plans the runs, seed by seed.
    ///
    /// # Errors
    /// When the data cannot be read or a rate is out of range.
    pub fn new(data: PathBuf, results: PathBuf, selection: &Selection, threads: usize) -> Result<Self> {
        if let Some(rate) = selection.rates.iter().find(|rate| !(0.0..=1.0).contains(*rate)) {
            return Err(Error::input(format!("the rate {rate} is out of range, expected 0 to 1")));
        }
        let study = Study::new(EXPERIMENT, &read_data(&data)?)?;
        let settings = axes::settings_of(&selection.axes, selection.epochs);
        let mut runs = Vec::new();
        for seed in selection.seeds() {
            for &setting in &settings {
                for &rate in &selection.rates {
                    let noise = Noise::new(NoiseKind::Symmetric, rate);
                    runs.extend(Method::PAPER.map(|method| Run { noise, seed, method, setting }));
                }
            }
        }
        Ok(Self { results, threads, study, runs })
    }

    /// How many runs of each rate are done, and how many there are.
    ///
    /// # Errors
    /// When the results file cannot be read.
    pub fn list(&self) -> Result<Vec<(String, usize, usize)>> {
        self.study.list(&self.runs, &self.results)
    }

    /// Does every run that is missing, appending each to the results file as it ends.
    ///
    /// # Errors
    /// When a run cannot be done, a file cannot be written, or the watcher stops it.
    pub fn run(&self, watch: &dyn Watch) -> Result<()> {
        self.study.run(&self.runs, &self.results, self.threads, watch)
    }
}
