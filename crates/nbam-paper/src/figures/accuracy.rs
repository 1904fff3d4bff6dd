//! Test accuracy against the rate of noise, with the paper's numbers.

use super::Runs;
use super::svg::{Axis, Key, Panel, Svg, colour, legend, marks};
use crate::noise::{Noise, NoiseKind};
use crate::study::Method;
use crate::table::{RATES, published};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 440.0;

fn colour_of(method: Method) -> &'static str {
    match method {
        Method::CrossEntropy => colour::FAINT,
        Method::StudentT => colour::SKY,
        Method::Huber => colour::GREEN,
        Method::Gce => colour::AMBER,
        Method::Nbam => colour::BLUE,
        Method::Default => colour::RED,
    }
}

/// Two panels, symmetric and asymmetric: a line for each method with its standard error, and hollow dots for the paper's numbers.
pub(super) fn draw(runs: &Runs<'_>) -> (String, String) {
    let description =
        "Test accuracy against the rate of label noise, symmetric on the left and asymmetric on the right.";
    let mut svg = Svg::new(WIDTH, HEIGHT, description);
    for (column, (kind, title)) in
        [(NoiseKind::Symmetric, "symmetric"), (NoiseKind::Asymmetric, "asymmetric (pair flips)")]
            .into_iter()
            .enumerate()
    {
        let left = 64.0 + 440.0 * column as f64;
        let (low, high) = range(runs, kind);
        let panel =
            Panel { left, right: left + 370.0, top: 34.0, bottom: 350.0, x: (0.05, 0.65), y: (low, high) };
        let step = if high - low > 0.25 { 0.1 } else { 0.02 };
        let count = ((high - low) / step + 0.5) as usize;
        let ticks = marks((0..=count).map(|index| low + step * index as f64), 2);
        panel.frame(
            &mut svg,
            title,
            &Axis { ticks: marks(RATES, 1), title: "rate of noise" },
            &Axis { ticks, title: "test accuracy" },
        );
        let mut has_runs = false;
        for method in Method::all() {
            has_runs |= curve(&mut svg, &panel, runs, kind, method);
        }
        if !has_runs {
            panel.nothing(&mut svg);
        }
    }
    let noises = runs.chosen.noises(runs.data);
    let is_drawn = |method: &Method| {
        let has_run = noises.iter().any(|noise| ours(runs, *noise, *method).is_some());
        has_run || is_published(runs) && Method::PAPER.contains(method)
    };
    let mut entries: Vec<(&str, &str, Key)> =
        Method::all().filter(is_drawn).map(|method| (method.name(), colour_of(method), Key::Line)).collect();
    if is_published(runs) {
        entries.push(("paper", colour::INK, Key::Dashed));
    }
    legend(&mut svg, (120.0, HEIGHT - 14.0), &entries);
    (caption(runs), svg.finish())
}

fn is_published(runs: &Runs<'_>) -> bool {
    runs.data.starts_with("cifar10")
}

fn ours(runs: &Runs<'_>, noise: Noise, method: Method) -> Option<(f64, Option<f64>)> {
    runs.series(noise, method)?.mean_and_error(|measures| measures.accuracy)
}

fn paper(runs: &Runs<'_>, noise: Noise, method: Method) -> Option<f64> {
    if is_published(runs) { Some(published(noise, method)?.0) } else { None }
}

/// The range of all numbers of a panel, widened to whole marks.
fn range(runs: &Runs<'_>, kind: NoiseKind) -> (f64, f64) {
    let cells =
        RATES.iter().flat_map(|&rate| Method::all().map(move |method| (Noise::new(kind, rate), method)));
    let values = cells.flat_map(|(noise, method)| {
        [ours(runs, noise, method).map(|(mean, _)| mean), paper(runs, noise, method)].into_iter().flatten()
    });
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let step = if high - low > 0.25 { 0.1 } else { 0.02 };
    ((low / step - 0.2).floor() * step, ((high / step + 0.2).ceil() * step).min(1.0))
}

/// Draws a method; whether there was anything of ours to draw.
fn curve(svg: &mut Svg, panel: &Panel, runs: &Runs<'_>, kind: NoiseKind, method: Method) -> bool {
    let colour = colour_of(method);
    let noises = || RATES.iter().map(|&rate| Noise::new(kind, rate));
    let of_paper: Vec<(f64, f64)> =
        noises().filter_map(|noise| Some(panel.at(noise.rate, paper(runs, noise, method)?))).collect();
    if !of_paper.is_empty() {
        svg.line(&of_paper, colour, 1.2, true);
        of_paper.iter().for_each(|&place| svg.dot(place, 2.4, colour, true));
    }
    let found: Vec<(f64, f64, f64)> = noises()
        .filter_map(|noise| {
            let (mean, error) = ours(runs, noise, method)?;
            Some((noise.rate, mean, error.unwrap_or(0.0)))
        })
        .collect();
    svg.line(
        &found.iter().map(|&(rate, mean, _)| panel.at(rate, mean)).collect::<Vec<_>>(),
        colour,
        2.5,
        false,
    );
    for &(rate, mean, error) in &found {
        svg.line(&panel.curve([(rate, mean - error), (rate, mean + error)]), colour, 1.5, false);
        svg.dot(panel.at(rate, mean), 3.2, colour, false);
    }
    !found.is_empty()
}

fn caption(runs: &Runs<'_>) -> String {
    let mut counts: Vec<usize> = runs
        .chosen
        .noises(runs.data)
        .into_iter()
        .flat_map(|noise| Method::all().map(move |method| (noise, method)))
        .filter_map(|(noise, method)| Some(runs.series(noise, method)?.count()))
        .collect();
    counts.sort_unstable();
    let seeds = match (counts.first(), counts.last()) {
        (Some(low), Some(high)) if low == high => format!("{low} of {} seeds", runs.seeds),
        (Some(low), Some(high)) => format!("{low} to {high} of {} seeds", runs.seeds),
        _ => "no runs".to_owned(),
    };
    let of_paper =
        if is_published(runs) { " Dashed, hollow: the paper's numbers, on other features." } else { "" };
    format!(
        "Test accuracy against the rate of noise on {}, mean and standard error ({seeds} a point).{of_paper}",
        runs.data
    )
}
