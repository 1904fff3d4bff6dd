//! Random and mutated files: no panic, no hang, no more memory than allowed.

mod common;

use common::Folder;
use nbam_table::{
    ErrorKind, OutputColumn, OutputValues, Preparation, ReadOptions, Roles, Table, write_changed,
};
use proptest::prelude::*;

const NAMES: [&str; 10] = [
    "a.csv",
    "a.tsv",
    "a.csv.gz",
    "a.parquet",
    "a.arrow",
    "a.feather",
    "a.jsonl",
    "a.npz",
    "stream.arrow",
    "packed.arrow",
];

/// A small memory limit, as the files are small.
fn options() -> ReadOptions {
    ReadOptions { memory_limit: Some(64 << 20), ..ReadOptions::default() }
}

/// Reads whatever it is and, if it is a table, uses it.
fn survive(folder: &Folder, name: &str, bytes: &[u8]) {
    match folder.read(name, bytes, &options()) {
        Ok(table) => {
            assert!(table.rows() > 0);
            for (_, column) in table.columns() {
                assert_eq!(column.rows(), table.rows());
                column.text(table.rows() - 1);
            }
            if let Ok((preparation, _)) = Preparation::fit(&table, &Roles::default()) {
                let design = preparation.apply(&table).expect("the rows it was fitted on");
                assert!(design.to_f32().iter().all(|value| value.is_finite()));
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains('\n'), "{message:?}");
        }
    }
}

/// A valid file of each kind.
fn valid(folder: &Folder, name: &str) -> Vec<u8> {
    let lines: String = (0..40)
        .map(|row| {
            format!(
                "{{\"n\": {row}, \"x\": {}.5, \"s\": \"t{}\", \"b\": true, \"v\": [1, {row}]}}\n",
                row % 7,
                row % 3
            )
        })
        .collect();
    if name.ends_with(".jsonl") {
        return lines.into_bytes();
    }
    let table = folder.table("source.jsonl", lines);
    let plain = if name.ends_with(".arrow") || name.ends_with(".feather") { "a.parquet" } else { name };
    let plain = plain.trim_end_matches(".gz");
    let added = [OutputColumn::new(
        "label",
        OutputValues::Text((0..40).map(|row| format!("l{}", row % 4)).collect()),
    )];
    write_changed(&table, &added, folder.path(plain)).expect("a writable folder");
    let bytes = std::fs::read(folder.path(plain)).expect("a file");
    if name.ends_with(".gz") {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&bytes).expect("memory");
        return encoder.finish().expect("memory");
    }
    if plain == name {
        return bytes;
    }
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(
        std::fs::File::open(folder.path(plain)).expect("a file"),
        1024,
    );
    let batches: Vec<_> = reader.expect("a file").map(|batch| batch.expect("a batch")).collect();
    let schema = batches[0].schema();
    let mut out = Vec::new();
    if name == "stream.arrow" {
        let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut out, &schema).expect("memory");
        batches.iter().for_each(|batch| writer.write(batch).expect("memory"));
        writer.finish().expect("memory");
    } else {
        let compression = (name == "packed.arrow").then_some(arrow::ipc::CompressionType::LZ4_FRAME);
        let options = arrow::ipc::writer::IpcWriteOptions::default();
        let options = options.try_with_compression(compression).expect("a known compression");
        let writer = arrow::ipc::writer::FileWriter::try_new_with_options(&mut out, &schema, options);
        let mut writer = writer.expect("memory");
        batches.iter().for_each(|batch| writer.write(batch).expect("memory"));
        writer.finish().expect("memory");
    }
    out
}

#[test]
fn valid_files_are_valid() {
    let folder = Folder::new();
    for name in NAMES {
        let bytes = valid(&folder, name);
        let table = folder.read(name, &bytes, &options()).expect("a valid file");
        assert_eq!(table.rows(), 40, "{name}");
    }
}

/// Every prefix of a binary file, and every one of its bytes changed in three ways.
#[test]
fn systematic_damage() {
    let folder = Folder::new();
    for name in ["a.npz", "a.parquet", "a.arrow", "stream.arrow", "packed.arrow", "a.csv.gz"] {
        let bytes = valid(&folder, name);
        let step = bytes.len() / 400 + 1;
        for position in (0..bytes.len()).step_by(step) {
            survive(&folder, name, &bytes[..position]);
            for value in [0x00, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[position] = value;
                survive(&folder, name, &damaged);
            }
        }
    }
}

#[test]
fn bombs_are_refused() {
    use std::io::Write;
    let folder = Folder::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"a,b\n").expect("memory");
    for _ in 0..200 {
        encoder.write_all(&b"1,2\n".repeat(1 << 16)).expect("memory");
    }
    let error = folder.read("a.csv.gz", encoder.finish().expect("memory"), &options());
    assert_eq!(error.expect_err("too large").kind(), ErrorKind::Memory);

    let size = 256_usize << 20;
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}\n");
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("x.npy", zip::write::SimpleFileOptions::default()).expect("memory");
    writer.write_all(b"\x93NUMPY\x01\x00").expect("memory");
    writer.write_all(&(header.len() as u16).to_le_bytes()).expect("memory");
    writer.write_all(header.as_bytes()).expect("memory");
    let zeros = vec![0; 1 << 20];
    (0..256).for_each(|_| writer.write_all(&zeros).expect("memory"));
    let error = folder.read("a.npz", writer.finish().expect("memory").into_inner(), &options());
    assert_eq!(error.expect_err("too large").kind(), ErrorKind::Memory);
}

#[test]
fn many_rows_in_a_few_bytes() {
    let folder = Folder::new();
    let path = folder.path("a.parquet");
    let rows = 10_000_000;
    let columns = [OutputColumn::new("x", OutputValues::U64(vec![7; rows]))];
    nbam_table::write_table(&columns, &path).expect("a writable folder");
    assert!(std::fs::metadata(&path).expect("a file").len() < 100_000);
    let error = Table::read(&path, &options()).expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::Memory);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 1..600)) {
        let folder = Folder::new();
        for name in NAMES {
            survive(&folder, name, &bytes);
        }
    }

    #[test]
    fn random_text(text in "[a-c0-9.,;\"\n\r\t{}\\[\\]: -]{1,300}") {
        let folder = Folder::new();
        for name in ["a.csv", "a.tsv", "a.jsonl"] {
            survive(&folder, name, text.as_bytes());
        }
    }

    #[test]
    fn mutated_files(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = Folder::new();
        for name in NAMES {
            let mut bytes = valid(&folder, name);
            for (index, value) in &changes {
                let position = index.index(bytes.len());
                bytes[position] = *value;
            }
            if let Some(cut) = &cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            survive(&folder, name, &bytes);
        }
    }
}
