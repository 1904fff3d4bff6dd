//! Arrow files and streams, and Feather version 2, which is the same.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow::datatypes::Schema;
use arrow::ipc::reader::{FileReader, StreamReader};

use super::arrow_columns::from_batches;
use super::arrow_sizes;
use super::guard::damaged;
use super::limits::Limit;
use crate::error::{Error, ErrorKind};
use crate::table::{ReadOptions, Table};

const FILE_MAGIC: &[u8] = b"ARROW1";
const OLD_FEATHER_MAGIC: &[u8] = b"FEA1";

pub(super) fn read(source: &str, path: &Path, options: &ReadOptions) -> Result<Table, Error> {
    let failed = |error| Error::reading(source, error);
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut magic = Vec::new();
    Read::by_ref(&mut file).take(8).read_to_end(&mut magic).map_err(failed)?;
    if magic.starts_with(OLD_FEATHER_MAGIC) {
        return Err(Error::new(ErrorKind::Format, format!("{source}: is a Feather file of version 1"))
            .with_hint("write it again as Feather version 2 or Parquet"));
    }
    let fault = |error: arrow::error::ArrowError| damaged(source, "Arrow", &error.to_string());
    let is_file = magic.starts_with(FILE_MAGIC);
    let sizes =
        if is_file { arrow_sizes::of_file(&mut file, size) } else { arrow_sizes::of_stream(&mut file, size) };
    let sizes = sizes.map_err(|reason| damaged(source, "Arrow", &reason))?;
    let limit = Limit::new(options);
    limit.check(source, sizes.largest)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    if is_file {
        let whole = FileReader::try_new_buffered(file, None).map_err(fault)?;
        let wanted = wanted_columns(&whole.schema(), options);
        if wanted.len() == whole.schema().fields().len() {
            limit.check(source, sizes.total)?;
            return from_batches(source, &whole.schema(), whole, options);
        }
        let schema = whole.schema();
        drop(whole);
        let file = File::open(path).map_err(failed)?;
        let reader = FileReader::try_new_buffered(file, Some(wanted)).map_err(fault)?;
        return from_batches(source, &schema, reader, options);
    }
    let reader = StreamReader::try_new(BufReader::new(file), None).map_err(fault)?;
    from_batches(source, &reader.schema(), reader, options)
}

fn wanted_columns(schema: &Schema, options: &ReadOptions) -> Vec<usize> {
    let fields = schema.fields().iter().enumerate();
    fields.filter(|(_, field)| options.wants(field.name())).map(|(index, _)| index).collect()
}
