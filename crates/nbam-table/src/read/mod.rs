//! Reading files into tables.

pub(crate) mod arrow_columns;
mod arrow_ipc;
mod arrow_sizes;
mod blocks;
mod csv;
mod csv_fields;
mod csv_pieces;
mod dictionary;
mod guard;
mod jsonl;
mod limits;
mod npy;
mod npz;
mod parquet;
mod windows;

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::table::{ReadOptions, Table};

/// The kinds of file that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Csv,
    Tsv,
    Parquet,
    Arrow,
    Jsonl,
    Npz,
}

pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<Table, Error> {
    if path == Path::new("-") {
        let source = windows::Source::standard_input()?;
        return csv::read("standard input", &source, None, options);
    }
    let name = path.display().to_string();
    let metadata = std::fs::metadata(path).map_err(|error| Error::reading(&name, error))?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::Io, format!("{name}: is a folder, not a file"))
            .with_hint("give the path of one file"));
    }
    let (kind, is_compressed) = input_kind(path).ok_or_else(|| {
        Error::new(ErrorKind::Format, format!("{name}: the extension says no kind of file that can be read"))
            .with_hint("use .csv, .tsv (also with .gz), .parquet, .arrow, .feather, .jsonl, .ndjson or .npz")
    })?;
    if metadata.is_file() && metadata.len() == 0 {
        return Err(Error::new(ErrorKind::Empty, format!("{name}: the file is empty"))
            .with_hint("give a file with data"));
    }
    match kind {
        Kind::Csv | Kind::Tsv => {
            let delimiter = (kind == Kind::Tsv).then_some(b'\t');
            csv::read(&name, &windows::Source::file(path, is_compressed), delimiter, options)
        }
        Kind::Jsonl => jsonl::read(&name, &windows::Source::file(path, is_compressed), options),
        Kind::Parquet => guard::guarded(&name, "Parquet", || parquet::read(&name, path, options)),
        Kind::Arrow => guard::guarded(&name, "Arrow", || arrow_ipc::read(&name, path, options)),
        Kind::Npz => guard::guarded(&name, "NPZ", || npz::read(&name, path, options)),
    }
}

/// The kind by the extension, and whether the file is compressed with gzip.
fn input_kind(path: &Path) -> Option<(Kind, bool)> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let (stem, is_compressed) = match name.strip_suffix(".gz") {
        Some(stem) => (stem, true),
        None => (name.as_str(), false),
    };
    let kind = match stem.rsplit_once('.')?.1 {
        "csv" => Kind::Csv,
        "tsv" => Kind::Tsv,
        "jsonl" | "ndjson" => Kind::Jsonl,
        "parquet" if !is_compressed => Kind::Parquet,
        "arrow" | "feather" if !is_compressed => Kind::Arrow,
        "npz" if !is_compressed => Kind::Npz,
        _ => return None,
    };
    Some((kind, is_compressed))
}
