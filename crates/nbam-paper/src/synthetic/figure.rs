//! The example drawn: signal, prior, anomaly density and posterior, learned and true.

use super::example::normal_density;
use super::{Fitted, HIGH, LOW, REPLACED, posterior, prior, signal};
use crate::figures::svg::{Axis, Key, Panel, Svg, colour, legend, marks};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 700.0;

/// Four panels as the text of an SVG file.
pub fn figure(fitted: &Fitted) -> String {
    let mut svg = Svg::new(
        WIDTH,
        HEIGHT,
        "Four panels: the fitted signal, prior, anomaly density and posterior of the one-dimensional example, each with the truth.",
    );
    let panel = |column: f64, row: f64, x: (f64, f64), y: (f64, f64)| Panel {
        left: 64.0 + 450.0 * column,
        right: 434.0 + 450.0 * column,
        top: 34.0 + 330.0 * row,
        bottom: 284.0 + 330.0 * row,
        x,
        y,
    };
    signals(&mut svg, &panel(0.0, 0.0, (LOW, HIGH), (-4.0, 4.0)), fitted);
    priors(&mut svg, &panel(1.0, 0.0, (LOW, HIGH), (0.0, 1.0)), fitted);
    anomalies(&mut svg, &panel(0.0, 1.0, (-5.0, 5.0), (0.0, 0.32)), fitted);
    posteriors(&mut svg, &panel(1.0, 1.0, (0.0, 1.0), (0.0, 1.0)), fitted);
    let entries = [
        ("learned", colour::BLUE, Key::Line),
        ("true", colour::INK, Key::Dashed),
        ("clean row", colour::SKY, Key::Dot),
        ("contaminated row", colour::RED, Key::Dot),
    ];
    legend(&mut svg, (230.0, HEIGHT - 12.0), &entries);
    svg.finish()
}

fn positions() -> Vec<(f64, String)> {
    marks([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], 0)
}

fn rows(svg: &mut Svg, panel: &Panel, fitted: &Fitted, at: impl Fn(usize) -> (f64, f64)) {
    for (row, &is_contaminated) in fitted.shown.0.is_contaminated.iter().enumerate() {
        let (x, y) = at(row);
        if (panel.y.0..=panel.y.1).contains(&y) {
            svg.dot(panel.at(x, y), 1.6, if is_contaminated { colour::RED } else { colour::SKY }, false);
        }
    }
}

fn signals(svg: &mut Svg, panel: &Panel, fitted: &Fitted) {
    let y = Axis { ticks: marks([-4.0, -2.0, 0.0, 2.0, 4.0], 0), title: "y" };
    panel.frame(svg, "signal", &Axis { ticks: positions(), title: "x" }, &y);
    let example = &fitted.shown.0;
    rows(svg, panel, fitted, |row| (example.x[row], example.y[row]));
    let learned = fitted.grid.iter().copied().zip(fitted.signal.iter().copied());
    svg.line(&panel.curve(learned), colour::BLUE, 2.5, false);
    svg.line(&panel.curve(fitted.grid.iter().map(|&x| (x, signal(x)))), colour::INK, 1.3, true);
}

fn priors(svg: &mut Svg, panel: &Panel, fitted: &Fitted) {
    let y = Axis { ticks: marks([0.0, 0.25, 0.5, 0.75, 1.0], 2), title: "probability of contamination" };
    panel.frame(svg, "prior π(x)", &Axis { ticks: positions(), title: "x" }, &y);
    let learned = fitted.grid.iter().copied().zip(fitted.prior.iter().copied());
    svg.line(&panel.curve(learned), colour::BLUE, 2.5, false);
    svg.line(&panel.curve(fitted.grid.iter().map(|&x| (x, prior(x)))), colour::INK, 1.3, true);
}

/// The anomaly density averaged over the positions of contaminated rows.
fn anomalies(svg: &mut Svg, panel: &Panel, fitted: &Fitted) {
    let y = Axis { ticks: marks([0.0, 0.1, 0.2, 0.3], 1), title: "density" };
    let x = Axis { ticks: marks([-4.0, -2.0, 0.0, 2.0, 4.0], 0), title: "y of a contaminated row" };
    panel.frame(svg, "anomaly density q(y|x), mean over contaminated rows", &x, &y);
    let values: Vec<f64> = (0..=200).map(|step| -5.0 + 0.05 * f64::from(step)).collect();
    let weight: f64 = fitted.grid.iter().map(|&x| prior(x)).sum();
    let density = |y: f64| {
        let terms = fitted.grid.iter().zip(&fitted.anomaly);
        terms.map(|(&x, &(mean, sd))| prior(x) * normal_density(y - mean, sd)).sum::<f64>() / weight
    };
    svg.line(&panel.curve(values.iter().map(|&y| (y, density(y)))), colour::BLUE, 2.5, false);
    let truth = values.iter().map(|&y| (y, normal_density(y, REPLACED)));
    svg.line(&panel.curve(truth), colour::INK, 1.3, true);
}

fn posteriors(svg: &mut Svg, panel: &Panel, fitted: &Fitted) {
    let quarters = || marks([0.0, 0.25, 0.5, 0.75, 1.0], 2);
    let x = Axis { ticks: quarters(), title: "exact posterior (true densities)" };
    panel.frame(svg, "posterior", &x, &Axis { ticks: quarters(), title: "learned posterior" });
    svg.line(&panel.curve([(0.0, 0.0), (1.0, 1.0)]), colour::INK, 1.3, true);
    let (example, learned) = &fitted.shown;
    rows(svg, panel, fitted, |row| (posterior(example.x[row], example.y[row]), learned[row]));
}
