//! Small charts as SVG text. Colours come from the page's CSS variables, so that dark mode and print follow.

mod heatmap;
mod histogram;
mod lines;
mod reliability;
mod scatter;

pub(super) use heatmap::{HeatMap, heat_map};
pub(super) use histogram::histogram;
pub(super) use lines::{budget_curve, training_curve};
pub(super) use reliability::reliability;
pub(super) use scatter::{Scatter, residuals, spreads};

use std::fmt::Write as _;

use crate::markup::escape;
use crate::words;

/// All charts are drawn this wide. Narrow on purpose: a phone shrinks it little, so that its text stays readable.
pub(super) const WIDTH: f64 = 440.0;

/// The area in which data is drawn, and the values at its edges.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn new(height: f64, x: (f64, f64), y: (f64, f64)) -> Self {
        Self {
            left: 62.0,
            right: WIDTH - 12.0,
            top: 14.0,
            bottom: height - 46.0,
            x: widened(x),
            y: widened(y),
        }
    }

    fn at_x(&self, value: f64) -> f64 {
        self.left + (value - self.x.0) / (self.x.1 - self.x.0) * (self.right - self.left)
    }

    fn at_y(&self, value: f64) -> f64 {
        self.bottom - (value - self.y.0) / (self.y.1 - self.y.0) * (self.bottom - self.top)
    }

    /// Draws one horizontal grid line per tick, with its label.
    fn y_axis(&self, svg: &mut String, ticks: &[(f64, String)], title: &str) {
        for (value, label) in ticks {
            let y = self.at_y(*value);
            let _ = write!(
                svg,
                r#"<path class="grid" d="M{:.1} {y:.1}H{:.1}"/><text class="end" x="{:.1}" y="{:.1}">{}</text>"#,
                self.left,
                self.right,
                self.left - 7.0,
                y + 4.0,
                escape(label)
            );
        }
        let middle = (self.top + self.bottom) / 2.0;
        let title = escape(title);
        let _ = write!(
            svg,
            r#"<text class="axis" transform="translate(13 {middle:.1}) rotate(-90)" text-anchor="middle">{title}</text>"#
        );
    }

    fn x_axis(&self, svg: &mut String, ticks: &[(f64, String)], title: &str) {
        let _ =
            write!(svg, r#"<path class="base" d="M{:.1} {:.1}H{:.1}"/>"#, self.left, self.bottom, self.right);
        for (value, label) in ticks {
            let x = self.at_x(*value);
            // A label at the very edge would be cut off if it were centred.
            let anchor = if x > self.right - 18.0 { "end" } else { "middle" };
            let place = if anchor == "end" { self.right + 10.0 } else { x };
            let _ = write!(
                svg,
                r#"<path class="base" d="M{x:.1} {:.1}v4"/><text text-anchor="{anchor}" x="{place:.1}" y="{:.1}">{}</text>"#,
                self.bottom,
                self.bottom + 18.0,
                escape(label)
            );
        }
        let middle = (self.left + self.right) / 2.0;
        let _ = write!(
            svg,
            r#"<text class="axis" text-anchor="middle" x="{middle:.1}" y="{:.1}">{}</text>"#,
            self.bottom + 38.0,
            escape(title)
        );
    }
}

/// Opens an SVG that a screen reader announces by its description.
fn open(height: f64, description: &str, id: &str) -> String {
    format!(
        r#"<svg class="chart" id="{id}" viewBox="0 0 {WIDTH} {height:.0}" role="img" aria-label="{}">"#,
        escape(description)
    )
}

/// A range of no width would divide by zero: it gets some.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let is_usable =
        low.is_finite() && high.is_finite() && high - low > f64::EPSILON * high.abs().max(low.abs());
    if is_usable {
        (low, high)
    } else if low.is_finite() {
        (low - 0.5, low + 0.5)
    } else {
        (0.0, 1.0)
    }
}

/// Round values that divide a range into about `wanted` parts.
fn ticks((low, high): (f64, f64), wanted: f64) -> Vec<f64> {
    let rough = (high - low) / wanted;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|&step| step >= rough);
    let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else { return Vec::new() };
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 50.0) as usize;
    (0..=count).map(|index| (first + index as f64) * step).collect()
}

/// A count that fits beside an axis: `850`, `12k`, `1.5M`.
fn short_count(value: f64) -> String {
    let scaled = |value: f64, unit: &str| {
        let text = format!("{value:.1}");
        format!("{}{unit}", text.trim_end_matches(".0"))
    };
    if value >= 1e6 {
        scaled(value / 1e6, "M")
    } else if value >= 1e4 {
        scaled(value / 1e3, "k")
    } else {
        words::count(value.round() as usize)
    }
}

fn labelled(values: Vec<f64>, label: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    values.into_iter().map(|value| (value, label(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks((0.0, 1.0), 5.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks((-3.0, 12.0), 3.0), [0.0, 5.0, 10.0]);
        assert!(ticks((0.0, f64::INFINITY), 4.0).is_empty());
    }

    #[test]
    fn a_range_without_width_gets_some() {
        assert_eq!(widened((2.0, 2.0)), (1.5, 2.5));
        assert_eq!(widened((f64::INFINITY, f64::NEG_INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn counts_beside_an_axis_are_short() {
        assert_eq!([0.0, 9500.0, 12000.0, 1.5e6].map(short_count), ["0", "9,500", "12k", "1.5M"]);
    }
}
