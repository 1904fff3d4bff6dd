//! Trial fits on part of the rows: what a choice by the likelihood of left-out rows needs.

use crate::train::{Monitor, Progress};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// Parts that the rows are divided into.
pub(crate) const FOLDS: usize = 5;
/// Rows that are enough to choose by. With more, trial fits would take a third of the time and more, for a choice between steps as coarse as these.
pub(crate) const ENOUGH: usize = 100_000;

/// A random division of the rows, or of [`ENOUGH`] of them, into [`FOLDS`] parts.
pub(crate) struct Division(Vec<u32>);

impl Division {
    pub(crate) fn new(rows: usize, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        order.truncate(ENOUGH);
        Self(order)
    }

    /// The rows to train on when this part is left out.
    pub(crate) fn without(&self, fold: usize) -> Vec<u32> {
        self.rows(|at| at % FOLDS != fold)
    }

    /// The rows of this part.
    pub(crate) fn part(&self, fold: usize) -> Vec<u32> {
        self.rows(|at| at % FOLDS == fold)
    }

    fn rows(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        let rows = self.0.iter().enumerate().filter(|(at, _)| is_wanted(*at));
        rows.map(|(_, &row)| row).collect()
    }
}

/// Tells the epochs of a trial fit from those of the members.
pub(crate) struct Trial<'a>(pub(crate) &'a dyn Monitor);

impl Monitor for Trial<'_> {
    fn epoch(&self, progress: Progress) {
        self.0.trial_epoch(progress);
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_left_out_once_and_of_many_rows_enough() {
        for (rows, divided) in [(12, 12), (ENOUGH, ENOUGH), (2 * ENOUGH + 1, ENOUGH)] {
            let division = Division::new(rows, 1);
            let left_out: BTreeSet<u32> = (0..FOLDS).flat_map(|fold| division.part(fold)).collect();
            assert_eq!(left_out.len(), divided);
            // From all of the rows, not from the first.
            assert!(left_out.last().is_some_and(|last| *last as usize + 100 > rows));
            let inside: BTreeSet<u32> = division.without(0).into_iter().collect();
            assert!(division.part(0).iter().all(|row| !inside.contains(row)));
            assert_eq!(inside.len() + division.part(0).len(), divided);
        }
    }
}
