//! `nbam corrupt`: known mistakes, and audits that find them.

use insta::assert_snapshot;

use crate::support::{Place, SHORT, animals, arguments, column, line};

/// The animals with their true labels only.
fn clean(rows: usize) -> String {
    let mut text = String::new();
    for line in animals(rows).lines() {
        let cells: Vec<&str> = line.split(',').collect();
        text += &format!("{},{},{}\n", cells[1], cells[2], cells[5]);
    }
    text
}

#[test]
fn most_flips_are_found_by_an_audit() {
    let place = Place::with("clean.csv", clean(600));
    let flips = ["--flip", "ant=bee:0.3", "--flip", "bee=cat:0.2", "--seed", "3", "--out", "dirty.csv"];
    let run = place.run_well(&arguments(&[&["corrupt", "clean.csv", "--target", "truth"], &flips]));
    assert_snapshot!(run, @r"
    exit code: 0
    --- stdout
    --- stderr
    94 of 600 targets are now wrong (15.7 %): dirty.csv
    next: audit it without the truth: --exclude 'truth_true,is_contaminated'
    ");
    let dirty = place.read("dirty.csv");
    let planted = column(&dirty, "is_contaminated");
    for (row, is_contaminated) in planted.iter().enumerate() {
        let is_changed = column(&dirty, "truth")[row] != column(&dirty, "truth_true")[row];
        assert_eq!(*is_contaminated == "true", is_changed);
    }
    let audit = ["audit", "dirty.csv", "--target", "truth", "--exclude", "truth_true,is_contaminated", "-q"];
    place.run_well(&arguments(&[&audit, &SHORT, &["--rows", "csv"]]));
    let rows = place.read("nbam-audit/rows.csv");
    let flagged = column(&rows, "is_flagged");
    let count = |of: &dyn Fn(usize) -> bool| (0..600).filter(|&row| of(row)).count() as f64;
    let wrong = count(&|row| planted[row] == "true");
    let found = count(&|row| planted[row] == "true" && flagged[row] == "true");
    let false_flags = count(&|row| planted[row] == "false" && flagged[row] == "true");
    assert!(found >= 0.9 * wrong, "{found} of {wrong}");
    assert!(false_flags <= 0.1 * (found + false_flags), "{false_flags} false beside {found}");
}

#[test]
fn the_same_seed_corrupts_the_same_rows() {
    let place = Place::with("clean.csv", clean(90));
    let corrupt = |seed: &str, out: &str| {
        let options = ["--symmetric", "0.5", "--seed", seed, "--out", out, "-q"];
        place.run_well(&arguments(&[&["corrupt", "clean.csv", "--target", "truth"], &options]));
        place.read(out)
    };
    assert_eq!(corrupt("1", "a.csv"), corrupt("1", "b.csv"));
    assert_ne!(corrupt("1", "a.csv"), corrupt("2", "c.csv"));
}

#[test]
fn numbers_suffer_gross_errors() {
    let place = Place::with("line.csv", line(50));
    let corrupted = |option: &str, value: &str| {
        let options = [option, value, "--out", "dirty.csv", "-q"];
        place.run_well(&arguments(&[&["corrupt", "line.csv", "--target", "y"], &options]));
        let dirty = place.read("dirty.csv");
        let numbers =
            |name| column(&dirty, name).iter().map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
        (numbers("y"), numbers("y_true"))
    };
    let (observed, truth) = corrupted("--shift", "2.5:1");
    assert!(observed.iter().zip(&truth).all(|(observed, truth)| (observed - truth - 2.5).abs() < 1e-9));
    assert!(corrupted("--sentinel", "-999:1").0.iter().all(|observed| *observed == -999.0));
    let (observed, truth) = corrupted("--unit", "1000:1");
    assert!(observed.iter().zip(&truth).all(|(observed, truth)| (observed - truth * 1000.0).abs() < 1e-6));
    let (observed, truth) = corrupted("--shift", "-2sd:0.5");
    let moved = observed.iter().zip(&truth).filter(|(observed, truth)| *observed < *truth).count();
    assert!((10..40).contains(&moved), "{moved}");
}

#[test]
fn faults_are_named() {
    let place = Place::with("clean.csv", clean(30));
    let corrupt = |options: &[&str]| {
        place.refusal(&arguments(&[
            &["corrupt", "clean.csv", "--target", "truth", "--out", "dirty.csv"],
            options,
        ]))
    };
    assert_snapshot!(corrupt(&["--flip", "ant=dog:0.5"]), @r"
    error: clean.csv: --flip 'ant=dog:0.5' names 'dog', which is no class of the target
    hint: its classes are 'ant', 'bee', 'cat'
    ");
    assert_snapshot!(corrupt(&["--flip", "ant"]), @r"
    error: --flip 'ant' is not of the form FROM=TO:ETA
    hint: the last part is a probability between 0 and 1
    ");
    assert_snapshot!(corrupt(&["--shift", "1:0.5"]), @r"
    error: clean.csv: row 0 (line 2), column 'truth': the target 'ant' is not a number
    hint: correct the value, or corrupt labels by --symmetric or --flip
    ");
    assert_snapshot!(corrupt(&["--shift", "far:0.5"]), @r"
    error: --shift 'far:0.5' is not of the form AMOUNT:RATE
    hint: the first part is a number
    ");
    let onto_itself =
        ["corrupt", "clean.csv", "--target", "truth", "--symmetric", "0.2", "--out", "clean.csv"];
    assert_snapshot!(place.refusal(&onto_itself), @r"
    error: clean.csv: the corrupted file would replace the clean one
    hint: give another --out
    ");
}
