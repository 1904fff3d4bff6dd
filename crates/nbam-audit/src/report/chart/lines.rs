//! The review-budget curve and the training curve.

use std::fmt::Write as _;

use super::{Frame, labelled, open, short_count, ticks};
use crate::{Found, ReviewBudget, words};

const HEIGHT: f64 = 280.0;

/// Draws how many bad rows a review finds, with its interval, beside a review in random order. The marker that shows
/// the reader's own budget is moved by the page's script, which reads the plot area from the data attributes.
pub(in crate::report) fn budget_curve(budget: &ReviewBudget, chosen: usize) -> String {
    let horizon = budget.horizon();
    let curve = budget.curve(horizon, 101);
    let highest = curve.iter().map(|point| point.found.high).fold(1.0, f64::max);
    let frame = Frame::new(HEIGHT, (0.0, horizon as f64), (0.0, highest * 1.06));
    let mut svg = open(
        HEIGHT,
        "Curve: number of wrong rows found against the number of rows checked, most suspicious first, with a 95 % band.",
        "chart-budget",
    );
    frame.y_axis(&mut svg, &labelled(ticks(frame.y, 5.0), short_count), "wrong rows found");
    frame.x_axis(
        &mut svg,
        &labelled(ticks(frame.x, 5.0), short_count),
        "rows checked, most suspicious first",
    );
    let upper = polyline(&frame, curve.iter(), |point| point.found.high);
    let lower = polyline(&frame, curve.iter().rev(), |point| point.found.low);
    let mean = polyline(&frame, curve.iter(), |point| point.found.mean);
    let rows = budget.rows();
    let all = budget.expected_found(rows).found.mean;
    let random = all * horizon as f64 / rows.max(1) as f64;
    let (start_x, start_y, end_x, end_y) =
        (frame.at_x(0.0), frame.at_y(0.0), frame.at_x(horizon as f64), frame.at_y(random));
    let _ = write!(
        svg,
        r#"<path class="band" d="M{upper}L{lower}Z"/><path class="faint" d="M{start_x:.1} {start_y:.1}L{end_x:.1} {end_y:.1}"/><path class="line" d="M{mean}"/>"#,
    );
    let at = budget.expected_found(chosen.min(horizon));
    let (x, y) = (frame.at_x(at.budget as f64), frame.at_y(at.found.mean));
    let _ = write!(
        svg,
        r#"<g id="budget-marker" data-left="{}" data-right="{}" data-top="{}" data-bottom="{}" data-horizon="{horizon}" data-highest="{}"><path class="marker" d="M{x:.1} {:.1}V{y:.1}"/><circle class="dot" cx="{x:.1}" cy="{y:.1}" r="5"/></g></svg>"#,
        frame.left, frame.right, frame.top, frame.bottom, frame.y.1, frame.bottom
    );
    svg
}

/// Ticks for what can only be counted.
fn whole_ticks(range: (f64, f64)) -> Vec<f64> {
    ticks(range, 5.0).into_iter().filter(|value| value.fract() == 0.0).collect()
}

fn polyline<'a>(
    frame: &Frame,
    points: impl Iterator<Item = &'a Found>,
    value: impl Fn(&Found) -> f64,
) -> String {
    let mut path = String::new();
    for point in points {
        let separator = if path.is_empty() { "" } else { " " };
        let (x, y) = (frame.at_x(point.budget as f64), frame.at_y(value(point)));
        let _ = write!(path, "{separator}{x:.1} {y:.1}");
    }
    path
}

/// Draws the training loss of each member, at most 200 points each. Nothing if there is no finite loss to draw.
pub(in crate::report) fn training_curve(members: &[Vec<f64>]) -> Option<String> {
    let finite = || members.iter().flatten().copied().filter(|loss| loss.is_finite());
    let epochs = members.iter().map(Vec::len).max()?;
    let (low, high) = finite()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), loss| (low.min(loss), high.max(loss)));
    if epochs < 2 || low > high {
        return None;
    }
    let margin = (high - low) * 0.05;
    let frame = Frame::new(HEIGHT, (1.0, epochs as f64), (low - margin, high + margin));
    let mut svg = open(HEIGHT, "Curve: training loss against epoch, one line per member.", "chart-training");
    frame.y_axis(&mut svg, &labelled(ticks(frame.y, 5.0), words::number), "training loss");
    frame.x_axis(&mut svg, &labelled(whole_ticks(frame.x), short_count), "epoch (one pass over the data)");
    for losses in members {
        let step = losses.len().div_ceil(200).max(1);
        let mut path = String::new();
        let mut is_broken = true;
        let drawn = (0..losses.len()).filter(|epoch| epoch % step == 0 || epoch + 1 == losses.len());
        for epoch in drawn {
            if !losses[epoch].is_finite() {
                is_broken = true;
                continue;
            }
            let (x, y) = (frame.at_x((epoch + 1) as f64), frame.at_y(losses[epoch]));
            let _ = write!(path, "{}{x:.1} {y:.1}", if is_broken { "M" } else { " " });
            is_broken = false;
        }
        let _ = write!(svg, r#"<path class="line thin" d="{path}"/>"#);
    }
    svg.push_str("</svg>");
    Some(svg)
}
