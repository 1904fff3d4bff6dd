//! The bundled data sets, whose truth is known.

use std::path::Path;

use crate::support::{Place, column};

/// Audits a bundled file without its truth; returns the share of the errors that were flagged, and of flags that are false.
fn audit(file: &str, target: &str, members: &str) -> (f64, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file);
    let input = std::fs::read_to_string(&path).unwrap();
    let place = Place::new();
    let exclude = format!("{target}_true,is_contaminated");
    let path = path.to_str().unwrap();
    place.run_well(&[
        "audit",
        path,
        "--target",
        target,
        "--exclude",
        &exclude,
        "--rows",
        "csv",
        "--members",
        members,
        "--quiet",
    ]);
    let rows = place.read("nbam-audit/rows.csv");
    let flags = column(&rows, "is_flagged");
    let truth = column(&input, "is_contaminated");
    let count = |flagged: &str, wrong: &str| {
        flags.iter().zip(&truth).filter(|(flag, truth)| **flag == flagged && **truth == wrong).count() as f64
    };
    let (hits, misses, false_flags) = (count("true", "true"), count("false", "true"), count("true", "false"));
    assert!(hits + misses > 0.0, "the truth was not read");
    (hits / (hits + misses), false_flags / (hits + false_flags))
}

#[test]
fn planted_flips_of_digits_are_found() {
    let (recall, false_share) = audit("digits/digits.csv", "label", "1");
    assert!(recall >= 0.9, "{recall} of the flips were flagged");
    assert!(false_share <= 0.1, "{false_share} of the flags are false");
}

#[test]
fn slipped_decimal_points_of_diabetes_are_found() {
    let (recall, false_share) = audit("diabetes/diabetes.csv", "progression", "1");
    assert!(recall >= 0.8, "{recall} of the errors were flagged");
    assert!(false_share <= 0.15, "{false_share} of the flags are false");
}
