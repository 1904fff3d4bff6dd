//! Tiles of bfloat16 values, summed in single precision.
//!
//! A bfloat16 is a single-precision number without the lower half of its bits. One instruction multiplies 32 of them and adds the products, two
//! that follow each other along the inner dimension at a time, to 16 sums in single precision: twice as many multiplications as single precision has.
//! Both operands are rounded to nearest, ties to even, as they are copied; an odd inner dimension is filled up with a zero.

use super::{
    DEPTH, LANES, PANEL, Packed, Place, Product, ROWS, Strided, TILE, by_panels, first_lanes, transpose,
};
use std::arch::asm;
use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_castps_si512, _mm512_castsi512_ps, _mm512_cvtne2ps_pbh,
    _mm512_load_si512, _mm512_maskz_loadu_ps, _mm512_permutexvar_epi16, _mm512_setzero_ps,
    _mm512_store_si512,
};
use std::mem::transmute;

/// Pairs of values along the inner dimension that are held at a time.
const PAIRS: usize = DEPTH / 2;

/// Both operands as pairs of values, the first of which is in the lower half.
pub(super) struct Pairs {
    left: Box<Left>,
    panel: Box<Panel>,
    order: Order,
}

/// The left operand has [`LANES`] places for the [`TILE`] rows of a tile; where its rows follow each other, there is as much to spare.
#[repr(align(64))]
struct Left([i32; ROWS.div_ceil(TILE) * PAIRS * LANES]);

/// Pairs of rows of the right operand, as many columns as a panel has; columns that are not there are zero.
#[repr(align(64))]
struct Panel([i32; PAIRS * PANEL]);

/// What follows each other in the copy of the left operand: whatever does in memory, so that it is copied by whole vectors.
#[derive(Clone, Copy)]
enum Order {
    /// The pairs of a row; rows lie so far apart.
    Pairs { row: usize },
    /// The rows of a tile, then its pairs; tiles lie so far apart.
    Rows { tile: usize },
}

/// Whether this processor can multiply bfloat16 values.
pub(in super::super) fn is_available() -> bool {
    super::is_available() && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512bf16")
}

impl Pairs {
    pub(super) fn new() -> Self {
        Self { left: Box::new(Left([0; _])), panel: Box::new(Panel([0; _])), order: Order::Pairs { row: 0 } }
    }
}

/// 32 values of `start`, of which the first `count` are there: two neighbours are a pair.
///
/// # Safety
/// The processor must have what the instructions need, and the values must be readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn neighbours(start: *const f32, count: usize) -> __m512i {
    // SAFETY: lanes that are not there are not read; the vectors have the same size.
    unsafe {
        let low = _mm512_maskz_loadu_ps(first_lanes(count), start);
        let high = _mm512_maskz_loadu_ps(first_lanes(count.saturating_sub(LANES)), start.wrapping_add(LANES));
        transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low))
    }
}

/// Up to 16 values each of two rows, of which the second may be missing: two that lie below each other are a pair.
///
/// # Safety
/// As [`neighbours`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn below_each_other(first: *const f32, second: Option<*const f32>, count: usize) -> __m512i {
    const ORDER: [u16; 2 * LANES] = {
        let mut order = [0; 2 * LANES];
        let mut at = 0;
        while at < order.len() {
            order[at] = (at / 2 + at % 2 * LANES) as u16;
            at += 1;
        }
        order
    };
    let lanes = first_lanes(count);
    // SAFETY: lanes that are not there are not read; the vectors have the same size.
    unsafe {
        let low = _mm512_maskz_loadu_ps(lanes, first);
        let high = match second {
            Some(second) => _mm512_maskz_loadu_ps(lanes, second),
            None => _mm512_setzero_ps(),
        };
        let one_after_the_other = transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low));
        _mm512_permutexvar_epi16(transmute::<[u16; 2 * LANES], __m512i>(ORDER), one_after_the_other)
    }
}

/// Adds one pair of the left operand, times both vectors of a row of the panel, to two sums.
///
/// Three instructions that stay together: the compiler would load the pairs of all rows first, for which there are not registers enough.
///
/// # Safety
/// The processor must have what the instructions need, and the pair must be readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn add_products(sums: &mut [__m512; 2], pair: *const i32, right: [__m512i; 2]) {
    // SAFETY: the pair is readable, and nothing is written but the sums.
    unsafe {
        asm!(
            "vpbroadcastd {both}, dword ptr [{pair}]",
            "vdpbf16ps {first}, {both}, {right_first}",
            "vdpbf16ps {second}, {both}, {right_second}",
            both = out(zmm_reg) _,
            pair = in(reg) pair,
            first = inout(zmm_reg) sums[0],
            second = inout(zmm_reg) sums[1],
            right_first = in(zmm_reg) right[0],
            right_second = in(zmm_reg) right[1],
            options(pure, readonly, nostack, preserves_flags),
        );
    }
}

impl Packed for Pairs {
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn multiply(&mut self, product: Product) {
        // SAFETY: as the caller says.
        unsafe { by_panels(product, self) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn take_left(&mut self, left: Strided, rows: usize, inner: usize) {
        let copy = &mut self.left.0;
        let pairs = inner.div_ceil(2);
        if left.column == 1 {
            // A vector more, so that the rows of a tile do not compete for the same places of the cache.
            let step = pairs.next_multiple_of(LANES) + LANES;
            self.order = Order::Pairs { row: step };
            for (row, copy) in copy.chunks_exact_mut(step).take(rows).enumerate() {
                for (copy, at) in copy.chunks_exact_mut(LANES).zip((0..inner).step_by(2 * LANES)) {
                    // SAFETY: so many values of the row are readable; the copy starts at a vector and holds one.
                    unsafe {
                        let values = neighbours(left.from(row, at).start, inner - at);
                        _mm512_store_si512(copy.as_mut_ptr().cast(), values);
                    }
                }
            }
            return;
        }
        let step = pairs * LANES;
        self.order = Order::Rows { tile: step };
        for (copy, row) in copy.chunks_exact_mut(step).zip((0..rows).step_by(TILE)) {
            for (pair, copy) in copy.chunks_exact_mut(LANES).enumerate() {
                // SAFETY: so many rows and columns are readable; the copy starts at a vector and holds one.
                unsafe {
                    let first = left.from(row, 2 * pair).start;
                    let second = (2 * pair + 1 < inner).then(|| first.add(left.column));
                    _mm512_store_si512(copy.as_mut_ptr().cast(), below_each_other(first, second, rows - row));
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn take_right(&mut self, right: Strided, inner: usize, columns: usize) {
        let panel = &mut self.panel.0;
        if right.column == 1 {
            for (pair, row) in panel.chunks_exact_mut(PANEL).take(inner.div_ceil(2)).enumerate() {
                for (half, row) in row.chunks_exact_mut(LANES).enumerate() {
                    // SAFETY: so many columns of the rows that are there are readable; a row of the panel is two aligned vectors long.
                    unsafe {
                        let first = right.from(2 * pair, 0).start.wrapping_add(half * LANES);
                        let second = (2 * pair + 1 < inner).then(|| first.wrapping_add(right.row));
                        let values = below_each_other(first, second, columns.saturating_sub(half * LANES));
                        _mm512_store_si512(row.as_mut_ptr().cast(), values);
                    }
                }
            }
            return;
        }
        // The operand is the transpose of a row-major matrix: its columns are read, and 16 pairs of 16 columns turned in registers.
        for (pair, at) in (0..inner).step_by(2 * LANES).enumerate() {
            for half in (0..PANEL).step_by(LANES) {
                let mut square = [_mm512_setzero_ps(); LANES];
                for (column, values) in (half..columns).zip(&mut square) {
                    // SAFETY: so many rows of the column are readable.
                    *values =
                        unsafe { _mm512_castsi512_ps(neighbours(right.from(at, column).start, inner - at)) };
                }
                for (index, row) in transpose(square).into_iter().enumerate() {
                    let place = panel[(pair * LANES + index) * PANEL + half..].as_mut_ptr();
                    // SAFETY: a row of the panel is two aligned vectors long.
                    unsafe { _mm512_store_si512(place.cast(), _mm512_castps_si512(row)) };
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn sum<const COUNT: usize>(&self, row: usize, inner: usize, place: Place) {
        let (start, pair, row) = match self.order {
            Order::Pairs { row: step } => (row * step, 1, step),
            Order::Rows { tile } => (row / TILE * tile, LANES, 1),
        };
        let left = self.left.0[start..].as_ptr();
        let mut sums: [[__m512; 2]; COUNT] = [[_mm512_setzero_ps(); 2]; COUNT];
        for (at, right) in self.panel.0.chunks_exact(PANEL).take(inner.div_ceil(2)).enumerate() {
            // SAFETY: a row of the panel is two aligned vectors long; the left operand was copied for `COUNT` rows and all pairs.
            unsafe {
                let halves = right.as_ptr().cast();
                let right = [_mm512_load_si512(halves), _mm512_load_si512(halves.add(1))];
                let left = left.add(at * pair);
                for (index, sums) in sums.iter_mut().enumerate() {
                    add_products(sums, left.add(index * row), right);
                }
            }
        }
        for (index, sums) in sums.into_iter().enumerate() {
            for (half, sum) in sums.into_iter().enumerate() {
                // SAFETY: the tile's rows are writable.
                unsafe { place.write(index, half, sum) };
            }
        }
    }
}
