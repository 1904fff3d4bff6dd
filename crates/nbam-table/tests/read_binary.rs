//! Parquet, Arrow and NPZ: what is read, and what is said about bad files.

mod common;

use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, DictionaryArray, FixedSizeListArray, Float16Array,
    Float32Array, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, TimestampNanosecondArray,
};
use arrow::datatypes::{DataType, Field, Float32Type, Int32Type, Schema};
use common::{Folder, said, texts};
use half::f16;
use nbam_table::{BlockValues, Column, ErrorKind, ReadOptions, Table};
use zip::write::SimpleFileOptions;

/// A batch with a column of every kind; `offset` makes batches differ.
fn batch(offset: i64) -> RecordBatch {
    let words: DictionaryArray<Int32Type> = ["x", "y", "x"].into_iter().collect();
    let lists = ListArray::from_iter_primitive::<Float32Type, _, _>(vec![
        Some(vec![Some(1.0), Some(2.0)]),
        None,
        Some(vec![Some(3.0), Some(4.0)]),
    ]);
    let halves = FixedSizeListArray::try_new(
        Arc::new(Field::new("item", DataType::Float16, true)),
        2,
        Arc::new(Float16Array::from_iter_values((0..6).map(|value| f16::from_f32(value as f32)))),
        None,
    )
    .expect("a list");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(Int64Array::from(vec![Some(offset), None, Some(offset + 2)]))),
        ("id", Arc::new(Int64Array::from(vec![offset, (1 << 53) + 1, 7]))),
        ("x", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(f64::NAN)]))),
        ("t", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("s", Arc::new(StringArray::from(vec![Some("a"), None, Some("ü")]))),
        ("d", Arc::new(words)),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 11_016]))),
        ("at", Arc::new(TimestampNanosecondArray::from(vec![1_500_000_000, 0, 0]))),
        ("v", Arc::new(lists)),
        ("h", Arc::new(halves)),
        ("raw", Arc::new(BinaryArray::from(vec![b"1".as_slice(), b"2", b"3"]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("a batch")
}

fn check_batches(table: &Table) {
    assert_eq!(table.rows(), 6);
    assert_eq!(texts(table, "n"), ["0", "-", "2", "10", "-", "12"]);
    assert_eq!(texts(table, "id")[..4], ["0", "9007199254740993", "7", "10"]);
    assert_eq!(texts(table, "x")[..3], ["0.5", "-", "-"]);
    assert_eq!(texts(table, "t")[..3], ["true", "-", "false"]);
    assert_eq!(texts(table, "s")[..3], ["a", "-", "ü"]);
    assert_eq!(texts(table, "d"), ["x", "y", "x", "x", "y", "x"]);
    assert_eq!(texts(table, "day")[..3], ["1970-01-01", "1970-01-02", "2000-02-29"]);
    assert_eq!(texts(table, "at")[0], "1970-01-01T00:00:01.500000");
    let Some(Column::Block(lists)) = table.column("v") else { panic!("a block") };
    assert_eq!((lists.width, lists.get(2, 1)), (2, 4.0));
    assert!(lists.get(1, 0).is_nan());
    let Some(Column::Block(halves)) = table.column("h") else { panic!("a block") };
    assert!(matches!(&halves.values, BlockValues::F16(values) if values.len() == 12));
    assert!(matches!(table.column("raw"), Some(Column::Unsupported(_))));
}

fn parquet_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch(0).schema(), None).expect("memory");
    writer.write(&batch(0)).expect("memory");
    writer.flush().expect("memory");
    writer.write(&batch(10)).expect("memory");
    writer.close().expect("memory");
    bytes
}

fn arrow_bytes(is_stream: bool) -> Vec<u8> {
    use arrow::ipc::writer::{FileWriter, StreamWriter};
    let mut bytes = Vec::new();
    let schema = batch(0).schema();
    if is_stream {
        let mut writer = StreamWriter::try_new(&mut bytes, &schema).expect("memory");
        writer.write(&batch(0)).expect("memory");
        writer.write(&batch(10)).expect("memory");
        writer.finish().expect("memory");
    } else {
        let mut writer = FileWriter::try_new(&mut bytes, &schema).expect("memory");
        writer.write(&batch(0)).expect("memory");
        writer.write(&batch(10)).expect("memory");
        writer.finish().expect("memory");
    }
    bytes
}

#[test]
fn the_same_table_from_parquet_arrow_and_memory() {
    let folder = Folder::new();
    check_batches(&folder.table("a.parquet", parquet_bytes()));
    check_batches(&folder.table("a.arrow", arrow_bytes(false)));
    check_batches(&folder.table("a.feather", arrow_bytes(false)));
    check_batches(&folder.table("stream.arrow", arrow_bytes(true)));
    let schema = batch(0).schema();
    let batches = [Ok(batch(0)), Ok(batch(10))];
    let table = Table::from_arrow_batches("memory", &schema, batches, &ReadOptions::default());
    check_batches(&table.expect("a table"));
}

#[test]
fn only_the_wanted_columns() {
    let folder = Folder::new();
    let options = ReadOptions {
        columns: Some(vec!["x".into(), "n".into()]),
        text: vec!["n".into()],
        ..ReadOptions::default()
    };
    for (name, bytes) in
        [("a.parquet", parquet_bytes()), ("a.arrow", arrow_bytes(false)), ("s.arrow", arrow_bytes(true))]
    {
        let table = folder.read(name, bytes, &options).expect("a table");
        assert_eq!(table.names(), ["n", "x"]);
        assert!(matches!(table.column("n"), Some(Column::Text(_))));
        assert!(table.is_known("h"));
    }
}

#[test]
fn damaged_files() {
    let folder = Folder::new();
    let hint = "it may be truncated or of another format; write or copy it again";
    let bytes = parquet_bytes();
    assert_eq!(
        folder.fault("cut.parquet", &bytes[..bytes.len() - 20]),
        said(
            "cut.parquet: is not a complete Parquet file: Parquet error: Invalid Parquet file. Corrupt footer",
            hint
        )
    );
    let (message, _) = folder.fault("text.parquet", "a,b\n1,2\n");
    assert!(message.starts_with("text.parquet: is not a complete Parquet file: "), "{message}");
    let bytes = arrow_bytes(false);
    let (message, said_hint) = folder.fault("cut.arrow", &bytes[..bytes.len() / 2]);
    assert!(message.starts_with("cut.arrow: is not a complete Arrow file: "), "{message}");
    assert_eq!(said_hint, hint);
    let (message, _) = folder.fault("a.npz", "not a zip archive");
    assert!(message.starts_with("a.npz: is not a complete NPZ file: "), "{message}");
    let (message, _) = folder.fault("old.feather", "FEA1 and more");
    assert_eq!(message, "old.feather: is a Feather file of version 1");
}

#[test]
fn empty_and_doubled() {
    let folder = Folder::new();
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true)]));
    let mut bytes = Vec::new();
    let writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, schema, None).expect("memory");
    writer.close().expect("memory");
    assert_eq!(folder.fault("empty.parquet", bytes).0, "empty.parquet: the table has no rows");

    let field = || Field::new("a", DataType::Float32, true);
    let schema = Schema::new(vec![field(), field()]);
    let array = || Arc::new(Float32Array::from(vec![1.0])) as ArrayRef;
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array(), array()]).expect("a batch");
    let table = Table::from_arrow_batches("memory", &schema, [Ok(batch)], &ReadOptions::default());
    let error = table.expect_err("a name occurs twice");
    assert_eq!(error.to_string(), "memory: the column name 'a' occurs twice, as column 1 and column 2");
}

#[test]
fn more_than_fits() {
    let folder = Folder::new();
    let options = ReadOptions { memory_limit: Some(200), ..ReadOptions::default() };
    for (name, bytes) in [
        ("a.parquet", parquet_bytes()),
        ("a.arrow", arrow_bytes(false)),
        ("s.arrow", arrow_bytes(true)),
        ("a.npz", npz(&[("x", "<f8", "False", "(100,)", vec![0; 800])], false)),
    ] {
        let error = folder.read(name, bytes, &options).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::Memory, "{name}: {error}");
    }
}

/// An array: name, element type, whether Fortran order, shape, data.
type Array<'a> = (&'a str, &'a str, &'a str, &'a str, Vec<u8>);

fn npz(arrays: &[Array<'_>], is_compressed: bool) -> Vec<u8> {
    let method =
        if is_compressed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, descr, fortran, shape, data) in arrays {
        writer.start_file(format!("{name}.npy"), options).expect("memory");
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        writer.write_all(b"\x93NUMPY\x01\x00").expect("memory");
        writer.write_all(&(header.len() as u16).to_le_bytes()).expect("memory");
        writer.write_all(header.as_bytes()).expect("memory");
        writer.write_all(data).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

fn bytes_of<const N: usize>(numbers: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.into_iter().flatten().collect()
}

#[test]
fn arrays_of_every_type() {
    let folder = Folder::new();
    let halves: Vec<f16> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f16::from_f32).to_vec();
    let ucs4: Vec<u8> = bytes_of("é\0ab".chars().map(|letter| u32::from(letter).to_le_bytes()));
    let arrays: Vec<Array<'_>> = vec![
        ("h", "<f2", "False", "(2, 3)", bytes_of(halves.iter().map(|value| value.to_le_bytes()))),
        (
            "fortran",
            "<f8",
            "True",
            "(2, 3)",
            bytes_of([1.0_f64, 4.0, 2.0, 5.0, 3.0, 6.0].map(f64::to_le_bytes)),
        ),
        ("big", ">f4", "False", "(2,)", bytes_of([1.5_f32, -2.0].map(f32::to_be_bytes))),
        ("i1", "|i1", "False", "(2,)", vec![255, 1]),
        ("u1", "|u1", "False", "(2,)", vec![255, 1]),
        ("i8", "<i8", "False", "(2,)", bytes_of([-5_i64, i64::MAX].map(i64::to_le_bytes))),
        ("b", "|b1", "False", "(2,)", vec![1, 0]),
        ("u", "<U2", "False", "(2,)", ucs4),
        ("s", "|S3", "False", "(2,)", b"ab\0xyz".to_vec()),
        ("one", "<i2", "False", "(2, 1)", bytes_of([3_i16, -4].map(i16::to_le_bytes))),
        ("day", "<M8[D]", "False", "(2,)", bytes_of([0_i64, i64::MIN].map(i64::to_le_bytes))),
    ];
    for is_compressed in [false, true] {
        let table = folder.table("a.npz", npz(&arrays, is_compressed));
        let Some(Column::Block(block)) = table.column("h") else { panic!("a block") };
        assert!(matches!(&block.values, BlockValues::F16(values) if values[..] == halves[..]));
        let Some(Column::Block(block)) = table.column("fortran") else { panic!("a block") };
        assert!(
            matches!(&block.values, BlockValues::F32(values) if values[..] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        );
        assert_eq!(texts(&table, "big"), ["1.5", "-2"]);
        assert_eq!(texts(&table, "i1"), ["-1", "1"]);
        assert_eq!(texts(&table, "u1"), ["255", "1"]);
        assert_eq!(texts(&table, "i8"), ["-5", "9223372036854775807"]);
        assert_eq!(texts(&table, "b"), ["true", "false"]);
        assert_eq!(texts(&table, "u"), ["é", "ab"]);
        assert_eq!(texts(&table, "s"), ["ab", "xyz"]);
        assert_eq!(texts(&table, "one"), ["3", "-4"]);
        assert_eq!(texts(&table, "day"), ["1970-01-01", "-"]);
    }
}

#[test]
fn arrays_of_wrong_shape() {
    let folder = Folder::new();
    let arrays: Vec<Array<'_>> = vec![
        ("x_train", "|u1", "False", "(3, 2)", vec![0; 6]),
        ("x_test", "|u1", "False", "(1, 2)", vec![0; 2]),
        ("y_train", "|u1", "False", "(3,)", vec![0; 3]),
        ("y_test", "|u1", "False", "(1,)", vec![0; 1]),
    ];
    let bytes = npz(&arrays, false);
    assert_eq!(
        folder.fault("split.npz", &bytes),
        said(
            "split.npz: the arrays have different numbers of rows: 'x_train' (3, 2), 'x_test' (1, 2), \
             'y_train' (3,), 'y_test' (1,)",
            "choose the arrays that belong together, for example --features x_train --target y_train"
        )
    );
    let options =
        ReadOptions { columns: Some(vec!["x_train".into(), "y_train".into()]), ..ReadOptions::default() };
    assert_eq!(folder.read("split.npz", &bytes, &options).expect("a table").rows(), 3);
    let options = ReadOptions { exclude: vec!["x_test".into(), "y_test".into()], ..ReadOptions::default() };
    assert_eq!(folder.read("split.npz", &bytes, &options).expect("a table").names(), ["x_train", "y_train"]);

    let image = npz(&[("image", "|u1", "False", "(1, 2, 2)", vec![0; 4])], false);
    assert_eq!(
        folder.fault("image.npz", image),
        said(
            "image.npz: array 'image' has the shape (1, 2, 2), but only one value or one list of numbers per \
             row can be read",
            "reshape it to (rows,) or (rows, features), or choose other arrays"
        )
    );
    let scalar = npz(&[("s", "<f8", "False", "()", vec![0; 8])], false);
    assert!(folder.fault("s.npz", scalar).0.starts_with("s.npz: array 's' has the shape (), but"));
    let objects = npz(&[("o", "|O", "False", "(2,)", vec![0; 8])], false);
    assert_eq!(
        folder.fault("o.npz", objects),
        said(
            "o.npz: array 'o' holds Python objects, which are not read for safety",
            "save it as numbers or text, for example with array.astype(str)"
        )
    );
    for shape in ["(5,)", "(4000000000, 4000000000)", "(18446744073709551615, 8)"] {
        let lying = npz(&[("x", "<f8", "False", shape, vec![0; 16])], false);
        assert_eq!(
            folder.fault("lying.npz", lying),
            said(
                &format!(
                    "lying.npz: array 'x' says it has the shape {shape}, but has another amount of data"
                ),
                "the file is damaged; write it again"
            )
        );
    }
    let texts = npz(&[("t", "<U1", "False", "(1, 2)", vec![0; 8])], false);
    assert_eq!(folder.fault("t.npz", texts).0, "t.npz: array 't' has two dimensions and holds no numbers");
}
