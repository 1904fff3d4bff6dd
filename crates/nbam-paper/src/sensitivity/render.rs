//! The sweep as Markdown: a table for each axis, and where the paper's method overtakes the others.

use std::fmt::Write as _;

use super::{EXPERIMENT, Selection, axes};
use crate::error::Result;
use crate::noise::{Noise, NoiseKind};
use crate::results::Record;
use crate::study::{Chosen, Method, choose};

/// A table for each axis of every data set, from records alone.
///
/// # Errors
/// When the settings cannot be written as JSON.
pub fn render(records: &[Record], selection: &Selection) -> Result<String> {
    let settings = axes::settings_of(&selection.axes, selection.epochs);
    let chosen = choose(records, EXPERIMENT, &settings, &selection.seeds())?;
    let mut text = String::new();
    for data in chosen.data() {
        for axis in &selection.axes {
            // Writing to a string does not fail.
            let _ = writeln!(text, "## {data}: {}, symmetric noise\n", axis.name());
            let names: Vec<&str> = Method::PAPER.iter().map(|method| method.name()).collect();
            let _ = writeln!(text, "| {} | rate | {} |", axis.name(), names.join(" | "));
            let _ = writeln!(text, "| --- | --- {}|", "| --- ".repeat(names.len()));
            let mut crossings = Vec::new();
            for (value, setting) in axis.settings(selection.epochs) {
                let Some(place) = settings.iter().position(|other| *other == setting) else { continue };
                let sweep = Sweep { chosen: &chosen, data, setting: place, seeds: selection.seeds };
                for &rate in &selection.rates {
                    sweep.row(&mut text, &value, rate);
                }
                crossings.push(format!("{value}: {}", sweep.crossing(&selection.rates)));
            }
            let _ = writeln!(
                text,
                "\nThe rate from which nbam is ahead of ce, student-t and huber, by {}: {}.\n",
                axis.name(),
                crossings.join("; ")
            );
        }
    }
    if text.is_empty() {
        text += "There are no runs of the present settings and these seeds.\n\n";
    }
    if chosen.others > 0 {
        let _ = writeln!(text, "{} runs of other settings, versions or data were left out.", chosen.others);
    }
    Ok(text)
}

/// The runs with one setting.
struct Sweep<'a> {
    chosen: &'a Chosen,
    data: &'a str,
    setting: usize,
    seeds: usize,
}

impl Sweep<'_> {
    fn accuracy(&self, rate: f64, method: Method) -> Option<f64> {
        let noise = Noise::new(NoiseKind::Symmetric, rate);
        self.chosen.series(self.data, noise, method, self.setting)?.mean(|measures| measures.accuracy)
    }

    fn row(&self, text: &mut String, value: &str, rate: f64) {
        let rounded = |method: Method| Some((self.accuracy(rate, method)? * 1000.0).round());
        let best = Method::PAPER.iter().filter_map(|method| rounded(*method)).fold(0.0, f64::max);
        let cell = |method: &Method| {
            let Some(accuracy) = self.accuracy(rate, *method) else { return "-".to_owned() };
            let noise = Noise::new(NoiseKind::Symmetric, rate);
            let series = self.chosen.series(self.data, noise, *method, self.setting);
            let count = series.map_or(0, |series| series.count());
            let part =
                if count < self.seeds { format!(" ({count} of {})", self.seeds) } else { String::new() };
            let short = format!("{accuracy:.3}").trim_start_matches('0').to_owned();
            if rounded(*method) == Some(best) {
                format!("**{short}**{part}")
            } else {
                format!("{short}{part}")
            }
        };
        let cells: Vec<String> = Method::PAPER.iter().map(cell).collect();
        let _ = writeln!(text, "| {value} | {rate} | {} |", cells.join(" | "));
    }

    /// The lowest rate from which on the paper's method is ahead of three of its baselines, or why there is none.
    fn crossing(&self, rates: &[f64]) -> String {
        let others = [Method::CrossEntropy, Method::StudentT, Method::Huber];
        let mut lead = Vec::new();
        for &rate in rates {
            let values: Option<Vec<f64>> = others.iter().map(|method| self.accuracy(rate, *method)).collect();
            let (Some(own), Some(values)) = (self.accuracy(rate, Method::Nbam), values) else {
                return "runs missing".to_owned();
            };
            lead.push((rate, values.iter().all(|value| own > *value)));
        }
        let from = lead.iter().rev().take_while(|(_, is_ahead)| *is_ahead).last();
        from.map_or("none".to_owned(), |(rate, _)| rate.to_string())
    }
}
