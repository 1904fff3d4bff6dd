//! The results as one Markdown table.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::EXPERIMENT;
use super::methods::Method;
use super::network::description;
use crate::error::Result;
use crate::results::{Measures, Record};

/// The runs that a table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Epochs of the networks.
    pub epochs: usize,
    /// The first seed.
    pub first_seed: u64,
    /// How many seeds each cell should have.
    pub seeds: usize,
}

/// The runs of one method in one cell.
#[derive(Default)]
struct Series<'a> {
    measures: Vec<&'a Measures>,
    failures: usize,
}

impl Series<'_> {
    /// Mean and standard error over the seeds, if every run measured it.
    fn mean(&self, of: impl Fn(&Measures) -> Option<f64>) -> Option<(f64, f64)> {
        let values: Vec<f64> = self.measures.iter().map(|measures| of(measures)).collect::<Option<_>>()?;
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (!values.is_empty()).then(|| (mean, (squares / (count - 1.0).max(1.0) / count).sqrt()))
    }

    fn with_error(&self, of: impl Fn(&Measures) -> Option<f64>) -> String {
        match self.mean(of) {
            Some((mean, error)) if self.measures.len() > 1 => format!("{mean:.3} +- {error:.3}"),
            Some((mean, _)) => format!("{mean:.3}"),
            None => "-".to_owned(),
        }
    }
}

/// The table of the runs that fit the choice: mean and standard error over seeds. Runs of other settings, versions or data
/// never mix with these; the last line says how many there are.
///
/// # Errors
/// When the present settings cannot be written as JSON.
pub fn render(records: &[Record], choice: Choice) -> Result<String> {
    let mut settings = HashMap::new();
    for method in Method::all() {
        settings.insert(method.name(), (method, method.settings(choice.epochs)?));
    }
    // Of two versions of a data set, the one that was used last counts; so does the later of two equal runs.
    let mut fingerprints: HashMap<&str, &str> = HashMap::new();
    let mut chosen: HashMap<String, (Method, &Record)> = HashMap::new();
    let mut others = 0;
    for record in records.iter().filter(|record| record.run.experiment == EXPERIMENT) {
        let run = &record.run;
        match settings.get(run.method.as_str()) {
            Some((method, now)) if run.version == method.version() && *now == run.settings => {
                fingerprints.insert(&run.data, &run.fingerprint);
                chosen.insert(run.key(), (*method, record));
            }
            _ => others += 1,
        }
    }
    let mut cells: HashMap<String, (&Record, HashMap<Method, Series<'_>>)> = HashMap::new();
    for (method, record) in chosen.into_values() {
        let run = &record.run;
        if fingerprints.get(run.data.as_str()) != Some(&run.fingerprint.as_str()) {
            others += 1;
        } else if (choice.first_seed..choice.first_seed.saturating_add(choice.seeds as u64))
            .contains(&run.seed)
        {
            let (_, series) = cells.entry(run.cell()).or_insert_with(|| (record, HashMap::new()));
            let series = series.entry(method).or_default();
            match record.failure {
                Some(_) => series.failures += 1,
                None => series.measures.push(&record.measures),
            }
        }
    }
    let mut cells: Vec<_> = cells.into_iter().collect();
    let order = |record: &Record| (record.run.data.clone(), record.run.noise.kind, record.run.noise.rate);
    cells.sort_by(|(_, (a, _)), (_, (b, _))| {
        order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut text = String::new();
    if cells.is_empty() {
        text += "There are no runs of the present settings and these seeds.\n";
    } else {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}. Mean and standard error over seeds.\n\n| cell | method | seeds | accuracy | AUROC | AP | s |\n\
             | --- | --- | --- | --- | --- | --- | --- |",
            description(choice.epochs)
        );
    }
    for (cell, (_, by_method)) in &cells {
        for method in Method::all() {
            if let Some(series) = by_method.get(&method) {
                row(&mut text, cell, method, series, choice.seeds);
            }
        }
    }
    if others > 0 {
        let _ = writeln!(text, "\n{others} runs of other settings, versions or data were left out.");
    }
    Ok(text)
}

fn row(text: &mut String, cell: &str, method: Method, series: &Series<'_>, wanted: usize) {
    let runs = series.measures.len() + series.failures;
    let seeds = if runs < wanted { format!("{runs} of {wanted}") } else { runs.to_string() };
    let failed = if series.failures > 0 { format!(", {} failed", series.failures) } else { String::new() };
    let _ = writeln!(
        text,
        "| {cell} | {} | {seeds}{failed} | {} | {} | {} | {} |",
        method.name(),
        series.with_error(|measures| measures.accuracy),
        series.with_error(|measures| measures.auroc),
        series.with_error(|measures| measures.ap),
        series
            .mean(|measures| Some(measures.seconds))
            .map_or("-".to_owned(), |(mean, _)| format!("{mean:.0}")),
    );
}
