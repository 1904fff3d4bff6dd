//! Writing: what was written reads back the same, whole or not at all.

mod common;

use common::{Folder, said, texts};
use nbam_table::{
    MISSING_CODE, OutputColumn, OutputValues, ReadOptions, Table, write_changed, write_csv, write_table,
};
use proptest::prelude::*;

fn columns() -> Vec<OutputColumn> {
    vec![
        OutputColumn::new("row", OutputValues::U64(vec![0, 1, 2])),
        OutputColumn::new("x", OutputValues::F64(vec![0.1, -1e300, 1e-7])),
        OutputColumn::new("maybe", OutputValues::OptionalF64(vec![Some(1.5), None, Some(-0.0)])),
        OutputColumn::new("n", OutputValues::I64(vec![-1, 0, 1])),
        OutputColumn::new("t", OutputValues::Bool(vec![true, false, true])),
        OutputColumn::new("u", OutputValues::OptionalBool(vec![None, Some(false), Some(true)])),
        OutputColumn::new("s", OutputValues::Text(vec!["a, b".into(), "say \"é\"".into(), " x".into()])),
        OutputColumn::new("o", OutputValues::OptionalText(vec![Some("p".into()), None, Some("q".into())])),
        OutputColumn::new(
            "c",
            OutputValues::Category { codes: vec![1, 0, MISSING_CODE], values: vec!["k".into(), "l".into()] },
        ),
    ]
}

#[test]
fn csv_text() {
    let mut bytes = Vec::new();
    write_csv(&columns(), &mut bytes).expect("memory");
    assert_eq!(
        String::from_utf8(bytes).expect("text"),
        "row,x,maybe,n,t,u,s,o,c\n\
         0,0.1,1.5,-1,true,,\"a, b\",p,l\n\
         1,-1e300,,0,false,false,\"say \"\"é\"\"\",,k\n\
         2,1e-7,-0,1,true,true,\" x\",q,\n"
    );
}

#[test]
fn every_format_reads_back() {
    let folder = Folder::new();
    for name in ["a.csv", "a.tsv", "a.parquet", "a.jsonl", "a.npz"] {
        write_table(&columns(), folder.path(name)).expect("a writable folder");
        let table = Table::read(folder.path(name), &ReadOptions::default()).expect("a table");
        assert_eq!(table.names().len(), 9, "{name}");
        assert_eq!(texts(&table, "row"), ["0", "1", "2"], "{name}");
        assert_eq!(texts(&table, "x"), ["0.1", "-1e300", "1e-7"], "{name}");
        assert_eq!(texts(&table, "maybe")[..2], ["1.5", "-"], "{name}");
        assert_eq!(texts(&table, "n"), ["-1", "0", "1"], "{name}");
        assert_eq!(texts(&table, "t"), ["true", "false", "true"], "{name}");
        assert_eq!(texts(&table, "s"), ["a, b", "say \"é\"", " x"], "{name}");
        assert_eq!(texts(&table, "c"), ["l", "k", "-"], "{name}");
        assert_eq!(texts(&table, "u"), ["-", "false", "true"], "{name}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path(".")).expect("a folder").collect();
    assert_eq!(left.len(), 5, "no temporary file is left");
}

#[test]
fn a_changed_input() {
    let folder = Folder::new();
    let content = "{\"v\": [1, 2.5], \"y\": \"a\", \"day\": \"2020-01-02\", \"n\": 5}\n\
                   {\"v\": [3, 4], \"y\": \"b\", \"day\": \"2020-01-03\", \"n\": null}\n";
    let table = folder.table("in.jsonl", content);
    let changes = [
        OutputColumn::new("y", OutputValues::Text(vec!["b".into(), "b".into()])),
        OutputColumn::new("is_corrupted", OutputValues::Bool(vec![true, false])),
    ];
    for name in ["out.parquet", "out.jsonl", "out.npz"] {
        write_changed(&table, &changes, folder.path(name)).expect("a writable folder");
        let back = Table::read(folder.path(name), &ReadOptions::default()).expect("a table");
        assert_eq!(texts(&back, "v"), ["2 numbers", "2 numbers"], "{name}");
        assert_eq!(texts(&back, "y"), ["b", "b"], "{name}");
        assert_eq!(texts(&back, "day"), ["2020-01-02", "2020-01-03"], "{name}");
        assert_eq!(texts(&back, "n"), ["5", "-"], "{name}");
        assert_eq!(texts(&back, "is_corrupted"), ["true", "false"], "{name}");
    }
    write_changed(&table, &changes, folder.path("out.csv")).expect("a writable folder");
    let back = Table::read(folder.path("out.csv"), &ReadOptions::default()).expect("a table");
    assert_eq!(texts(&back, "v[1]"), ["2.5", "4"]);
}

#[test]
fn refusals_leave_nothing_behind() {
    let folder = Folder::new();
    let words = |columns: &[OutputColumn], name: &str| {
        let error = write_table(columns, folder.path(name)).expect_err("a refusal");
        folder.words(&error)
    };
    assert_eq!(
        words(&columns(), "a.arrow"),
        said(
            "a.arrow: the extension says no kind of file that can be written",
            "end the name with .csv, .tsv, .parquet, .jsonl or .npz"
        )
    );
    let uneven = [
        OutputColumn::new("a", OutputValues::I64(vec![1])),
        OutputColumn::new("b", OutputValues::I64(vec![1, 2])),
    ];
    assert_eq!(words(&uneven, "a.csv").0, "a.csv: column 'b' has 2 rows, but column 'a' has 1");
    let (message, _) = words(&columns(), "none/a.csv");
    assert_eq!(message, "none/a.csv: cannot be written: no such file");
    let nested = folder.table("in.jsonl", "{\"o\": {\"a\": 1}}\n");
    let error = write_changed(&nested, &[], folder.path("o.csv")).expect_err("a refusal");
    assert_eq!(folder.words(&error).0, "o.csv: column 'o' holds nested objects, which cannot be written");
    assert_eq!(std::fs::read_dir(folder.path(".")).expect("a folder").count(), 1);
}

proptest! {
    #[test]
    fn numbers_come_back_to_the_bit(
        numbers in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 1..50)
    ) {
        let folder = Folder::new();
        for name in ["a.csv", "a.parquet", "a.jsonl", "a.npz"] {
            let column = OutputColumn::new("x", OutputValues::F64(numbers.clone()));
            write_table(&[column], folder.path(name)).expect("a writable folder");
            let table = Table::read(folder.path(name), &ReadOptions::default()).expect("a table");
            let Some(nbam_table::Column::Numeric(column)) = table.column("x") else { panic!("numbers") };
            prop_assert_eq!(&column.values, &numbers);
        }
    }

    #[test]
    fn texts_come_back(texts in prop::collection::vec("[a-z\"',;\r\n\t é日]{1,8}", 1..20)) {
        let texts: Vec<String> = texts.into_iter().map(|text| format!("x{text}")).collect();
        let folder = Folder::new();
        for name in ["a.csv", "a.tsv", "a.parquet", "a.jsonl"] {
            let column = OutputColumn::new("x", OutputValues::Text(texts.clone()));
            write_table(&[column], folder.path(name)).expect("a writable folder");
            let options = ReadOptions { text: vec!["x".into()], ..ReadOptions::default() };
            let table = Table::read(folder.path(name), &options).expect("a table");
            prop_assert_eq!(&common::texts(&table, "x"), &texts);
        }
    }
}
