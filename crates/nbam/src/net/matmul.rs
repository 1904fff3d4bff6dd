//! Matrix products behind a safe face: our own tiles where the processor has AVX-512, the `gemm` crate elsewhere.

use super::Precision;
#[cfg(target_arch = "x86_64")]
use super::tiles::{self, Product, Size, Strided};
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

    #[cfg(target_arch = "x86_64")]
    fn strided(&self) -> Strided {
        let [row, column] = [self.row_stride, self.column_stride].map(isize::unsigned_abs);
        Strided { start: self.values.as_ptr(), row, column }
    }
}

/// Whether a product is one that tiles are faster at: where a tile is not mostly empty, and where the left operand, which they read in place
/// in single precision, has short rows. The cache has few places for values that lie 4 kB apart.
#[cfg(target_arch = "x86_64")]
fn is_for_tiles(left: &Operand<'_>, right: &Operand<'_>, precision: Precision) -> bool {
    const LEAST_COLUMNS: usize = 8;
    const LONGEST_ROW: usize = 512;
    let left_row = left.row_stride.max(left.column_stride).unsigned_abs();
    let is_short = left_row <= LONGEST_ROW || precision == Precision::Bfloat16;
    right.columns >= LEAST_COLUMNS && left.columns > 0 && is_short && tiles::is_available()
}

/// Whether the values hold that many rows of that width.
fn covers(values: &[f32], rows: usize, width: usize) -> bool {
    rows.checked_mul(width).is_some_and(|size| values.len() >= size)
}

/// `destination = left * right`, row-major, on this thread. Products with very few columns are always in single precision.
///
/// # Panics
/// When the shapes disagree: a fault of the engine, never of user input.
pub fn multiply(destination: &mut [f32], left: Operand<'_>, right: Operand<'_>, precision: Precision) {
    let width = right.columns;
    multiply_into(destination, width, 0..width, left, right, false, precision);
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
    precision: Precision,
) {
    assert_eq!(left.columns, right.rows, "inner dimensions");
    assert_eq!(columns.len(), right.columns, "destination columns");
    assert!(covers(destination, left.rows, width) && columns.end <= width, "destination too short");
    if left.rows == 0 || right.columns == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    let precision = precision.here();
    #[cfg(target_arch = "x86_64")]
    if is_for_tiles(&left, &right, precision) {
        // SAFETY: the processor has what the precision takes; the operands cover their matrices (checked in `Operand::columns_of`) and have one
        // stride of one, the destination covers its own (checked above), and a mutable and a shared slice cannot overlap.
        unsafe {
            let product = Product {
                destination: destination.as_mut_ptr().add(columns.start),
                width,
                left: left.strided(),
                right: right.strided(),
                size: Size { rows: left.rows, columns: right.columns, inner: left.columns },
                accumulate,
            };
            tiles::multiply(product, precision);
        }
        return;
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = precision;
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
