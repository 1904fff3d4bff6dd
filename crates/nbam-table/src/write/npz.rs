//! NPZ: one uncompressed array per column, as NumPy's `savez` writes them.

use std::io::{Error, Result, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::OutputValues;
use super::cells::{Cell, Cells};
use crate::column::{BlockValues, Column, NumericKind};

pub(super) fn write(
    named: &[(String, Cells<'_>)],
    rows: usize,
    writer: &mut (impl Write + ?Sized),
) -> Result<()> {
    let mut archive = ZipWriter::new_stream(writer);
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    for (name, cells) in named {
        archive.start_file(format!("{name}.npy"), options).map_err(Error::other)?;
        write_array(cells, rows, &mut archive)?;
    }
    archive.finish().map_err(Error::other)?.flush()
}

fn write_array(cells: &Cells<'_>, rows: usize, writer: &mut impl Write) -> Result<()> {
    if let Cells::Column(Column::Block(block)) = cells {
        let shape = format!("({rows}, {})", block.width);
        return match &block.values {
            BlockValues::F32(values) => {
                write_header("<f4", &shape, writer)?;
                write_numbers(values.iter().map(|value| value.to_le_bytes()), writer)
            }
            BlockValues::F16(values) => {
                write_header("<f2", &shape, writer)?;
                write_numbers(values.iter().map(|value| value.to_le_bytes()), writer)
            }
        };
    }
    let shape = format!("({rows},)");
    match array_type(cells) {
        ArrayType::Number => {
            write_header("<f8", &shape, writer)?;
            let number = |row| match cells.get(row) {
                Cell::Number(number) => number,
                Cell::Signed(number) => number as f64,
                _ => f64::NAN,
            };
            write_numbers((0..rows).map(|row| number(row).to_le_bytes()), writer)
        }
        ArrayType::Integer => {
            write_header("<i8", &shape, writer)?;
            let number = |row| match cells.get(row) {
                Cell::Signed(number) => number,
                Cell::Unsigned(number) => i64::try_from(number).unwrap_or(i64::MAX),
                _ => 0,
            };
            write_numbers((0..rows).map(|row| number(row).to_le_bytes()), writer)
        }
        ArrayType::Truth => {
            write_header("|b1", &shape, writer)?;
            let truth = |row| matches!(cells.get(row), Cell::Truth(true));
            write_numbers((0..rows).map(|row| [u8::from(truth(row))]), writer)
        }
        ArrayType::Text => write_texts(cells, rows, &shape, writer),
    }
}

enum ArrayType {
    Number,
    Integer,
    Truth,
    Text,
}

/// The narrowest array that holds the column: whole numbers and truth values cannot be missing.
fn array_type(cells: &Cells<'_>) -> ArrayType {
    match cells {
        Cells::Output(OutputValues::F64(_) | OutputValues::OptionalF64(_)) | Cells::Element(..) => {
            ArrayType::Number
        }
        Cells::Output(OutputValues::I64(_) | OutputValues::U64(_)) => ArrayType::Integer,
        Cells::Output(OutputValues::Bool(_)) => ArrayType::Truth,
        Cells::Column(Column::Boolean(truths)) if truths.values.iter().all(Option::is_some) => {
            ArrayType::Truth
        }
        Cells::Column(Column::Numeric(numbers)) if numbers.not_numbers.is_empty() => match numbers.kind {
            NumericKind::Integer if numbers.values.iter().all(|value| value.abs() < 9.0e15) => {
                ArrayType::Integer
            }
            NumericKind::Integer | NumericKind::Float => ArrayType::Number,
            NumericKind::Date | NumericKind::DateTime => ArrayType::Text,
        },
        _ => ArrayType::Text,
    }
}

/// Fixed-width UCS-4, as NumPy keeps text; a missing text is empty.
fn write_texts(cells: &Cells<'_>, rows: usize, shape: &str, writer: &mut impl Write) -> Result<()> {
    let text = |row: usize| match cells.get(row) {
        Cell::Text(text) => text.to_owned(),
        Cell::Made(text) => text,
        Cell::Truth(truth) => truth.to_string(),
        Cell::Signed(number) => number.to_string(),
        Cell::Number(number) => crate::column::format_number(number),
        _ => String::new(),
    };
    let width = (0..rows).map(|row| text(row).chars().count()).max().unwrap_or(0).max(1);
    write_header(&format!("<U{width}"), shape, writer)?;
    let mut bytes = Vec::with_capacity(width * 4);
    for row in 0..rows {
        bytes.clear();
        text(row).chars().for_each(|letter| bytes.extend_from_slice(&u32::from(letter).to_le_bytes()));
        bytes.resize(width * 4, 0);
        writer.write_all(&bytes)?;
    }
    Ok(())
}

/// The header of format version 1.0, padded so that the data starts at a multiple of 64 bytes.
fn write_header(descr: &str, shape: &str, writer: &mut impl Write) -> Result<()> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    while header.len() + 1 < length {
        header.push(' ');
    }
    header.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(length as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())
}

fn write_numbers<const N: usize>(
    numbers: impl Iterator<Item = [u8; N]>,
    writer: &mut impl Write,
) -> Result<()> {
    let mut buffer = Vec::with_capacity(1 << 16);
    for bytes in numbers {
        buffer.extend_from_slice(&bytes);
        if buffer.len() >= (1 << 16) - 8 {
            writer.write_all(&buffer)?;
            buffer.clear();
        }
    }
    writer.write_all(&buffer)
}
