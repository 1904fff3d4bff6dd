//! Records gathered into cells: only those of the present settings, and of one version of the data.

use std::collections::HashMap;

use super::cells::{SMALL_SETS, seeds_of};
use super::methods::Method;
use super::{EXPERIMENT, Options};
use crate::error::Result;
use crate::noise::{Noise, NoiseKind};
use crate::results::{Measures, Record, cell_name};
use crate::version_for;

/// The seeds that a table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    /// The first one.
    pub first: u64,
    /// How many of every cell; what each cell asks for if absent.
    pub count: Option<usize>,
}

impl From<&Options> for Seeds {
    fn from(options: &Options) -> Self {
        Self { first: options.first_seed, count: options.seeds }
    }
}

/// The runs of one method in one cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    pub(super) measures: Vec<Measures>,
    pub(super) failures: usize,
}

impl Series {
    pub(super) fn runs(&self) -> usize {
        self.measures.len() + self.failures
    }

    fn values(&self, of: impl Fn(&Measures) -> Option<f64>) -> Option<Vec<f64>> {
        // A mean over some of the seeds would be of other runs than its neighbours in the table.
        self.measures.iter().map(of).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    }

    /// The mean over seeds, if every run measured it.
    pub(super) fn mean(&self, of: impl Fn(&Measures) -> Option<f64>) -> Option<f64> {
        self.values(of).map(|values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The smallest over seeds.
    pub(super) fn smallest(&self, of: impl Fn(&Measures) -> Option<f64>) -> Option<f64> {
        self.values(of)?.into_iter().reduce(f64::min)
    }
}

/// One cell with everything that was run in it.
#[derive(Debug, Clone)]
pub(super) struct CellSummary {
    pub(super) data: String,
    pub(super) noise: Noise,
    pub(super) verified: f64,
    /// Seeds that it should have.
    pub(super) seeds: usize,
    pub(super) series: HashMap<Method, Series>,
}

impl CellSummary {
    pub(super) fn name(&self) -> String {
        cell_name(&self.data, &self.noise, self.verified)
    }

    pub(super) fn is_regression(&self) -> bool {
        self.noise.is_for_numbers()
    }

    /// The series of a method, if all its seeds are there.
    pub(super) fn whole(&self, method: Method) -> Option<&Series> {
        self.series.get(&method).filter(|series| series.runs() >= self.seeds)
    }

    /// Data sets in the order of the issue, then the others; labels before numbers; noise by kind and rate.
    fn order(&self) -> (bool, usize, &str, NoiseKind, f64, f64) {
        let first = ["cifar10", "fashion-mnist"].into_iter().chain(SMALL_SETS);
        let place = first.clone().position(|name| name == self.data).unwrap_or(first.count());
        (self.is_regression(), place, &self.data, self.noise.kind, self.noise.rate, self.verified)
    }
}

/// Gathers records into cells, and counts those that were left out because their settings, data or version are others.
pub(super) fn summarise(records: &[Record], seeds: Seeds) -> Result<(Vec<CellSummary>, usize)> {
    let mut settings = HashMap::new();
    for method in Method::all() {
        for is_classification in [true, false] {
            settings.insert((method, is_classification), method.settings(is_classification)?);
        }
    }
    let mut chosen: HashMap<String, (Method, &Record)> = HashMap::new();
    // Of two versions of a data set, the one that was used last counts.
    let mut fingerprints: HashMap<&str, &str> = HashMap::new();
    let mut others = 0;
    for record in records.iter().filter(|record| record.run.experiment == EXPERIMENT) {
        let run = &record.run;
        let method = Method::parse(&run.method).ok();
        let is_present = |method: &Method| {
            let now = settings.get(&(*method, !run.noise.is_for_numbers()));
            run.version == version_for(!run.noise.is_for_numbers()) && now == Some(&run.settings)
        };
        match method.filter(is_present) {
            Some(method) => {
                fingerprints.insert(&run.data, &run.fingerprint);
                chosen.insert(run.key(), (method, record));
            }
            None => others += 1,
        }
    }
    let mut cells: HashMap<String, CellSummary> = HashMap::new();
    for (method, record) in chosen.into_values() {
        let run = &record.run;
        if fingerprints.get(run.data.as_str()) != Some(&run.fingerprint.as_str()) {
            others += 1;
            continue;
        }
        let count = seeds.count.unwrap_or(seeds_of(&run.data, run.noise.kind));
        if !(seeds.first..seeds.first.saturating_add(count as u64)).contains(&run.seed) {
            continue;
        }
        let cell = cells.entry(run.cell()).or_insert_with(|| CellSummary {
            data: run.data.clone(),
            noise: run.noise,
            verified: run.verified,
            seeds: count,
            series: HashMap::new(),
        });
        let series = cell.series.entry(method).or_default();
        match record.failure {
            Some(_) => series.failures += 1,
            None => series.measures.push(record.measures.clone()),
        }
    }
    let mut cells: Vec<CellSummary> = cells.into_values().collect();
    cells.sort_by(|a, b| a.order().partial_cmp(&b.order()).unwrap_or(std::cmp::Ordering::Equal));
    Ok((cells, others))
}
