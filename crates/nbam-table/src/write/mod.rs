//! Writing results and changed inputs.
//!
//! A file appears whole or not at all: it is written beside its place and renamed at the end.

mod atomic;
mod cells;
mod csv;
mod jsonl;
mod npz;
mod parquet;

use std::io::Write;
use std::path::Path;

use arrow::array::RecordBatch;

use crate::error::{Error, ErrorKind};
use crate::notes::quoted;
use crate::table::{Table, check_names};
use cells::{Cells, NamedCells};

/// The values of a column to write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum OutputValues {
    /// Numbers.
    F64(Vec<f64>),
    /// Numbers, some of them missing.
    OptionalF64(Vec<Option<f64>>),
    /// Whole numbers.
    I64(Vec<i64>),
    /// Counts and row numbers.
    U64(Vec<u64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Truth values, some of them missing.
    OptionalBool(Vec<Option<bool>>),
    /// Texts.
    Text(Vec<String>),
    /// Texts, some of them missing.
    OptionalText(Vec<Option<String>>),
    /// Texts that repeat: an index into `values` per row, or [`MISSING_CODE`](crate::MISSING_CODE).
    Category {
        /// The index of each row's text.
        codes: Vec<u32>,
        /// The distinct texts.
        values: Vec<String>,
    },
}

/// A named column to write.
#[derive(Debug, Clone)]
pub struct OutputColumn {
    /// The column's name.
    pub name: String,
    /// Its values, one per row.
    pub values: OutputValues,
}

impl OutputColumn {
    /// A column of this name with these values.
    pub fn new(name: impl Into<String>, values: OutputValues) -> Self {
        Self { name: name.into(), values }
    }
}

/// The kinds of file that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Csv { delimiter: u8 },
    Parquet,
    Jsonl,
    Npz,
}

/// Writes columns to a `.csv`, `.tsv`, `.parquet`, `.jsonl` or `.npz` file.
///
/// Numbers in text formats are the shortest that read back as the same numbers.
pub fn write_table(columns: &[OutputColumn], path: impl AsRef<Path>) -> Result<(), Error> {
    let named = columns.iter().map(|column| (column.name.clone(), Cells::Output(&column.values))).collect();
    write_cells(named, path.as_ref())
}

/// Writes columns as CSV with commas.
pub fn write_csv(columns: &[OutputColumn], writer: &mut dyn Write) -> Result<(), Error> {
    let named: NamedCells<'_> =
        columns.iter().map(|column| (column.name.clone(), Cells::Output(&column.values))).collect();
    let rows = check_cells("the output", &named)?;
    csv::write(&named, rows, b',', writer).map_err(|error| Error::writing("the output", error))
}

/// Columns as one Arrow record batch: what [`write_table`] writes to a Parquet file, for programs in memory.
pub fn record_batch(columns: &[OutputColumn]) -> Result<RecordBatch, Error> {
    let named: NamedCells<'_> =
        columns.iter().map(|column| (column.name.clone(), Cells::Output(&column.values))).collect();
    let rows = check_cells("the output", &named)?;
    parquet::batch(&named, 0..rows).map_err(|error| Error::writing("the output", error))
}

/// Writes a table back with some columns replaced (those of the same name) or added at its end.
///
/// A block becomes one column per element in CSV, and stays a list in Parquet and JSON lines.
pub fn write_changed(table: &Table, changes: &[OutputColumn], path: impl AsRef<Path>) -> Result<(), Error> {
    let changed = |name: &str| changes.iter().find(|change| change.name == name);
    let mut named: NamedCells<'_> = table
        .columns()
        .map(|(name, column)| {
            let cells = changed(name).map_or(Cells::Column(column), |change| Cells::Output(&change.values));
            (name.to_owned(), cells)
        })
        .collect();
    for change in changes.iter().filter(|change| table.column(&change.name).is_none()) {
        named.push((change.name.clone(), Cells::Output(&change.values)));
    }
    write_cells(named, path.as_ref())
}

fn write_cells(named: NamedCells<'_>, path: &Path) -> Result<(), Error> {
    let target = path.display().to_string();
    let kind = output_kind(path)?;
    let named = match kind {
        Kind::Csv { .. } => cells::expand_blocks(named),
        _ => named,
    };
    let rows = check_cells(&target, &named)?;
    atomic::write(path, |file| match kind {
        Kind::Csv { delimiter } => csv::write(&named, rows, delimiter, file),
        Kind::Parquet => parquet::write(&named, rows, file),
        Kind::Jsonl => jsonl::write(&named, rows, file),
        Kind::Npz => npz::write(&named, rows, file),
    })
    .map_err(|error| Error::writing(&target, error))
}

fn output_kind(path: &Path) -> Result<Kind, Error> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("csv") => Ok(Kind::Csv { delimiter: b',' }),
        Some("tsv") => Ok(Kind::Csv { delimiter: b'\t' }),
        Some("parquet") => Ok(Kind::Parquet),
        Some("jsonl" | "ndjson") => Ok(Kind::Jsonl),
        Some("npz") => Ok(Kind::Npz),
        _ => Err(Error::new(
            ErrorKind::Format,
            format!("{}: the extension says no kind of file that can be written", path.display()),
        )
        .with_hint("end the name with .csv, .tsv, .parquet, .jsonl or .npz")),
    }
}

/// Names must differ, lengths agree, and every column be writable; returns the number of rows.
fn check_cells(target: &str, named: &NamedCells<'_>) -> Result<usize, Error> {
    let names: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
    check_names(target, &names)?;
    let rows = named.first().map_or(0, |(_, cells)| cells.rows());
    for (name, cells) in named {
        if cells.rows() != rows {
            return Err(Error::new(
                ErrorKind::Value,
                format!(
                    "{target}: column {} has {} rows, but column {} has {rows}",
                    quoted(name),
                    cells.rows(),
                    quoted(&names[0])
                ),
            ));
        }
        if let Some(reason) = cells.unsupported() {
            return Err(Error::new(
                ErrorKind::Value,
                format!("{target}: column {} {reason}, which cannot be written", quoted(name)),
            )
            .with_hint("leave the column out of the input"));
        }
    }
    Ok(rows)
}
