//! Cross-fitting: every row is judged by networks that never saw its target.
//!
//! A network that was trained on a wrong target has begun to believe it. With several members each leaves out one
//! fold of the rows, and a row's posterior comes from the members that left it out.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// Which rows each member leaves out.
#[derive(Debug, Clone)]
pub(crate) struct Folds {
    count: usize,
    rows: usize,
    /// The fold of each row, one after another for each repetition.
    assignment: Vec<u16>,
}

/// Folds of one repetition; more members than that repeat with other folds.
const FOLDS: usize = 5;

impl Folds {
    /// Folds for this many members. `strata` orders rows so that neighbours are alike (all rows of a class
    /// together, or targets ascending): each fold gets its share of each kind. One member leaves nothing out.
    pub(crate) fn new(members: usize, strata: &[u32], seed: u64) -> Self {
        let rows = strata.len();
        if members < 2 || rows < 2 * FOLDS {
            return Self { count: 1, rows, assignment: Vec::new() };
        }
        let count = members.min(FOLDS);
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x666f_6c64);
        let mut assignment = vec![0; rows * members.div_ceil(count)];
        for repetition in assignment.chunks_exact_mut(rows) {
            // Deal out each run of neighbours in a random order: every fold gets one of each run.
            for run in strata.chunks(count) {
                let mut folds: Vec<u16> = (0..count as u16).collect();
                folds.shuffle(&mut random);
                for (&row, fold) in run.iter().zip(folds) {
                    repetition[row as usize] = fold;
                }
            }
        }
        Self { count, rows, assignment }
    }

    /// Whether any row is left out by any member.
    pub(crate) fn is_crossed(&self) -> bool {
        self.count > 1
    }

    /// Whether this member leaves the row out.
    pub(crate) fn is_left_out(&self, member: usize, row: usize) -> bool {
        self.is_crossed()
            && usize::from(self.assignment[(member / self.count) * self.rows + row]) == member % self.count
    }

    /// The rows that this member trains on.
    pub(crate) fn training_rows(&self, member: usize) -> Vec<u32> {
        (0..self.rows as u32).filter(|&row| !self.is_left_out(member, row as usize)).collect()
    }

    /// The rows that this member leaves out.
    pub(crate) fn left_out(&self, member: usize) -> Vec<u32> {
        (0..self.rows as u32).filter(|&row| self.is_left_out(member, row as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_left_out_once_in_each_full_repetition() {
        let strata: Vec<u32> = (0..103).rev().collect();
        let folds = Folds::new(10, &strata, 7);
        for row in 0..103 {
            assert_eq!((0..5).filter(|&member| folds.is_left_out(member, row)).count(), 1);
            assert_eq!((5..10).filter(|&member| folds.is_left_out(member, row)).count(), 1);
        }
        for member in 0..10 {
            let left_out = folds.left_out(member);
            assert_eq!(left_out.len() + folds.training_rows(member).len(), 103);
            assert!((20..=22).contains(&left_out.len()));
            // Neighbours in the strata are never all left out together: 103 rows are 21 runs.
            assert!(left_out.windows(2).all(|pair| pair[1] - pair[0] < 10));
        }
        assert!(!Folds::new(1, &strata, 7).is_crossed());
    }
}
