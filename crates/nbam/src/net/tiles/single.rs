//! Tiles in single precision.

use super::{DEPTH, LANES, PANEL, Packed, Place, Product, Strided, by_panels, first_lanes, transpose};
use std::arch::x86_64::{
    _mm512_fmadd_ps, _mm512_load_ps, _mm512_loadu_ps, _mm512_maskz_loadu_ps, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_store_ps,
};

/// The left operand where it lies, and a panel of the right one.
pub(super) struct Singles {
    left: Strided,
    panel: Box<Panel>,
}

/// Some rows of the right operand, as many columns as a panel has, row by row; columns that are not there are zero.
#[repr(align(64))]
struct Panel([f32; DEPTH * PANEL]);

impl Singles {
    pub(super) fn new() -> Self {
        let nowhere = Strided { start: std::ptr::null(), row: 0, column: 0 };
        Self { left: nowhere, panel: Box::new(Panel([0.0; DEPTH * PANEL])) }
    }
}

impl Packed for Singles {
    #[target_feature(enable = "avx512f")]
    unsafe fn multiply(&mut self, product: Product) {
        // SAFETY: as the caller says.
        unsafe { by_panels(product, self) }
    }

    unsafe fn take_left(&mut self, left: Strided, _: usize, _: usize) {
        self.left = left;
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn take_right(&mut self, right: Strided, inner: usize, columns: usize) {
        let panel = &mut self.panel.0;
        let rows = panel.chunks_exact_mut(PANEL).take(inner);
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
                // SAFETY: the square lies within the operand, and within the panel.
                unsafe {
                    let start = right.from(at, column).start;
                    let mut square = [_mm512_setzero_ps(); LANES];
                    for (index, values) in square.iter_mut().enumerate() {
                        *values = _mm512_loadu_ps(start.add(index * right.column));
                    }
                    for (index, row) in transpose(square).into_iter().enumerate() {
                        _mm512_store_ps(panel[(at + index) * PANEL + column..].as_mut_ptr(), row);
                    }
                }
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn sum<const COUNT: usize>(&self, row: usize, inner: usize, place: Place) {
        let mut sums = [[_mm512_setzero_ps(); 2]; COUNT];
        // SAFETY: the row lies in the left operand.
        let rows = unsafe { self.left.from(row, 0) };
        for (at, row) in self.panel.0.chunks_exact(PANEL).take(inner).enumerate() {
            // SAFETY: a row of the panel is two aligned vectors long; the left operand is readable for `COUNT` rows and `inner` columns.
            unsafe {
                let right = [_mm512_load_ps(row.as_ptr()), _mm512_load_ps(row.as_ptr().add(LANES))];
                let left = rows.start.add(at * rows.column);
                for (index, sums) in sums.iter_mut().enumerate() {
                    let value = _mm512_set1_ps(*left.add(index * rows.row));
                    sums[0] = _mm512_fmadd_ps(value, right[0], sums[0]);
                    sums[1] = _mm512_fmadd_ps(value, right[1], sums[1]);
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
