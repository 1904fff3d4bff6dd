//! Records chosen for a table: those of the present settings, of one version of the data, each once.

use std::collections::HashMap;

use super::method::{Method, Setting};
use crate::error::Result;
use crate::noise::Noise;
use crate::results::{Identity, Measures, Record};

/// Runs of one method in one cell that differ only in their seed, in the order of the seeds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    runs: Vec<(u64, Measures)>,
    /// Runs that failed.
    pub(crate) failures: usize,
}

impl Series {
    /// How many runs there are.
    pub(crate) fn count(&self) -> usize {
        self.runs.len() + self.failures
    }

    /// The measures of the runs that did not fail.
    pub(crate) fn measures(&self) -> impl Iterator<Item = &Measures> {
        self.runs.iter().map(|(_, measures)| measures)
    }

    /// The mean over seeds, if every run measured it.
    pub(crate) fn mean(&self, of: impl Fn(&Measures) -> Option<f64>) -> Option<f64> {
        Some(self.mean_and_error(of)?.0)
    }

    /// The mean over seeds and its standard error, which takes two runs.
    pub(crate) fn mean_and_error(&self, of: impl Fn(&Measures) -> Option<f64>) -> Option<(f64, Option<f64>)> {
        let values: Vec<f64> = self.measures().map(of).collect::<Option<_>>()?;
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Some((mean, error))
    }
}

/// What [`choose`] picked of a results file.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Data set, noise, method and setting (its place in the list), with their runs.
    series: Vec<(String, Noise, Method, usize, Series)>,
    /// Runs of other settings, versions or data.
    pub(crate) others: usize,
}

impl Chosen {
    /// The data sets, in alphabetical order.
    pub(crate) fn data(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.series.iter().map(|(data, ..)| data.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The noises of a data set, by kind and rate.
    pub(crate) fn noises(&self, data: &str) -> Vec<Noise> {
        let mut noises: Vec<Noise> =
            self.series.iter().filter(|(name, ..)| name == data).map(|(_, noise, ..)| *noise).collect();
        noises.sort_by(|a, b| a.kind.cmp(&b.kind).then(a.rate.total_cmp(&b.rate)));
        noises.dedup();
        noises
    }

    /// The runs of a method in a cell, with the setting at this place of the list.
    pub(crate) fn series(&self, data: &str, noise: Noise, method: Method, setting: usize) -> Option<&Series> {
        self.series
            .iter()
            .find(|(name, n, m, s, _)| name == data && *n == noise && *m == method && *s == setting)
            .map(|(.., series)| series)
    }
}

/// The runs of an experiment with one of these settings and one of these seeds. Of two versions of a data set the one that was used
/// last counts, and of a run that was done twice the later one.
pub(crate) fn choose(
    records: &[Record],
    experiment: &str,
    settings: &[Setting],
    seeds: &std::ops::Range<u64>,
) -> Result<Chosen> {
    let mut known = Vec::new();
    for method in Method::all() {
        for (place, setting) in settings.iter().enumerate() {
            known.push((method, place, method.settings(setting)?));
        }
    }
    let placed = |run: &Identity| {
        let method = Method::parse(&run.method).ok().filter(|method| method.version() == run.version)?;
        let fits = |entry: &&(Method, usize, serde_json::Value)| entry.0 == method && entry.2 == run.settings;
        known.iter().find(fits).map(|entry| (entry.0, entry.1))
    };
    let mut chosen = Chosen::default();
    let mut latest: HashMap<String, (Method, usize, &Record)> = HashMap::new();
    let mut fingerprints: HashMap<&str, &str> = HashMap::new();
    for record in records.iter().filter(|record| record.run.experiment == experiment) {
        match placed(&record.run) {
            Some((method, place)) => {
                fingerprints.insert(&record.run.data, &record.run.fingerprint);
                latest.insert(record.run.key(), (method, place, record));
            }
            None => chosen.others += 1,
        }
    }
    for (method, place, record) in latest.into_values() {
        let run = &record.run;
        if fingerprints.get(run.data.as_str()) != Some(&run.fingerprint.as_str()) {
            chosen.others += 1;
        } else if seeds.contains(&run.seed) {
            add(&mut chosen.series, method, place, record);
        }
    }
    for (.., series) in &mut chosen.series {
        // Sums of floating-point numbers depend on their order.
        series.runs.sort_by_key(|(seed, _)| *seed);
    }
    Ok(chosen)
}

fn add(
    series: &mut Vec<(String, Noise, Method, usize, Series)>,
    method: Method,
    setting: usize,
    record: &Record,
) {
    let run = &record.run;
    let is_same = |entry: &(String, Noise, Method, usize, Series)| {
        entry.0 == run.data && entry.1 == run.noise && entry.2 == method && entry.3 == setting
    };
    let place = series.iter().position(is_same).unwrap_or_else(|| {
        series.push((run.data.clone(), run.noise, method, setting, Series::default()));
        series.len() - 1
    });
    let series = &mut series[place].4;
    match record.failure {
        Some(_) => series.failures += 1,
        None => series.runs.push((run.seed, record.measures.clone())),
    }
}
