//! Matrix products for processors with AVX-512.
//!
//! A general product (the `gemm` crate's) copies both operands into an order of its own first. With the sizes of a batch those copies took 9 % of a training
//! step. In [`single`] precision only the right operand is copied, one panel of 32 columns at a time; every value of the left one is read where it lies and
//! multiplied with the panel's whole row. [`bfloat16`] has to round both operands, and copies them as it does.
//!
//! Each element is summed over the inner dimension from first to last, in blocks of [`DEPTH`]: its bits depend neither on the number of rows
//! of the product nor on where in it the element lies.

mod bfloat16;
mod single;

pub(super) use bfloat16::is_available as has_bfloat16;

use super::Precision;
use bfloat16::Pairs;
use single::Singles;
use std::arch::x86_64::{
    __m512, __mmask16, _mm512_add_ps, _mm512_castpd_ps, _mm512_castps_pd, _mm512_mask_storeu_ps,
    _mm512_maskz_loadu_ps, _mm512_shuffle_f32x4, _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd,
    _mm512_unpacklo_ps,
};
use std::cell::RefCell;

/// Values in a vector.
const LANES: usize = 16;
/// Columns of a panel: two vectors.
const PANEL: usize = 2 * LANES;
/// Rows of a tile: 14 times two sums, a row of the panel and one value fill the 32 vector registers.
const TILE: usize = 14;
/// How much of the inner dimension a panel holds: 64 kB, which stay in the second-level cache beside the left operand.
const DEPTH: usize = 512;
/// Rows of the left operand that are multiplied with every panel before the next rows: at most 1 MB of it at a time.
const ROWS: usize = 512;

/// A matrix in memory: element (i, j) lies at `start + i * row + j * column`.
#[derive(Clone, Copy)]
pub(super) struct Strided {
    pub(super) start: *const f32,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Strided {
    /// The same matrix from this element on.
    ///
    /// # Safety
    /// The element must lie in the matrix, or one past its end.
    unsafe fn from(self, row: usize, column: usize) -> Self {
        // SAFETY: as the caller says.
        Self { start: unsafe { self.start.add(row * self.row + column * self.column) }, ..self }
    }
}

/// Rows, columns and inner dimension of a product.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) inner: usize,
}

/// A product that is written to, or added to, a matrix whose rows lie `width` apart.
#[derive(Clone, Copy)]
pub(super) struct Product {
    pub(super) destination: *mut f32,
    pub(super) width: usize,
    pub(super) left: Strided,
    pub(super) right: Strided,
    pub(super) size: Size,
    pub(super) accumulate: bool,
}

/// Whether this processor can run [`multiply`] in single precision.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
}

thread_local! {
    /// Where products on this thread copy their operands to; the contents mean nothing between products.
    static SINGLES: RefCell<Singles> = RefCell::new(Singles::new());
    static PAIRS: RefCell<Pairs> = RefCell::new(Pairs::new());
}

/// Computes a product.
///
/// # Safety
/// The processor must have what the precision needs ([`is_available`], [`has_bfloat16`]). The operands must be readable and the destination
/// writable for the whole of the size, and the destination must overlap neither operand. One stride of each operand must be one, and the inner
/// dimension at least one.
pub(super) unsafe fn multiply(product: Product, precision: Precision) {
    match precision {
        // SAFETY: as the caller says.
        Precision::Single => SINGLES.with_borrow_mut(|singles| unsafe { singles.multiply(product) }),
        // SAFETY: as the caller says.
        Precision::Bfloat16 => PAIRS.with_borrow_mut(|pairs| unsafe { pairs.multiply(product) }),
    }
}

/// Parts of the operands, in the form that one kind of arithmetic reads.
trait Packed {
    /// [`by_panels`], compiled for this arithmetic's instructions.
    ///
    /// # Safety
    /// As [`multiply`].
    unsafe fn multiply(&mut self, product: Product);

    /// Takes these rows of the left operand, at most [`ROWS`] rounded up to tiles, and at most [`DEPTH`] of its inner dimension.
    ///
    /// # Safety
    /// The processor must have what the arithmetic needs. The operand must be readable for so many rows and columns until the next call, and one of
    /// its strides must be one.
    unsafe fn take_left(&mut self, left: Strided, rows: usize, inner: usize);

    /// Takes up to [`PANEL`] columns of as much of the right operand.
    ///
    /// # Safety
    /// As [`Self::take_left`].
    unsafe fn take_right(&mut self, right: Strided, inner: usize, columns: usize);

    /// Sums `COUNT` rows of the left operand from this one on, times the panel.
    ///
    /// # Safety
    /// Both parts must have been taken with this inner dimension and hold these rows; the place must be writable.
    unsafe fn sum<const COUNT: usize>(&self, row: usize, inner: usize, place: Place);
}

/// Where the sums of a tile go.
#[derive(Clone, Copy)]
struct Place {
    destination: *mut f32,
    width: usize,
    columns: usize,
    accumulate: bool,
}

impl Place {
    /// Writes, or adds, the sums of one half of a row of the tile.
    ///
    /// # Safety
    /// The processor must have AVX-512, and the row's columns must be writable.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn write(self, row: usize, half: usize, sum: __m512) {
        let lanes = first_lanes(self.columns.saturating_sub(half * LANES));
        // SAFETY: only the lanes that lie in the destination are read and written.
        unsafe {
            let place = self.destination.add(row * self.width).wrapping_add(half * LANES);
            let sum =
                if self.accumulate { _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, place), sum) } else { sum };
            _mm512_mask_storeu_ps(place, lanes, sum);
        }
    }
}

/// [`multiply`] with one kind of arithmetic, whose [`Packed::multiply`] this must become part of: a sum that is a function of its own spills registers.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn by_panels<P: Packed>(product: Product, packed: &mut P) {
    let Product { destination, width, left, right, size, accumulate } = product;
    // Equal stretches instead of a last one of a few rows, for which every panel would be copied once more.
    let stretch = size.rows.div_ceil(size.rows.div_ceil(ROWS)).next_multiple_of(TILE);
    for depth in (0..size.inner).step_by(DEPTH) {
        let inner = DEPTH.min(size.inner - depth);
        for first in (0..size.rows).step_by(stretch) {
            let rows = stretch.min(size.rows - first);
            // SAFETY: `depth`, the columns and the rows lie within `size`, for which the caller vouches.
            unsafe {
                packed.take_left(left.from(first, depth), rows, inner);
                for column in (0..size.columns).step_by(PANEL) {
                    let columns = PANEL.min(size.columns - column);
                    packed.take_right(right.from(depth, column), inner, columns);
                    for row in (0..rows).step_by(TILE) {
                        let place = Place {
                            destination: destination.add((first + row) * width + column),
                            width,
                            columns,
                            accumulate: accumulate || depth > 0,
                        };
                        sum(packed, row, TILE.min(rows - row), inner, place);
                    }
                }
            }
        }
    }
}

/// Chooses the loop for this many rows.
///
/// # Safety
/// As [`Packed::sum`].
#[inline(always)]
unsafe fn sum<P: Packed>(packed: &P, row: usize, rows: usize, inner: usize, place: Place) {
    macro_rules! choose {
        ($($count:literal),*) => {
            match rows {
                // SAFETY: as the caller says.
                $($count => unsafe { packed.sum::<$count>(row, inner, place) },)*
                _ => unreachable!("a tile has at most {TILE} rows"),
            }
        };
    }
    choose!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

/// The lanes of a vector that hold the first `count` values.
fn first_lanes(count: usize) -> __mmask16 {
    if count >= LANES { __mmask16::MAX } else { (1 << count) - 1 }
}

/// The transpose of a square of 16 x 16.
///
/// Pairs of rows are interleaved by one value, by two and by four, and then by eight.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(mut rows: [__m512; LANES]) -> [__m512; LANES] {
    let pairs = |low: __m512, high: __m512| {
        let (low, high) = (_mm512_castps_pd(low), _mm512_castps_pd(high));
        [_mm512_unpacklo_pd(low, high), _mm512_unpackhi_pd(low, high)].map(|pair| _mm512_castpd_ps(pair))
    };
    let mut turned = rows;
    for at in (0..LANES).step_by(2) {
        turned[at] = _mm512_unpacklo_ps(rows[at], rows[at + 1]);
        turned[at + 1] = _mm512_unpackhi_ps(rows[at], rows[at + 1]);
    }
    for at in (0..LANES).step_by(4) {
        [rows[at], rows[at + 1]] = pairs(turned[at], turned[at + 2]);
        [rows[at + 2], rows[at + 3]] = pairs(turned[at + 1], turned[at + 3]);
    }
    for at in [0, 1, 2, 3, 8, 9, 10, 11] {
        turned[at] = _mm512_shuffle_f32x4::<0x88>(rows[at], rows[at + 4]);
        turned[at + 4] = _mm512_shuffle_f32x4::<0xdd>(rows[at], rows[at + 4]);
    }
    for at in 0..8 {
        rows[at] = _mm512_shuffle_f32x4::<0x88>(turned[at], turned[at + 8]);
        rows[at + 8] = _mm512_shuffle_f32x4::<0xdd>(turned[at], turned[at + 8]);
    }
    rows
}
