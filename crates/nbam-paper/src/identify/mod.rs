//! Does the default preset stay identified, and does it find bad rows better than anything else?
//!
//! Data sets, noise and seeds make cells; every method that has something to say is run in every cell. The
//! baselines have the default's network, weight prior, epochs and batches, and one member: they are compared with
//! `default-1` for what the model is worth and with `default` for what the product is worth. Their scores `1 - p(y)`
//! are averaged over the same last epochs as the default's posterior.

pub(crate) mod cells;
mod export;
mod goals;
mod methods;
mod run;
mod summary;
mod table;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::data::{DataSet, read_folder};
use crate::error::{Error, ErrorKind, Result};
use crate::pick::picked;
use crate::results::{Identity, Measures, Record, ResultsFile, read_results};
use crate::runner::{Watch, run_jobs};
use crate::version_for;

pub use cells::{Cell, cells_of};
pub(crate) use methods::FOLDS;
pub use methods::Method;
pub(crate) use run::folds;
pub use summary::Seeds;
pub use table::render;

/// The name of the experiment in records.
pub const EXPERIMENT: &str = "identify";
/// The first seed that is reported. Smaller ones are for trying things out: nobody looks at these before the method
/// is final.
pub const FIRST_SEED: u64 = 101;

/// Which part of the experiment is run, and where its files are.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of data sets.
    pub data: PathBuf,
    /// The results file.
    pub results: PathBuf,
    /// Patterns of cells; all if empty.
    pub only: Vec<String>,
    /// Methods; all if empty.
    pub methods: Vec<Method>,
    /// Seeds of every cell; what each cell asks for if absent.
    pub seeds: Option<usize>,
    /// The first seed.
    pub first_seed: u64,
    /// How many networks are trained at a time, one thread each.
    pub threads: usize,
    /// Where rows and out-of-sample probabilities for other methods go.
    pub export: Option<PathBuf>,
}

/// One cell of a plan, and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct CellState {
    /// The cell's name.
    pub name: String,
    /// Runs that are in the results file, those of other people's methods included.
    pub done: usize,
    /// Runs that this command would do.
    pub missing: usize,
    /// Runs that other people's methods have not done.
    pub waiting: usize,
}

/// A cell and seed: the rows that several runs share.
struct Unit<'a> {
    data: &'a DataSet,
    cell: &'a Cell,
    seed: u64,
    prepared: OnceLock<Result<run::Prepared>>,
}

struct Job<'a> {
    unit: Arc<Unit<'a>>,
    method: Method,
    identity: Identity,
}

/// The experiment, read and planned.
#[derive(Debug)]
pub struct Experiment {
    options: Options,
    sets: Vec<DataSet>,
    cells: Vec<Cell>,
}

impl Experiment {
    /// Reads the data sets and plans the cells.
    ///
    /// # Errors
    /// When the data cannot be read, or the options pick no cell.
    pub fn new(options: Options) -> Result<Self> {
        let sets = read_folder(&options.data)?;
        let cells: Vec<Cell> = sets.iter().flat_map(cells_of).collect();
        let cells = picked(cells, &options.only, Cell::name)?;
        Ok(Self { options, sets, cells })
    }

    fn seeds(&self, cell: &Cell) -> std::ops::Range<u64> {
        let count = self.options.seeds.unwrap_or(cell.seeds) as u64;
        self.options.first_seed..self.options.first_seed.saturating_add(count)
    }

    fn set(&self, cell: &Cell) -> Result<&DataSet> {
        let found = self.sets.iter().find(|set| set.name == cell.data);
        found.ok_or_else(|| Error::input(format!("there is no data set '{}'", cell.data)))
    }

    fn identity(&self, cell: &Cell, seed: u64, method: Method) -> Result<Identity> {
        Ok(Identity {
            experiment: EXPERIMENT.to_owned(),
            data: cell.data.clone(),
            fingerprint: self.set(cell)?.fingerprint.clone(),
            noise: cell.noise,
            verified: cell.verified,
            seed,
            method: method.name().to_owned(),
            settings: method.settings(cell.is_classification)?,
            version: version_for(cell.is_classification),
        })
    }

    /// Runs of a cell and seed with these methods.
    fn identities(&self, cell: &Cell, seed: u64, is_peer: bool) -> Result<Vec<(Method, Identity)>> {
        let chosen = |method: &Method| {
            let is_wanted = self.options.methods.is_empty() || self.options.methods.contains(method);
            // Out-of-sample probabilities are made to be exported.
            let is_useful = *method != Method::OutOfSample || self.options.export.is_some();
            method.is_peer() == is_peer && method.is_for(cell) && (is_peer || is_wanted && is_useful)
        };
        let methods = Method::all().filter(chosen);
        methods.map(|method| Ok((method, self.identity(cell, seed, method)?))).collect()
    }

    /// Whether the run has nothing left to do.
    fn is_done(
        &self,
        method: Method,
        identity: &Identity,
        peers: &[Identity],
        done: &HashSet<String>,
    ) -> bool {
        let is_exported = match &self.options.export {
            Some(folder) if method == Method::OutOfSample => export::is_there(folder, peers),
            _ => true,
        };
        is_exported && done.contains(&identity.key())
    }

    /// Every cell with what is done and what is missing.
    ///
    /// # Errors
    /// When the results file cannot be read.
    pub fn list(&self) -> Result<Vec<CellState>> {
        let done = keys(&read_results(&self.options.results)?);
        let mut states = Vec::new();
        for cell in &self.cells {
            let mut state = CellState { name: cell.name(), done: 0, missing: 0, waiting: 0 };
            for seed in self.seeds(cell) {
                let peers = self.identities(cell, seed, true)?;
                let runs: Vec<Identity> = peers.iter().map(|(_, run)| run.clone()).collect();
                for (method, identity) in self.identities(cell, seed, false)? {
                    let is_done = self.is_done(method, &identity, &runs, &done);
                    *(if is_done { &mut state.done } else { &mut state.missing }) += 1;
                }
                for identity in &runs {
                    let is_done = done.contains(&identity.key());
                    *(if is_done { &mut state.done } else { &mut state.waiting }) += 1;
                }
            }
            states.push(state);
        }
        Ok(states)
    }

    /// Does every run that is missing, appending each to the results file as it ends.
    ///
    /// # Errors
    /// When a run cannot be done, a file cannot be written, or the watcher stops it.
    pub fn run(&self, watch: &dyn Watch) -> Result<()> {
        let (file, records) = ResultsFile::open(&self.options.results)?;
        let done = keys(&records);
        let mut jobs = Vec::new();
        for cell in &self.cells {
            for seed in self.seeds(cell) {
                let data = self.set(cell)?;
                let unit = Arc::new(Unit { data, cell, seed, prepared: OnceLock::new() });
                let peers: Vec<Identity> =
                    self.identities(cell, seed, true)?.into_iter().map(|(_, run)| run).collect();
                for (method, identity) in self.identities(cell, seed, false)? {
                    if !self.is_done(method, &identity, &peers, &done) {
                        jobs.push(Job { unit: unit.clone(), method, identity });
                    }
                }
                if let Some(folder) = self.options.export.as_ref().filter(|_| !cell.is_classification)
                    && !export::is_there(folder, &peers)
                {
                    let prepared = run::prepare(data, cell, seed, &nbam::Silent)?;
                    export::write(folder, &peers, &prepared, None)?;
                }
            }
        }
        let (total, finished) = (jobs.len(), AtomicUsize::new(0));
        run_jobs(jobs, self.options.threads, watch, |job, stop| {
            let record = self.run_job(&job, stop).map_err(|error| error.of_run(&job.label()))?;
            file.append(&record)?;
            watch.finished(&record, finished.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok(())
        })
    }

    fn run_job(&self, job: &Job<'_>, stop: &dyn nbam::Monitor) -> Result<Record> {
        let unit = &job.unit;
        let prepared = unit.prepared.get_or_init(|| run::prepare(unit.data, unit.cell, unit.seed, stop));
        let prepared = prepared.as_ref().map_err(Clone::clone)?;
        let outcome = match run::run(job.method, prepared, unit.seed, stop) {
            Ok(outcome) => outcome,
            Err(error) if error.kind() == ErrorKind::Method => {
                let failure = Some(error.to_string());
                return Ok(Record { run: job.identity.clone(), measures: Measures::default(), failure });
            }
            Err(error) => return Err(error),
        };
        if let (Some(folder), Some(probabilities)) = (&self.options.export, &outcome.probabilities) {
            let peers = self.identities(unit.cell, unit.seed, true)?;
            let peers: Vec<Identity> = peers.into_iter().map(|(_, run)| run).collect();
            export::write(folder, &peers, prepared, Some(probabilities))?;
        }
        Ok(Record { run: job.identity.clone(), measures: outcome.measures, failure: None })
    }
}

impl Job<'_> {
    fn label(&self) -> String {
        format!("{}, {}, seed {}", self.unit.cell.name(), self.method.name(), self.unit.seed)
    }
}

fn keys(records: &[Record]) -> HashSet<String> {
    records.iter().map(|record| record.run.key()).collect()
}
