//! The training rows: a borrowed row-major matrix of `f32` or `f16`.

use super::vector;
use crate::{Error, ErrorKind, Result};
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use rayon::prelude::*;

/// A borrowed row-major matrix of features. Nothing is copied: batches are gathered from it as they are needed.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a> {
    values: Values<'a>,
    rows: usize,
    columns: usize,
}

#[derive(Debug, Clone, Copy)]
enum Values<'a> {
    Single(&'a [f32]),
    Half(&'a [f16]),
}

impl<'a> Features<'a> {
    /// Row-major `f32` values with this many columns.
    ///
    /// # Errors
    /// When there are no columns or the last row is incomplete.
    pub fn new(values: &'a [f32], columns: usize) -> Result<Self> {
        Ok(Self { rows: rows_of(values.len(), columns)?, values: Values::Single(values), columns })
    }

    /// Row-major `f16` values with this many columns.
    ///
    /// # Errors
    /// As [`Features::new`].
    pub fn from_half(values: &'a [f16], columns: usize) -> Result<Self> {
        Ok(Self { rows: rows_of(values.len(), columns)?, values: Values::Half(values), columns })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Copies one row into `out`.
    pub(crate) fn read(&self, row: usize, out: &mut [f32]) {
        let range = row * self.columns..(row + 1) * self.columns;
        match self.values {
            Values::Single(values) => out.copy_from_slice(&values[range]),
            Values::Half(values) => values[range].convert_to_f32_slice(out),
        }
    }

    /// Asks the processor to fetch a row that will soon be read.
    ///
    /// The rows of a batch lie anywhere in the matrix, which is larger than any cache: without this the processor waits for each of them.
    pub(crate) fn prefetch(&self, row: usize) {
        let range = row * self.columns..(row + 1) * self.columns;
        match self.values {
            Values::Single(values) => vector::prefetch(&values[range]),
            Values::Half(values) => vector::prefetch(&values[range]),
        }
    }

    /// Writes one standardised row into `out`: `(x - mean) * scale`.
    pub(crate) fn read_standardised(&self, row: usize, mean: &[f32], scale: &[f32], out: &mut [f32]) {
        match self.values {
            Values::Single(values) => {
                vector::standardise(out, &values[row * self.columns..(row + 1) * self.columns], mean, scale);
            }
            Values::Half(values) => {
                values[row * self.columns..(row + 1) * self.columns].convert_to_f32_slice(out);
                vector::standardise_in_place(out, mean, scale);
            }
        }
    }

    /// The first value that is not finite, as (row, column, value).
    fn first_not_finite(&self) -> Option<(usize, usize, f32)> {
        let (position, value) = match self.values {
            Values::Single(values) => first(values, f32::is_finite).map(|at| (at, values[at])),
            Values::Half(values) => first(values, f16::is_finite).map(|at| (at, values[at].to_f32())),
        }?;
        Some((position / self.columns, position % self.columns, value))
    }

    /// Checks that there are rows and that every value is finite.
    ///
    /// # Errors
    /// When there are none, or naming the first value that is not.
    pub fn check(&self) -> Result<()> {
        if self.rows == 0 {
            return Err(Error::new(ErrorKind::Shape, "the features have no rows, expected at least one"));
        }
        if self.rows > u32::MAX as usize {
            return Err(Error::new(
                ErrorKind::Shape,
                format!("{} rows, expected at most {}", self.rows, u32::MAX),
            ));
        }
        match self.first_not_finite() {
            None => Ok(()),
            Some((row, column, value)) => Err(Error::new(
                ErrorKind::Value,
                format!("feature {column} of row {row} is {value}, expected a finite number"),
            )
            .with_hint("replace missing values or leave the row out")),
        }
    }
}

/// Where the first value is that is not as it should be.
fn first<T: Copy + Sync>(values: &[T], is_fine: impl Fn(T) -> bool + Sync) -> Option<usize> {
    const CHUNK: usize = 1 << 16;
    // Without an early exit the check is a vector loop; only a chunk that fails is searched.
    let is_bad = |chunk: &[T]| !chunk.iter().fold(true, |fine, &value| fine & is_fine(value));
    let chunk = values.par_chunks(CHUNK).position_first(is_bad)?;
    let within = values[chunk * CHUNK..].iter().position(|&value| !is_fine(value))?;
    Some(chunk * CHUNK + within)
}

fn rows_of(length: usize, columns: usize) -> Result<usize> {
    if columns == 0 {
        return Err(Error::new(ErrorKind::Shape, "the features have no columns, expected at least one"));
    }
    if !length.is_multiple_of(columns) {
        return Err(Error::new(
            ErrorKind::Shape,
            format!("{length} feature values do not fill rows of {columns} columns"),
        ));
    }
    Ok(length / columns)
}
