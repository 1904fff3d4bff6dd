//! Features in the precision of their file, shared between runs.

use half::f16;
use nbam::Features;
use nbam_table::{BlockColumn, BlockValues, Column, NumericColumn};

use crate::error::{Error, Result};

/// A row-major matrix of features. Cloning shares the numbers; half precision stays half precision.
#[derive(Debug, Clone)]
pub struct Matrix(BlockColumn);

impl Matrix {
    /// A matrix of single-precision numbers, row after row.
    pub fn new(values: Vec<f32>, columns: usize) -> Self {
        Self(BlockColumn { width: columns, values: BlockValues::F32(values.into()) })
    }

    /// A matrix of the whole numbers 0 to 255, row after row. Half precision holds them exactly.
    pub(super) fn from_bytes(bytes: &[u8], columns: usize) -> Self {
        let values: Vec<f16> = bytes.iter().map(|&byte| f16::from(byte)).collect();
        Self(BlockColumn { width: columns, values: BlockValues::F16(values.into()) })
    }

    /// The features of a column that was read, if it holds numbers.
    pub(super) fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Numeric(NumericColumn { values, .. }) => {
                Some(Self::new(values.iter().map(|&value| value as f32).collect(), 1))
            }
            Column::Block(block) => Some(Self(block.clone())),
            _ => None,
        }
    }

    /// The same as a column to be written.
    pub(crate) fn to_column(&self) -> Column {
        Column::Block(self.0.clone())
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.0.width
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.to_column().rows()
    }

    /// The matrix as models take it.
    ///
    /// # Errors
    /// When there are no columns.
    pub fn features(&self) -> Result<Features<'_>> {
        match &self.0.values {
            BlockValues::F32(values) => Ok(Features::new(values, self.0.width)?),
            BlockValues::F16(values) => Ok(Features::from_half(values, self.0.width)?),
            _ => Err(Error::input("the features are of a precision that the models do not take")),
        }
    }

    /// These rows of it, in this order.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let width = self.0.width;
        let values = match &self.0.values {
            BlockValues::F32(values) => BlockValues::F32(taken(values, rows, width).into()),
            BlockValues::F16(values) => BlockValues::F16(taken(values, rows, width).into()),
            other => other.clone(),
        };
        Self(BlockColumn { width, values })
    }
}

fn taken<T: Copy>(values: &[T], rows: &[usize], columns: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(rows.len() * columns);
    for &row in rows {
        out.extend_from_slice(&values[row * columns..(row + 1) * columns]);
    }
    out
}

#[cfg(test)]
impl Matrix {
    /// One row, in single precision.
    pub(super) fn row(&self, row: usize) -> Vec<f32> {
        let columns = row * self.0.width..(row + 1) * self.0.width;
        match &self.0.values {
            BlockValues::F32(values) => values[columns].to_vec(),
            BlockValues::F16(values) => values[columns].iter().map(|value| value.to_f32()).collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_in_the_order_asked_for() {
        let matrix = Matrix::new(vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0], 2);
        let taken = matrix.take(&[2, 0]);
        assert_eq!((taken.rows(), taken.columns()), (2, 2));
        let BlockValues::F32(values) = &taken.0.values else { panic!("single precision stays") };
        assert_eq!(values[..], [20.0, 21.0, 0.0, 1.0]);
    }
}
