//! The results as Markdown: a table for each data set, then the goals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::goals::goals;
use super::methods::Method;
use super::summary::{CellSummary, Seeds, Series, summarise};
use crate::error::Result;
use crate::results::{Measures, Record};

/// A table for each data set and the list of goals, from records alone: means over seeds, of the present settings only.
///
/// # Errors
/// When the present settings cannot be written as JSON.
pub fn render(records: &[Record], seeds: Seeds) -> Result<String> {
    let (cells, others) = summarise(records, seeds)?;
    let mut text = String::new();
    for group in cells.chunk_by(|a, b| a.data == b.data) {
        data_table(&mut text, group);
    }
    if cells.is_empty() {
        text += "There are no runs of the present settings and these seeds.\n\n";
    } else {
        text += &goals(&cells);
    }
    if others > 0 {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{others} runs of other settings, versions or data were left out.");
    }
    Ok(text)
}

fn data_table(text: &mut String, cells: &[CellSummary]) {
    let Some(first) = cells.first() else { return };
    let all = || cells.iter().flat_map(|cell| cell.series.values()).flat_map(|series| &series.measures);
    let on_training = all().any(|measures| measures.measured_on.as_deref() == Some("training"));
    let quality = match (first.is_regression(), on_training) {
        (true, _) => "test RMSE / sd",
        (false, false) => "test accuracy",
        (false, true) => "accuracy on the training rows against their true labels",
    };
    let _ = writeln!(text, "## {}\n", first.data);
    let _ = writeln!(
        text,
        "| noise | method | seeds | {quality} | AUROC | AP | ECE | Brier | mean posterior / true rate | recall at \
         FDR 0.05 | realised FDR | warnings | s |"
    );
    *text += "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for cell in cells {
        let (_, noise) =
            cell.name().split_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap_or_default();
        for method in Method::all() {
            if let Some(series) = cell.series.get(&method) {
                row(text, &noise, method, cell, series);
            }
        }
    }
    *text += "\n";
}

fn row(text: &mut String, noise: &str, method: Method, cell: &CellSummary, series: &Series) {
    let mean = |of: fn(&Measures) -> Option<f64>| number(series.mean(of));
    let quality = if cell.is_regression() { mean(|m| m.rmse) } else { mean(|m| m.accuracy) };
    let seeds = if series.runs() < cell.seeds {
        format!("{} of {}", series.runs(), cell.seeds)
    } else {
        cell.seeds.to_string()
    };
    let failed = if series.failures > 0 { format!(", {} failed", series.failures) } else { String::new() };
    let rates = match (series.mean(|m| m.mean_posterior), series.mean(|m| m.true_rate)) {
        (Some(mean), Some(truth)) => format!("{mean:.3} / {truth:.3}"),
        (None, Some(truth)) => format!("- / {truth:.3}"),
        _ => "-".to_owned(),
    };
    let _ = writeln!(
        text,
        "| {noise} | {} | {seeds}{failed} | {quality} | {} | {} | {} | {} | {rates} | {} | {} | {} | {} |",
        method.name(),
        mean(|m| m.auroc),
        mean(|m| m.ap),
        mean(|m| m.ece),
        mean(|m| m.brier),
        mean(|m| m.recall),
        mean(|m| m.realised_fdr),
        warnings(series),
        series.mean(|m| Some(m.seconds)).map_or("-".to_owned(), |seconds| format!("{seconds:.1}")),
    );
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// Each code with the number of runs that raised it.
fn warnings(series: &Series) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for measures in &series.measures {
        let mut codes: Vec<&str> = measures.warnings.iter().map(String::as_str).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.into_iter().for_each(|code| *counts.entry(code).or_default() += 1);
    }
    let parts: Vec<String> = counts.iter().map(|(code, count)| format!("{code} x {count}")).collect();
    parts.join(", ")
}
