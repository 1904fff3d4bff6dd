//! A Burn model's audit has the audit's columns and agrees with itself.

use burn::tensor::{Device, Tensor};
use nbam_burn::score::{RowsFormat, score_classes, score_values};
use nbam_burn::{NbamClassification, NbamRegression};
use nbam_table::{Column, ReadOptions, Table};

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match table.column(name) {
        Some(Column::Numeric(column)) => (0..table.rows()).map(|row| column.values[row]).collect(),
        other => panic!("column {name}: {other:?}"),
    }
}

#[test]
fn a_classifiers_rows_are_those_of_an_audit() {
    let device = Device::flex();
    let nbam = NbamClassification::transition(3, 100, 10, &device);
    let batch = |logits: [[f32; 3]; 2], labels: [i32; 2]| {
        let zeros = Tensor::zeros([2, 1], &device);
        nbam.review(zeros, Tensor::from_floats(logits, &device), Tensor::from_ints(labels, &device))
    };
    let batches = [
        batch([[9.0, 0.0, 0.0], [0.0, 9.0, 0.0]], [0, 1]),
        batch([[0.0, 0.0, 9.0], [0.0, 9.0, 0.0]], [0, 1]),
    ];
    let names = ["ant", "bee", "cow"].map(String::from);
    let scores = score_classes("animal", &names, batches, 0.05).unwrap();
    assert_eq!(scores.decisions.flags.is_flagged, [false, false, true, false]);

    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    scores.write(&audit, "four animals", RowsFormat::Csv, false).unwrap();
    let table = Table::read(audit.join("rows.csv"), &ReadOptions::default()).unwrap();
    let header = std::fs::read_to_string(audit.join("rows.csv")).unwrap();
    assert_eq!(
        header.lines().next().unwrap(),
        "row,given_label,contamination,prior,log_clean,log_anomaly,is_flagged,predicted_label,suggested_label,suggested_probability"
    );
    assert!(header.lines().nth(3).unwrap().contains("ant") && header.lines().nth(3).unwrap().contains("cow"));
    let (prior, clean, anomaly) =
        (numbers(&table, "prior"), numbers(&table, "log_clean"), numbers(&table, "log_anomaly"));
    for (row, contamination) in numbers(&table, "contamination").into_iter().enumerate() {
        let odds = (prior[row] / (1.0 - prior[row])).ln() + anomaly[row] - clean[row];
        assert!((contamination - 1.0 / (1.0 + (-odds).exp())).abs() < 1e-9);
    }
    let report = std::fs::read_to_string(audit.join("report.html")).unwrap();
    assert!(report.contains("four animals") && report.contains("cow"));
    assert!(audit.join("summary.json").is_file());
    // What is there is not overwritten without being asked to.
    assert!(scores.write(&audit, "four animals", RowsFormat::Csv, false).is_err());
    scores.write(&audit, "four animals", RowsFormat::Parquet, true).unwrap();
    assert!(audit.join("rows.parquet").is_file());
}

#[test]
fn a_regressions_rows_are_those_of_an_audit() {
    let device = Device::flex();
    let heads = NbamRegression::new(1, 0.0, 1.0, &device);
    let column = |values: [f32; 3]| Tensor::<1>::from_floats(values, &device);
    let review = heads.review(
        Tensor::zeros([3, 1], &device),
        column([0.0, 1.0, 2.0]),
        column([-2.0; 3]),
        column([0.1, 7.0, 2.0]),
    );
    let scores = score_values("height", [review], 0.05).unwrap();
    assert_eq!(scores.decisions.flags.is_flagged, [false, true, false]);
    let names: Vec<String> = scores.rows().into_iter().map(|column| column.name).collect();
    assert_eq!(names[names.len() - 2..], ["predicted_value", "predicted_sd"]);
}

#[test]
fn nothing_to_score_is_an_error_and_no_panic() {
    assert!(score_classes("animal", &["ant".to_owned(), "bee".to_owned()], [], 0.05).is_err());
    let device = Device::flex();
    let nbam = NbamClassification::transition(3, 100, 10, &device);
    let review = nbam.review(
        Tensor::zeros([1, 1], &device),
        Tensor::from_floats([[1.0, 0.0, 0.0]], &device),
        Tensor::from_ints([2], &device),
    );
    // Three classes, two names.
    let error = score_classes("animal", &["ant".to_owned(), "bee".to_owned()], [review], 0.05).unwrap_err();
    assert!(error.to_string().contains("only 2 classes"), "{error}");
}
