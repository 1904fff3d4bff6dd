//! Matrix products on the `gemm` crate, behind a safe face.

use std::ops::Range;

/// A row-major matrix, possibly some columns of a wider one, possibly read as its transpose.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: isize,
    column_stride: isize,
}

impl<'a> Operand<'a> {
    /// A row-major matrix of this many rows and columns.
    ///
    /// # Panics
    /// When `values` is shorter than the matrix: a fault of the engine, never of user input.
    pub fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        Self::columns_of(values, rows, columns, 0..columns)
    }

    /// Some columns of a row-major matrix that is `width` wide.
    ///
    /// # Panics
    /// When `values` is shorter than the matrix, or the columns lie outside.
    pub fn columns_of(values: &'a [f32], rows: usize, width: usize, columns: Range<usize>) -> Self {
        assert!(
            covers(values, rows, width) && columns.end <= width,
            "operand of {rows} x {width} needs more values"
        );
        let start = columns.start.min(values.len());
        Self {
            values: &values[start..],
            rows,
            columns: columns.len(),
            row_stride: width as isize,
            column_stride: 1,
        }
    }

    /// The same memory read as the transpose.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            values: self.values,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// Whether the values hold that many rows of that width.
fn covers(values: &[f32], rows: usize, width: usize) -> bool {
    rows.checked_mul(width).is_some_and(|size| values.len() >= size)
}

/// `destination = left * right`, row-major, on this thread.
///
/// # Panics
/// When the shapes disagree: a fault of the engine, never of user input.
pub fn multiply(destination: &mut [f32], left: Operand<'_>, right: Operand<'_>) {
    let width = right.columns;
    multiply_into(destination, width, 0..width, left, right, false);
}

/// Writes `left * right` into some columns of a row-major matrix that is `width` wide, or adds it to them.
///
/// # Panics
/// As [`multiply`].
pub(crate) fn multiply_into(
    destination: &mut [f32],
    width: usize,
    columns: Range<usize>,
    left: Operand<'_>,
    right: Operand<'_>,
    accumulate: bool,
) {
    assert_eq!(left.columns, right.rows, "inner dimensions");
    assert_eq!(columns.len(), right.columns, "destination columns");
    assert!(covers(destination, left.rows, width) && columns.end <= width, "destination too short");
    if left.rows == 0 || right.columns == 0 {
        return;
    }
    // SAFETY: the operands cover their matrices (checked in `Operand::columns_of`), the destination covers its
    // own (checked above), and a mutable and a shared slice cannot overlap.
    unsafe {
        gemm::gemm(
            left.rows,
            right.columns,
            left.columns,
            destination.as_mut_ptr().add(columns.start),
            1,
            width as isize,
            accumulate,
            left.values.as_ptr(),
            left.column_stride,
            left.row_stride,
            right.values.as_ptr(),
            right.column_stride,
            right.row_stride,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
