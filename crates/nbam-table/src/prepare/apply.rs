//! Filling the design matrix.

use rayon::prelude::*;

use super::encoding::{self, Context, Encoding, Unit};
use super::{Design, DesignValues, Feature, Preparation};
use crate::column::{BlockColumn, BlockValues, Column, format_number};
use crate::error::{Error, ErrorKind};
use crate::notes::{Note, counted, listed, quoted};
use crate::table::{Table, unknown_column};

/// Rows that one thread fills at a time: the columns are read in runs, the result is written in place.
const ROWS_PER_TASK: usize = 256;

/// A feature whose column was checked: all that is left is arithmetic.
enum Source<'a> {
    Numbers { values: &'a [f64], center: f64, scale: f64, fill: f64, value: bool, indicator: bool },
    Truths { values: Vec<Option<bool>>, fill: bool, value: bool, indicator: bool },
    Hot { positions: Vec<u32>, codes: CategoryCodes<'a>, missing: u32 },
    Block(&'a BlockColumn),
}

/// The rows of a category as positions in a small table of texts.
enum CategoryCodes<'a> {
    Borrowed(&'a [u32]),
    Owned(Vec<u32>),
}

impl CategoryCodes<'_> {
    fn get(&self, row: usize) -> u32 {
        match self {
            Self::Borrowed(codes) => codes[row],
            Self::Owned(codes) => codes[row],
        }
    }
}

pub(super) fn apply(preparation: &Preparation, table: &Table) -> Result<Design, Error> {
    let mut notes = Vec::new();
    let mut sources = Vec::with_capacity(preparation.features.len());
    for feature in &preparation.features {
        let Some(column) = table.column(&feature.name) else {
            let error = unknown_column(table.source(), &feature.name, table.names().iter());
            let hint = "the model was trained with this feature; add the column to the new rows";
            return Err(error.with_hint(hint));
        };
        sources.push(check(feature, table, column, &mut notes)?);
    }
    let (rows, columns) = (table.rows(), preparation.columns());
    let values = match &sources[..] {
        [Source::Block(block)] => match &block.values {
            BlockValues::F32(values) => DesignValues::F32(values.clone()),
            BlockValues::F16(values) => DesignValues::F16(values.clone()),
        },
        _ => DesignValues::F32(fill(&sources, preparation, rows, columns).into()),
    };
    let (names, scale_groups) = (preparation.column_names(), preparation.scale_groups());
    Ok(Design { rows, columns, values, names, scale_groups, notes })
}

fn fill(sources: &[Source<'_>], preparation: &Preparation, rows: usize, columns: usize) -> Vec<f32> {
    let mut values = vec![0.0_f32; rows * columns];
    if columns == 0 {
        return values;
    }
    values.par_chunks_mut(ROWS_PER_TASK * columns).enumerate().for_each(|(task, chunk)| {
        let first_row = task * ROWS_PER_TASK;
        let mut offset = 0;
        for (source, feature) in sources.iter().zip(&preparation.features) {
            let width = feature.width();
            for (index, row) in chunk.chunks_exact_mut(columns).enumerate() {
                source.write(first_row + index, &mut row[offset..offset + width]);
            }
            offset += width;
        }
    });
    values
}

impl Source<'_> {
    /// Writes the feature's columns of one row; `out` starts as zeros.
    fn write(&self, row: usize, out: &mut [f32]) {
        match self {
            Self::Numbers { values, center, scale, fill, value, indicator } => {
                let raw = values[row];
                let known = if raw.is_nan() { *fill } else { raw };
                write_value(out, ((known - center) / scale) as f32, raw.is_nan(), *value, *indicator);
            }
            Self::Truths { values, fill, value, indicator } => {
                let known = values[row].unwrap_or(*fill);
                write_value(out, f32::from(u8::from(known)), values[row].is_none(), *value, *indicator);
            }
            Self::Hot { positions, codes, missing } => {
                let position = positions.get(codes.get(row) as usize).unwrap_or(missing);
                if let Some(cell) = out.get_mut(*position as usize) {
                    *cell = 1.0;
                }
            }
            Self::Block(block) => {
                let range = row * block.width..(row + 1) * block.width;
                match &block.values {
                    BlockValues::F32(values) => out.copy_from_slice(&values[range]),
                    BlockValues::F16(values) => {
                        out.iter_mut().zip(&values[range]).for_each(|(cell, value)| *cell = value.to_f32());
                    }
                }
            }
        }
    }
}

fn write_value(out: &mut [f32], number: f32, is_missing: bool, value: bool, indicator: bool) {
    if value {
        out[0] = number;
    }
    if indicator {
        out[usize::from(value)] = f32::from(u8::from(is_missing));
    }
}

/// Checks a column of new rows against what was fitted.
fn check<'a>(
    feature: &'a Feature,
    table: &'a Table,
    column: &'a Column,
    notes: &mut Vec<Note>,
) -> Result<Source<'a>, Error> {
    let context = Context { table, name: &feature.name };
    match (&feature.encoding, column) {
        (Encoding::Numeric { unit, center, scale, fill, value, indicator }, Column::Numeric(numbers)) => {
            let missing = encoding::check_numbers(context, numbers)?;
            let found = Unit::of(numbers.kind);
            if found != *unit && missing < numbers.values.len() {
                return Err(kind_changed(context, column, unit.many()));
            }
            if missing > 0 && !indicator {
                notes.push(newly_missing(context, missing, "the training rows' median"));
            }
            let is_beyond = |number: &f64| ((number - center) / scale).abs() > f64::from(f32::MAX);
            if let Some(row) = numbers.values.iter().position(is_beyond) {
                let number = quoted(&format_number(numbers.values[row]));
                return Err(context
                    .fault_at(row, &format!("{number} is too far from the training rows' values"))
                    .with_hint("correct the value, or leave it empty if it is unknown"));
            }
            Ok(Source::Numbers {
                values: &numbers.values,
                center: *center,
                scale: *scale,
                fill: *fill,
                value: *value,
                indicator: *indicator,
            })
        }
        (Encoding::Numeric { unit, .. }, Column::Text(text)) => {
            let odd = |row: &usize| text.get(*row).is_some_and(|value| !unit.is_spelled_by(value));
            match (0..table.rows()).find(odd) {
                Some(row) => Err(context
                    .fault_at(
                        row,
                        &format!(
                            "{} is not {}, as the model was trained with",
                            quoted(text.get(row).unwrap_or_default()),
                            unit.one()
                        ),
                    )
                    .with_hint("correct the value, or leave it empty if it is unknown")),
                None => Err(kind_changed(context, column, unit.many())),
            }
        }
        (Encoding::Boolean { fill, value, indicator }, _) => {
            let values = truths(context, column)?;
            let missing = values.iter().filter(|value| value.is_none()).count();
            if missing > 0 && !indicator {
                notes.push(newly_missing(context, missing, "the training rows' more frequent value"));
            }
            Ok(Source::Truths { values, fill: *fill, value: *value, indicator: *indicator })
        }
        (Encoding::Category { levels, pooled, missing }, _) => {
            categories(context, column, levels, pooled, *missing)
        }
        (Encoding::Block { width }, Column::Block(block)) => {
            if block.width != *width {
                return Err(context
                    .fault(&format!(
                        "has {} numbers per row, but the model was trained with {width}",
                        block.width
                    ))
                    .with_hint("make the new rows as the training rows were made"));
            }
            encoding::check_block(context, block)?;
            Ok(Source::Block(block))
        }
        (Encoding::Numeric { unit, .. }, _) => Err(kind_changed(context, column, unit.many())),
        (Encoding::Block { width }, _) => {
            Err(kind_changed(context, column, &format!("a block of {width} numbers per row")))
        }
    }
}

fn kind_changed(context: Context<'_>, column: &Column, trained: &str) -> Error {
    context
        .fault(&format!("holds {}, but the model was trained with {trained}", column.description()))
        .with_hint("make the new rows as the training rows were made")
}

fn newly_missing(context: Context<'_>, missing: usize, with: &str) -> Note {
    Note::new(
        "missing_in_new_rows",
        format!(
            "Column {} has {} in the new rows, but had none in training; {with} was used.",
            quoted(context.name),
            counted(missing, "missing value", "missing values")
        ),
    )
}

/// Truth values; 0 and 1 are accepted, and a column without values.
fn truths(context: Context<'_>, column: &Column) -> Result<Vec<Option<bool>>, Error> {
    match column {
        Column::Boolean(truths) => Ok(truths.values.clone()),
        Column::Numeric(numbers) if numbers.not_numbers.is_empty() => {
            let read = |(row, value): (usize, &f64)| match *value {
                0.0 => Ok(Some(false)),
                1.0 => Ok(Some(true)),
                value if value.is_nan() => Ok(None),
                value => Err(context
                    .fault_at(row, &format!("{} is neither true nor false", quoted(&format_number(value))))
                    .with_hint("the model was trained with true and false; correct the value")),
            };
            numbers.values.iter().enumerate().map(read).collect()
        }
        _ => Err(kind_changed(context, column, "true or false")),
    }
}

fn categories<'a>(
    context: Context<'_>,
    column: &'a Column,
    levels: &[String],
    pooled: &[String],
    has_missing: bool,
) -> Result<Source<'a>, Error> {
    let known = encoding::category_positions(levels, pooled);
    let missing = (levels.len() + usize::from(!pooled.is_empty())) as u32;
    let unseen = |row: usize, value: &str| {
        let place = context.table.place(row);
        let message = format!(
            "{}: {place}, column {}: the category {} did not occur in the training rows",
            context.table.source(),
            quoted(context.name),
            quoted(value)
        );
        let empty = if has_missing { ", leave it empty" } else { "" };
        let names = listed(levels.iter().map(String::as_str));
        Error::new(ErrorKind::UnseenCategory, message)
            .with_hint(format!("use one of {names}{empty}, leave the row out, or train again with such rows"))
    };
    let absent = |row: usize| {
        context
            .fault_at(row, "the category is missing, which never happened in the training rows")
            .with_hint("fill it in, leave the row out, or train again with such rows")
    };
    let (texts, codes) = match column {
        Column::Text(text) => (text.values.clone(), CategoryCodes::Borrowed(&text.codes)),
        Column::Numeric(_) | Column::Boolean(_) => {
            // Categories that look like numbers, read without being told that they are text.
            let mut texts: Vec<String> = Vec::new();
            let mut index = std::collections::HashMap::new();
            let mut codes = Vec::with_capacity(context.table.rows());
            for row in 0..context.table.rows() {
                codes.push(match column.text(row) {
                    None => u32::MAX,
                    Some(text) => *index.entry(text).or_insert_with_key(|text: &String| {
                        texts.push(text.clone());
                        texts.len() as u32 - 1
                    }),
                });
            }
            (texts, CategoryCodes::Owned(codes))
        }
        Column::Block(_) | Column::Unsupported(_) => {
            return Err(kind_changed(context, column, "categories"));
        }
    };
    let positions: Vec<Option<usize>> = texts.iter().map(|text| known.get(text.as_str()).copied()).collect();
    for row in 0..context.table.rows() {
        match positions.get(codes.get(row) as usize) {
            Some(None) => return Err(unseen(row, &texts[codes.get(row) as usize])),
            None if !has_missing => return Err(absent(row)),
            _ => {}
        }
    }
    // Texts that no row uses may be unknown; no row leads to their position.
    let positions = positions.into_iter().map(|position| position.unwrap_or(0) as u32).collect();
    Ok(Source::Hot { positions, codes, missing })
}
