//! What the template shows: every text and every chart, ready to be placed.

use askama::Template;
use serde::Serialize;
use serde_json::Value;

use super::Report;
use super::chart::{self, HeatMap, Scatter};
use super::rows::{Table, script_json};
use crate::decisions::NORMAL_95;
use crate::{ClassRate, Error, ReviewBudget, Targets, Warning, words};

/// Lists in the report end after so many entries and say how many more there are.
const PAIRS_LISTED: usize = 12;
const CLASSES_LISTED: usize = 15;
const NOTES_LISTED: usize = 100;
const SETTINGS_LISTED: usize = 200;

#[derive(Debug, Template)]
#[template(path = "report.html")]
pub(super) struct Page<'a> {
    style: &'static str,
    script: &'static str,
    source: &'a str,
    target: &'a str,
    noun: &'static str,
    is_classification: bool,
    rate_sentence: String,
    flag_sentence: String,
    warnings: Vec<&'a Warning>,
    notes: Vec<&'a str>,
    notes_left: usize,
    facts: Vec<Fact>,
    limit: String,
    unlikely: String,
    has_unlikely: bool,
    histogram: String,
    transitions: Option<TransitionView>,
    priors: Option<PriorView>,
    residuals: Option<ResidualView>,
    budget: BudgetView,
    table: TableView<'a>,
    check: Option<CheckView>,
    training: Option<String>,
    members: usize,
    single_member: bool,
    compared: usize,
    chance_part: String,
    member_part: String,
    seconds: String,
    seed: u64,
    settings: Vec<(String, String)>,
    settings_left: usize,
    version: &'a str,
    rows_json: String,
    budget_json: String,
}

/// One of the figures below the headline.
#[derive(Debug)]
struct Fact {
    value: String,
    label: String,
}

#[derive(Debug)]
struct TransitionView {
    map: HeatMap,
    classes: usize,
    pairs: Vec<Bar>,
    pairs_left: usize,
    rows_left: String,
    undirected: String,
    has_undirected: bool,
}

/// A bar with its name; `second` is the arrow's target of a transition.
#[derive(Debug)]
struct Bar {
    name: String,
    second: String,
    width: String,
    value: String,
    other_width: String,
    other_value: String,
}

#[derive(Debug)]
struct PriorView {
    bars: Vec<Bar>,
    classes_left: usize,
}

#[derive(Debug)]
struct ResidualView {
    plot: Scatter,
    is_sampled: bool,
    flagged_drawn: String,
    unflagged_drawn: String,
    rows: String,
}

#[derive(Debug)]
struct BudgetView {
    chart: String,
    chosen: usize,
    rows: usize,
    rows_text: String,
    presets: Vec<(usize, String)>,
    answer: String,
}

#[derive(Debug)]
struct CheckView {
    chart: String,
    sentence: String,
}

#[derive(Debug)]
struct TableView<'a> {
    listed: String,
    rest: String,
    has_rest: bool,
    flagged_note: &'static str,
    given: Vec<&'a str>,
    suggested: Vec<&'a str>,
    features_note: Option<String>,
}

/// A point from which the script interpolates the answer for any budget.
#[derive(Debug, Serialize)]
struct BudgetPoint {
    budget: usize,
    mean: f64,
    low: f64,
    high: f64,
}

impl<'a> Page<'a> {
    pub(super) fn new(report: &Report<'a>, table: &'a Table) -> Result<Self, Error> {
        let Report { decisions, summary, scored, .. } = report;
        let is_classification = matches!(scored.targets(), Targets::Classification(_));
        let settings = flattened(&summary.settings);
        let residuals = match scored.targets() {
            Targets::Regression(targets) => {
                let plot = chart::residuals(targets, decisions);
                let drawn = plot.flagged_drawn + plot.unflagged_drawn;
                Some(ResidualView {
                    is_sampled: drawn < scored.rows(),
                    flagged_drawn: words::count(plot.flagged_drawn),
                    unflagged_drawn: words::count(plot.unflagged_drawn),
                    rows: words::count(scored.rows()),
                    plot,
                })
            }
            Targets::Classification(_) => None,
        };
        Ok(Self {
            style: include_str!("../../templates/report.css"),
            script: include_str!("../../templates/report.js"),
            source: report.source,
            target: scored.target(),
            noun: words::noun(is_classification),
            is_classification,
            rate_sentence: words::rate_sentence(summary),
            flag_sentence: words::flag_sentence(decisions.flags.count, decisions.flags.expected_fdr),
            warnings: summary.warnings.iter().take(NOTES_LISTED).collect(),
            notes: summary.notes.iter().map(String::as_str).take(NOTES_LISTED).collect(),
            notes_left: summary.notes.len().saturating_sub(NOTES_LISTED),
            facts: facts(report),
            limit: words::chosen_percent(decisions.flags.rule.fdr()),
            unlikely: words::counted(decisions.flags.unlikely, "row"),
            has_unlikely: decisions.flags.unlikely > 0,
            histogram: chart::histogram(&decisions.histogram),
            transitions: is_classification.then(|| transitions(report)),
            priors: is_classification.then(|| priors(&decisions.classes, scored.classes())),
            residuals,
            budget: budget(report),
            table: table_view(report, table),
            check: summary.check.as_ref().map(|check| CheckView {
                chart: chart::reliability(&check.reliability),
                sentence: check.sentence(),
            }),
            training: chart::training_curve(report.training),
            members: report.training.len(),
            single_member: decisions.rate.members < 2,
            compared: decisions.rate.members,
            chance_part: words::percent(NORMAL_95 * decisions.rate.count_sd),
            member_part: words::percent(NORMAL_95 * decisions.rate.member_sd),
            seconds: words::number(summary.seconds),
            seed: summary.seed,
            settings_left: settings.len().saturating_sub(SETTINGS_LISTED),
            settings: settings.into_iter().take(SETTINGS_LISTED).collect(),
            version: &summary.version,
            rows_json: script_json(table)?,
            budget_json: script_json(&budget_points(&decisions.budget))?,
        })
    }
}

fn facts(report: &Report<'_>) -> Vec<Fact> {
    let Report { decisions, summary, scored, .. } = report;
    let fact = |value: String, label: &str| Fact { value, label: label.to_owned() };
    let is_classification = matches!(scored.targets(), Targets::Classification(_));
    let mut facts = vec![
        fact(words::count(scored.rows()), "rows"),
        fact(words::count(summary.features), if summary.features == 1 { "feature" } else { "features" }),
    ];
    if is_classification {
        facts.push(fact(words::count(scored.classes().len()), "classes"));
    }
    facts.push(fact(words::count(decisions.flags.count), "flagged"));
    if let Some(share) = summary.explained {
        facts.push(fact(words::percent(share), "of the variance explained"));
    }
    if summary.duplicates_in_conflict > 0 {
        let label = "groups of identical rows whose labels contradict each other";
        facts.push(fact(words::count(summary.duplicates_in_conflict), label));
    }
    facts
}

fn transitions(report: &Report<'_>) -> TransitionView {
    let classes = report.scored.classes();
    let transitions = &report.decisions.transitions;
    let pairs = &transitions.pairs;
    let largest = pairs.first().map_or(1, |pair| pair.rows) as f64;
    let bars = pairs.iter().take(PAIRS_LISTED).map(|pair| Bar {
        name: words::shorten(&classes[pair.from], 60),
        second: words::shorten(&classes[pair.to], 60),
        width: format!("{:.1}", 100.0 * pair.rows as f64 / largest),
        value: words::count(pair.rows),
        other_width: String::new(),
        other_value: String::new(),
    });
    TransitionView {
        map: chart::heat_map(classes, pairs),
        classes: classes.len(),
        pairs: bars.collect(),
        pairs_left: pairs.len().saturating_sub(PAIRS_LISTED),
        rows_left: words::counted(pairs.iter().skip(PAIRS_LISTED).map(|pair| pair.rows).sum(), "row"),
        undirected: words::counted(transitions.undirected, "flagged row"),
        has_undirected: transitions.undirected > 0,
    }
}

fn priors(rates: &[ClassRate], classes: &[String]) -> PriorView {
    let mut sorted: Vec<&ClassRate> = rates.iter().collect();
    let largest =
        |rate: &ClassRate| rate.mean_prior.unwrap_or(0.0).max(rate.mean_contamination.unwrap_or(0.0));
    if sorted.len() > CLASSES_LISTED {
        sorted.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    }
    // Bars share one scale, but rates of a few per mille should not fill the page.
    let scale = rates.iter().map(largest).fold(0.05, f64::max);
    let width = |share: Option<f64>| format!("{:.1}", 100.0 * share.unwrap_or(0.0) / scale);
    let value = |share: Option<f64>| share.map_or_else(|| "no rows".to_owned(), words::percent);
    let bars = sorted.iter().take(CLASSES_LISTED).map(|rate| Bar {
        name: words::shorten(&classes[rate.class], 60),
        second: String::new(),
        width: width(rate.mean_prior),
        value: value(rate.mean_prior),
        other_width: width(rate.mean_contamination),
        other_value: value(rate.mean_contamination),
    });
    PriorView { bars: bars.collect(), classes_left: rates.len().saturating_sub(CLASSES_LISTED) }
}

fn budget(report: &Report<'_>) -> BudgetView {
    let budget = &report.decisions.budget;
    let rows = budget.rows();
    let chosen = if report.decisions.flags.count > 0 { report.decisions.flags.count } else { rows.min(100) };
    let mut presets: Vec<(usize, String)> = [50, 200, 500, 2000, 10_000]
        .into_iter()
        .filter(|&preset| preset < rows && preset <= 4 * budget.horizon())
        .map(|preset| (preset, words::count(preset)))
        .collect();
    if report.decisions.flags.count > 0 {
        presets.push((chosen, format!("all {} flagged", words::count(chosen))));
    }
    let found = budget.expected_found(chosen).found;
    let all = budget.expected_found(rows).found.mean;
    let answer = if all < 0.5 {
        "There is probably nothing to find.".to_owned()
    } else {
        format!(
            "Expect to find about {} wrong ones (between {} and {}), {} of all that there probably are.",
            words::count(found.mean.round() as usize),
            words::count(found.low.floor() as usize),
            words::count(found.high.ceil() as usize),
            words::percent((found.mean / all).min(1.0))
        )
    };
    BudgetView {
        chart: chart::budget_curve(budget, chosen),
        chosen,
        rows,
        rows_text: words::count(rows),
        presets,
        answer,
    }
}

/// Every budget up to 50, then steps of 5 %: linear interpolation between them is off by less than the rounding.
fn budget_points(budget: &ReviewBudget) -> Vec<BudgetPoint> {
    let mut points = Vec::new();
    let mut next = 0;
    loop {
        let found = budget.expected_found(next);
        let round = |value: f64| (value * 100.0).round() / 100.0;
        points.push(BudgetPoint {
            budget: found.budget,
            mean: round(found.found.mean),
            low: round(found.found.low),
            high: round(found.found.high),
        });
        if found.budget == budget.rows() {
            return points;
        }
        next = if next < 50 { next + 1 } else { next + next / 20 };
    }
}

fn table_view<'a>(report: &Report<'_>, table: &'a Table) -> TableView<'a> {
    let rest = report.scored.rows() - table.len().min(report.scored.rows());
    let (given, suggested) = table.class_choices();
    let (shown, all) = (table.listed_features(), report.feature_names.len());
    TableView {
        listed: words::count(table.len()),
        rest: words::count(rest),
        has_rest: rest > 0,
        flagged_note: match report.decisions.flags.count {
            0 => "None of them is flagged. ",
            flagged if flagged < table.len() => "Not all of them are flagged. ",
            _ => "All of them are flagged. ",
        },
        given,
        suggested,
        features_note: (shown < all).then(|| {
            format!("The first {} of {} features are shown.", words::count(shown), words::count(all))
        }),
    }
}

/// Settings as lines: nested names are joined by dots.
fn flattened(settings: &Value) -> Vec<(String, String)> {
    fn walk(name: &str, value: &Value, lines: &mut Vec<(String, String)>) {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    let full = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                    walk(&full, value, lines);
                }
            }
            Value::Null => {}
            Value::String(text) => lines.push((name.to_owned(), words::shorten(text, 300))),
            other => lines.push((name.to_owned(), words::shorten(&other.to_string(), 300))),
        }
    }
    let mut lines = Vec::new();
    walk("", settings, &mut lines);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_settings_become_lines() {
        let lines =
            flattened(&serde_json::json!({"fdr": 0.05, "net": {"width": 64, "name": "a"}, "none": null}));
        let text: Vec<String> = lines.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(text, ["fdr=0.05", "net.name=a", "net.width=64"]);
    }
}
