//! Matrix products for processors with AVX-512.
//!
//! A general product (the `gemm` crate's) copies both operands into an order of its own first. With the sizes of a batch those copies took 9 % of a training
//! step. Here only the right operand is copied, one panel of 32 columns at a time; every value of the left one is read where it lies and
//! multiplied with the panel's whole row.
//!
//! Each element is summed over the inner dimension from first to last, in blocks of [`DEPTH`]: its bits depend neither on the number of rows
//! of the product nor on where in it the element lies.

use std::arch::x86_64::{
    __m512, __mmask16, _mm512_add_ps, _mm512_castpd_ps, _mm512_castps_pd, _mm512_fmadd_ps, _mm512_load_ps,
    _mm512_loadu_ps, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_shuffle_f32x4, _mm512_store_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd,
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

/// Some rows of the right operand, as many columns as a panel has, row by row; columns that are not there are zero.
#[repr(align(64))]
struct Panel([f32; DEPTH * PANEL]);

thread_local! {
    /// Where products on this thread copy their panels to; its contents mean nothing between products.
    static PANEL_OF_THREAD: RefCell<Box<Panel>> = RefCell::new(Box::new(Panel([0.0; DEPTH * PANEL])));
}

/// Whether this processor can run [`multiply`].
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
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

/// Computes a product.
///
/// # Safety
/// The processor must have AVX-512 ([`is_available`]). The operands must be readable and the destination writable for the whole of the size,
/// and the destination must overlap neither operand. One stride of the right operand must be one, and the inner dimension at least one.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn multiply(product: Product) {
    // SAFETY: as the caller says.
    PANEL_OF_THREAD.with_borrow_mut(|panel| unsafe { by_panels(product, panel) });
}

/// [`multiply`] with the memory for a panel.
///
/// # Safety
/// As there.
#[target_feature(enable = "avx512f")]
unsafe fn by_panels(product: Product, panel: &mut Panel) {
    let Product { destination, width, left, right, size, accumulate } = product;
    // Equal stretches instead of a last one of a few rows, for which every panel would be copied once more.
    let stretch = size.rows.div_ceil(size.rows.div_ceil(ROWS)).next_multiple_of(TILE);
    for depth in (0..size.inner).step_by(DEPTH) {
        let inner = DEPTH.min(size.inner - depth);
        for first in (0..size.rows).step_by(stretch) {
            let rows = first..(first + stretch).min(size.rows);
            for column in (0..size.columns).step_by(PANEL) {
                let columns = PANEL.min(size.columns - column);
                // SAFETY: `depth`, `column` and the rows lie within `size`, for which the caller vouches.
                unsafe {
                    panel.fill(right.from(depth, column), inner, columns);
                    for row in rows.clone().step_by(TILE) {
                        let tile = Tile {
                            destination: destination.add(row * width + column),
                            width,
                            left: left.from(row, depth),
                            columns,
                            accumulate: accumulate || depth > 0,
                        };
                        tile.run(TILE.min(rows.end - row), panel, inner);
                    }
                }
            }
        }
    }
}

/// The lanes of a vector that hold the first `count` values.
fn first_lanes(count: usize) -> __mmask16 {
    if count >= LANES { __mmask16::MAX } else { (1 << count) - 1 }
}

/// Up to [`TILE`] rows of the destination in the columns of one panel.
struct Tile {
    destination: *mut f32,
    width: usize,
    left: Strided,
    columns: usize,
    accumulate: bool,
}

impl Tile {
    /// Chooses the loop for this many rows.
    ///
    /// # Safety
    /// As [`multiply`], for the rows and columns of the tile.
    #[target_feature(enable = "avx512f")]
    unsafe fn run(&self, rows: usize, panel: &Panel, inner: usize) {
        macro_rules! choose {
            ($($count:literal),*) => {
                match rows {
                    // SAFETY: as the caller says.
                    $($count => unsafe { self.sum::<$count>(panel, inner) },)*
                    _ => unreachable!("a tile has at most {TILE} rows"),
                }
            };
        }
        choose!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    }

    /// # Safety
    /// As [`multiply`], for `COUNT` rows and the columns of the tile.
    #[target_feature(enable = "avx512f")]
    unsafe fn sum<const COUNT: usize>(&self, panel: &Panel, inner: usize) {
        let mut sums = [[_mm512_setzero_ps(); 2]; COUNT];
        for (at, row) in panel.0.chunks_exact(PANEL).take(inner).enumerate() {
            // SAFETY: a row of the panel is two aligned vectors long; the left operand is readable for `COUNT` rows and `inner` columns.
            unsafe {
                let right = [_mm512_load_ps(row.as_ptr()), _mm512_load_ps(row.as_ptr().add(LANES))];
                let left = self.left.start.add(at * self.left.column);
                for (index, sums) in sums.iter_mut().enumerate() {
                    let value = _mm512_set1_ps(*left.add(index * self.left.row));
                    sums[0] = _mm512_fmadd_ps(value, right[0], sums[0]);
                    sums[1] = _mm512_fmadd_ps(value, right[1], sums[1]);
                }
            }
        }
        for (index, sums) in sums.into_iter().enumerate() {
            for (half, sum) in sums.into_iter().enumerate() {
                let lanes = first_lanes(self.columns.saturating_sub(half * LANES));
                // SAFETY: only the lanes that lie in the destination are read and written.
                unsafe {
                    let place = self.destination.add(index * self.width).wrapping_add(half * LANES);
                    let sum = if self.accumulate {
                        _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, place), sum)
                    } else {
                        sum
                    };
                    _mm512_mask_storeu_ps(place, lanes, sum);
                }
            }
        }
    }
}

impl Panel {
    /// Copies `inner` rows and up to [`PANEL`] columns of the right operand.
    ///
    /// # Safety
    /// The processor must have AVX-512, the operand must be readable for those rows and columns, and one of its strides must be one.
    #[target_feature(enable = "avx512f")]
    unsafe fn fill(&mut self, right: Strided, inner: usize, columns: usize) {
        let rows = self.0.chunks_exact_mut(PANEL).take(inner);
        if right.column == 1 {
            for (at, row) in rows.enumerate() {
                for half in 0..2 {
                    let lanes = first_lanes(columns.saturating_sub(half * LANES));
                    // SAFETY: only the lanes that lie in the operand are read; a row of the panel is two aligned vectors long.
                    unsafe {
                        let place = right.start.add(at * right.row).wrapping_add(half * LANES);
                        let values = _mm512_maskz_loadu_ps(lanes, place);
                        _mm512_store_ps(row.as_mut_ptr().add(half * LANES), values);
                    }
                }
            }
            return;
        }
        // The operand is the transpose of a row-major matrix: squares of 16 are turned in registers, the rest one by one.
        let squares = (inner / LANES * LANES, columns / LANES * LANES);
        for (at, row) in rows.enumerate() {
            let done = if at < squares.0 { squares.1 } else { 0 };
            for (column, value) in row.iter_mut().enumerate().skip(done) {
                // SAFETY: the element is read only if it lies in the operand.
                *value = if column < columns { unsafe { *right.from(at, column).start } } else { 0.0 };
            }
        }
        for at in (0..squares.0).step_by(LANES) {
            for column in (0..squares.1).step_by(LANES) {
                let place = self.0[at * PANEL + column..].as_mut_ptr();
                // SAFETY: both squares lie within their matrices.
                unsafe { transpose(right.from(at, column).start, right.column, place) }
            }
        }
    }
}

/// Writes the transpose of a square of 16 x 16 into a panel.
///
/// Pairs of rows are interleaved by one value, by two and by four, and then by eight.
///
/// # Safety
/// The processor must have AVX-512; 16 rows of 16 values must be readable, `stride` apart, and writable, [`PANEL`] apart.
#[target_feature(enable = "avx512f")]
unsafe fn transpose(source: *const f32, stride: usize, destination: *mut f32) {
    let pairs = |low: __m512, high: __m512| {
        let (low, high) = (_mm512_castps_pd(low), _mm512_castps_pd(high));
        [_mm512_unpacklo_pd(low, high), _mm512_unpackhi_pd(low, high)].map(|pair| _mm512_castpd_ps(pair))
    };
    let mut rows = [_mm512_setzero_ps(); LANES];
    let mut turned = rows;
    for (index, row) in rows.iter_mut().enumerate() {
        // SAFETY: as the caller says.
        *row = unsafe { _mm512_loadu_ps(source.add(index * stride)) };
    }
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
    for (index, row) in rows.into_iter().enumerate() {
        // SAFETY: as the caller says.
        unsafe { _mm512_store_ps(destination.add(index * PANEL), row) };
    }
}
