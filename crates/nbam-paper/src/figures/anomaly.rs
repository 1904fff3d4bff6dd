//! The mean anomaly distribution by true class.

use super::svg::{Anchor, Svg, colour};
use super::{Runs, SHOWN};
use crate::study::Method;
use crate::table::{FLIPS, largest, mean_anomaly};

const SIDE: f64 = 44.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 110.0;

/// A square for each true class and label, darker where `q` is larger, with the flips' targets boxed and each row's largest marked.
pub(super) fn draw(runs: &Runs<'_>, method: Method) -> Option<(String, String)> {
    let anomaly = mean_anomaly(runs.series(SHOWN, method)?)?;
    let size = SIDE * anomaly.len() as f64;
    let mut svg = Svg::new(
        LEFT + size + 20.0,
        TOP + size + 24.0,
        "Map: the mean anomaly distribution over labels of each true class.",
    );
    let title = format!("{}: mean q(y|x) by true class, {}", method.name(), SHOWN.name());
    svg.text((16.0, 24.0), 14.0, Anchor::Start, &title);
    svg.text((LEFT + size / 2.0, 50.0), 12.0, Anchor::Middle, "label y");
    svg.text((16.0, TOP - 12.0), 12.0, Anchor::Start, "true class");
    for (row, values) in anomaly.iter().enumerate() {
        let y = TOP + SIDE * row as f64;
        svg.text((LEFT - 8.0, y + SIDE / 2.0 + 4.0), 12.0, Anchor::End, &runs.class(row));
        // Names of neighbouring columns would touch on one line.
        let height = if row % 2 == 0 { TOP - 28.0 } else { TOP - 12.0 };
        svg.text((LEFT + SIDE * (row as f64 + 0.5), height), 12.0, Anchor::Middle, &runs.class(row));
        let mode = largest(values);
        for (label, &value) in values.iter().enumerate() {
            let x = LEFT + SIDE * label as f64;
            svg.rectangle(
                (x, y, SIDE - 1.0, SIDE - 1.0),
                colour::BLUE,
                (0.04 + 0.96 * value).clamp(0.0, 1.0),
            );
            let ink = if value > 0.5 { "#ffffff" } else { colour::INK };
            let text = format!("{value:.2}").trim_start_matches('0').to_owned();
            let text = if mode == Some(label) { format!("{text}*") } else { text };
            svg.coloured_text((x + SIDE / 2.0 - 0.5, y + SIDE / 2.0 + 4.0), 11.5, Anchor::Middle, ink, &text);
        }
    }
    for (from, to) in FLIPS {
        let place = (LEFT + SIDE * to as f64, TOP + SIDE * from as f64);
        svg.outline((place.0 + 0.5, place.1 + 0.5, SIDE - 2.0, SIDE - 2.0), colour::RED, 2.5);
    }
    let is_right =
        |(from, to): &&(usize, usize)| anomaly.get(*from).and_then(|row| largest(row)) == Some(*to);
    let right = FLIPS.iter().filter(is_right).count();
    let caption = format!(
        "Mean q(y|x) of {} by true class at {} ({}). Boxed: where the flips go; *: the largest of a row. It is the flip's target in \
         {right} of {} flipped classes (the paper: 4 of 4).",
        method.name(),
        SHOWN.name(),
        runs.seeds(SHOWN, method),
        FLIPS.len()
    );
    Some((caption, svg.finish()))
}
