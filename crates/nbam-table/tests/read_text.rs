//! CSV and JSON lines: what is read, and what is said about bad files.

mod common;

use std::io::Write;

use common::{Folder, said, texts};
use nbam_table::{BlockValues, Column, ErrorKind, NumericKind, ReadOptions, Table};

#[test]
fn csv_kinds_of_columns() {
    let folder = Folder::new();
    let table = folder.table(
        "a.csv",
        "n,x,flag,word,day,time,id,empty\n\
         1,0.5,true,red,2020-01-02,2020-01-02T03:04:05,9007199254740993,\n\
         -2,NA,False,,2020-01-03,2020-01-02 03:04,9007199254740995,NaN\n\
         3,1e3,,blue,,,9007199254740997,null\n",
    );
    assert_eq!(texts(&table, "n"), ["1", "-2", "3"]);
    assert_eq!(texts(&table, "x"), ["0.5", "-", "1000"]);
    assert_eq!(texts(&table, "flag"), ["true", "false", "-"]);
    assert_eq!(texts(&table, "word"), ["red", "-", "blue"]);
    assert_eq!(texts(&table, "day"), ["2020-01-02", "2020-01-03", "-"]);
    assert_eq!(texts(&table, "time"), ["2020-01-02T03:04:05", "2020-01-02T03:04:00", "-"]);
    assert_eq!(texts(&table, "id"), ["9007199254740993", "9007199254740995", "9007199254740997"]);
    assert_eq!(texts(&table, "empty"), ["-", "-", "-"]);
    let kind = |name: &str| match table.column(name) {
        Some(Column::Numeric(column)) => Some(column.kind),
        _ => None,
    };
    assert_eq!(kind("n"), Some(NumericKind::Integer));
    assert_eq!(kind("x"), Some(NumericKind::Float));
    assert_eq!(kind("day"), Some(NumericKind::Date));
    assert_eq!(kind("time"), Some(NumericKind::DateTime));
    assert!(matches!(table.column("flag"), Some(Column::Boolean(_))));
    assert!(matches!(table.column("id"), Some(Column::Text(_))));
}

#[test]
fn csv_dialects() {
    let folder = Folder::new();
    let marked = folder.table("bom.csv", "\u{feff}a,b\r\n1,x\r\n2,\"y\"\r\n");
    assert_eq!(marked.names(), ["a", "b"]);
    assert_eq!(texts(&marked, "a"), ["1", "2"]);
    assert_eq!(texts(&marked, "b"), ["x", "y"]);

    let european = folder.table("semi.csv", "größe;\"na;me\"\n1,5;a\n-2,25;b\n");
    assert_eq!(european.names(), ["größe", "na;me"]);
    assert_eq!(texts(&european, "größe"), ["1.5", "-2.25"]);

    let tabs = folder.table("tabs.tsv", "a\tb,c\n1\t2\n");
    assert_eq!(tabs.names(), ["a", "b,c"]);
    let sniffed = folder.table("tabs.csv", "a\tb\n1\t2\n");
    assert_eq!(texts(&sniffed, "b"), ["2"]);

    let quoted = folder.table("quotes.csv", "a,b\n\"say \"\"hi\"\"\",1\n\"two\nlines, \",2\n日本,+3\n");
    assert_eq!(texts(&quoted, "a"), ["say \"hi\"", "two\nlines, ", "日本"]);
    assert_eq!(texts(&quoted, "b"), ["1", "2", "3"]);
    assert_eq!(quoted.place(2), "row 2", "lines and rows no longer agree");

    let unended = folder.table("unended.csv", "a,b\n1,2\n\n3,4");
    assert_eq!(texts(&unended, "b"), ["2", "4"]);
    let no_name = folder.table("index.csv", ",a\n0,5\n1,6\n");
    assert_eq!(no_name.names(), ["unnamed_1", "a"]);
}

#[test]
fn csv_compressed() {
    let folder = Folder::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"a,b\n1,x\n2,y\n").expect("memory");
    let packed = encoder.finish().expect("memory");
    let table = folder.table("a.csv.gz", &packed);
    assert_eq!(texts(&table, "b"), ["x", "y"]);
    let (message, _) = folder.fault("cut.csv.gz", &packed[..packed.len() - 10]);
    assert!(message.starts_with("cut.csv.gz: cannot be read: "), "{message}");
}

#[test]
fn csv_reads_only_what_is_wanted() {
    let folder = Folder::new();
    let content = "a,b,c\n1,2,3\n4,5,6\n";
    let options = ReadOptions { columns: Some(vec!["c".into(), "a".into()]), ..ReadOptions::default() };
    let table = folder.read("a.csv", content, &options).expect("a good table");
    assert_eq!(table.names(), ["a", "c"]);
    assert!(table.is_known("b") && !table.is_known("d"));
    let options = ReadOptions { exclude: vec!["b".into()], text: vec!["a".into()], ..ReadOptions::default() };
    let table = folder.read("a.csv", content, &options).expect("a good table");
    assert_eq!(table.names(), ["a", "c"]);
    assert!(matches!(table.column("a"), Some(Column::Text(_))));
    let options = ReadOptions { columns: Some(vec!["d".into()]), ..ReadOptions::default() };
    let error = folder.read("a.csv", content, &options).expect_err("an unknown column");
    assert_eq!(error.kind(), ErrorKind::UnknownColumn);
}

/// Words that come after the rows by which the kind of a column was guessed.
#[test]
fn csv_kinds_are_corrected_later() {
    let folder = Folder::new();
    let mut mixed = String::from("a,b\n");
    (0..3_000).for_each(|row| mixed.push_str(&format!("{row}.50,1\n")));
    (0..2_000).for_each(|row| mixed.push_str(&format!("word{row},2\n")));
    let table = folder.table("mixed.csv", &mixed);
    let column = texts(&table, "a");
    assert_eq!((column[0].as_str(), column[4_999].as_str()), ("0.50", "word1999"), "the spelling is kept");

    let mut nearly = String::from("a\n");
    (0..3_000).for_each(|row| nearly.push_str(&format!("{row}\n")));
    nearly.push_str("?\n5\n");
    let table = folder.table("nearly.csv", &nearly);
    let Some(Column::Numeric(column)) = table.column("a") else { panic!("numbers") };
    assert_eq!(column.not_numbers, [(3_000, "?".to_owned())]);
    assert_eq!(texts(&table, "a")[2_999..], ["2999", "?", "5"]);

    let early = format!("a\nunknown\n{}", (0..500).map(|row| format!("{row}\n")).collect::<String>());
    let table = folder.table("early.csv", &early);
    let Some(Column::Numeric(column)) = table.column("a") else { panic!("numbers") };
    assert_eq!(column.not_numbers, [(0, "unknown".to_owned())]);
}

/// The windows and pieces must not show: compare with a plain parser.
#[test]
fn csv_of_many_pieces() {
    let folder = Folder::new();
    let mut content = String::from("row,text,x\n");
    for row in 0..60_000 {
        let text = match row % 5 {
            0 => "\"a,\nb\"".to_owned(),
            1 => format!("\"q\"\"{}\"", row % 97),
            _ => format!("plain {}", row % 1_013),
        };
        content.push_str(&format!("{row},{text},{}\n", f64::from(row) / 7.0));
    }
    let table = folder.table("many.csv", &content);
    let mut reader = csv::Reader::from_reader(content.as_bytes());
    let mut rows = 0;
    for (row, record) in reader.records().enumerate() {
        let record = record.expect("a record");
        for (index, (_, column)) in table.columns().enumerate() {
            assert_eq!(column.text(row).as_deref(), record.get(index), "row {row}");
        }
        rows += 1;
    }
    assert_eq!(rows, table.rows());
}

#[test]
fn csv_faults() {
    let folder = Folder::new();
    assert_eq!(
        folder.fault("ragged.csv", "a,b,c\n1,2,3\n4,5\n"),
        said(
            "ragged.csv: row 1 (line 3): there are 2 fields, but the header names 3 columns",
            "add or remove fields, or quote a field that contains the delimiter"
        )
    );
    assert_eq!(
        folder.fault("long.csv", "a,b\n1,2\n4,5,6,7\n").0,
        "long.csv: row 1 (line 3): there are 4 fields, but the header names 2 columns"
    );
    assert_eq!(
        folder.fault("twice.csv", "a,b,a\n1,2,3\n"),
        said("twice.csv: the column name 'a' occurs twice, as column 1 and column 3", "rename one of them")
    );
    assert_eq!(
        folder.fault("header.csv", "a,b\n"),
        said(
            "header.csv: the table has no rows",
            "give a file with at least one row of data below its header"
        )
    );
    assert_eq!(folder.fault("empty.csv", ""), said("empty.csv: the file is empty", "give a file with data"));
    assert_eq!(
        folder.fault("quote.csv", "a,b\n1,2\n\"x,3\n4,5\n"),
        said("quote.csv: row 1 (line 3): a quote is opened and never closed", "close it")
    );
    assert_eq!(
        folder.fault("latin.csv", b"a,b\n1,caf\xe9\n".as_slice()),
        said(
            "latin.csv: row 0 (line 2): the value of column 'b' is not UTF-8 text",
            "save the file as UTF-8"
        )
    );
    assert_eq!(
        folder.fault("wide.csv", b"\xff\xfea\0,\0".as_slice()),
        said("wide.csv: is encoded in UTF-16", "save it as UTF-8")
    );
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = Folder::new();
    let fault = |name: &str| {
        let error = Table::read(folder.path(name), &ReadOptions::default()).expect_err("no such table");
        folder.words(&error)
    };
    assert_eq!(
        fault("none.csv"),
        said("none.csv: cannot be read: no such file", "check the path and the working directory")
    );
    std::fs::create_dir(folder.path("folder.csv")).expect("a folder");
    assert_eq!(fault("folder.csv"), said("folder.csv: is a folder, not a file", "give the path of one file"));
    assert_eq!(
        folder.fault("data.xlsx", "PK"),
        said(
            "data.xlsx: the extension says no kind of file that can be read",
            "use .csv, .tsv (also with .gz), .parquet, .arrow, .feather, .jsonl, .ndjson or .npz"
        )
    );
}

#[test]
fn too_much_for_the_memory() {
    let folder = Folder::new();
    let content = format!("a,b\n{}", "1.5,2.5\n".repeat(10_000));
    let options = ReadOptions { memory_limit: Some(100_000), ..ReadOptions::default() };
    let error = folder.read("big.csv", content, &options).expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::Memory);
    assert_eq!(
        folder.words(&error),
        said(
            "big.csv: the table would take about 160.0 kB of memory, more than the 100.0 kB that may be used",
            "read fewer columns or rows, or use a machine with more memory"
        )
    );
}

#[test]
fn json_lines() {
    let folder = Folder::new();
    let table = folder.table(
        "a.jsonl",
        "{\"n\": 1, \"w\": \"é\", \"v\": [1, 2.5], \"t\": true}\n\
         {\"n\": null, \"v\": [3, 4], \"late\": 9007199254740993, \"day\": \"2020-02-29\"}\n\
         {\"n\": 2.5, \"w\": \"b\", \"v\": [5, 6], \"t\": false, \"o\": {\"deep\": 1}}\n",
    );
    assert_eq!(texts(&table, "n"), ["1", "-", "2.5"]);
    assert_eq!(texts(&table, "w"), ["é", "-", "b"]);
    assert_eq!(texts(&table, "t"), ["true", "-", "false"]);
    assert_eq!(texts(&table, "late"), ["-", "9007199254740993", "-"]);
    assert_eq!(texts(&table, "day"), ["-", "2020-02-29", "-"]);
    assert!(matches!(table.column("o"), Some(Column::Unsupported(_))));
    let Some(Column::Block(block)) = table.column("v") else { panic!("a block") };
    let BlockValues::F32(values) = &block.values else { panic!("single precision") };
    assert_eq!(values[..], [1.0, 2.5, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(table.place(1), "row 1 (line 2)");
    assert_eq!(table.names(), ["n", "w", "v", "t", "late", "day", "o"], "the file's order");
}

#[test]
fn json_faults() {
    let folder = Folder::new();
    let hint = "write one JSON object per line, for example {\"age\": 41, \"label\": \"yes\"}";
    assert_eq!(
        folder.fault("a.jsonl", "{\"a\": 1}\n{\"a\": }\n"),
        said("a.jsonl: row 1 (line 2): the line is not valid JSON (expected value at character 7)", hint)
    );
    assert_eq!(
        folder.fault("a.jsonl", "[1, 2]\n"),
        said("a.jsonl: row 0 (line 1): the line is not a JSON object", hint)
    );
    assert_eq!(folder.fault("a.jsonl", "\n\n").0, "a.jsonl: the table has no rows");
    assert_eq!(
        folder.fault("twice.jsonl", "{\"a\": 1}\n{\"a\": 1, \"a\": 2}\n"),
        said("twice.jsonl: row 1: the key 'a' occurs twice", "rename one of them")
    );
    let uneven = folder.table("u.jsonl", "{\"v\": [1, 2]}\n{\"v\": [1]}\n");
    let Some(Column::Unsupported(column)) = uneven.column("v") else { panic!("not a block") };
    assert_eq!(column.reason, "holds lists of different lengths (2 numbers in row 0, 1 in row 1)");
}
