//! The mean prior by true class.

use super::svg::{Anchor, Axis, Key, Panel, Svg, colour, legend, marks};
use super::{Runs, SHOWN};
use crate::study::Method;
use crate::table::FLIPS;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;

/// A bar for each class with the range over seeds, the flipped classes dark.
pub(super) fn draw(runs: &Runs<'_>, method: Method) -> Option<(String, String)> {
    let series = runs.series(SHOWN, method)?;
    let priors: Vec<&[f64]> = series
        .measures()
        .map(|measures| measures.by_class.as_ref().map(|found| found.prior.as_slice()))
        .collect::<Option<_>>()?;
    let classes = priors.first()?.len();
    let mut svg =
        Svg::new(WIDTH, HEIGHT, "Bars: the mean prior probability of contamination of each true class.");
    let of_class = |class: usize| priors.iter().filter_map(move |prior| prior.get(class).copied());
    let highest = (0..classes).flat_map(of_class).fold(SHOWN.rate, f64::max);
    let top = (highest * 10.0 + 0.3).ceil() / 10.0;
    let panel = Panel {
        left: 64.0,
        right: WIDTH - 16.0,
        top: 34.0,
        bottom: 300.0,
        x: (0.0, classes as f64),
        y: (0.0, top),
    };
    let count = (top * 10.0 + 0.5) as usize;
    let axis =
        Axis { ticks: marks((0..=count).map(|tenth| tenth as f64 / 10.0), 1), title: "mean prior π(x)" };
    let title = format!("{}: mean prior by true class, {}", method.name(), SHOWN.name());
    panel.frame(&mut svg, &title, &Axis { ticks: Vec::new(), title: "true class" }, &axis);
    let is_flipped = |class: usize| FLIPS.iter().any(|(from, _)| *from == class);
    for class in 0..classes {
        let mean = of_class(class).sum::<f64>() / priors.len() as f64;
        let (low, high) = of_class(class)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), prior| (low.min(prior), high.max(prior)));
        let (left, right) = (panel.at_x(class as f64 + 0.14), panel.at_x(class as f64 + 0.86));
        let fill = if is_flipped(class) { colour::BLUE } else { colour::SKY };
        let y = panel.at_y(mean);
        svg.rectangle(
            (left, y, right - left, panel.bottom - y),
            fill,
            if is_flipped(class) { 1.0 } else { 0.55 },
        );
        let middle = (left + right) / 2.0;
        if priors.len() > 1 {
            svg.line(&[(middle, panel.at_y(low)), (middle, panel.at_y(high))], colour::INK, 1.3, false);
        }
        svg.text((middle, panel.bottom + 18.0), 11.0, Anchor::Middle, &runs.class(class));
        if is_flipped(class) {
            svg.line(
                &[(left - 4.0, panel.at_y(SHOWN.rate)), (right + 4.0, panel.at_y(SHOWN.rate))],
                colour::RED,
                1.8,
                true,
            );
        }
    }
    let entries = [
        ("flipped class", colour::BLUE, Key::Block(1.0)),
        ("other class", colour::SKY, Key::Block(0.55)),
        ("true rate", colour::RED, Key::Dashed),
    ];
    legend(&mut svg, (130.0, HEIGHT - 16.0), &entries);
    let caption = format!(
        "Mean prior π(x) of {} by true class at {} ({}; lines: smallest and largest). The four flipped classes are \
         contaminated at {} (dashed), the others not at all.",
        method.name(),
        SHOWN.name(),
        runs.seeds(SHOWN, method),
        SHOWN.rate
    );
    Some((caption, svg.finish()))
}
