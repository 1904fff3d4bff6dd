//! One NumPy array: its header, and its data as a column.

use std::io::Read;

use half::f16;

use super::arrow_columns::push_integer;
use super::dictionary::TextBuilder;
use crate::column::{BlockColumn, BlockValues, BooleanColumn, Column, NumericColumn, NumericKind};

/// A header longer than this is no header.
const LONGEST_HEADER: usize = 1 << 16;

/// The element type of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ElementType {
    Boolean,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    /// Code points of four bytes; how many.
    Unicode(usize),
    /// Single bytes; how many.
    Bytes(usize),
    /// A count of time units since 1970: how many of them are a second, or a day if `is_days`.
    Time {
        per_second: f64,
        is_days: bool,
    },
}

impl ElementType {
    /// Bytes per element.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) | Self::Bytes(size) => size,
            Self::Unicode(count) => count * 4,
            Self::Time { .. } => 8,
        }
    }
}

/// What a header says.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) element: ElementType,
    is_big_endian: bool,
    is_fortran: bool,
    pub(super) shape: Vec<usize>,
    /// Bytes before the data.
    pub(super) length: usize,
}

impl Header {
    /// The shape as NumPy prints it.
    pub(super) fn shape_text(&self) -> String {
        match &self.shape[..] {
            [one] => format!("({one},)"),
            several => {
                let sizes: Vec<String> = several.iter().map(usize::to_string).collect();
                format!("({})", sizes.join(", "))
            }
        }
    }

    /// Bytes of data, if the number makes sense.
    pub(super) fn data_bytes(&self) -> Option<u64> {
        let sizes = self.shape.iter().map(|size| *size as u64);
        sizes.chain([self.element.size() as u64]).try_fold(1_u64, u64::checked_mul)
    }

    /// About how many bytes the column will take.
    pub(super) fn column_bytes(&self) -> u64 {
        let data = self.data_bytes().unwrap_or(u64::MAX);
        let elements = data / (self.element.size() as u64).max(1);
        match (self.shape.len(), self.element) {
            (2, ElementType::Float(2)) => data,
            (2, _) => elements.saturating_mul(4),
            (_, ElementType::Unicode(_) | ElementType::Bytes(_)) => data.saturating_add(elements * 4),
            _ => elements.saturating_mul(8),
        }
    }
}

/// Reads the header; the error ends the sentence `array 'x' ...`.
pub(super) fn read_header(reader: &mut impl Read) -> Result<Header, String> {
    let cut_off = |_| "is cut off in its header".to_owned();
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(cut_off)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("is not a NumPy array".to_owned());
    }
    let (length, prefix) = if start[6] == 1 {
        let mut length = [0; 2];
        reader.read_exact(&mut length).map_err(cut_off)?;
        (usize::from(u16::from_le_bytes(length)), 10)
    } else {
        let mut length = [0; 4];
        reader.read_exact(&mut length).map_err(cut_off)?;
        (u32::from_le_bytes(length) as usize, 12)
    };
    if length > LONGEST_HEADER {
        return Err("has a header that is too long".to_owned());
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).map_err(cut_off)?;
    let text = String::from_utf8_lossy(&text);
    let descr = entry(&text, "descr").ok_or("has no element type in its header")?;
    let Some(descr) = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split(['\'', '"']).next()) else {
        return Err("is a structured array, which cannot be read".to_owned());
    };
    let (element, is_big_endian) = element_type(descr)?;
    let is_fortran = entry(&text, "fortran_order").is_some_and(|value| value.starts_with("True"));
    let shape = entry(&text, "shape").and_then(parse_shape).ok_or("has no shape in its header")?;
    Ok(Header { element, is_big_endian, is_fortran, shape, length: prefix + length })
}

/// What follows a key of the header's dictionary.
fn entry<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|quoted| text.find(quoted.as_str()).map(|start| start + quoted.len()))?;
    Some(text[after..].trim_start().strip_prefix(':')?.trim_start())
}

fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect()
}

fn element_type(descr: &str) -> Result<(ElementType, bool), String> {
    let is_big_endian = descr.starts_with('>');
    let kind = descr.trim_start_matches(['<', '>', '|', '=']);
    let letter = kind.chars().next().unwrap_or(' ');
    let rest = &kind[letter.len_utf8().min(kind.len())..];
    let size: Option<usize> = rest.parse().ok();
    let element = match (letter, size) {
        ('b', Some(1)) => ElementType::Boolean,
        ('i', Some(size @ (1 | 2 | 4 | 8))) => ElementType::Signed(size),
        ('u', Some(size @ (1 | 2 | 4 | 8))) => ElementType::Unsigned(size),
        ('f', Some(size @ (2 | 4 | 8))) => ElementType::Float(size),
        ('U', Some(count)) if count <= 1 << 24 => ElementType::Unicode(count),
        ('S' | 'a', Some(count)) if count <= 1 << 26 => ElementType::Bytes(count),
        ('M', None) => match rest {
            "8[D]" => ElementType::Time { per_second: 1.0, is_days: true },
            "8[s]" => ElementType::Time { per_second: 1.0, is_days: false },
            "8[ms]" => ElementType::Time { per_second: 1e3, is_days: false },
            "8[us]" => ElementType::Time { per_second: 1e6, is_days: false },
            "8[ns]" => ElementType::Time { per_second: 1e9, is_days: false },
            _ => return Err(format!("has elements of type {descr}, which cannot be read")),
        },
        ('O', _) => return Err("holds Python objects, which are not read for safety".to_owned()),
        _ => return Err(format!("has elements of type {descr}, which cannot be read")),
    };
    Ok((element, is_big_endian))
}

/// Makes a column of an array's data; the number of bytes was checked against the shape.
pub(super) fn column(header: &Header, data: &[u8]) -> Result<Column, String> {
    let (rows, width) = match header.shape[..] {
        [rows] => (rows, 1),
        [rows, width] => (rows, width),
        _ => return Err(format!("has the shape {}", header.shape_text())),
    };
    if width == 1 { Ok(one_per_row(header, data)) } else { block(header, data, rows, width) }
}

fn one_per_row(header: &Header, data: &[u8]) -> Column {
    let size = header.element.size();
    match header.element {
        ElementType::Float(_) => {
            let number = reader_of(header.element, header.is_big_endian);
            Column::Numeric(NumericColumn::new(data.chunks_exact(size).map(number).collect()))
        }
        ElementType::Boolean => {
            let values = data.iter().map(|byte| Some(*byte != 0)).collect();
            Column::Boolean(BooleanColumn { values })
        }
        ElementType::Signed(_) | ElementType::Unsigned(_) => {
            let (mut values, mut texts) = (Vec::with_capacity(data.len() / size), None);
            for bytes in data.chunks_exact(size) {
                let number = integer(bytes, header);
                push_integer(Some(number), &mut values, &mut texts);
            }
            match texts {
                Some(texts) => texts.finish(true),
                None => Column::Numeric(NumericColumn::new(values)),
            }
        }
        ElementType::Time { per_second, is_days } => {
            let number = |bytes: &[u8]| match integer(bytes, header) as i64 {
                i64::MIN => f64::NAN,
                count => count as f64 / per_second,
            };
            let kind = if is_days { NumericKind::Date } else { NumericKind::DateTime };
            let values = data.chunks_exact(size).map(number).collect();
            Column::Numeric(NumericColumn { values, kind, not_numbers: Vec::new() })
        }
        ElementType::Unicode(count) => {
            let rows = data.len().checked_div(count * 4).unwrap_or(header.shape[0]);
            text_column(rows, data, count * 4, |bytes| {
                let letters = bytes.chunks_exact(4).map(|bytes| unsigned(bytes, header.is_big_endian) as u32);
                letters.map(|letter| char::from_u32(letter).unwrap_or('\u{fffd}')).collect()
            })
        }
        ElementType::Bytes(count) => {
            let rows = data.len().checked_div(count).unwrap_or(header.shape[0]);
            text_column(rows, data, count, |bytes| String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn text_column(rows: usize, data: &[u8], size: usize, decode: impl Fn(&[u8]) -> String) -> Column {
    let mut builder = TextBuilder::default();
    for row in 0..rows {
        let text = decode(data.get(row * size..(row + 1) * size).unwrap_or_default());
        match text.trim_end_matches('\0') {
            "" => builder.push_missing(),
            text => builder.push(text),
        }
    }
    builder.finish(false)
}

fn block(header: &Header, data: &[u8], rows: usize, width: usize) -> Result<Column, String> {
    if width == 0 {
        return Err(format!("has the shape {}", header.shape_text()));
    }
    if matches!(header.element, ElementType::Unicode(_) | ElementType::Bytes(_) | ElementType::Time { .. }) {
        return Err("has two dimensions and holds no numbers".to_owned());
    }
    let size = header.element.size();
    let values = if header.element == ElementType::Float(2) {
        let is_big_endian = header.is_big_endian;
        let number = |bytes: &[u8]| f16::from_bits(unsigned(bytes, is_big_endian) as u16);
        BlockValues::F16(gather(data, size, rows, width, header.is_fortran, number).into())
    } else {
        let number = reader_of(header.element, header.is_big_endian);
        let number = |bytes: &[u8]| number(bytes) as f32;
        BlockValues::F32(gather(data, size, rows, width, header.is_fortran, number).into())
    };
    Ok(Column::Block(BlockColumn { width, values }))
}

/// The elements row by row, whichever way the file has them.
fn gather<T>(
    data: &[u8],
    size: usize,
    rows: usize,
    width: usize,
    is_fortran: bool,
    number: impl Fn(&[u8]) -> T,
) -> Vec<T> {
    if !is_fortran {
        return data.chunks_exact(size).map(number).collect();
    }
    let mut values = Vec::with_capacity(rows * width);
    for row in 0..rows {
        for element in 0..width {
            let start = (element * rows + row) * size;
            values.push(number(&data[start..start + size]));
        }
    }
    values
}

/// Up to eight bytes as an unsigned number.
fn unsigned(bytes: &[u8], is_big_endian: bool) -> u64 {
    let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    if is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}

fn integer(bytes: &[u8], header: &Header) -> i128 {
    let raw = unsigned(bytes, header.is_big_endian);
    if matches!(header.element, ElementType::Unsigned(_)) {
        return i128::from(raw);
    }
    let unused = 64 - 8 * bytes.len() as u32;
    i128::from(((raw << unused) as i64) >> unused)
}

/// A function that reads one number of the given type.
fn reader_of(element: ElementType, is_big_endian: bool) -> impl Fn(&[u8]) -> f64 {
    move |bytes| {
        let raw = unsigned(bytes, is_big_endian);
        match element {
            ElementType::Float(2) => f16::from_bits(raw as u16).to_f64(),
            ElementType::Float(4) => f64::from(f32::from_bits(raw as u32)),
            ElementType::Float(_) => f64::from_bits(raw),
            ElementType::Signed(size) => {
                let unused = 64 - 8 * size as u32;
                (((raw << unused) as i64) >> unused) as f64
            }
            _ => raw as f64,
        }
    }
}
