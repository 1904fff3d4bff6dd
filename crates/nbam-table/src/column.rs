//! Columns: what a table holds after reading, whatever the file was.

use arrow::buffer::ScalarBuffer;
use half::f16;

use crate::calendar;

/// The code of a missing value in a [`TextColumn`].
pub const MISSING_CODE: u32 = u32::MAX;

/// What the numbers of a [`NumericColumn`] mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumericKind {
    /// Every present value is a whole number.
    Integer,
    /// Any numbers.
    Float,
    /// Days since 1970-01-01.
    Date,
    /// Seconds since 1970-01-01T00:00:00.
    DateTime,
}

/// Numbers; a missing value is NaN.
#[derive(Debug, Clone)]
pub struct NumericColumn {
    /// One value per row; NaN where it is missing.
    pub values: Vec<f64>,
    /// What the numbers mean.
    pub kind: NumericKind,
    /// Values of an otherwise numeric column that are no numbers (row, in rising order, and text;
    /// NaN in `values`).
    /// The column cannot be used as a number until they are mended.
    pub not_numbers: Vec<(usize, String)>,
}

impl NumericColumn {
    /// A column of plain numbers: whole ones if all are.
    pub fn new(values: Vec<f64>) -> Self {
        let whole = values.iter().all(|value| value.is_nan() || value.fract() == 0.0);
        let kind = if whole { NumericKind::Integer } else { NumericKind::Float };
        Self { values, kind, not_numbers: Vec::new() }
    }
}

/// Truth values.
#[derive(Debug, Clone)]
pub struct BooleanColumn {
    /// One value per row.
    pub values: Vec<Option<bool>>,
}

/// Text with a dictionary: categories, labels, ids.
#[derive(Debug, Clone)]
pub struct TextColumn {
    /// One code per row, an index into `values`, or [`MISSING_CODE`].
    pub codes: Vec<u32>,
    /// The distinct values in order of first appearance.
    pub values: Vec<String>,
}

impl TextColumn {
    /// The text of a row, unless it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = *self.codes.get(row)?;
        self.values.get(code as usize).map(String::as_str)
    }
}

/// The numbers of a block, row after row, in the precision of the file. They are shared: a design holds the same memory, and a
/// block from another program in memory may be that program's own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum BlockValues {
    /// Single precision.
    F32(ScalarBuffer<f32>),
    /// Half precision, kept as it is.
    F16(ScalarBuffer<f16>),
}

/// Several numbers per row: an embedding, a matrix.
#[derive(Debug, Clone)]
pub struct BlockColumn {
    /// How many numbers each row has.
    pub width: usize,
    /// `rows * width` numbers; those of a missing row are NaN.
    pub values: BlockValues,
}

impl BlockColumn {
    /// One number of the block.
    pub fn get(&self, row: usize, element: usize) -> f32 {
        let index = row * self.width + element;
        match &self.values {
            BlockValues::F32(values) => values.get(index).copied().unwrap_or(f32::NAN),
            BlockValues::F16(values) => values.get(index).map_or(f32::NAN, |value| value.to_f32()),
        }
    }
}

/// A column of a kind that cannot be a feature; it was not read.
#[derive(Debug, Clone)]
pub struct UnsupportedColumn {
    /// How many rows it has.
    pub rows: usize,
    /// Why, as the end of a sentence: `holds lists of different lengths`.
    pub reason: String,
}

/// One column of a [`Table`](crate::Table).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Column {
    /// Numbers, dates and times.
    Numeric(NumericColumn),
    /// Truth values.
    Boolean(BooleanColumn),
    /// Categories and free text.
    Text(TextColumn),
    /// Several numbers per row.
    Block(BlockColumn),
    /// Something that cannot be used.
    Unsupported(UnsupportedColumn),
}

impl Column {
    /// How many rows the column has.
    pub fn rows(&self) -> usize {
        match self {
            Self::Numeric(column) => column.values.len(),
            Self::Boolean(column) => column.values.len(),
            Self::Text(column) => column.codes.len(),
            Self::Block(column) => {
                let count = match &column.values {
                    BlockValues::F32(values) => values.len(),
                    BlockValues::F16(values) => values.len(),
                };
                count.checked_div(column.width).unwrap_or(0)
            }
            Self::Unsupported(column) => column.rows,
        }
    }

    /// What the column holds, in words: `numbers`, `text`, `a block of 512 numbers per row`.
    pub fn description(&self) -> String {
        match self {
            Self::Numeric(column) => match column.kind {
                NumericKind::Integer => "whole numbers".to_owned(),
                NumericKind::Float => "numbers".to_owned(),
                NumericKind::Date => "dates".to_owned(),
                NumericKind::DateTime => "dates with times".to_owned(),
            },
            Self::Boolean(_) => "true or false".to_owned(),
            Self::Text(_) => "text".to_owned(),
            Self::Block(column) => format!("a block of {} numbers per row", column.width),
            Self::Unsupported(_) => "values of an unsupported kind".to_owned(),
        }
    }

    /// The value of a row as text, unless it is missing; a block as a count of its numbers.
    pub fn text(&self, row: usize) -> Option<String> {
        match self {
            Self::Numeric(column) => {
                let value = *column.values.get(row)?;
                if value.is_nan() {
                    let found = column.not_numbers.binary_search_by_key(&row, |(odd_row, _)| *odd_row);
                    return found.ok().map(|index| column.not_numbers[index].1.clone());
                }
                Some(match column.kind {
                    NumericKind::Integer | NumericKind::Float => format_number(value),
                    NumericKind::Date => calendar::format_date(value),
                    NumericKind::DateTime => calendar::format_date_time(value),
                })
            }
            Self::Boolean(column) => column.values.get(row).copied().flatten().map(|value| value.to_string()),
            Self::Text(column) => column.get(row).map(str::to_owned),
            Self::Block(column) => Some(format!("{} numbers", column.width)),
            Self::Unsupported(_) => None,
        }
    }

    /// About how many bytes the column takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Numeric(column) => column.values.len() * 8,
            Self::Boolean(column) => column.values.len(),
            Self::Text(column) => {
                column.codes.len() * 4 + column.values.iter().map(|value| value.len() + 24).sum::<usize>()
            }
            Self::Block(column) => match &column.values {
                BlockValues::F32(values) => values.len() * 4,
                BlockValues::F16(values) => values.len() * 2,
            },
            Self::Unsupported(_) => 0,
        }
    }
}

/// The shortest text that reads back as the same number; whole numbers without a point.
pub(crate) fn format_number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) && value.is_finite() {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}
