//! The broader evaluation that the paper asks for and does not have: thirteen methods for wrong labels beside the
//! mixture, on one backbone and one engine.
//!
//! Every method is one file with its equation, its publication and the parameters that the publication gives. Nothing is tuned
//! here. All train the paper's network on the paper's rows for the same epochs, and all rank the training rows by how
//! suspicious they are: by `1 - p(y|x)`, unless their file says otherwise.

mod bootstrap_hard;
mod bootstrap_soft;
mod co_teaching;
mod confident_learning;
mod early_learning;
mod forward;
mod loss_mixture;
mod methods;
mod network;
mod normalised;
mod paper_losses;
mod presets;
mod row_loss;
mod run;
mod symmetric;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::data::{DataSet, read_set};
use crate::error::{ErrorKind, Result};
use crate::noise::{Noise, NoiseKind};
use crate::pick::picked;
use crate::results::{Identity, Measures, Record, ResultsFile, cell_name};
use crate::runner::{Watch, run_jobs};

pub use methods::Method;
pub use table::{Choice, render};

/// The name of the experiment in records.
pub const EXPERIMENT: &str = "compare";
/// The paper's number of epochs.
pub const EPOCHS: usize = 200;
/// Seeds of a cell.
pub const SEEDS: usize = 3;

/// Which part of the experiment is run, and where its files are.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data set, an `.npz` file. One whose name starts with `cifar10` is split as in the paper.
    pub data: PathBuf,
    /// The results file.
    pub results: PathBuf,
    /// Patterns of cells; all if empty.
    pub only: Vec<String>,
    /// Methods; all if empty.
    pub methods: Vec<Method>,
    /// Epochs of every network but the default preset's.
    pub epochs: usize,
    /// Seeds of every cell.
    pub seeds: usize,
    /// The first seed.
    pub first_seed: u64,
    /// How many networks are trained at a time, one thread each.
    pub threads: usize,
}

/// The comparison, read and planned.
#[derive(Debug)]
pub struct Comparison {
    options: Options,
    data: DataSet,
    noises: Vec<Noise>,
}

/// A cell and seed: the rows that several runs share.
struct Unit<'a> {
    noise: &'a Noise,
    seed: u64,
    prepared: OnceLock<Result<run::Prepared>>,
}

struct Job<'a> {
    unit: Arc<Unit<'a>>,
    method: Method,
    identity: Identity,
}

impl Comparison {
    /// Reads the data and plans the cells.
    ///
    /// # Errors
    /// When the data cannot be read or its targets are no classes, or the options pick no cell.
    pub fn new(options: Options) -> Result<Self> {
        let mut data = read_set(&options.data)?;
        if !data.is_classification() {
            return Err(run::not_classes().of_run(&options.data.display().to_string()));
        }
        const CIFAR: &str = "cifar10";
        if data.name.starts_with(CIFAR) {
            // Features of CIFAR-10 by another name are still CIFAR-10; the fingerprint tells them apart.
            data.name = CIFAR.to_owned();
        }
        // The paper's flips are between classes of CIFAR-10; other data have flips between pairs that the seed draws.
        let flips = if data.name == CIFAR { NoiseKind::Asymmetric } else { NoiseKind::Pairs };
        let noises: Vec<Noise> = [NoiseKind::Symmetric, flips]
            .into_iter()
            .flat_map(|kind| [0.2, 0.4].map(|rate| Noise::new(kind, rate)))
            .collect();
        let noises = picked(noises, &options.only, |noise| cell_name(&data.name, noise, 0.0))?;
        Ok(Self { options, data, noises })
    }

    fn identity(&self, noise: &Noise, seed: u64, method: Method) -> Result<Identity> {
        Ok(Identity {
            experiment: EXPERIMENT.to_owned(),
            data: self.data.name.clone(),
            fingerprint: self.data.fingerprint.clone(),
            noise: *noise,
            verified: 0.0,
            seed,
            method: method.name().to_owned(),
            settings: method.settings(self.options.epochs)?,
            version: method.version(),
        })
    }

    /// Does every run that is missing, appending each to the results file as it ends. All cells have their first seed before
    /// one has its second.
    ///
    /// # Errors
    /// When a run cannot be done, the file cannot be written, or the watcher stops it.
    pub fn run(&self, watch: &dyn Watch) -> Result<()> {
        let Options { first_seed, seeds, threads, .. } = self.options;
        let (file, records) = ResultsFile::open(&self.options.results)?;
        let done: HashSet<String> = records.iter().map(|record| record.run.key()).collect();
        let mut jobs = Vec::new();
        for seed in first_seed..first_seed.saturating_add(seeds as u64) {
            for noise in &self.noises {
                let unit = Arc::new(Unit { noise, seed, prepared: OnceLock::new() });
                for method in Method::all() {
                    if !(self.options.methods.is_empty() || self.options.methods.contains(&method)) {
                        continue;
                    }
                    let identity = self.identity(noise, seed, method)?;
                    if !done.contains(&identity.key()) {
                        jobs.push(Job { unit: unit.clone(), method, identity });
                    }
                }
            }
        }
        let (total, finished) = (jobs.len(), AtomicUsize::new(0));
        run_jobs(jobs, threads, watch, |job, stop| {
            let label = format!("{}, {}, seed {}", job.identity.cell(), job.method.name(), job.unit.seed);
            let record = self.run_job(job, stop).map_err(|error| error.of_run(&label))?;
            file.append(&record)?;
            watch.finished(&record, finished.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok(())
        })
    }

    fn run_job(&self, job: Job<'_>, stop: &dyn nbam::Monitor) -> Result<Record> {
        let unit = &job.unit;
        let prepare = || run::prepare(&self.data, unit.noise, unit.seed, stop);
        let prepared = unit.prepared.get_or_init(prepare).as_ref().map_err(Clone::clone)?;
        let (measures, failure) = match run::run(job.method, prepared, self.options.epochs, unit.seed, stop) {
            Ok(measures) => (measures, None),
            // A fit that diverged is a result too.
            Err(error) if error.kind() == ErrorKind::Method => (Measures::default(), Some(error.to_string())),
            Err(error) => return Err(error),
        };
        Ok(Record { run: job.identity, measures, failure })
    }
}
