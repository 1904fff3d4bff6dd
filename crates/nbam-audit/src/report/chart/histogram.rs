//! The histogram of the posterior, with a logarithmic count axis.

use std::fmt::Write as _;

use super::{Frame, labelled, open, short_count};
use crate::markup::escape;
use crate::{Histogram, words};

/// Draws how many rows there are at each chance of being wrong. Counts are on a logarithmic axis, because nearly all
/// rows sit at the ends and the few in between are the ones to look at.
pub(in crate::report) fn histogram(histogram: &Histogram) -> String {
    const HEIGHT: f64 = 280.0;
    let largest = histogram.rows.iter().copied().max().unwrap_or(0).max(1) as f64;
    // One row must be visible, so the axis starts below one.
    let bottom = 0.6f64.log10();
    let top = largest.log10().ceil().max(1.0);
    let frame = Frame::new(HEIGHT, (0.0, 1.0), (bottom, top));
    let mut svg = open(
        HEIGHT,
        "Histogram: number of rows by the chance that they are wrong, on a logarithmic scale; flagged rows are marked.",
        "chart-histogram",
    );
    let step = if top > 4.0 { 2 } else { 1 };
    let decades: Vec<f64> = (0..=top as i32).step_by(step).map(f64::from).collect();
    frame.y_axis(&mut svg, &labelled(decades, |decade| short_count(10f64.powf(decade))), "rows (log scale)");
    let bins = histogram.rows.len() as f64;
    for (bin, (&rows, &flagged)) in histogram.rows.iter().zip(&histogram.flagged).enumerate() {
        if rows == 0 {
            continue;
        }
        let (from, to) = (bin as f64 / bins, (bin + 1) as f64 / bins);
        let (left, width) = (frame.at_x(from) + 1.0, frame.at_x(to) - frame.at_x(from) - 2.0);
        let top = frame.at_y((rows as f64).log10());
        // On a logarithmic axis a bar cannot be split by counts, so the flagged share is shown by height.
        let height = frame.bottom - top;
        let marked = height * flagged as f64 / rows as f64;
        let title = format!(
            "{} to {}: {}, {} flagged",
            words::percent(from),
            words::percent(to),
            words::counted(rows, "row"),
            words::count(flagged)
        );
        let _ = write!(svg, "<g><title>{}</title>", escape(&title));
        if marked < height {
            let rest = height - marked;
            let _ = write!(
                svg,
                r#"<rect class="calm" x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{rest:.1}"/>"#
            );
        }
        if marked > 0.0 {
            let start = frame.bottom - marked;
            let _ = write!(
                svg,
                r#"<rect class="alarm" x="{left:.1}" y="{start:.1}" width="{width:.1}" height="{marked:.1}"/>"#
            );
        }
        svg.push_str("</g>");
    }
    let ends = labelled(vec![0.0, 0.25, 0.5, 0.75, 1.0], |share| format!("{:.0} %", share * 100.0));
    frame.x_axis(&mut svg, &ends, "chance that the row is wrong");
    svg.push_str("</svg>");
    svg
}
