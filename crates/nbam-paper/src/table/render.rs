//! The table as Markdown: our numbers above the paper's, then the posteriors, then the goals.

use std::fmt::Write as _;

use super::goals::goals;
use super::published::{is_bold, published};
use super::{FLIPS, Selection};
use crate::error::Result;
use crate::noise::{Noise, NoiseKind};
use crate::results::{Measures, Record};
use crate::study::{Chosen, Method, Series};

/// Accuracies beside the paper's, posteriors and goals of every data set, from records alone.
///
/// # Errors
/// When the present settings cannot be written as JSON.
pub fn render(records: &[Record], selection: Selection) -> Result<String> {
    let chosen = selection.choose(records)?;
    let mut text = String::new();
    for data in chosen.data() {
        let table = Table { chosen: &chosen, data, seeds: selection.seeds };
        for kind in [NoiseKind::Symmetric, NoiseKind::Asymmetric] {
            table.accuracies(&mut text, kind);
        }
        table.posteriors(&mut text);
        text += &goals(&table);
    }
    if text.is_empty() {
        text += "There are no runs of the present settings and these seeds.\n\n";
    }
    if chosen.others > 0 {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} runs of other settings, versions or data were left out.", chosen.others);
    }
    Ok(text)
}

/// The runs of one data set.
pub(super) struct Table<'a> {
    pub(super) chosen: &'a Chosen,
    pub(super) data: &'a str,
    pub(super) seeds: usize,
}

impl Table<'_> {
    pub(super) fn series(&self, noise: Noise, method: Method) -> Option<&Series> {
        self.chosen.series(self.data, noise, method, 0)
    }

    /// The mean accuracy, however many seeds there are.
    pub(super) fn accuracy(&self, noise: Noise, method: Method) -> Option<f64> {
        self.series(noise, method)?.mean(|m| m.accuracy)
    }

    pub(super) fn is_cifar(&self) -> bool {
        self.data.starts_with("cifar10")
    }

    fn noises(&self, kind: NoiseKind) -> impl Iterator<Item = Noise> {
        self.chosen.noises(self.data).into_iter().filter(move |noise| noise.kind == kind)
    }

    fn accuracies(&self, text: &mut String, kind: NoiseKind) {
        let mut noises = self.noises(kind).peekable();
        if noises.peek().is_none() {
            return;
        }
        let name = if kind == NoiseKind::Symmetric { "symmetric" } else { "asymmetric (pair flips)" };
        let _ = writeln!(text, "## {}: test accuracy, {name} noise\n", self.data);
        *text += "Mean ± standard error over seeds. Bold: the best of the paper's five methods, and the default where it is ahead of \
                  all five.\n\n";
        let names: Vec<&str> = Method::all().map(Method::name).collect();
        let _ = writeln!(text, "| rate | | {} |", names.join(" | "));
        let _ = writeln!(text, "| --- | --- {}|", "| --- ".repeat(names.len()));
        for noise in noises {
            let ours: Vec<String> = Method::all().map(|method| self.cell(noise, method)).collect();
            let _ = writeln!(text, "| {} | ours | {} |", noise.rate, ours.join(" | "));
            if self.is_cifar() {
                let paper: Vec<String> = Method::all().map(|method| paper_cell(noise, method)).collect();
                let _ = writeln!(text, "| | paper | {} |", paper.join(" | "));
            }
        }
        *text += "\n";
    }

    fn cell(&self, noise: Noise, method: Method) -> String {
        let Some(series) = self.series(noise, method) else { return "-".to_owned() };
        let mut cell = match series.mean_and_error(|m| m.accuracy) {
            Some((mean, error)) => accuracy(mean, error, self.is_best(noise, method)),
            None => "-".to_owned(),
        };
        if series.count() < self.seeds {
            let _ = write!(cell, " ({} of {})", series.count(), self.seeds);
        }
        if series.failures > 0 {
            let _ = write!(cell, ", {} failed", series.failures);
        }
        cell
    }

    /// Whether it is at least as good as each of the paper's methods, all of which must be there, in the digits that are printed.
    fn is_best(&self, noise: Noise, method: Method) -> bool {
        let rounded = |method: Method| Some((self.accuracy(noise, method)? * 1000.0).round());
        let others: Option<Vec<f64>> = Method::PAPER.iter().map(|method| rounded(*method)).collect();
        let (Some(own), Some(others)) = (rounded(method), others) else { return false };
        let best = others.into_iter().fold(0.0, f64::max);
        if method == Method::Default { own > best } else { own >= best }
    }

    fn posteriors(&self, text: &mut String) {
        let _ = writeln!(text, "## {}: how well contaminated training rows are found\n", self.data);
        *text += "nbam and default: the posterior. The others have none; their score is 1 - p(y|x), of which only the ranking is \
                  measured.\n\n";
        *text += "| noise | method | seeds | AUROC | AP | ECE | Brier | mean posterior | true rate |\n";
        *text += "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
        for noise in self.chosen.noises(self.data) {
            for method in Method::all() {
                let Some(series) = self.series(noise, method) else { continue };
                let mean = |of: fn(&Measures) -> Option<f64>| {
                    series.mean(of).map_or("-".to_owned(), |value| format!("{value:.3}"))
                };
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                    noise.name(),
                    method.name(),
                    series.count(),
                    mean(|m| m.auroc),
                    mean(|m| m.ap),
                    mean(|m| m.ece),
                    mean(|m| m.brier),
                    mean(|m| m.mean_posterior),
                    mean(|m| m.true_rate)
                );
            }
        }
        *text += "\n";
    }

    /// For each flip, whether the label that `q` gives most to rows of the true class is the flip's target: of the mean over seeds.
    pub(super) fn modal_labels(&self, noise: Noise, method: Method) -> Option<Vec<(usize, usize, usize)>> {
        let anomaly = mean_anomaly(self.series(noise, method)?)?;
        FLIPS.iter().map(|&(from, to)| Some((from, to, largest(anomaly.get(from)?)?))).collect()
    }
}

/// The mean over seeds of the mean `q(y|x)` by true class, if every run has it.
pub(crate) fn mean_anomaly(series: &Series) -> Option<Vec<Vec<f64>>> {
    let mut total: Vec<Vec<f64>> = Vec::new();
    let mut count = 0.0;
    for measures in series.measures() {
        let anomaly = &measures.by_class.as_ref()?.anomaly;
        if total.is_empty() {
            total = vec![vec![0.0; anomaly.len()]; anomaly.len()];
        }
        for (total, row) in total.iter_mut().zip(anomaly) {
            total.iter_mut().zip(row).for_each(|(total, q)| *total += q);
        }
        count += 1.0;
    }
    total.iter_mut().flatten().for_each(|q| *q /= count);
    (count > 0.0).then_some(total)
}

/// The place of the largest number.
pub(crate) fn largest(values: &[f64]) -> Option<usize> {
    (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]))
}

fn paper_cell(noise: Noise, method: Method) -> String {
    match published(noise, method) {
        Some((mean, error)) => accuracy(mean, Some(error), is_bold(noise, method)),
        None => String::new(),
    }
}

/// `.867 ±.001`, as the paper writes it.
fn accuracy(mean: f64, error: Option<f64>, is_bold: bool) -> String {
    let short = |value: f64| format!("{value:.3}").trim_start_matches('0').to_owned();
    let error = error.map_or(String::new(), |error| format!(" ±{}", short(error)));
    let text = format!("{}{error}", short(mean));
    if is_bold { format!("**{text}**") } else { text }
}
