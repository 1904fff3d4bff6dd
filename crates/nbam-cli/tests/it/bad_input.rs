//! Input that cannot be used: one sentence with file, row, column and value, what to do, exit code 2, nothing written.

use std::io::Write as _;

use insta::assert_snapshot;
use nbam_table::{OutputColumn, OutputValues, write_table};

use crate::support::{Place, SHORT, animals, arguments};

/// The refusal of an audit of this text, whose target is `y`.
fn refusal(text: &str) -> String {
    refusal_with(text, &[])
}

fn refusal_with(text: &str, options: &[&str]) -> String {
    let place = Place::with("data.csv", text);
    place.refusal(&arguments(&[&["audit", "data.csv", "--target", "y"], &SHORT, options]))
}

/// Rows of a table with columns x and y.
fn rows(lines: &[&str]) -> String {
    format!("x,y\n{}\n", lines.join("\n"))
}

#[test]
fn a_missing_file() {
    let place = Place::new();
    assert_snapshot!(place.refusal(&["audit", "data.csv", "--target", "y"]), @"");
}

#[test]
fn an_unknown_kind_of_file() {
    let place = Place::with("data.xlsx", "x");
    assert_snapshot!(place.refusal(&["audit", "data.xlsx", "--target", "y"]), @"");
}

#[test]
fn an_unknown_column() {
    assert_snapshot!(refusal("x,yy\n1,a\n2,b\n"), @"");
    assert_snapshot!(refusal_with(&rows(&["1,a", "2,b"]), &["--exclude", "truth"]), @"");
    assert_snapshot!(refusal_with(&rows(&["1,a", "2,b"]), &["--features", "z"]), @"");
}

#[test]
fn an_empty_table() {
    assert_snapshot!(refusal(""), @"");
    assert_snapshot!(refusal("x,y\n"), @"");
}

#[test]
fn a_ragged_csv() {
    assert_snapshot!(refusal(&rows(&["1,a", "2", "3,b"])), @"");
}

#[test]
fn a_word_among_numbers() {
    let lines: Vec<String> = (0..40).map(|row| format!("{row}.5,{}", row % 2)).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines[7] = "n.a.?,1";
    assert_snapshot!(refusal(&rows(&lines)), @"");
}

#[test]
fn targets_that_are_not_finite_or_missing() {
    let numbers = |odd: &str| rows(&["1,1.5", "2,2.5", &format!("3,{odd}"), "4,4.5"]);
    assert_snapshot!(refusal_with(&numbers("inf"), &["--task", "regression"]), @"");
    assert_snapshot!(refusal_with(&numbers("nan"), &["--task", "regression"]), @"");
    assert_snapshot!(refusal_with(&numbers(""), &["--task", "regression"]), @"");
    assert_snapshot!(refusal_with(&numbers("many"), &["--task", "regression"]), @"");
    assert_snapshot!(refusal(&rows(&["1,a", "2,", "3,b"])), @"");
}

#[test]
fn classes_that_cannot_be_learned() {
    assert_snapshot!(refusal(&rows(&["1,a", "2,a", "3,a"])), @"");
    assert_snapshot!(refusal(&rows(&["1,a", "2,a", "3,b", "4,b", "5,c"])), @"");
    let many: Vec<String> = (0..10_000).map(|row| format!("{row},name {row}")).collect();
    assert_snapshot!(refusal(&rows(&many.iter().map(String::as_str).collect::<Vec<_>>())), @"");
    assert_snapshot!(refusal_with(&rows(&["1,2.5", "2,2.5"]), &["--task", "regression"]), @"");
}

#[test]
fn the_same_column_name_twice() {
    assert_snapshot!(refusal("x,y,x\n1,a,2\n2,b,3\n"), @"");
}

#[test]
fn columns_that_cannot_play_their_part() {
    let text = "x,w,y\n1,1,a\n2,-1,a\n3,1,b\n4,1,b\n";
    assert_snapshot!(refusal_with(text, &["--weight", "w"]), @"");
    assert_snapshot!(refusal_with(text, &["--verified", "w"]), @"");
    assert_snapshot!(refusal_with(text, &["--error", "x"]), @"");
    assert_snapshot!(refusal_with(text, &["--features", "x,y"]), @"");
    assert_snapshot!(refusal("x,y\n7,a\n7,a\n7,b\n7,b\n"), @"");
}

#[test]
fn free_text_is_no_feature() {
    let lines: Vec<String> = (0..60).map(|row| format!("remark number {row},{}", row % 2)).collect();
    assert_snapshot!(refusal(&rows(&lines.iter().map(String::as_str).collect::<Vec<_>>())), @"");
}

#[test]
fn a_truncated_parquet_file() {
    let place = Place::new();
    let column = |name: &str| OutputColumn::new(name, OutputValues::F64((0..1000).map(f64::from).collect()));
    write_table(&[column("x"), column("y")], place.path("data.parquet")).unwrap();
    let bytes = std::fs::read(place.path("data.parquet")).unwrap();
    place.write("data.parquet", &bytes[..bytes.len() / 2]);
    assert_snapshot!(place.refusal(&["audit", "data.parquet", "--target", "y"]), @"");
}

/// An array as NumPy writes it: a header that says kind and shape, then the numbers.
fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn npz(place: &Place, arrays: &[(&str, Vec<u8>)]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(place.path("data.npz")).unwrap());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), stored).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn npz_arrays_of_the_wrong_shape() {
    let place = Place::new();
    npz(&place, &[("x", npy("(2, 2)", &[1.0, 2.0, 3.0, 4.0])), ("y", npy("(3,)", &[0.0, 1.0, 0.0]))]);
    assert_snapshot!(place.refusal(&["audit", "data.npz", "--target", "y"]), @"");
    npz(&place, &[("x", npy("(2, 1, 2)", &[1.0, 2.0, 3.0, 4.0])), ("y", npy("(2,)", &[0.0, 1.0]))]);
    assert_snapshot!(place.refusal(&["audit", "data.npz", "--target", "y"]), @"");
}

#[test]
fn more_data_than_fits_in_memory() {
    let lines: Vec<String> = (0..20_000).map(|row| format!("{row}.25,{}", row % 2)).collect();
    let text = rows(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_snapshot!(refusal_with(&text, &["--memory-limit", "100K"]), @"");
}

#[test]
fn options_out_of_range() {
    let place = Place::with("animals.csv", animals(30));
    let run = |option: &str, value: &str| {
        let stderr = place.refusal(&["audit", "animals.csv", "--target", "kind", option, value]);
        stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_snapshot!(run("--fdr", "1"), @"");
    assert_snapshot!(run("--members", "0"), @"");
    assert_snapshot!(run("--max-rate", "7"), @"");
    assert_snapshot!(run("--threads", "none"), @"");
    assert_snapshot!(run("--task", "clustering"), @"");
}
