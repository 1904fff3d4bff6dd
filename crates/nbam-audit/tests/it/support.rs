//! Audits whose truth is known: rows are drawn from the very model whose exact posterior is then computed, so that
//! every probability is calibrated by construction.

pub(crate) mod browser;

use std::path::Path;

use nbam_audit::{
    ClassTargets, Decisions, FlagRule, LISTED_LIMIT, ListedRow, Posterior, Report, RunFacts, Scored, Summary,
    Targets, Timing, ValueTargets, Warning, decide,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// A scored data set and which of its rows are really wrong.
pub(crate) struct Cohort {
    pub(crate) scored: Scored,
    pub(crate) is_wrong: Vec<bool>,
}

/// The share of wrong labels that goes to the next class; the rest goes anywhere else.
const TO_NEXT: f64 = 0.8;

/// Rows of `names.len()` classes. Class `k` is mislabelled with probability `rates[k % rates.len()]`.
pub(crate) fn classification(rows: usize, names: Vec<String>, rates: &[f64], seed: u64) -> Cohort {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = names.len();
    let rate = |class: usize| rates[class % rates.len()];
    let others = (count - 1) as f64;
    // The probability that a wrong label of class `from` reads `to`.
    let moved = |from: usize, to: usize| {
        let anywhere = (1.0 - TO_NEXT) / others;
        if from == to {
            0.0
        } else if (from + 1) % count == to {
            TO_NEXT + anywhere
        } else {
            anywhere
        }
    };
    let mut posterior = Posterior::default();
    let mut targets = ClassTargets { classes: names, ..ClassTargets::default() };
    let mut is_wrong = Vec::with_capacity(rows);
    for _ in 0..rows {
        let predicted = random.random_range(0..count);
        // Most rows are clear, some are not.
        let confidence = (1.0 - 0.6 * random.random::<f64>().powi(8) - 0.001).max(1.2 / count as f64);
        let share = |class: usize| if class == predicted { confidence } else { (1.0 - confidence) / others };
        let another = |random: &mut ChaCha8Rng, than: usize| (than + random.random_range(1..count)) % count;
        let truth = if random.random_bool(confidence) { predicted } else { another(&mut random, predicted) };
        let wrong = random.random_bool(rate(truth));
        let given = if !wrong {
            truth
        } else if random.random_bool(TO_NEXT) {
            (truth + 1) % count
        } else {
            another(&mut random, truth)
        };
        let prior: f64 = (0..count).map(|class| share(class) * rate(class)).sum();
        let clean = share(given) * (1.0 - rate(given));
        let paths: Vec<f64> =
            (0..count).map(|class| share(class) * rate(class) * moved(class, given)).collect();
        let anomaly: f64 = paths.iter().sum();
        let (best, weight) = paths.iter().enumerate().fold((given, clean), |best, (class, &weight)| {
            if weight > best.1 { (class, weight) } else { best }
        });
        posterior.contamination.push(anomaly / (anomaly + clean));
        posterior.prior.push(prior);
        posterior.log_clean.push((clean / (1.0 - prior)).ln());
        posterior.log_anomaly.push((anomaly / prior).ln());
        targets.given.push(given);
        targets.predicted.push(predicted);
        targets.suggested.push(best);
        targets.suggested_probability.push(weight / (anomaly + clean));
        is_wrong.push(wrong);
    }
    let mean = posterior.contamination.iter().sum::<f64>() / rows as f64;
    posterior.member_means = vec![mean * 0.97, mean, mean * 1.03];
    let scored =
        Scored::new("label", posterior, Targets::Classification(targets)).expect("valid by construction");
    Cohort { scored, is_wrong }
}

/// Numeric targets: right ones are normal about the prediction, wrong ones ten times as wide.
pub(crate) fn regression(rows: usize, rate: f64, seed: u64) -> Cohort {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = move || -> (f64, f64) {
        let (radius, angle) = ((-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt(), random.random::<f64>());
        (radius * (std::f64::consts::TAU * angle).cos(), random.random())
    };
    let density = |distance: f64, spread: f64| {
        -0.5 * (distance / spread).powi(2) - spread.ln() - 0.5 * std::f64::consts::TAU.ln()
    };
    let mut posterior = Posterior::default();
    let mut targets = ValueTargets::default();
    let mut is_wrong = Vec::with_capacity(rows);
    for _ in 0..rows {
        let (level, position) = normal();
        let (noise, coin) = normal();
        let predicted = 20.0 + 4.0 * level;
        let spread = 0.4 + 0.4 * position;
        let wrong = coin < rate;
        let distance = noise * if wrong { 10.0 * spread } else { spread };
        let (log_clean, log_anomaly) = (density(distance, spread), density(distance, 10.0 * spread));
        let log_odds = (rate / (1.0 - rate)).ln() + log_anomaly - log_clean;
        posterior.contamination.push(1.0 / (1.0 + (-log_odds).exp()));
        posterior.prior.push(rate);
        posterior.log_clean.push(log_clean);
        posterior.log_anomaly.push(log_anomaly);
        targets.given.push(predicted + distance);
        targets.predicted.push(predicted);
        targets.predicted_sd.push(spread);
        is_wrong.push(wrong);
    }
    let scored =
        Scored::new("price", posterior, Targets::Regression(targets)).expect("valid by construction");
    Cohort { scored, is_wrong }
}

/// Names `0`, `1`, ... for so many classes.
pub(crate) fn digits(count: usize) -> Vec<String> {
    (0..count).map(|class| class.to_string()).collect()
}

/// Decides at 5 % and renders a report with everything that a report can show, but for images.
pub(crate) fn report(cohort: &Cohort, source: &str, facts: RunFacts) -> (Decisions, Summary, String) {
    report_with_images(cohort, source, facts, None, |_| None)
}

/// The same with an image path for each row.
pub(crate) fn report_with_images(
    cohort: &Cohort,
    source: &str,
    facts: RunFacts,
    image_folder: Option<&Path>,
    image: impl Fn(usize) -> Option<String>,
) -> (Decisions, Summary, String) {
    let scored = &cohort.scored;
    let decisions = decide(scored, FlagRule::at(0.05).expect("a valid rate"));
    let summary = Summary::new(scored, &decisions, facts);
    let feature_names: Vec<String> = (0..12).map(|index| format!("feature {index}")).collect();
    let listed: Vec<ListedRow> = decisions
        .listed(scored, LISTED_LIMIT)
        .iter()
        .map(|&row| ListedRow {
            row,
            id: Some(format!("item-{:05}", row * 7 % 100_000)),
            features: (0..12).map(|index| format!("{}", (row * (index + 3)) % 1000)).collect(),
            image: image(row),
        })
        .collect();
    let training: Vec<Vec<f64>> = (0..3)
        .map(|member| (0..60).map(|epoch| 0.4 + 1.9 * (-f64::from(epoch + member) / 9.0).exp()).collect())
        .collect();
    let report = Report {
        source,
        scored,
        decisions: &decisions,
        summary: &summary,
        listed: &listed,
        feature_names: &feature_names,
        training: &training,
        image_folder,
    };
    let html = report.render().expect("the report renders");
    (decisions, summary, html)
}

/// Facts of a run with a warning, notes and settings.
pub(crate) fn facts() -> RunFacts {
    RunFacts {
        features: 64,
        seed: 0,
        settings: serde_json::json!({
            "fdr": 0.05, "members": 3, "epochs": 60, "task": "classification",
            "network": {"width": 256, "weight_decay": 1.0, "learning_rate": 0.001},
        }),
        duplicates_in_conflict: 4,
        warnings: vec![Warning {
            code: "few_rows".into(),
            message: "The class 7 has only 21 rows, so its percentages are rough.".into(),
        }],
        notes: vec!["The column “batch” is constant and was dropped.".into()],
        check: None,
        timing: Timing { fit: 12.5, ..Timing::default() },
    }
}
