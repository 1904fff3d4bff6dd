//! One view of everything that can be written: result columns and columns of a table.

use super::OutputValues;
use crate::column::{BlockColumn, Column};

/// Columns to write, in order.
pub(super) type NamedCells<'a> = Vec<(String, Cells<'a>)>;

/// The values of one column to write.
#[derive(Clone, Copy)]
pub(super) enum Cells<'a> {
    Output(&'a OutputValues),
    Column(&'a Column),
    /// One element of each row of a block.
    Element(&'a BlockColumn, usize),
}

/// One value.
pub(super) enum Cell<'a> {
    Missing,
    Number(f64),
    Single(f32),
    Signed(i64),
    Unsigned(u64),
    Truth(bool),
    Text(&'a str),
    /// A text made for the occasion, such as a date.
    Made(String),
    /// All numbers of a block's row.
    Block(&'a BlockColumn),
}

impl<'a> Cells<'a> {
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Column(column) => column.rows(),
            Self::Element(block, _) => Column::Block((*block).clone()).rows(),
            Self::Output(values) => match values {
                OutputValues::F64(values) => values.len(),
                OutputValues::OptionalF64(values) => values.len(),
                OutputValues::I64(values) => values.len(),
                OutputValues::U64(values) => values.len(),
                OutputValues::Bool(values) => values.len(),
                OutputValues::OptionalBool(values) => values.len(),
                OutputValues::Text(values) => values.len(),
                OutputValues::OptionalText(values) => values.len(),
                OutputValues::Category { codes, .. } => codes.len(),
            },
        }
    }

    /// Why the column cannot be written, if it cannot.
    pub(super) fn unsupported(&self) -> Option<&'a str> {
        match self {
            Self::Column(Column::Unsupported(column)) => Some(&column.reason),
            _ => None,
        }
    }

    pub(super) fn get(&self, row: usize) -> Cell<'a> {
        match self {
            Self::Output(values) => output_cell(values, row),
            Self::Element(block, element) => Cell::Single(block.get(row, *element)),
            Self::Column(column) => match column {
                Column::Boolean(truths) => truths.values[row].map_or(Cell::Missing, Cell::Truth),
                Column::Text(text) => text.get(row).map_or(Cell::Missing, Cell::Text),
                Column::Block(block) => Cell::Block(block),
                Column::Unsupported(_) => Cell::Missing,
                Column::Numeric(numbers) => {
                    use crate::column::NumericKind::{Date, DateTime, Float, Integer};
                    let value = numbers.values[row];
                    match numbers.kind {
                        Integer if value.abs() < 9.0e15 => Cell::Signed(value as i64),
                        Integer | Float if !value.is_nan() => Cell::Number(value),
                        Integer | Float | Date | DateTime => {
                            column.text(row).map_or(Cell::Missing, Cell::Made)
                        }
                    }
                }
            },
        }
    }
}

fn output_cell(values: &OutputValues, row: usize) -> Cell<'_> {
    match values {
        OutputValues::F64(values) => Cell::Number(values[row]),
        OutputValues::OptionalF64(values) => values[row].map_or(Cell::Missing, Cell::Number),
        OutputValues::I64(values) => Cell::Signed(values[row]),
        OutputValues::U64(values) => Cell::Unsigned(values[row]),
        OutputValues::Bool(values) => Cell::Truth(values[row]),
        OutputValues::OptionalBool(values) => values[row].map_or(Cell::Missing, Cell::Truth),
        OutputValues::Text(values) => Cell::Text(&values[row]),
        OutputValues::OptionalText(values) => values[row].as_deref().map_or(Cell::Missing, Cell::Text),
        OutputValues::Category { codes, values } => {
            values.get(codes[row] as usize).map_or(Cell::Missing, |value| Cell::Text(value))
        }
    }
}

/// Replaces every block by its elements, for formats without lists.
pub(super) fn expand_blocks(named: NamedCells<'_>) -> NamedCells<'_> {
    let mut expanded = Vec::with_capacity(named.len());
    for (name, cells) in named {
        match cells {
            Cells::Column(Column::Block(block)) => {
                let elements = (0..block.width)
                    .map(|element| (format!("{name}[{element}]"), Cells::Element(block, element)));
                expanded.extend(elements);
            }
            other => expanded.push((name, other)),
        }
    }
    expanded
}
