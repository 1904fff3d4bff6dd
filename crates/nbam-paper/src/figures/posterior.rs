//! Histograms of the posterior, of rows with right and with wrong labels.

use super::Runs;
use super::svg::{Axis, Key, Panel, Svg, colour, legend, marks};
use crate::noise::{Noise, NoiseKind};
use crate::results::ByClass;
use crate::study::Method;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 640.0;
const RATES: [f64; 3] = [0.2, 0.4, 0.6];
/// Shares below a hundred-thousandth are not drawn.
const LOWEST: f64 = -5.0;

/// Six panels: symmetric above asymmetric, at three rates. Heights are shares of all rows of a group, on a logarithmic axis: nearly
/// all rows are at the ends, and the others would not be seen.
pub(super) fn draw(runs: &Runs<'_>, method: Method) -> Option<(String, String)> {
    let description = "Six histograms of the contamination posterior, of clean and of contaminated rows.";
    let mut svg = Svg::new(WIDTH, HEIGHT, description);
    let mut seeds = Vec::new();
    for (row, kind) in [NoiseKind::Symmetric, NoiseKind::Asymmetric].into_iter().enumerate() {
        for (column, rate) in RATES.into_iter().enumerate() {
            let noise = Noise::new(kind, rate);
            let (left, top) = (66.0 + 310.0 * column as f64, 34.0 + 295.0 * row as f64);
            let panel = Panel {
                left,
                right: left + 240.0,
                top,
                bottom: top + 210.0,
                x: (0.0, 1.0),
                y: (LOWEST, 0.0),
            };
            let decades = (LOWEST as i32..=0).map(|decade| (f64::from(decade), power(decade))).collect();
            panel.frame(
                &mut svg,
                &noise.name(),
                &Axis { ticks: marks([0.0, 0.5, 1.0], 1), title: "posterior" },
                &Axis { ticks: decades, title: "share of rows" },
            );
            match pooled(runs, noise, method) {
                Some((count, clean, contaminated)) => {
                    seeds.push(count);
                    histogram(&mut svg, &panel, &clean, colour::SKY, 0.75);
                    histogram(&mut svg, &panel, &contaminated, colour::RED, 0.55);
                }
                None => panel.nothing(&mut svg),
            }
        }
    }
    let (fewest, most) = (*seeds.iter().min()?, *seeds.iter().max()?);
    let entries = [
        ("rows with right labels", colour::SKY, Key::Block(0.75)),
        ("rows with wrong labels", colour::RED, Key::Block(0.55)),
    ];
    legend(&mut svg, (300.0, HEIGHT - 14.0), &entries);
    let seeds = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let caption = format!(
        "The posterior of {} on training rows, pooled over seeds ({seeds} of {} in each panel). Heights are shares of the rows with \
         right and with wrong labels, on a logarithmic axis.",
        method.name(),
        runs.seeds
    );
    Some((caption, svg.finish()))
}

/// `10⁻³`.
fn power(decade: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match DIGITS.get(decade.unsigned_abs() as usize) {
        _ if decade == 0 => "1".to_owned(),
        Some(digit) => format!("10{}{digit}", if decade < 0 { "⁻" } else { "" }),
        None => format!("1e{decade}"),
    }
}

/// How many seeds there are, and the counts of clean and contaminated rows over all of them.
fn pooled(runs: &Runs<'_>, noise: Noise, method: Method) -> Option<(usize, Vec<u64>, Vec<u64>)> {
    let found: Vec<&ByClass> = runs
        .series(noise, method)?
        .measures()
        .map(|measures| measures.by_class.as_ref())
        .collect::<Option<_>>()?;
    let add = |of: fn(&ByClass) -> &Vec<u64>| {
        let mut total = vec![0; found.iter().map(|found| of(found).len()).max().unwrap_or(0)];
        for counts in found.iter().map(|found| of(found)) {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
        total
    };
    (!found.is_empty()).then(|| (found.len(), add(|found| &found.clean), add(|found| &found.contaminated)))
}

fn histogram(svg: &mut Svg, panel: &Panel, counts: &[u64], colour: &str, opacity: f64) {
    let total = counts.iter().sum::<u64>().max(1) as f64;
    let bins = counts.len().max(1) as f64;
    let mut points = vec![panel.at(0.0, LOWEST)];
    for (bin, &count) in counts.iter().enumerate() {
        let height = if count == 0 { LOWEST } else { (count as f64 / total).log10().max(LOWEST) };
        points.push(panel.at(bin as f64 / bins, height));
        points.push(panel.at((bin + 1) as f64 / bins, height));
    }
    points.push(panel.at(1.0, LOWEST));
    svg.area(&points, colour, opacity);
}
