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
    assert_snapshot!(place.refusal(&["audit", "data.csv", "--target", "y"]), @r"
    error: data.csv: cannot be read: no such file
    hint: check the path and the working directory
    ");
}

#[test]
fn an_unknown_kind_of_file() {
    let place = Place::with("data.xlsx", "x");
    assert_snapshot!(place.refusal(&["audit", "data.xlsx", "--target", "y"]), @r"
    error: data.xlsx: the extension says no kind of file that can be read
    hint: use .csv, .tsv (also with .gz), .parquet, .arrow, .feather, .jsonl, .ndjson or .npz
    ");
}

#[test]
fn an_unknown_column() {
    assert_snapshot!(refusal("x,yy\n1,a\n2,b\n"), @r"
    error: data.csv: there is no column named 'y'
    hint: did you mean 'x'? the file has 2 columns
    ");
    assert_snapshot!(refusal_with(&rows(&["1,a", "2,b"]), &["--exclude", "truth"]), @r"
    error: data.csv: there is no column named 'truth'
    hint: the closest of the file's 2 columns: 'x', 'y'
    ");
    assert_snapshot!(refusal_with(&rows(&["1,a", "2,b"]), &["--features", "z"]), @r"
    error: data.csv: there is no column named 'z'
    hint: did you mean 'x'? the file has 2 columns
    ");
}

#[test]
fn an_empty_table() {
    assert_snapshot!(refusal(""), @r"
    error: data.csv: the file is empty
    hint: give a file with data
    ");
    assert_snapshot!(refusal("x,y\n"), @r"
    error: data.csv: the table has no rows
    hint: give a file with at least one row of data below its header
    ");
}

#[test]
fn a_ragged_csv() {
    assert_snapshot!(refusal(&rows(&["1,a", "2", "3,b"])), @r"
    error: data.csv: row 1 (line 3): there are 1 field, but the header names 2 columns
    hint: add or remove fields, or quote a field that contains the delimiter
    ");
}

#[test]
fn a_word_among_numbers() {
    let lines: Vec<String> = (0..40).map(|row| format!("{row}.5,{}", row % 2)).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines[7] = "n.a.?,1";
    assert_snapshot!(refusal(&rows(&lines)), @r"
    error: data.csv: row 7 (line 9), column 'x': 'n.a.?' is not a number, as the other values are
    hint: correct the value, leave it empty if it is unknown, or exclude the column
    ");
}

#[test]
fn targets_that_are_not_finite_or_missing() {
    let numbers = |odd: &str| rows(&["1,1.5", "2,2.5", &format!("3,{odd}"), "4,4.5"]);
    assert_snapshot!(refusal_with(&numbers("inf"), &["--task", "regression"]), @r"
    error: data.csv: row 2 (line 4), column 'y': the target is infinite
    hint: correct the value or leave the row out
    ");
    assert_snapshot!(refusal_with(&numbers("nan"), &["--task", "regression"]), @r"
    error: data.csv: row 2 (line 4), column 'y': the target is missing
    hint: fill it in or leave the row out; rows without a target can be predicted later
    ");
    assert_snapshot!(refusal_with(&numbers(""), &["--task", "regression"]), @r"
    error: data.csv: row 2 (line 4), column 'y': the target is missing
    hint: fill it in or leave the row out; rows without a target can be predicted later
    ");
    assert_snapshot!(refusal_with(&numbers("many"), &["--task", "regression"]), @r"
    error: data.csv: row 2 (line 4), column 'y': the target 'many' is not a number
    hint: correct the value, or give --task classification if the target names classes
    ");
    assert_snapshot!(refusal(&rows(&["1,a", "2,", "3,b"])), @r"
    error: data.csv: row 1 (line 3), column 'y': the target is missing
    hint: fill it in or leave the row out; rows without a target can be predicted later
    ");
}

#[test]
fn classes_that_cannot_be_learned() {
    assert_snapshot!(refusal(&rows(&["1,a", "2,a", "3,a"])), @r"
    error: data.csv: every row of the target column 'y' has the same value 'a'
    hint: there is nothing to learn from a constant target; choose another column
    ");
    assert_snapshot!(refusal(&rows(&["1,a", "2,a", "3,b", "4,b", "5,c"])), @r"
    error: data.csv: row 4 (line 6), column 'y': the class 'c' has only this row
    hint: correct the label, leave the row out, or merge the class with another
    ");
    let many: Vec<String> = (0..10_000).map(|row| format!("{row},name {row}")).collect();
    assert_snapshot!(refusal(&rows(&many.iter().map(String::as_str).collect::<Vec<_>>())), @r"
    error: data.csv: the target column 'y' has 10000 distinct values in 10000 rows (for example 'name 0'), too many to be classes
    hint: is it an id or free text? choose a column of labels that repeat
    ");
    assert_snapshot!(refusal_with(&rows(&["1,2.5", "2,2.5"]), &["--task", "regression"]), @r"
    error: data.csv: every row of the target column 'y' has the same value '2.5'
    hint: there is nothing to learn from a constant target; choose another column
    ");
}

#[test]
fn the_same_column_name_twice() {
    assert_snapshot!(refusal("x,y,x\n1,a,2\n2,b,3\n"), @r"
    error: data.csv: the column name 'x' occurs twice, as column 1 and column 3
    hint: rename one of them
    ");
}

#[test]
fn columns_that_cannot_play_their_part() {
    let text = "x,w,y\n1,1,a\n2,-1,a\n3,1,b\n4,1,b\n";
    assert_snapshot!(refusal_with(text, &["--weight", "w"]), @r"
    error: data.csv: row 1 (line 3), column 'w': the weight is '-1'
    hint: every weight must be a finite number zero or more; correct the value or leave the row out
    ");
    assert_snapshot!(refusal_with(text, &["--verified", "w"]), @r"
    error: data.csv: row 1 (line 3), column 'w': '-1' is neither true nor false
    hint: write true for rows known to be clean, false for contaminated ones, nothing for the rest
    ");
    assert_snapshot!(refusal_with(text, &["--error", "x"]), @r"
    error: data.csv: column 'x' gives standard errors, but the target holds classes
    hint: leave out --error, or give --task regression if the target is a quantity
    ");
    assert_snapshot!(refusal_with(text, &["--features", "x,y"]), @r"
    error: data.csv: column 'y' is listed among the features and is the target column too
    hint: give each column one role
    ");
    assert_snapshot!(refusal("x,y\n7,a\n7,a\n7,b\n7,b\n"), @r"
    error: data.csv: every feature is constant or empty
    hint: give columns that differ between rows
    ");
}

#[test]
fn free_text_is_no_feature() {
    let lines: Vec<String> = (0..60).map(|row| format!("remark number {row},{}", row % 2)).collect();
    assert_snapshot!(refusal(&rows(&lines.iter().map(String::as_str).collect::<Vec<_>>())), @r"
    error: data.csv: column 'x' has 60 distinct texts in 60 rows (for example 'remark number 0'), too many to be categories
    hint: exclude it, or give it as --id if it names the rows
    ");
}

#[test]
fn a_truncated_parquet_file() {
    let place = Place::new();
    let column = |name: &str| OutputColumn::new(name, OutputValues::F64((0..1000).map(f64::from).collect()));
    write_table(&[column("x"), column("y")], place.path("data.parquet")).unwrap();
    let bytes = std::fs::read(place.path("data.parquet")).unwrap();
    place.write("data.parquet", &bytes[..bytes.len() / 2]);
    assert_snapshot!(place.refusal(&["audit", "data.parquet", "--target", "y"]), @r"
    error: data.parquet: is not a complete Parquet file: Parquet error: Invalid Parquet file. Corrupt footer
    hint: it may be truncated or of another format; write or copy it again
    ");
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
    assert_snapshot!(place.refusal(&["audit", "data.npz", "--target", "y"]), @r"
    error: data.npz: the arrays have different numbers of rows: 'x' (2, 2), 'y' (3,)
    hint: choose the arrays that belong together, for example --features x_train --target y_train
    ");
    npz(&place, &[("x", npy("(2, 1, 2)", &[1.0, 2.0, 3.0, 4.0])), ("y", npy("(2,)", &[0.0, 1.0]))]);
    assert_snapshot!(place.refusal(&["audit", "data.npz", "--target", "y"]), @r"
    error: data.npz: array 'x' has the shape (2, 1, 2), but only one value or one list of numbers per row can be read
    hint: reshape it to (rows,) or (rows, features), or choose other arrays
    ");
}

#[test]
fn more_data_than_fits_in_memory() {
    let lines: Vec<String> = (0..20_000).map(|row| format!("{row}.25,{}", row % 2)).collect();
    let text = rows(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_snapshot!(refusal_with(&text, &["--memory-limit", "100K"]), @r"
    error: data.csv: the table would take about 320.0 kB of memory, more than the 100.0 kB that may be used
    hint: read fewer columns or rows, or use a machine with more memory
    ");
}

#[test]
fn options_out_of_range() {
    let place = Place::with("animals.csv", animals(30));
    let run = |option: &str, value: &str| {
        let stderr = place.refusal(&["audit", "animals.csv", "--target", "kind", option, value]);
        stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_snapshot!(run("--fdr", "1"), @"error: invalid value '1' for '--fdr <F>': give a number of at least 0 and below 1, such as 0.05");
    assert_snapshot!(run("--members", "0"), @"error: invalid value '0' for '--members <N>': give a whole number of at least 1");
    assert_snapshot!(run("--max-rate", "7"), @"error: invalid value '7' for '--max-rate <R>': give a number between 0 and 1, such as 0.2");
    assert_snapshot!(run("--threads", "none"), @"error: invalid value 'none' for '--threads <N>': give a whole number from 1 to 1,024");
    assert_snapshot!(run("--task", "clustering"), @"error: invalid value 'clustering' for '--task <TASK>'");
}
