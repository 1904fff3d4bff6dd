//! The design matrix: what the method sees.

use arrow::buffer::ScalarBuffer;
use half::f16;
use rayon::prelude::*;

use crate::notes::Note;
use crate::target::Target;

/// The numbers of a design, row after row; shared with the table where no change was needed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DesignValues {
    /// Single precision.
    F32(ScalarBuffer<f32>),
    /// Half precision: the design is one block that the file holds so.
    F16(ScalarBuffer<f16>),
}

/// A matrix of features, ready for the method.
#[derive(Debug, Clone)]
pub struct Design {
    /// How many rows.
    pub rows: usize,
    /// How many features.
    pub columns: usize,
    /// `rows * columns` finite numbers, row-major.
    pub values: DesignValues,
    /// The name of each column: `age`, `colour=red`, `age is missing`, `embedding[3]`.
    pub names: Vec<String>,
    /// Columns with the same id may be scaled only by one common number: those of a block.
    pub scale_groups: Vec<u32>,
    /// Remarks on these rows.
    pub notes: Vec<Note>,
}

impl Design {
    /// The numbers, if they are of single precision.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.values {
            DesignValues::F32(values) => Some(values),
            DesignValues::F16(_) => None,
        }
    }

    /// The numbers, if they are of half precision.
    pub fn as_f16(&self) -> Option<&[f16]> {
        match &self.values {
            DesignValues::F16(values) => Some(values),
            DesignValues::F32(_) => None,
        }
    }

    /// The numbers in single precision, converted if need be.
    pub fn to_f32(&self) -> ScalarBuffer<f32> {
        match &self.values {
            DesignValues::F32(values) => values.clone(),
            DesignValues::F16(values) => {
                values.par_iter().map(|value| value.to_f32()).collect::<Vec<f32>>().into()
            }
        }
    }

    fn row_bits(&self, row: usize) -> impl Iterator<Item = u32> + Clone + '_ {
        let range = row * self.columns..(row + 1) * self.columns;
        let (single, half) = match &self.values {
            DesignValues::F32(values) => (&values[range], &[][..]),
            DesignValues::F16(values) => (&[][..], &values[range]),
        };
        single
            .iter()
            .map(|value: &f32| value.to_bits())
            .chain(half.iter().map(|value| value.to_bits().into()))
    }
}

/// Rows with the same features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conflicts {
    /// Groups of rows with identical features and differing targets.
    pub groups: usize,
    /// The rows in these groups.
    pub rows: usize,
}

/// Counts identical rows of features whose targets differ.
pub fn conflicting_duplicates(design: &Design, target: &Target) -> Conflicts {
    let hash = |row: usize| {
        // Two multiply-and-rotate lanes; equal hashes are compared bit by bit below.
        let mix = |state: u64, bits: u32| {
            (state.rotate_left(23) ^ u64::from(bits)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let state = design.row_bits(row).fold(0x1234_5678_9abc_def1, mix);
        (state ^ (state >> 29), row as u32)
    };
    let mut hashed: Vec<(u64, u32)> = (0..design.rows.min(target.rows())).into_par_iter().map(hash).collect();
    hashed.par_sort_unstable();
    let same_features = |a: u32, b: u32| design.row_bits(a as usize).eq(design.row_bits(b as usize));
    let same_target = |a: u32, b: u32| match target {
        Target::Classification { codes, .. } => codes[a as usize] == codes[b as usize],
        Target::Regression { values } => values[a as usize] == values[b as usize],
    };
    let mut conflicts = Conflicts::default();
    for run in hashed.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        // Different rows with one hash are all but impossible; they are then told apart here.
        let mut left: Vec<u32> = run.iter().map(|(_, row)| *row).collect();
        while let Some(first) = left.first().copied() {
            let (same, other): (Vec<u32>, Vec<u32>) =
                left.into_iter().partition(|row| same_features(first, *row));
            if same.iter().any(|row| !same_target(first, *row)) {
                conflicts.groups += 1;
                conflicts.rows += same.len();
            }
            left = other;
        }
    }
    conflicts
}
