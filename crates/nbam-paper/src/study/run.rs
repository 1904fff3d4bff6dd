//! Runs of methods on one data set, each appended to the results file as it ends.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use nbam::{LabelledRows, Monitor};

use super::measure::measure;
use super::method::{Method, Setting};
use crate::data::{DataSet, Sample, Targets, paper_split};
use crate::error::{Error, ErrorKind, Result};
use crate::noise::Noise;
use crate::results::{Identity, Measures, Record, ResultsFile, read_results};
use crate::runner::{Watch, run_jobs};

/// One run: what is done to the labels, and what is fitted to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// What is done to the labels.
    pub noise: Noise,
    /// Where the noise and the fit take their random numbers from.
    pub seed: u64,
    /// What is fitted.
    pub method: Method,
    /// With which settings.
    pub setting: Setting,
}

/// The rows of an experiment: the paper's split of a data set, the same for all runs.
#[derive(Debug)]
pub struct Study {
    experiment: &'static str,
    name: String,
    fingerprint: String,
    sample: Sample,
}

impl Study {
    /// Splits a data set for an experiment of this name.
    ///
    /// # Errors
    /// When the targets are no classes.
    pub fn new(experiment: &'static str, data: &DataSet) -> Result<Self> {
        let sample = paper_split(data)?;
        Ok(Self { experiment, name: data.name.clone(), fingerprint: data.fingerprint.clone(), sample })
    }

    /// The data set's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Everything that a run depends on.
    ///
    /// # Errors
    /// When the settings cannot be written as JSON.
    pub fn identity(&self, run: &Run) -> Result<Identity> {
        Ok(Identity {
            experiment: self.experiment.to_owned(),
            data: self.name.clone(),
            fingerprint: self.fingerprint.clone(),
            noise: run.noise,
            verified: 0.0,
            seed: run.seed,
            method: run.method.name().to_owned(),
            settings: run.method.settings(&run.setting)?,
            version: run.method.version(),
        })
    }

    /// The runs with their identities, each once, and whether the results file has them.
    fn planned(&self, runs: &[Run], done: &[Record]) -> Result<Vec<(Run, Identity, bool)>> {
        let done: HashSet<String> = done.iter().map(|record| record.run.key()).collect();
        let mut seen = HashSet::new();
        let mut planned = Vec::new();
        for run in runs {
            let identity = self.identity(run)?;
            let key = identity.key();
            let is_done = done.contains(&key);
            if seen.insert(key) {
                planned.push((*run, identity, is_done));
            }
        }
        Ok(planned)
    }

    /// How many of these runs the results file has, and how many there are, by cell in the order of the runs.
    ///
    /// # Errors
    /// When the results file cannot be read.
    pub fn list(&self, runs: &[Run], results: &Path) -> Result<Vec<(String, usize, usize)>> {
        let mut cells: Vec<(String, usize, usize)> = Vec::new();
        for (_, identity, is_done) in self.planned(runs, &read_results(results)?)? {
            let name = identity.cell();
            let place = cells.iter().position(|(cell, ..)| *cell == name).unwrap_or_else(|| {
                cells.push((name, 0, 0));
                cells.len() - 1
            });
            cells[place].1 += usize::from(is_done);
            cells[place].2 += 1;
        }
        Ok(cells)
    }

    /// Does every run that the results file lacks, in order, so many at a time on one thread each. Each is on the disk as soon as it
    /// has ended.
    ///
    /// # Errors
    /// When a run cannot be done, the file cannot be written, or the watcher stops it.
    pub fn run(&self, runs: &[Run], results: &Path, threads: usize, watch: &dyn Watch) -> Result<()> {
        let (file, records) = ResultsFile::open(results)?;
        let mut jobs = self.planned(runs, &records)?;
        jobs.retain(|(_, _, is_done)| !is_done);
        let (total, finished) = (jobs.len(), AtomicUsize::new(0));
        run_jobs(jobs, threads, watch, |(run, identity, _), stop| {
            let (measures, failure) = match self.fit(&run, stop) {
                Ok(measures) => (measures, None),
                // A fit that diverged is a result too.
                Err(error) if error.kind() == ErrorKind::Method => {
                    (Measures::default(), Some(error.to_string()))
                }
                Err(error) => {
                    let name = format!("{}, {}, seed {}", identity.cell(), identity.method, identity.seed);
                    return Err(error.of_run(&name));
                }
            };
            let record = Record { run: identity, measures, failure };
            file.append(&record)?;
            watch.finished(&record, finished.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok(())
        })
    }

    /// Contaminates the labels, fits and measures.
    fn fit(&self, run: &Run, monitor: &dyn Monitor) -> Result<Measures> {
        let (given, is_wrong) =
            run.noise.apply(&self.sample.features, &self.sample.targets, run.seed, monitor)?;
        let Targets::Labels { labels, .. } = &given else {
            return Err(Error::input("the targets are no classes"));
        };
        let start = std::time::Instant::now();
        let rows =
            LabelledRows { features: self.sample.features.features()?, labels, weights: None, known: None };
        let model =
            run.method.params(&run.setting).seed(run.seed).threads(1).check()?.fit_rows(&rows, monitor)?;
        let seconds = start.elapsed().as_secs_f64();
        let measures = measure(run.method, &model, &self.sample, &is_wrong)?;
        Ok(Measures { seconds, threads: 1, ..measures })
    }
}
