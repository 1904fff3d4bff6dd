//! Parquet, by record batches, only the wanted columns.

use std::fs::File;
use std::path::Path;

use arrow::datatypes::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;

use super::arrow_columns::{ArrowColumns, unsupported};
use super::guard::damaged;
use super::limits::Limit;
use crate::error::Error;
use crate::table::{ReadOptions, Table, check_names, check_options};

/// About how many bytes of numbers a record batch holds.
const BATCH_BYTES: u64 = 8 << 20;

pub(super) fn read(source: &str, path: &Path, options: &ReadOptions) -> Result<Table, Error> {
    let fault = |reason: &dyn std::fmt::Display| damaged(source, "Parquet", &reason.to_string());
    let file = File::open(path).map_err(|error| Error::reading(source, error))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| fault(&error))?;
    let schema = builder.schema().clone();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    check_names(source, &names)?;
    check_options(source, &names, options)?;

    let is_read = |index: usize| {
        let field = schema.field(index);
        options.wants(field.name()) && unsupported(field.data_type()).is_none()
    };
    let chosen: Vec<bool> = (0..names.len()).map(is_read).collect();
    let expected = expected_bytes(builder.metadata(), builder.parquet_schema(), &chosen, |root| {
        schema.field(root).data_type().clone()
    });
    let (rows, bytes) = expected.ok_or_else(|| fault(&"its sizes are negative"))?;
    Limit::new(options).check(source, bytes)?;

    let batch_rows = (BATCH_BYTES / (bytes / rows.max(1)).max(1)).clamp(16, 65_536) as usize;
    let mask =
        ProjectionMask::roots(builder.parquet_schema(), (0..names.len()).filter(|index| chosen[*index]));
    let reader =
        builder.with_projection(mask).with_batch_size(batch_rows).build().map_err(|error| fault(&error))?;
    let mut columns = ArrowColumns::new(source, &schema, options);
    for batch in reader {
        columns.append(&batch.map_err(|error| fault(&error))?)?;
    }
    columns.finish(names.into_iter().filter(|name| !options.wants(name)).collect())
}

/// The rows, and about the bytes that the chosen columns will take in memory; `None` if the file
/// declares nonsense.
fn expected_bytes(
    metadata: &ParquetMetaData,
    schema: &parquet::schema::types::SchemaDescriptor,
    chosen: &[bool],
    type_of: impl Fn(usize) -> DataType,
) -> Option<(u64, u64)> {
    let mut rows = 0_u64;
    let mut bytes = 0_u64;
    for group in metadata.row_groups() {
        let group_rows = u64::try_from(group.num_rows()).ok()?;
        rows = rows.checked_add(group_rows)?;
        for (leaf, column) in group.columns().iter().enumerate() {
            let root = schema.get_column_root_idx(leaf);
            if chosen.get(root) != Some(&true) {
                continue;
            }
            let values = u64::try_from(column.num_values()).ok()?;
            let stored = u64::try_from(column.uncompressed_size()).ok()?;
            let taken = match type_of(root) {
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                    stored.saturating_add(group_rows * 4)
                }
                data_type if data_type.is_nested() => values.saturating_mul(4),
                _ => group_rows.saturating_mul(8),
            };
            bytes = bytes.checked_add(taken)?;
        }
    }
    Some((rows, bytes))
}
