//! The target and the side columns: what is assumed and what is refused.

mod common;

use common::{Folder, said};
use nbam_table::{
    Error, ErrorKind, Roles, Target, Task, known_classes, known_values, standard_errors, verified, weights,
};

/// The target of a CSV file with the column `y`.
fn target(folder: &Folder, content: &str, task: Task) -> Result<(Target, Vec<&'static str>), Error> {
    let table = folder.table("t.csv", content);
    let (target, notes) = Target::extract(&table, "y", task)?;
    Ok((target, notes.iter().map(|note| note.code).collect()))
}

fn fault(folder: &Folder, content: &str, task: Task) -> (String, String) {
    let error = target(folder, content, task).expect_err("a bad target");
    assert_eq!(error.kind(), ErrorKind::Target);
    folder.words(&error)
}

/// A column `y` (and `x`, lest a missing target be a blank line).
fn column(values: &[&str]) -> String {
    format!("y,x\n{}", values.iter().map(|value| format!("{value},0\n")).collect::<String>())
}

fn classes(names: &[&str], codes: &[usize]) -> Target {
    Target::Classification {
        classes: names.iter().map(|name| (*name).to_owned()).collect(),
        codes: codes.to_vec(),
    }
}

#[test]
fn tasks_are_assumed() {
    let folder = Folder::new();
    let assume = |values: &[&str]| target(&folder, &column(values), Task::Auto).expect("a good target");
    assert_eq!(assume(&["b", "a", "b", "a"]), (classes(&["a", "b"], &[1, 0, 1, 0]), vec![]));
    assert_eq!(assume(&["true", "false", "false", "true"]).0, classes(&["false", "true"], &[1, 0, 0, 1]));
    assert_eq!(
        assume(&["10", "9", "10", "9", "100", "100"]),
        (classes(&["9", "10", "100"], &[1, 0, 1, 0, 2, 2]), vec!["assumed_classification"])
    );
    let (regression, notes) = assume(&["0.5", "1.5", "0.5"]);
    assert_eq!(regression, Target::Regression { values: vec![0.5, 1.5, 0.5] });
    assert_eq!(notes, ["assumed_regression"]);
    let many: Vec<String> = (0..200).map(|value| value.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (regression, notes) = assume(&many);
    assert!(matches!(regression, Target::Regression { .. }) && notes.is_empty());
}

#[test]
fn the_assumption_is_told() {
    let folder = Folder::new();
    let table = folder.table("t.csv", column(&["0", "1", "2", "0", "1", "2"]));
    let (_, notes) = Target::extract(&table, "y", Task::Auto).expect("a good target");
    assert_eq!(
        notes[0].message,
        "The target 'y' holds whole numbers with 3 distinct values, so they were taken for classes; \
         give --task regression if they are quantities."
    );
    let (target, notes) = Target::extract(&table, "y", Task::Regression).expect("a good target");
    assert!(matches!(target, Target::Regression { .. }) && notes.is_empty());
}

#[test]
fn labels_that_look_alike() {
    let folder = Folder::new();
    let table = folder.table("t.csv", "y\ncat\nCat\n\" cat\"\ncat\nCat\n\" cat\"\ndog\ndog\n");
    let (_, notes) = Target::extract(&table, "y", Task::Auto).expect("a good target");
    assert_eq!(notes[0].code, "similar_labels");
    assert_eq!(
        notes[0].message,
        "The labels 'cat' (2 rows) and 'Cat' (2 rows) and ' cat' (2 rows) of the target 'y' differ only by \
         case or blanks and were kept apart; merge them if they mean the same."
    );
}

#[test]
fn bad_targets() {
    let folder = Folder::new();
    let constant = "there is nothing to learn from a constant target; choose another column";
    let mend = "correct the value or leave the row out";
    let missing = "fill it in or leave the row out; rows without a target can be predicted later";
    for task in [Task::Auto, Task::Classification] {
        assert_eq!(
            fault(&folder, &column(&["a", "", "b"]), task),
            said("t.csv: row 1 (line 3), column 'y': the target is missing", missing)
        );
        assert_eq!(
            fault(&folder, &column(&["a", "a"]), task),
            said("t.csv: every row of the target column 'y' has the same value 'a'", constant)
        );
        assert_eq!(
            fault(&folder, &column(&["a", "b", "a"]), task),
            said(
                "t.csv: row 1 (line 3), column 'y': the class 'b' has only this row",
                "correct the label, leave the row out, or merge the class with another"
            )
        );
    }
    assert_eq!(
        fault(&folder, &column(&["1.5", "NaN", "2"]), Task::Regression),
        said("t.csv: row 1 (line 3), column 'y': the target is missing", missing)
    );
    assert_eq!(
        fault(&folder, &column(&["1.5", "3", "-inf"]), Task::Regression),
        said("t.csv: row 2 (line 4), column 'y': the target is infinite", mend)
    );
    assert_eq!(
        fault(&folder, &column(&["2.5", "2.5"]), Task::Auto),
        said("t.csv: every row of the target column 'y' has the same value '2.5'", constant)
    );
    assert_eq!(
        fault(&folder, &column(&["low", "high", "low", "high"]), Task::Regression),
        said(
            "t.csv: row 0 (line 2), column 'y': the target 'low' is not a number",
            "correct the value, or give --task classification if the target names classes"
        )
    );
    let mut nearly: Vec<String> = (0..150).map(|value| format!("{value}.5")).collect();
    nearly[120] = "n.a.".to_owned();
    let nearly: Vec<&str> = nearly.iter().map(String::as_str).collect();
    assert_eq!(
        fault(&folder, &column(&nearly), Task::Auto).0,
        "t.csv: row 120 (line 122), column 'y': the target 'n.a.' is not a number"
    );
}

#[test]
fn targets_with_too_many_values() {
    let folder = Folder::new();
    let ids: String = (0..10_000).map(|row| format!("id{row}\n")).collect();
    assert_eq!(
        fault(&folder, &format!("y\n{ids}"), Task::Auto),
        said(
            "t.csv: the target column 'y' has 10000 distinct values in 10000 rows (for example 'id0'), too \
             many to be classes",
            "is it an id or free text? choose a column of labels that repeat"
        )
    );
    let repeated = format!("y\n{ids}{ids}{ids}");
    assert!(fault(&folder, &repeated, Task::Auto).0.contains("10000 distinct values in 30000 rows"));
    let numbers: String = (0..100).map(|row| format!("{row}.5\n")).collect();
    assert_eq!(
        fault(&folder, &format!("y\n{numbers}"), Task::Classification).1,
        "give --task regression if it is a quantity; is it an id?"
    );
}

#[test]
fn blocks_are_no_targets() {
    let folder = Folder::new();
    let table = folder.table("t.jsonl", "{\"y\": [1, 2]}\n{\"y\": [3, 4]}\n");
    let error = Target::extract(&table, "y", Task::Auto).expect_err("a block");
    assert_eq!(
        folder.words(&error),
        said(
            "t.jsonl: the target column 'y' holds a block of 2 numbers per row, not one value per row",
            "choose a column of labels or numbers"
        )
    );
}

#[test]
fn targets_of_new_rows() {
    let folder = Folder::new();
    let known = ["1".to_owned(), "2".to_owned(), "x".to_owned()];
    let table = folder.table("new.csv", column(&["2", "1", "2"]));
    assert_eq!(known_classes(&table, "y", &known).expect("known classes"), [1, 0, 1]);
    assert_eq!(known_values(&table, "y").expect("numbers"), [2.0, 1.0, 2.0]);
    let table = folder.table("new.csv", column(&["2", "3"]));
    let error = known_classes(&table, "y", &known).expect_err("an unknown class");
    assert_eq!(
        folder.words(&error),
        said(
            "new.csv: row 1 (line 3), column 'y': the model knows no class '3'",
            "its classes are '1', '2', 'x'"
        )
    );
}

#[test]
fn side_columns() {
    let folder = Folder::new();
    let table = folder.table("s.csv", "w,e,v,bad\n0,1.5,yes,-1\n2,0.1,,0\n1,3,0,inf\n");
    assert_eq!(weights(&table, "w").expect("weights"), [0.0, 2.0, 1.0]);
    assert_eq!(standard_errors(&table, "e").expect("errors"), [1.5, 0.1, 3.0]);
    assert_eq!(verified(&table, "v").expect("truths"), [Some(true), None, Some(false)]);
    let error = weights(&table, "bad").expect_err("a negative weight");
    assert_eq!(
        folder.words(&error),
        said(
            "s.csv: row 0 (line 2), column 'bad': the weight is '-1'",
            "every weight must be a finite number zero or more; correct the value or leave the row out"
        )
    );
    let error = standard_errors(&table, "w").expect_err("a zero error");
    assert_eq!(folder.words(&error).0, "s.csv: row 0 (line 2), column 'w': the standard error is '0'");
    let error = weights(&table, "v").expect_err("words");
    assert_eq!(folder.words(&error).0, "s.csv: row 0 (line 2), column 'v': the weight is 'yes'");
    let error = verified(&table, "w").expect_err("no truth values");
    assert_eq!(
        folder.words(&error),
        said(
            "s.csv: row 1 (line 3), column 'w': '2' is neither true nor false",
            "write true for rows known to be clean, false for contaminated ones, nothing for the rest"
        )
    );
}

#[test]
fn roles_are_checked() {
    let folder = Folder::new();
    let table = folder.table("r.csv", "height,weight,label\n1,2,a\n3,4,b\n");
    let name = |name: &str| Some(name.to_owned());
    let words = |roles: Roles| folder.words(&roles.resolve(&table).expect_err("bad roles"));
    let roles = Roles { target: name("label"), ..Roles::default() };
    assert_eq!(roles.resolve(&table).expect("good roles"), ["height", "weight"]);
    assert_eq!(roles.needed_columns(), None);
    let roles = Roles { features: Some(vec!["weight".into()]), ..roles };
    assert_eq!(roles.needed_columns().expect("some"), ["weight", "label"]);
    assert_eq!(
        words(Roles { target: name("Lable"), ..Roles::default() }),
        said("r.csv: there is no column named 'Lable'", "did you mean 'label'? the file has 3 columns")
    );
    assert_eq!(
        words(Roles { target: name("completely different"), ..Roles::default() }).1,
        "the closest of the file's 3 columns: 'height', 'weight', 'label'"
    );
    assert_eq!(
        words(Roles { target: name("label"), features: Some(vec!["label".into()]), ..Roles::default() }),
        said(
            "r.csv: column 'label' is listed among the features and is the target column too",
            "give each column one role"
        )
    );
    assert_eq!(
        words(Roles { exclude: vec!["height".into(), "weight".into(), "label".into()], ..Roles::default() })
            .0,
        "r.csv: no column is left to be a feature"
    );
}
