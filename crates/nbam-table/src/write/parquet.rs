//! Parquet, by record batches.

use std::io::{Error, Result, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, FixedSizeListArray, Float16Array, Float32Array, Float64Array,
    Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::OutputValues;
use super::cells::{Cell, Cells};
use crate::column::{BlockColumn, BlockValues, Column, NumericKind};

/// The most rows, and about the most numbers, of a record batch.
const ROWS_PER_BATCH: usize = 65_536;
const NUMBERS_PER_BATCH: usize = 16_777_216;

pub(super) fn write(
    named: &[(String, Cells<'_>)],
    rows: usize,
    writer: &mut (impl Write + Send + ?Sized),
) -> Result<()> {
    let schema = schema(named);
    let width: usize = named
        .iter()
        .map(|(_, cells)| if let Cells::Column(Column::Block(block)) = cells { block.width } else { 1 })
        .sum();
    let batch_rows = (NUMBERS_PER_BATCH / width.max(1)).clamp(1, ROWS_PER_BATCH);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut parquet =
        ArrowWriter::try_new(writer, Arc::clone(&schema), Some(properties)).map_err(Error::other)?;
    for first in (0..rows).step_by(batch_rows) {
        let range = first..rows.min(first + batch_rows);
        parquet.write(&batch_of(&schema, named, range)?).map_err(Error::other)?;
    }
    parquet.close().map_err(Error::other)?;
    Ok(())
}

/// Some rows as a record batch.
pub(super) fn batch(named: &[(String, Cells<'_>)], rows: Range<usize>) -> Result<RecordBatch> {
    batch_of(&schema(named), named, rows)
}

fn batch_of(schema: &SchemaRef, named: &[(String, Cells<'_>)], rows: Range<usize>) -> Result<RecordBatch> {
    let arrays: Result<Vec<ArrayRef>> = named.iter().map(|(_, cells)| array(cells, rows.clone())).collect();
    RecordBatch::try_new(Arc::clone(schema), arrays?).map_err(Error::other)
}

fn schema(named: &[(String, Cells<'_>)]) -> SchemaRef {
    let field = |(name, cells): &(String, Cells<'_>)| Field::new(name, data_type(cells), is_nullable(cells));
    Arc::new(Schema::new(named.iter().map(field).collect::<Vec<Field>>()))
}

fn is_nullable(cells: &Cells<'_>) -> bool {
    !matches!(
        cells,
        Cells::Output(
            OutputValues::F64(_)
                | OutputValues::I64(_)
                | OutputValues::U64(_)
                | OutputValues::Bool(_)
                | OutputValues::Text(_)
        )
    )
}

fn element_field(block: &BlockColumn) -> Field {
    let element = match &block.values {
        BlockValues::F32(_) => DataType::Float32,
        BlockValues::F16(_) => DataType::Float16,
    };
    Field::new("element", element, false)
}

fn data_type(cells: &Cells<'_>) -> DataType {
    match cells {
        Cells::Element(..) => DataType::Float64,
        Cells::Output(values) => match values {
            OutputValues::F64(_) | OutputValues::OptionalF64(_) => DataType::Float64,
            OutputValues::I64(_) => DataType::Int64,
            OutputValues::U64(_) => DataType::UInt64,
            OutputValues::Bool(_) | OutputValues::OptionalBool(_) => DataType::Boolean,
            OutputValues::Text(_) | OutputValues::OptionalText(_) | OutputValues::Category { .. } => {
                DataType::Utf8
            }
        },
        Cells::Column(column) => match column {
            Column::Boolean(_) => DataType::Boolean,
            Column::Text(_) | Column::Unsupported(_) => DataType::Utf8,
            Column::Block(block) => {
                DataType::FixedSizeList(Arc::new(element_field(block)), block.width as i32)
            }
            // A column with words among its numbers keeps them as text.
            Column::Numeric(numbers) if !numbers.not_numbers.is_empty() => DataType::Utf8,
            Column::Numeric(numbers) => match numbers.kind {
                NumericKind::Integer
                    if numbers.values.iter().all(|value| value.is_nan() || value.abs() < 9.0e15) =>
                {
                    DataType::Int64
                }
                NumericKind::Integer | NumericKind::Float => DataType::Float64,
                NumericKind::Date => DataType::Date32,
                NumericKind::DateTime => DataType::Timestamp(TimeUnit::Microsecond, None),
            },
        },
    }
}

fn array(cells: &Cells<'_>, rows: Range<usize>) -> Result<ArrayRef> {
    let number = |row| match cells.get(row) {
        Cell::Number(number) => Some(number),
        Cell::Single(number) => Some(f64::from(number)),
        Cell::Signed(number) => Some(number as f64),
        _ => None,
    };
    Ok(match data_type(cells) {
        DataType::Int64 => {
            let value = |row| if let Cell::Signed(number) = cells.get(row) { Some(number) } else { None };
            Arc::new(rows.map(value).collect::<Int64Array>())
        }
        DataType::UInt64 => {
            let value = |row| if let Cell::Unsigned(number) = cells.get(row) { Some(number) } else { None };
            Arc::new(rows.map(value).collect::<UInt64Array>())
        }
        DataType::Boolean => {
            let value = |row| if let Cell::Truth(truth) = cells.get(row) { Some(truth) } else { None };
            Arc::new(rows.map(value).collect::<BooleanArray>())
        }
        DataType::Date32 => {
            let day = |row| raw(cells, row).map(|days| days as i32);
            Arc::new(rows.map(day).collect::<Date32Array>())
        }
        DataType::Timestamp(..) => {
            let microsecond = |row| raw(cells, row).map(|seconds| (seconds * 1e6).round() as i64);
            Arc::new(rows.map(microsecond).collect::<TimestampMicrosecondArray>())
        }
        DataType::FixedSizeList(field, width) => {
            let Cells::Column(Column::Block(block)) = cells else {
                return Err(Error::other("only blocks are lists"));
            };
            let elements = rows.start * block.width..rows.end * block.width;
            let values: ArrayRef = match &block.values {
                BlockValues::F32(values) => {
                    Arc::new(Float32Array::from_iter_values(values[elements].iter().copied()))
                }
                BlockValues::F16(values) => {
                    Arc::new(Float16Array::from_iter_values(values[elements].iter().copied()))
                }
            };
            Arc::new(FixedSizeListArray::try_new(field, width, values, None).map_err(Error::other)?)
        }
        DataType::Utf8 => {
            let text = |row| match cells.get(row) {
                Cell::Text(text) => Some(text.to_owned()),
                Cell::Made(text) => Some(text),
                Cell::Signed(number) => Some(number.to_string()),
                Cell::Number(number) => Some(crate::column::format_number(number)),
                _ => None,
            };
            Arc::new(rows.map(text).collect::<StringArray>())
        }
        _ => Arc::new(rows.map(number).collect::<Float64Array>()),
    })
}

/// The number behind a date or a time.
fn raw(cells: &Cells<'_>, row: usize) -> Option<f64> {
    match cells {
        Cells::Column(Column::Numeric(numbers)) => Some(numbers.values[row]).filter(|value| !value.is_nan()),
        _ => None,
    }
}
