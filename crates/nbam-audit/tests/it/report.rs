//! The report as text: what it says, what it escapes, how large it is and how long it takes.

use std::time::Instant;

use crate::support::{classification, digits, facts, regression, report};
use nbam_audit::{
    ClassTargets, ErrorKind, FlagRule, LISTED_LIMIT, ListedRow, Posterior, Report, RunFacts, Scored, Summary,
    Targets, ValueTargets, Warning, decide,
};

#[test]
fn the_headline_comes_first_and_in_words() {
    let (_, summary, html) = report(&classification(1797, digits(10), &[0.2], 2), "digits.csv", facts());
    for sentence in summary.headline().split(". ") {
        assert!(html.contains(sentence.trim_end_matches('.')), "{sentence}");
    }
    assert!(html.contains("The class 7 has only 21 rows"));
    assert!(html.contains("network.weight_decay"));
    assert!(html.contains("The column “batch” is constant and was dropped."));
}

#[test]
fn what_the_features_explain_is_told_of_numbers_only() {
    let told = |html: &str| html.contains("of the variance explained");
    let (_, summary, html) = report(&regression(400, 0.1, 2), "prices.csv", facts());
    assert!(told(&html) && summary.explained.is_some_and(|share| share > 0.5), "{:?}", summary.explained);
    let (_, summary, html) = report(&classification(400, digits(3), &[0.2], 2), "digits.csv", facts());
    assert!(!told(&html) && summary.explained.is_none());
}

#[test]
fn nothing_in_a_report_points_to_the_network() {
    let (_, _, html) = report(&classification(500, digits(3), &[0.2], 2), "digits.csv", facts());
    for reference in ["http://", "https://", "src=\"/", "@import", "url("] {
        assert!(!html.contains(reference), "{reference}");
    }
}

#[test]
fn no_name_or_value_becomes_markup() {
    let attack = "</script><img src=x onerror=alert(1)>\"'&<!--";
    let names = vec![attack.to_owned(), format!("{attack}2")];
    let cohort = classification(300, names, &[0.3], 1);
    let decisions = decide(&cohort.scored, FlagRule::at(0.05).unwrap());
    let facts = RunFacts {
        settings: serde_json::json!({attack: attack}),
        warnings: vec![Warning { code: attack.into(), message: attack.into() }],
        notes: vec![attack.into()],
        ..facts()
    };
    let summary = Summary::new(&cohort.scored, &decisions, facts);
    let listed: Vec<ListedRow> = decisions
        .listed(&cohort.scored, LISTED_LIMIT)
        .iter()
        .map(|&row| ListedRow {
            row,
            id: Some(attack.into()),
            features: vec![attack.into()],
            image: Some(format!("{attack}.png")),
        })
        .collect();
    let html = Report {
        source: attack,
        scored: &cohort.scored,
        decisions: &decisions,
        summary: &summary,
        listed: &listed,
        feature_names: &[attack.to_owned()],
        training: &[],
        image_folder: None,
    }
    .render()
    .unwrap();
    assert!(!html.contains("<img src=x"));
    assert_eq!(html.matches("</script>").count(), 3, "only the page's own script elements end");
    assert_eq!(html.matches("<!--").count(), 0);
}

#[test]
fn a_million_rows_take_seconds_and_stay_under_five_megabytes() {
    let cohorts = [classification(1_000_000, digits(10), &[0.1], 8), regression(1_000_000, 0.1, 9)];
    for cohort in cohorts {
        let start = Instant::now();
        let (decisions, _, html) = report(&cohort, "million.parquet", facts());
        let seconds = start.elapsed().as_secs_f64();
        assert!(decisions.flags.count > LISTED_LIMIT);
        assert!(html.len() < 5_000_000, "{} bytes", html.len());
        assert!(html.contains("the other 999,000 rows"));
        assert!(seconds < 10.0, "{seconds} s");
    }
}

#[test]
fn wide_tables_large_images_and_many_classes_stay_under_five_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let image = [b"GIF8".as_slice(), &vec![7; 60_000]].concat();
    std::fs::write(folder.path().join("a.gif"), image).unwrap();
    let names: Vec<String> = (0..3000).map(|class| format!("{class} {}", "long name ".repeat(40))).collect();
    let cohort = classification(6000, names, &[0.5], 1);
    let decisions = decide(&cohort.scored, FlagRule::at(0.3).unwrap());
    let facts = RunFacts { notes: vec!["A note. ".repeat(20); 5000], ..facts() };
    let summary = Summary::new(&cohort.scored, &decisions, facts);
    let feature_names: Vec<String> =
        (0..2000).map(|column| format!("column {column} {}", "x".repeat(300))).collect();
    let listed: Vec<ListedRow> = decisions
        .listed(&cohort.scored, LISTED_LIMIT)
        .iter()
        .map(|&row| ListedRow {
            row,
            id: Some("é".repeat(500)),
            features: vec!["<0.123456789>".repeat(30); 2000],
            image: Some("a.gif".into()),
        })
        .collect();
    assert_eq!(listed.len(), LISTED_LIMIT);
    let html = Report {
        source: "wide.parquet",
        scored: &cohort.scored,
        decisions: &decisions,
        summary: &summary,
        listed: &listed,
        feature_names: &feature_names,
        training: &vec![vec![1.0; 100_000]; 16],
        image_folder: Some(folder.path()),
    }
    .render()
    .unwrap();
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    assert!(html.contains("of 2,000 features are shown."));
    assert!(html.contains("data:image/gif;base64,") && html.contains("left out to keep the report small"));
}

#[test]
fn the_same_audit_gives_the_same_bytes() {
    let render = || report(&classification(3000, digits(10), &[0.2], 4), "digits.csv", facts()).2;
    assert_eq!(render(), render());
}

#[test]
fn extreme_numbers_do_not_break_a_report() {
    let posterior = Posterior {
        contamination: vec![1.0, 0.0, 0.5],
        prior: vec![0.0, 1.0, 0.5],
        log_clean: vec![f64::NEG_INFINITY, -1e300, 5.0],
        log_anomaly: vec![f64::NEG_INFINITY, 1e300, -5.0],
        member_means: vec![],
    };
    let targets = Targets::Regression(ValueTargets {
        given: vec![1e300, -1e300, 0.0],
        predicted: vec![-1e300, 1e300, 0.0],
        predicted_sd: vec![0.0, 1e-300, 1.0],
        error: None,
    });
    let cohort =
        crate::support::Cohort { scored: Scored::new("y", posterior, targets).unwrap(), is_wrong: vec![] };
    let (_, summary, html) = report(&cohort, "extreme.csv", RunFacts::default());
    assert!(!html.contains("NaN") && !html.contains("inf"));
    assert!(summary.to_json().is_ok());
    let single = classification(1, digits(2), &[0.5], 1);
    assert!(report(&single, "one.csv", RunFacts::default()).2.contains("</html>"));
}

#[test]
fn faulty_columns_are_refused_with_their_name_and_row() {
    let posterior = |contamination: Vec<f64>| Posterior {
        prior: vec![0.1; 2],
        log_clean: vec![0.0; 2],
        log_anomaly: vec![0.0; 2],
        contamination,
        member_means: vec![],
    };
    let targets = |suggested: usize| {
        Targets::Classification(ClassTargets {
            classes: digits(2),
            given: vec![0, 1],
            predicted: vec![0, 1],
            suggested: vec![0, suggested],
            suggested_probability: vec![1.0; 2],
        })
    };
    let refused = |contamination, suggested| {
        let error = Scored::new("y", posterior(contamination), targets(suggested)).unwrap_err();
        (error.kind(), error.to_string())
    };
    assert_eq!(
        refused(vec![0.5, f64::NAN], 1),
        (ErrorKind::Range, "Row 1 of `contamination` is NaN, which is out of its range.".into())
    );
    assert_eq!(
        refused(vec![0.5, 0.5], 2),
        (ErrorKind::Range, "Row 1 of `suggested` is class 2, but there are only 2 classes.".into())
    );
    assert_eq!(
        refused(vec![0.5; 3], 1),
        (
            ErrorKind::Length,
            "Column `prior` has 2 rows where `contamination` has 3; pass one value per row.".into()
        )
    );
    assert_eq!(refused(vec![], 1).0, ErrorKind::Length);
}
