//! What the table must show, each with what was measured.

use std::fmt::Write as _;

use super::published::RATES;
use super::render::Table;
use crate::noise::{Noise, NoiseKind};
use crate::study::Method;

/// How far our default must be ahead of every method of the paper at high rates of asymmetric noise.
const MARGINS: [(f64, f64); 3] = [(0.4, 0.07), (0.5, 0.15), (0.6, 0.20)];

/// The goals as a Markdown table. A goal whose runs are not all there says so.
pub(super) fn goals(table: &Table<'_>) -> String {
    let mut text = "## Goals\n\n| goal | cell | measured | |\n| --- | --- | --- | --- |\n".to_owned();
    let mut add = |goal: &str, noise: Noise, measured: String, is_met: Option<bool>| {
        let verdict = match is_met {
            Some(true) => "met",
            Some(false) => "**MISSED**",
            None => "runs missing",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {goal} | {} | {measured} | {verdict} |", noise.name());
    };
    for rate in [0.2, 0.3, 0.4] {
        let noise = Noise::new(NoiseKind::Asymmetric, rate);
        let (measured, is_met) = ahead(table, noise, Method::Nbam, &Method::BASELINES, 0.0);
        add("nbam ahead of the four baselines", noise, measured, is_met);
    }
    let noise = Noise::new(NoiseKind::Asymmetric, 0.4);
    let (measured, is_met) = directions(table, noise);
    add("nbam's q names the flip's target in four of four classes", noise, measured, is_met);
    for kind in [NoiseKind::Symmetric, NoiseKind::Asymmetric] {
        for rate in RATES {
            let noise = Noise::new(kind, rate);
            let margin = MARGINS.iter().find(|(at, _)| kind == NoiseKind::Asymmetric && *at == rate);
            let margin = margin.map_or(0.0, |(_, margin)| *margin);
            let goal = if margin > 0.0 {
                format!("default ahead of the paper's methods by {margin:.2}")
            } else {
                "default ahead of the paper's methods".to_owned()
            };
            let (measured, is_met) = ahead(table, noise, Method::Default, &Method::PAPER, margin);
            add(&goal, noise, measured, is_met);
        }
    }
    text + "\n"
}

/// Whether all seeds are there.
fn is_whole(table: &Table<'_>, noise: Noise, method: Method) -> bool {
    table.series(noise, method).is_some_and(|series| series.count() >= table.seeds)
}

/// Whether a method is better than others by a margin: strictly, if that is nothing.
fn ahead(
    table: &Table<'_>,
    noise: Noise,
    method: Method,
    others: &[Method],
    margin: f64,
) -> (String, Option<bool>) {
    let best = others
        .iter()
        .filter_map(|other| Some((*other, table.accuracy(noise, *other)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(own), Some((other, best))) = (table.accuracy(noise, method), best) else {
        return ("-".to_owned(), None);
    };
    let is_ahead = if margin > 0.0 { own - best >= margin } else { own > best };
    let is_complete = others.iter().chain([&method]).all(|method| is_whole(table, noise, *method));
    (format!("{own:.4}, {} {best:.4}", other.name()), is_complete.then_some(is_ahead))
}

/// In how many of the flipped classes `q` has its largest mean at the flip's target.
fn directions(table: &Table<'_>, noise: Noise) -> (String, Option<bool>) {
    let Some(labels) = table.modal_labels(noise, Method::Nbam) else { return ("-".to_owned(), None) };
    let right = labels.iter().filter(|(_, to, modal)| to == modal).count();
    let parts: Vec<String> =
        labels.iter().map(|(from, to, modal)| format!("{from} to {modal} (flipped to {to})")).collect();
    let measured = format!("{right} of {}: {}", labels.len(), parts.join(", "));
    (measured, is_whole(table, noise, Method::Nbam).then_some(right == labels.len()))
}
