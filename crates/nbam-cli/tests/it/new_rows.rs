//! `nbam score` and `nbam predict`: new rows under a saved model.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Place, SHORT, animals, arguments, column, line};

const AUDIT: [&str; 7] = ["audit", "animals.csv", "--target", "kind", "--exclude", "truth,key", "--quiet"];
const SCORE: [&str; 5] = ["score", "animals.csv", "--model", "nbam-audit", "--quiet"];
/// One network whose last state is what counts.
const SINGLE: [&str; 7] = ["--epochs", "60", "--members", "1", "--no-average", "--rows", "csv"];

/// A place with an audit of the animals.
fn audited() -> Place {
    let place = Place::with("animals.csv", animals(150));
    place.run_well(&arguments(&[&AUDIT, &SHORT]));
    place
}

#[test]
fn a_single_model_without_averaging_scores_its_rows_with_the_same_bits() {
    let place = Place::with("animals.csv", animals(150));
    place.run_well(&arguments(&[&AUDIT, &SINGLE]));
    let scored = place.run_well(&SCORE).stdout;
    assert_eq!(scored, place.read("nbam-audit/rows.csv"));
}

#[test]
fn a_regression_too() {
    let place = Place::with("line.csv", line(120));
    place.run_well(&arguments(&[&["audit", "line.csv", "--target", "y", "-q"], &SINGLE]));
    let scored = place.run_well(&["score", "line.csv", "--model", "nbam-audit/model", "-q"]).stdout;
    assert_eq!(scored, place.read("nbam-audit/rows.csv"));
    let predicted = place.run_well(&["predict", "line.csv", "--model", "nbam-audit", "-q"]).stdout;
    assert_eq!(predicted.lines().next().unwrap(), "row,predicted_value,predicted_sd,low,high");
    assert_eq!(column(&predicted, "predicted_value"), column(&scored, "predicted_value"));
}

#[test]
fn a_gate_for_a_pipeline() {
    let place = audited();
    let run = place.run(&arguments(&[&SCORE, &["--json", "--max-rate", "0.001"]]));
    assert_eq!(run.code, Some(3), "{run}");
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["rows"], 150);
    assert_eq!(place.names(), ["animals.csv", "nbam-audit"]);
}

#[test]
fn scores_go_to_a_file_too() {
    let place = audited();
    let printed = place.run_well(&SCORE).stdout;
    let run = place.run_well(&arguments(&[&SCORE, &["--out", "scores.csv"]]));
    assert_eq!(run.stdout, "");
    assert_eq!(place.read("scores.csv"), printed);
    place.run_well(&arguments(&[&SCORE, &["--out", "scores.parquet"]]));
    assert_snapshot!(place.refusal(&arguments(&[&SCORE, &["--out", "scores.txt"]])), @r"
    error: scores.txt: the extension says no kind of file that can be written
    hint: end the name with .csv, .tsv, .parquet, .jsonl or .npz
    ");
}

#[test]
fn predictions_need_no_target() {
    let place = audited();
    place.write("new.csv", "y,colour,x\n0.1,red,-4\n6,green,0.2\n");
    let run = place.run_well(&["predict", "new.csv", "--model", "nbam-audit"]);
    assert_eq!(
        run.stdout.lines().next().unwrap(),
        "row,predicted_label,predicted_probability,probability[ant],probability[bee],probability[cat]"
    );
    assert_eq!(column(&run.stdout, "predicted_label"), ["ant", "cat"]);
    let sum: f64 = ["ant", "bee", "cat"]
        .map(|class| column(&run.stdout, &format!("probability[{class}]"))[0].parse::<f64>().unwrap())
        .iter()
        .sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn new_rows_that_the_model_cannot_use() {
    let place = audited();
    let predict = |text: &str| {
        place.write("new.csv", text);
        place.refusal(&["predict", "new.csv", "--model", "nbam-audit"])
    };
    assert_snapshot!(predict("x,colour\n1,red\n"), @r"
    error: new.csv: there is no column named 'y'
    hint: the model was trained with this column; add it to the new rows
    ");
    assert_snapshot!(predict("x,y,colour\n1,2,red\n3,4,blue\n"), @r"
    error: new.csv: row 1 (line 3), column 'colour': the category 'blue' did not occur in the training rows
    hint: use one of 'green', 'red', leave the row out, or train again with such rows
    ");
    assert_snapshot!(predict("x,y,colour\n1,2,red\n3,4,\n"), @r"
    error: new.csv: row 1 (line 3), column 'colour': the category is missing, which never happened in the training rows
    hint: fill it in, leave the row out, or train again with such rows
    ");
    assert_snapshot!(predict("x,y,colour\n1,2,red\n3,much,red\n"), @r"
    error: new.csv: row 1 (line 3), column 'y': 'much' is not a number, as the model was trained with
    hint: correct the value, or leave it empty if it is unknown
    ");
    place.write("new.csv", "x,y,colour,kind\n1,2,red,ant\n3,4,red,dog\n");
    assert_snapshot!(place.refusal(&["score", "new.csv", "--model", "nbam-audit"]), @r"
    error: new.csv: row 1 (line 3), column 'kind': the model knows no class 'dog'
    hint: its classes are 'ant', 'bee', 'cat'
    ");
}

#[test]
fn the_audit_s_ids_are_expected_unless_told_otherwise() {
    let place = Place::with("animals.csv", animals(120));
    let audit = ["audit", "animals.csv", "--target", "kind", "--exclude", "truth", "--id", "key", "-q"];
    place.run_well(&arguments(&[&audit, &SHORT]));
    let scored = place.run_well(&SCORE).stdout;
    assert_eq!(column(&scored, "id")[5], "k5");
    place.write("new.csv", "x,y,colour,kind\n1,2,red,ant\n");
    assert_snapshot!(place.refusal(&["score", "new.csv", "--model", "nbam-audit"]), @r"
    error: new.csv: there is no column named 'key'
    hint: the audit named its rows by this column; give --id for another, or --no-id for none
    ");
    let scored = place.run_well(&["score", "new.csv", "--model", "nbam-audit", "--no-id", "-q"]).stdout;
    assert!(scored.starts_with("row,given_label,"));
}

#[test]
fn a_model_that_was_tampered_with_is_refused() {
    let place = audited();
    let refusal = || place.refusal(&SCORE);
    assert_snapshot!(place.refusal(&["score", "animals.csv", "--model", "nowhere"]), @r"
    error: nowhere: there is no such folder
    hint: give the folder that an audit wrote, or the model folder in it
    ");

    let description = place.read("nbam-audit/model/model.json");
    let format = description.find("\"format\": ").unwrap() + "\"format\": ".len();
    let mut changed = description.clone();
    changed.replace_range(format..=format, "99");
    place.write("nbam-audit/model/model.json", changed);
    assert_snapshot!(refusal(), @r"
    error: nbam-audit/model/model.json is of model format 99 (written by nbam 0.1.0), expected format 1 to 3
    hint: fit the model again with this version, or use the version that wrote it
    ");
    place.write("nbam-audit/model/model.json", &description[..description.len() / 2]);
    assert_eq!(refusal().lines().count(), 2);
    place.write("nbam-audit/model/model.json", description.replace("\"cat\"", "\"cat\", \"cow\""));
    assert_snapshot!(refusal(), @r"
    error: nbam-audit/model: the model cannot be used: its classes are not those of its network
    hint: copy the whole folder again, or repeat the audit that made it
    ");
    place.write("nbam-audit/model/model.json", &description);

    let mut tensors = std::fs::read(place.path("nbam-audit/model/model.safetensors")).unwrap();
    let last = tensors.len() - 1;
    tensors[last] ^= 1;
    place.write("nbam-audit/model/model.safetensors", &tensors);
    assert_snapshot!(refusal(), @r"
    error: nbam-audit/model/model.safetensors is damaged or was changed: its contents are not those that were saved with model.json
    hint: save the model again
    ");
    place.write("nbam-audit/model/model.safetensors", &tensors[..last / 2]);
    assert_eq!(refusal().lines().count(), 2);
    std::fs::remove_file(place.path("nbam-audit/model/model.safetensors")).unwrap();
    assert_eq!(refusal().lines().next().unwrap().split(':').next(), Some("error"));
}
