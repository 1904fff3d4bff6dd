//! The table of suspicious rows, as the JSON that the page's script reads.

use serde::Serialize;

use super::chart;
use super::image::{Embedder, Thumbnail};
use super::{ListedRow, Report};
use crate::{Error, ErrorKind, Evidence, Targets, words};

/// Feature values are listed column by column until they fill this many bytes.
const FEATURE_BYTES: usize = 900_000;
/// No more features than these are listed.
const FEATURES_LIMIT: usize = 200;
/// Texts are cut to these widths.
const NAME_WIDTH: usize = 120;
const VALUE_WIDTH: usize = 80;

/// What the script gets.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    is_classification: bool,
    has_id: bool,
    has_image: bool,
    feature_names: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    row: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    flagged: bool,
    given: Cell,
    suggested: Cell,
    /// The probability of the suggested label, or the distance from the prediction in spreads.
    strength: f64,
    /// The probability of the suggested label in words; empty for a regression.
    #[serde(skip_serializing_if = "String::is_empty")]
    sureness: String,
    contamination: f64,
    /// The contamination in words.
    chance: String,
    /// prior, clean, anomaly and their total, in log-odds.
    evidence: [f64; 4],
    is_approximate: bool,
    words: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    features: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Thumbnail>,
}

/// A class name or a number; numbers carry their text so that all of the report rounds alike.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Cell {
    Name(String),
    Number { value: f64, text: String },
}

impl Table {
    pub(super) fn new(report: &Report<'_>) -> Result<Self, Error> {
        let columns = listed_features(report);
        let mut embedder = Embedder::new(report.image_folder);
        let rows = report.listed.iter().take(super::LISTED_LIMIT);
        let rows: Vec<Row> =
            rows.map(|listed| row(report, listed, columns, &mut embedder)).collect::<Result<_, _>>()?;
        Ok(Self {
            is_classification: matches!(report.scored.targets(), Targets::Classification(_)),
            has_id: rows.iter().any(|row| row.id.is_some()),
            has_image: rows.iter().any(|row| row.image.is_some()),
            feature_names: report
                .feature_names
                .iter()
                .take(columns)
                .map(|name| words::shorten(name, NAME_WIDTH))
                .collect(),
            rows,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn listed_features(&self) -> usize {
        self.feature_names.len()
    }

    /// The classes that occur among the listed rows, as given and as suggested, by name.
    pub(super) fn class_choices(&self) -> (Vec<&str>, Vec<&str>) {
        let choices = |cell: fn(&Row) -> &Cell| {
            let mut names: Vec<&str> = self.rows.iter().filter_map(|row| cell(row).name()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        (choices(|row| &row.given), choices(|row| &row.suggested))
    }
}

impl Cell {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Number { .. } => None,
        }
    }

    fn number(value: f64) -> Self {
        Self::Number { value, text: words::number(value) }
    }
}

fn row(
    report: &Report<'_>,
    listed: &ListedRow,
    columns: usize,
    embedder: &mut Embedder<'_>,
) -> Result<Row, Error> {
    let index = listed.row;
    let evidence = Evidence::of(report.scored.posterior(), index).ok_or_else(|| {
        let rows = report.scored.rows();
        Error::new(
            ErrorKind::Range,
            format!("The report is to list row {index}, but there are only {rows} rows."),
        )
    })?;
    let (given, suggested, strength, sureness) = match report.scored.targets() {
        Targets::Classification(targets) => {
            let name = |class: usize| Cell::Name(words::shorten(&targets.classes[class], NAME_WIDTH));
            let sure = targets.suggested_probability[index];
            (name(targets.given[index]), name(targets.suggested[index]), sure, words::short_chance(sure))
        }
        Targets::Regression(targets) => (
            Cell::number(targets.given[index]),
            Cell::number(targets.predicted[index]),
            chart::spreads(targets, index),
            String::new(),
        ),
    };
    let contamination = report.scored.posterior().contamination[index];
    Ok(Row {
        row: index,
        id: listed.id.as_deref().map(|id| words::shorten(id, NAME_WIDTH)),
        flagged: report.decisions.flags.is_flagged[index],
        given,
        suggested,
        strength: rounded(strength),
        sureness,
        contamination,
        chance: words::short_chance(contamination),
        evidence: [evidence.prior, evidence.clean, evidence.anomaly, total(&evidence)].map(drawable),
        is_approximate: evidence.gap().is_finite() && evidence.gap().abs() > 0.05,
        words: words::evidence_sentence(report.scored, index, &evidence),
        features: listed
            .features
            .iter()
            .take(columns)
            .map(|value| words::shorten(value, VALUE_WIDTH))
            .collect(),
        image: listed.image.as_deref().map(|path| embedder.embed(path)),
    })
}

/// The row's log-odds. A posterior that rounding made exactly 0 or 1 has infinite ones where the terms still know more;
/// a known state, which overrules the terms, stays infinite if they point the other way.
fn total(evidence: &Evidence) -> f64 {
    let sum = evidence.prior + evidence.clean + evidence.anomaly;
    let is_saturated = evidence.log_odds.is_infinite() && sum.is_finite();
    if is_saturated && sum.signum() == evidence.log_odds.signum() { sum } else { evidence.log_odds }
}

/// JSON has no infinity, and a bar cannot be longer than the page.
fn drawable(log_odds: f64) -> f64 {
    if log_odds.is_nan() { 0.0 } else { rounded(log_odds.clamp(-999.0, 999.0)) }
}

/// Three decimals are more than anyone reads, and keep the file small.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// How many features fit, so that even a thousand rows of a wide table leave the report small.
fn listed_features(report: &Report<'_>) -> usize {
    let mut bytes = 0;
    for column in 0..report.feature_names.len().min(FEATURES_LIMIT) {
        // Quotes, a comma, and room for escapes.
        let width = |row: &ListedRow| {
            row.features.get(column).map_or(0, |value| value.len().min(4 * VALUE_WIDTH) + 4)
        };
        bytes += report.listed.iter().map(width).sum::<usize>();
        if bytes > FEATURE_BYTES {
            return column;
        }
    }
    report.feature_names.len().min(FEATURES_LIMIT)
}

/// JSON that is safe inside a script element: no text in it can end the element or open a comment.
pub(super) fn script_json(value: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::Render, format!("The report's data could not be written as JSON: {error}."))
    })?;
    // These characters occur in JSON only inside strings, where an escape means the same.
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_can_leave_the_script_element(text in "(?s).{0,40}|</script>|<!--|<script>|\\PC{0,9}") {
            let json = script_json(&text).unwrap();
            prop_assert!(!json.contains(['<', '>', '&']));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn a_saturated_posterior_shows_the_sum_of_its_terms() {
        let evidence = |prior, log_odds| Evidence { prior, clean: 50.0, anomaly: -1.0, log_odds };
        assert_eq!(total(&evidence(-2.0, f64::INFINITY)), 47.0);
        assert_eq!(total(&evidence(-2.0, f64::NEG_INFINITY)), f64::NEG_INFINITY);
        assert_eq!(total(&evidence(-2.0, 40.0)), 40.0);
    }

    #[test]
    fn infinite_evidence_becomes_drawable() {
        let drawn = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.23456].map(drawable);
        assert_eq!(drawn, [999.0, -999.0, 0.0, 1.235]);
    }
}
