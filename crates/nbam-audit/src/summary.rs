//! summary.json: the decisions in numbers, under names that stay. The schema is documented in docs/summary-schema.md.

use nbam::PlantedCheck;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Decisions, Error, ErrorKind, Scored, Targets, words};

/// What summary.json holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The version of nbam that wrote the file.
    pub version: String,
    /// `classification` or `regression`.
    pub task: String,
    /// The name of the target column.
    pub target: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of features after preparation.
    pub features: usize,
    /// The class names, in the order of their indices; empty for a regression.
    pub classes: Vec<String>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The settings of the run.
    pub settings: Value,
    /// The estimated share of contaminated rows.
    pub rate: RateSummary,
    /// The number of flagged rows.
    pub flagged: usize,
    /// The expected share of false flags among them.
    pub expected_fdr: f64,
    /// Which class turned into which, most rows first.
    pub transitions: Vec<TransitionSummary>,
    /// The share of the variance of the values that look right for which the features account; none for a classification.
    #[serde(default)]
    pub explained: Option<f64>,
    /// Groups of rows with equal features and different labels.
    pub duplicates_in_conflict: usize,
    /// Reasons to read the result with care.
    pub warnings: Vec<Warning>,
    /// What was assumed or done along the way.
    pub notes: Vec<String>,
    /// How well planted errors were found, if that was asked for.
    #[serde(default)]
    pub check: Option<CheckSummary>,
    /// Wall-clock time of the run.
    pub seconds: f64,
    /// Where that time went.
    #[serde(default)]
    pub timing: Timing,
}

/// Wall-clock seconds of the stages of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Reading the file.
    pub read: f64,
    /// Turning columns into features.
    pub prepare: f64,
    /// Training, the posterior of the training rows included.
    pub fit: f64,
    /// Planting errors and training once more; 0 if that was not asked for.
    #[serde(default)]
    pub check: f64,
    /// Predictions, suggestions, rate and flags.
    pub decide: f64,
    /// Rendering the report and writing all files; 0 before they are written.
    pub report: f64,
}

impl Timing {
    /// All stages together.
    pub fn total(&self) -> f64 {
        self.read + self.prepare + self.fit + self.check + self.decide + self.report
    }
}

/// The rate, its 95 % interval and the two standard deviations that make up the interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateSummary {
    /// The mean posterior.
    pub mean: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// Standard deviation from the chance in the switches, given the posterior.
    pub count_sd: f64,
    /// Standard deviation from the members' disagreement; 0 for a single member.
    pub member_sd: f64,
    /// The number of members that were compared.
    pub members: usize,
}

/// Flagged rows that probably are `from` and are labelled `to`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransitionSummary {
    /// The class that is suggested.
    pub from: String,
    /// The class that was given.
    pub to: String,
    /// The number of flagged rows.
    pub rows: usize,
    /// How many of them are expected to be truly `from`.
    pub expected: f64,
}

/// How well errors that were planted into clean-looking rows were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckSummary {
    /// Clean-looking rows, planted ones included.
    pub rows: usize,
    /// Rows of them that were given an error.
    pub planted: usize,
    /// Planted rows with a probability above one half.
    pub found: usize,
    /// Other rows with a probability above one half.
    pub false_alarms: usize,
    /// Average precision of the ranking.
    pub average_precision: f64,
    /// The mean gap between a probability and the share of planted rows.
    pub expected_calibration_error: f64,
    /// The probabilities in bins, empty ones left out.
    pub reliability: Vec<CheckBin>,
}

/// Rows whose probability of being contaminated lies between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CheckBin {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The number of rows.
    pub rows: usize,
    /// Their mean probability.
    pub mean_probability: f64,
    /// The share of them that were planted.
    pub observed_share: f64,
}

impl CheckSummary {
    /// The numbers of a check.
    pub fn new(check: &PlantedCheck) -> Self {
        let bins = check.reliability.bins.iter().filter_map(|bin| {
            Some(CheckBin {
                low: bin.low,
                high: bin.high,
                rows: bin.rows,
                mean_probability: bin.mean_probability?,
                observed_share: bin.observed_share?,
            })
        });
        Self {
            rows: check.rows,
            planted: check.planted,
            found: check.found,
            false_alarms: check.false_alarms,
            average_precision: check.average_precision,
            expected_calibration_error: check.expected_calibration_error,
            reliability: bins.collect(),
        }
    }

    /// The result in words.
    pub fn sentence(&self) -> String {
        format!(
            "{} of the kind that the model learned were planted into {} that look right, and the model was trained again on those: \
             it found {} of them, raised {}, and its probabilities were off by {} on average.",
            words::counted(self.planted, "error"),
            words::counted(self.rows, "row"),
            words::count(self.found),
            words::counted(self.false_alarms, "false alarm"),
            words::percent(self.expected_calibration_error),
        )
    }
}

/// A reason to read the result with care.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A short, stable name for programs, such as `few_rows`.
    pub code: String,
    /// The same for people, in whole sentences.
    pub message: String,
}

/// The facts of a run that the decisions do not know.
#[derive(Debug, Clone, Default)]
pub struct RunFacts {
    /// The number of features after preparation.
    pub features: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// The settings of the run, as they are to be shown.
    pub settings: Value,
    /// Groups of rows with equal features and different labels.
    pub duplicates_in_conflict: usize,
    /// Reasons to read the result with care.
    pub warnings: Vec<Warning>,
    /// What was assumed or done along the way.
    pub notes: Vec<String>,
    /// How well planted errors were found, if that was asked for.
    pub check: Option<CheckSummary>,
    /// Where the run's time went so far.
    pub timing: Timing,
}

impl Summary {
    /// Puts the decisions and the facts of the run into one place.
    pub fn new(scored: &Scored, decisions: &Decisions, facts: RunFacts) -> Self {
        let classes = scored.classes();
        let transitions = decisions.transitions.pairs.iter().map(|pair| TransitionSummary {
            from: classes[pair.from].clone(),
            to: classes[pair.to].clone(),
            rows: pair.rows,
            expected: pair.expected,
        });
        let rate = &decisions.rate;
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            task: match scored.targets() {
                Targets::Classification(_) => "classification".to_owned(),
                Targets::Regression(_) => "regression".to_owned(),
            },
            target: scored.target().to_owned(),
            rows: scored.rows(),
            features: facts.features,
            classes: classes.to_vec(),
            seed: facts.seed,
            settings: facts.settings,
            rate: RateSummary {
                mean: rate.estimate.mean,
                low: rate.estimate.low,
                high: rate.estimate.high,
                count_sd: rate.count_sd,
                member_sd: rate.member_sd,
                members: rate.members,
            },
            flagged: decisions.flags.count,
            expected_fdr: decisions.flags.expected_fdr,
            transitions: transitions.collect(),
            explained: decisions.explained,
            duplicates_in_conflict: facts.duplicates_in_conflict,
            warnings: facts.warnings,
            notes: facts
                .notes
                .into_iter()
                .chain(decisions.explained.map(words::explained_sentence))
                .collect(),
            check: facts.check,
            seconds: facts.timing.total(),
            timing: facts.timing,
        }
    }

    /// The result in two sentences: how much looks wrong, how many rows are flagged and how many of those flags to
    /// expect false.
    pub fn headline(&self) -> String {
        format!("{} {}", words::rate_sentence(self), words::flag_sentence(self.flagged, self.expected_fdr))
    }

    /// The summary as indented JSON with a final line break.
    ///
    /// # Errors
    /// `Render` if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        let mut text = serde_json::to_string_pretty(self).map_err(|error| {
            Error::new(ErrorKind::Render, format!("The summary could not be written as JSON: {error}."))
        })?;
        text.push('\n');
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassTargets, FlagRule, Posterior, ValueTargets, decide};

    fn posterior(contamination: Vec<f64>) -> Posterior {
        let rows = contamination.len();
        Posterior {
            contamination,
            prior: vec![0.1; rows],
            log_clean: vec![-1.0; rows],
            log_anomaly: vec![-1.0; rows],
            member_means: vec![],
        }
    }

    fn classification() -> Summary {
        let targets = Targets::Classification(ClassTargets {
            classes: vec!["a".into(), "b".into()],
            given: vec![0, 1],
            predicted: vec![0, 0],
            suggested: vec![0, 0],
            suggested_probability: vec![0.99, 0.98],
        });
        let scored = Scored::new("kind", posterior(vec![0.01, 0.98]), targets).unwrap();
        let decisions = decide(&scored, FlagRule::at(0.05).unwrap());
        let warning = Warning { code: "few_rows".into(), message: "There are few rows.".into() };
        Summary::new(&scored, &decisions, RunFacts { warnings: vec![warning], ..RunFacts::default() })
    }

    /// Programs rely on these names: a change here is a change of the documented schema.
    #[test]
    fn the_names_of_the_keys_are_pinned() {
        let value = serde_json::to_value(classification()).unwrap();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(
            keys(&value),
            "check classes duplicates_in_conflict expected_fdr explained features flagged notes rate rows seconds seed settings target \
             task timing transitions version warnings"
        );
        assert_eq!(keys(&value["rate"]), "count_sd high low mean member_sd members");
        assert_eq!(keys(&value["timing"]), "check decide fit prepare read report");
        assert_eq!(keys(&value["transitions"][0]), "expected from rows to");
        assert_eq!(keys(&value["warnings"][0]), "code message");
        assert_eq!(value["task"], "classification");
        assert_eq!(value["transitions"][0]["from"], "a");
        assert_eq!(value["transitions"][0]["to"], "b");
    }

    #[test]
    fn json_comes_back_unchanged() {
        let summary = classification();
        let text = summary.to_json().unwrap();
        assert!(text.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }

    #[test]
    fn the_headline_says_rate_interval_flags_and_false_alarms() {
        let mut summary = classification();
        summary.rows = 1797;
        summary.rate = RateSummary { mean: 0.19, low: 0.17, high: 0.21, ..summary.rate };
        (summary.flagged, summary.expected_fdr) = (340, 0.05);
        assert_eq!(
            summary.headline().replace('\u{a0}', " "),
            "About 19 % of the 1,797 labels look wrong (between 17 % and 21 %). 340 rows are flagged; about 17 of those \
             flags are expected to be false alarms."
        );
    }

    #[test]
    fn the_headline_gives_no_share_that_means_nothing() {
        let mut summary = classification();
        summary.warnings[0].code = "no_signal".into();
        let headline = summary.headline();
        assert!(headline.starts_with("How many of the 2 labels are wrong cannot be said"), "{headline}");
        summary.warnings[0].code = "unclear_borders".into();
        let headline = summary.headline();
        assert!(headline.contains("wrong (between"), "{headline}");
        assert!(headline.contains("); where classes are alike, it cannot be told. "), "{headline}");
    }

    fn regression(given: [f64; 3], predicted: [f64; 3]) -> Summary {
        let targets = Targets::Regression(ValueTargets {
            given: given.to_vec(),
            predicted: predicted.to_vec(),
            predicted_sd: vec![0.1; 3],
            error: None,
        });
        let scored = Scored::new("y", posterior(vec![0.001; 3]), targets).unwrap();
        let decisions = decide(&scored, FlagRule::at(0.05).unwrap());
        Summary::new(&scored, &decisions, RunFacts { notes: vec!["First.".into()], ..RunFacts::default() })
    }

    #[test]
    fn a_regression_says_how_much_it_explains() {
        let summary = regression([1.0, 2.0, 3.0], [1.5, 2.0, 2.5]);
        assert_eq!(summary.explained, Some(0.75));
        let [first, explained] = &summary.notes[..] else { panic!("{:?}", summary.notes) };
        assert_eq!(first, "First.");
        assert!(explained.replace('\u{a0}', " ").starts_with("The features explain 75 % of the variance"));
        let blind = regression([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]);
        assert!(blind.notes[1].starts_with("The features explain practically none"));
        let constant = regression([1.0; 3], [1.0; 3]);
        assert_eq!((constant.explained, constant.notes.len(), classification().explained), (None, 1, None));
    }

    #[test]
    fn a_regression_has_no_classes_and_speaks_of_values() {
        let summary = regression([1.0; 3], [1.0; 3]);
        assert_eq!((summary.task.as_str(), summary.classes.len()), ("regression", 0));
        assert!(summary.headline().starts_with("Practically none of the 3 values look wrong"));
        assert!(summary.headline().contains("No row is flagged"));
    }
}
