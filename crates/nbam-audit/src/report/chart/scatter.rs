//! The residuals of a regression, with the flagged rows marked.

use std::fmt::Write as _;

use super::{Frame, labelled, open, ticks};
use crate::{Decisions, ValueTargets, words};

/// No more points than these are drawn, which bounds the size of the file.
const UNFLAGGED_LIMIT: usize = 2500;
const FLAGGED_LIMIT: usize = 1500;

/// A plot of residuals and what it leaves out.
#[derive(Debug)]
pub(in crate::report) struct Scatter {
    pub(in crate::report) svg: String,
    pub(in crate::report) flagged_drawn: usize,
    pub(in crate::report) unflagged_drawn: usize,
}

/// Draws each row's distance from its prediction, in units of its usual spread. The vertical axis is linear near zero
/// and logarithmic far from it (inverse hyperbolic sine), so that one absurd value does not flatten all others.
pub(in crate::report) fn residuals(targets: &ValueTargets, decisions: &Decisions) -> Scatter {
    const HEIGHT: f64 = 330.0;
    let is_flagged = &decisions.flags.is_flagged;
    let flagged: Vec<usize> =
        decisions.order.iter().copied().filter(|&row| is_flagged[row]).take(FLAGGED_LIMIT).collect();
    let others =
        sample(is_flagged.iter().enumerate().filter(|(_, flag)| !**flag).map(|(row, _)| row).collect());
    let distance = |row: usize| spreads(targets, row).asinh();
    let drawn = || flagged.iter().chain(&others).copied();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = range(&mut drawn().map(distance));
    let reach = low.abs().max(high.abs()).max(4f64.asinh()) * 1.05;
    let (from, to) = range(&mut drawn().map(|row| targets.predicted[row]));
    let margin = (to - from) * 0.03;
    let frame = Frame::new(HEIGHT, (from - margin, to + margin), (-reach, reach));
    let mut svg = open(
        HEIGHT,
        "Scatter plot: distance of each given value from its prediction, against the prediction; flagged rows are marked.",
        "chart-residuals",
    );
    let mut levels = vec![0.0];
    let spaced = if reach > 1000f64.asinh() {
        &[10.0, 1e3, 1e5, 1e7, 1e9][..]
    } else {
        &[1.0, 3.0, 10.0, 100.0, 1000.0]
    };
    for level in spaced {
        levels.extend([*level, -level].into_iter().filter(|value: &f64| value.asinh().abs() < reach));
    }
    let marks = levels.iter().map(|&level| (level.asinh(), words::number(level))).collect::<Vec<_>>();
    frame.y_axis(&mut svg, &marks, "distance in spreads");
    frame.x_axis(&mut svg, &labelled(ticks(frame.x, 5.0), words::number), "predicted value");
    let _ = write!(svg, r#"<path class="points" d="{}"/>"#, points(&frame, &others, targets, distance));
    let _ = write!(
        svg,
        r#"<path class="points marked" d="{}"/></svg>"#,
        points(&frame, &flagged, targets, distance)
    );
    Scatter { svg, flagged_drawn: flagged.len(), unflagged_drawn: others.len() }
}

/// All points as one path of dots: a tenth of the size of one element each.
fn points(frame: &Frame, rows: &[usize], targets: &ValueTargets, distance: impl Fn(usize) -> f64) -> String {
    let mut path = String::with_capacity(rows.len() * 16);
    for &row in rows {
        let _ = write!(path, "M{:.1} {:.1}h0", frame.at_x(targets.predicted[row]), frame.at_y(distance(row)));
    }
    path
}

/// How many spreads the given value lies from its prediction.
pub(in crate::report) fn spreads(targets: &ValueTargets, row: usize) -> f64 {
    let distance = targets.given[row] - targets.predicted[row];
    let ratio = distance / targets.predicted_sd[row];
    // A spread of zero makes the ratio infinite or undefined; any plot and any sort needs a number.
    if ratio.is_nan() { 0.0 } else { ratio.clamp(-1e9, 1e9) }
}

/// Chooses rows by a hash of their number: the same rows every time, and no pattern in the data can align with it.
fn sample(rows: Vec<usize>) -> Vec<usize> {
    if rows.len() <= UNFLAGGED_LIMIT {
        return rows;
    }
    let share = UNFLAGGED_LIMIT as f64 / rows.len() as f64;
    let limit = (share * u64::MAX as f64) as u64;
    rows.into_iter().filter(|&row| mixed(row as u64) < limit).take(UNFLAGGED_LIMIT).collect()
}

/// The finaliser of SplitMix64.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_bounded_and_spread_out() {
        let rows = sample((0..1_000_000).collect());
        assert!(rows.len() <= UNFLAGGED_LIMIT && rows.len() > UNFLAGGED_LIMIT - 200);
        let early = rows.iter().filter(|&&row| row < 500_000).count() as f64 / rows.len() as f64;
        assert!((early - 0.5).abs() < 0.06);
    }

    #[test]
    fn a_spread_of_zero_still_gives_a_number() {
        let targets = ValueTargets {
            given: vec![1.0, 2.0],
            predicted: vec![1.0, 1.0],
            predicted_sd: vec![0.0, 0.0],
            error: None,
        };
        assert_eq!((spreads(&targets, 0), spreads(&targets, 1)), (0.0, 1e9));
    }
}
