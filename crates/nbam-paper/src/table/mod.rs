//! The paper's table: test accuracy under symmetric and asymmetric label noise at six rates, five methods of the paper and our
//! default, five seeds; and what the paper does not give, how good the posteriors are.

mod goals;
mod published;
mod render;

use std::path::PathBuf;

use crate::data::read_data;
use crate::error::Result;
use crate::noise::{Noise, NoiseKind};
use crate::pick::picked;
use crate::results::{Record, cell_name};
use crate::runner::Watch;
use crate::study::{Chosen, Method, Run, Setting, Study, choose};

pub(crate) use published::{RATES, published};
pub use render::render;
pub(crate) use render::{largest, mean_anomaly};

/// The name of the experiment in records.
pub const EXPERIMENT: &str = "table";
/// The first seed. Smaller ones were in view when our default was shaped.
pub const FIRST_SEED: u64 = 101;
/// Seeds of the paper.
pub const SEEDS: usize = 5;
/// The flips of the asymmetric noise, from class to class.
pub(crate) const FLIPS: [(usize, usize); 4] = crate::noise::CIFAR_FLIPS;

/// Which runs a table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Seeds of every cell.
    pub seeds: usize,
    /// The first seed.
    pub first_seed: u64,
    /// Epochs of every fit, if not the method's own.
    pub epochs: Option<usize>,
}

impl Default for Selection {
    fn default() -> Self {
        Self { seeds: SEEDS, first_seed: FIRST_SEED, epochs: None }
    }
}

impl Selection {
    fn seeds(&self) -> std::ops::Range<u64> {
        self.first_seed..self.first_seed.saturating_add(self.seeds as u64)
    }

    fn setting(&self) -> Setting {
        Setting { epochs: self.epochs, ..Setting::PAPER }
    }

    /// The records that belong to it.
    pub(crate) fn choose(&self, records: &[Record]) -> Result<Chosen> {
        choose(records, EXPERIMENT, &[self.setting()], &self.seeds())
    }
}

/// Which part of the experiment is run, and where its files are.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data set: an `.npz` file, or a folder of published files.
    pub data: PathBuf,
    /// The results file.
    pub results: PathBuf,
    /// Patterns of cells; all if empty.
    pub only: Vec<String>,
    /// Methods; all if empty.
    pub methods: Vec<Method>,
    /// Seeds and epochs.
    pub selection: Selection,
    /// How many networks are trained at a time, one thread each.
    pub threads: usize,
}

/// The experiment, read and planned.
#[derive(Debug)]
pub struct Experiment {
    options: Options,
    study: Study,
    runs: Vec<Run>,
}

impl Experiment {
    /// Reads the data and plans the runs: all cells of the first seed, then all of the second, so that a part of the experiment is a
    /// whole table with fewer seeds.
    ///
    /// # Errors
    /// When the data cannot be read, or the options pick no run.
    pub fn new(options: Options) -> Result<Self> {
        let data = read_data(&options.data)?;
        let study = Study::new(EXPERIMENT, &data)?;
        let kinds = [NoiseKind::Symmetric, NoiseKind::Asymmetric];
        let noises = kinds.into_iter().flat_map(|kind| RATES.map(|rate| Noise::new(kind, rate)));
        let noises = picked(noises.collect(), &options.only, |noise| cell_name(study.name(), noise, 0.0))?;
        let is_wanted = |method: &Method| options.methods.is_empty() || options.methods.contains(method);
        let setting = options.selection.setting();
        let mut runs = Vec::new();
        for seed in options.selection.seeds() {
            for &noise in &noises {
                runs.extend(Method::all().filter(is_wanted).map(|method| Run {
                    noise,
                    seed,
                    method,
                    setting,
                }));
            }
        }
        Ok(Self { options, study, runs })
    }

    /// How many runs of each cell are done, and how many there are.
    ///
    /// # Errors
    /// When the results file cannot be read.
    pub fn list(&self) -> Result<Vec<(String, usize, usize)>> {
        self.study.list(&self.runs, &self.options.results)
    }

    /// Does every run that is missing, appending each to the results file as it ends.
    ///
    /// # Errors
    /// When a run cannot be done, a file cannot be written, or the watcher stops it.
    pub fn run(&self, watch: &dyn Watch) -> Result<()> {
        self.study.run(&self.runs, &self.options.results, self.options.threads, watch)
    }
}
