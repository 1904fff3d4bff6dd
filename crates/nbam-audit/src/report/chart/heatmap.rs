//! The heat map of transitions: what rows probably are, against what they are labelled as.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{WIDTH, open};
use crate::markup::escape;
use crate::{Transition, words};

/// Up to so many classes, rows and columns carry their names.
const NAMED: usize = 24;
/// Up to so many classes, each cell carries its count.
const COUNTED: usize = 12;
/// A map never shows more classes or more cells than these, which bounds the size of the file.
const CLASSES_LIMIT: usize = 100;
const CELLS_LIMIT: usize = 2000;

/// A heat map and what it leaves out.
#[derive(Debug)]
pub(in crate::report) struct HeatMap {
    pub(in crate::report) svg: String,
    /// The number of classes on each side.
    pub(in crate::report) shown: usize,
    /// Whether the classes are named along the sides.
    pub(in crate::report) is_named: bool,
}

/// Draws the pairs. With more classes than fit, those with the most moved rows are shown.
pub(in crate::report) fn heat_map(classes: &[String], pairs: &[Transition]) -> HeatMap {
    let shown = shown_classes(classes.len(), pairs);
    let place: HashMap<usize, usize> =
        shown.iter().enumerate().map(|(place, &class)| (class, place)).collect();
    let side = shown.len().max(1);
    let is_named = side <= NAMED;
    let labels: Vec<String> = shown.iter().map(|&class| words::shorten(&classes[class], 13)).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1) as f64;
    let label_width = if is_named { (longest * 7.2).max(10.0) } else { 0.0 };
    let left = 26.0 + label_width + 8.0;
    let cell = ((WIDTH - left - 12.0) / side as f64).min(96.0);
    let is_upright = label_width + 6.0 > cell;
    let below = if !is_named {
        0.0
    } else if is_upright {
        label_width + 8.0
    } else {
        18.0
    };
    let (top, size) = (6.0, cell * side as f64);
    let height = top + size + below + 34.0;
    let mut svg = open(
        height,
        "Heat map: number of flagged rows by the class they probably are and the class they are labelled as.",
        "chart-transitions",
    );
    let gap = if side > 40 { 0.0 } else { 1.0 };
    let _ = write!(
        svg,
        r#"<rect class="field" x="{left:.1}" y="{top:.1}" width="{size:.1}" height="{size:.1}"/>"#
    );
    for index in 0..side {
        let offset = index as f64 * cell;
        let _ = write!(
            svg,
            r#"<rect class="diagonal" x="{:.2}" y="{:.2}" width="{:.2}" height="{:.2}"/>"#,
            left + offset,
            top + offset,
            cell - gap,
            cell - gap
        );
    }
    let largest = pairs.iter().map(|pair| pair.rows).max().unwrap_or(1) as f64;
    for pair in pairs.iter().take(CELLS_LIMIT) {
        let (Some(&row), Some(&column)) = (place.get(&pair.from), place.get(&pair.to)) else { continue };
        let (x, y) = (left + column as f64 * cell, top + row as f64 * cell);
        let strength = 0.14 + 0.86 * (pair.rows as f64 / largest).sqrt();
        let title = format!(
            "{}, probably {}, labelled {}",
            words::counted(pair.rows, "row"),
            words::shorten(&classes[pair.from], 40),
            words::shorten(&classes[pair.to], 40)
        );
        let _ = write!(
            svg,
            r#"<rect class="heat" fill-opacity="{strength:.2}" x="{x:.2}" y="{y:.2}" width="{:.2}" height="{:.2}"><title>{}</title></rect>"#,
            cell - gap,
            cell - gap,
            escape(&title)
        );
        if side <= COUNTED {
            let _ = write!(
                svg,
                r#"<text class="count" text-anchor="middle" x="{:.1}" y="{:.1}">{}</text>"#,
                x + cell / 2.0,
                y + cell / 2.0 + 4.0,
                super::short_count(pair.rows as f64)
            );
        }
    }
    if is_named {
        name_sides(&mut svg, &labels, Sides { left, bottom: top + size, top, cell, is_upright });
    }
    let middle = top + size / 2.0;
    let _ = write!(
        svg,
        r#"<text class="axis" transform="translate(13 {middle:.1}) rotate(-90)" text-anchor="middle">probably is</text><text class="axis" text-anchor="middle" x="{:.1}" y="{:.1}">is labelled as</text></svg>"#,
        left + size / 2.0,
        top + size + below + 22.0
    );
    HeatMap { svg, shown: side, is_named }
}

#[derive(Clone, Copy)]
struct Sides {
    left: f64,
    bottom: f64,
    top: f64,
    cell: f64,
    is_upright: bool,
}

fn name_sides(svg: &mut String, labels: &[String], sides: Sides) {
    let small = if sides.cell < 15.0 { " small" } else { "" };
    for (index, label) in labels.iter().enumerate() {
        let middle = (index as f64 + 0.5) * sides.cell;
        let label = escape(label);
        let (x, y) = (sides.left - 7.0, sides.top + middle + 4.0);
        let _ = write!(svg, r#"<text class="end{small}" x="{x:.1}" y="{y:.1}">{label}</text>"#);
        let x = sides.left + middle;
        if sides.is_upright {
            let (x, y) = (x + 4.0, sides.bottom + 6.0);
            let _ = write!(
                svg,
                r#"<text class="end{small}" transform="translate({x:.1} {y:.1}) rotate(-90)">{label}</text>"#
            );
        } else {
            let y = sides.bottom + 16.0;
            let _ = write!(svg, r#"<text text-anchor="middle" x="{x:.1}" y="{y:.1}">{label}</text>"#);
        }
    }
}

/// All classes in their own order, or those with the most moved rows, still in their own order.
fn shown_classes(count: usize, pairs: &[Transition]) -> Vec<usize> {
    if count <= CLASSES_LIMIT {
        return (0..count).collect();
    }
    let mut moved = vec![0usize; count];
    for pair in pairs {
        moved[pair.from] += pair.rows;
        moved[pair.to] += pair.rows;
    }
    let mut classes: Vec<usize> = (0..count).filter(|&class| moved[class] > 0).collect();
    classes.sort_by_key(|&class| std::cmp::Reverse(moved[class]));
    classes.truncate(CLASSES_LIMIT);
    classes.sort_unstable();
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_classes_are_cut_to_those_that_moved() {
        let pairs = [Transition { from: 7, to: 400, rows: 3, expected: 3.0 }];
        assert_eq!(shown_classes(500, &pairs), [7, 400]);
        assert_eq!(shown_classes(3, &pairs[..0]), [0, 1, 2]);
        let names: Vec<String> = (0..500).map(|class| format!("class {class}")).collect();
        let map = heat_map(&names, &pairs);
        assert_eq!((map.shown, map.is_named), (2, true));
        assert!(map.svg.contains("3 rows, probably class 7, labelled class 400"));
    }

    #[test]
    fn names_are_escaped() {
        let names = ["<script>".to_owned(), "b".to_owned()];
        let map = heat_map(&names, &[Transition { from: 0, to: 1, rows: 1, expected: 1.0 }]);
        assert!(!map.svg.contains("<script>") && map.svg.contains("&lt;script&gt;"));
    }
}
