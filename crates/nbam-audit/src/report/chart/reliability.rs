//! Whether probabilities mean what they say, drawn.

use std::fmt::Write as _;

use super::{Frame, labelled, open, ticks};
use crate::{CheckBin, words};

const HEIGHT: f64 = 280.0;

/// Draws the share of planted errors against the probability, one dot for each bin, larger for more rows. On the dashed
/// diagonal the two are equal.
pub(in crate::report) fn reliability(bins: &[CheckBin]) -> String {
    let frame = Frame::new(HEIGHT, (0.0, 1.0), (0.0, 1.0));
    let mut svg = open(
        HEIGHT,
        "Dots: share of planted errors among rows with about the same probability; on the diagonal they agree.",
        "chart-reliability",
    );
    let share = |value: f64| words::chosen_percent(value);
    frame.y_axis(&mut svg, &labelled(ticks(frame.y, 5.0), share), "share of planted errors");
    frame.x_axis(&mut svg, &labelled(ticks(frame.x, 5.0), share), "probability of being wrong");
    let (left, right, low, high) = (frame.at_x(0.0), frame.at_x(1.0), frame.at_y(0.0), frame.at_y(1.0));
    let _ = write!(svg, r#"<path class="faint" d="M{left:.1} {low:.1}L{right:.1} {high:.1}"/>"#);
    let most = bins.iter().map(|bin| bin.rows).max().unwrap_or(1) as f64;
    for bin in bins {
        let (x, y) = (frame.at_x(bin.mean_probability), frame.at_y(bin.observed_share));
        // By logarithm: the bins at the ends hold nearly all rows.
        let radius = 3.0 + 5.0 * (1.0 + bin.rows as f64).ln() / (1.0 + most).ln();
        let _ = write!(
            svg,
            r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"><title>{} between {} and {}: {} planted</title></circle>"#,
            words::counted(bin.rows, "row"),
            words::chosen_percent(bin.low),
            words::chosen_percent(bin.high),
            words::percent(bin.observed_share),
        );
    }
    svg.push_str("</svg>");
    svg
}
