//! Trial fits on part of the rows: what a choice by the likelihood of left-out rows needs.

use crate::train::{Monitor, Progress};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// Parts that the rows are divided into.
pub(crate) const FOLDS: usize = 5;
/// Rows that are enough to choose by. With more, trial fits would take a third of the time and more, for a choice between steps as coarse as these.
const ENOUGH: usize = 100_000;

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

/// Rows to train on, and others to judge by.
pub(crate) struct Parts {
    pub(crate) inside: Vec<u32>,
    pub(crate) left_out: Vec<u32>,
    /// The rows that they stand for: of so many, those inside are what one would train on.
    pub(crate) whole: usize,
}

impl Parts {
    /// Four fifths of the rows to train on and one fifth to judge by; of many rows, at most so many for either.
    pub(crate) fn new(rows: usize, most: usize, seed: u64) -> Self {
        let division = Division::new(rows, seed);
        let (mut inside, mut left_out) = (division.without(0), division.part(0));
        let mut whole = inside.len() + left_out.len();
        if inside.len() > most {
            // What is not trained on costs little to judge by, and tells more.
            left_out.extend(inside.split_off(most));
            left_out.truncate(most);
            whole = most * FOLDS / (FOLDS - 1);
        }
        Self { inside, left_out, whole }
    }
}

/// Whether the second losses are lower by more than some standard errors of the difference.
pub(crate) fn is_better(first: &[f64], second: &[f64], standard_errors: f64) -> bool {
    let gains: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / count;
    mean > standard_errors * (variance / count).sqrt()
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

    #[test]
    fn chance_does_not_decide() {
        let first = [1.0, 2.0, 3.0, 4.0];
        assert!(is_better(&first, &[0.9, 1.8, 2.9, 3.9], 2.0));
        assert!(is_better(&first, &[0.0, 2.5, 2.0, 4.4], 0.5));
        assert!(!is_better(&first, &[0.0, 2.5, 2.0, 4.4], 2.0));
        assert!(!is_better(&first, &first, 0.5));
        assert!(!is_better(&first, &[f64::INFINITY; 4], 0.5));
    }

    #[test]
    fn parts_share_no_row_and_are_no_larger_than_asked_for() {
        let expected = [(100, 80, (80, 20, 100)), (100, 40, (40, 40, 50)), (1000, 300, (300, 300, 375))];
        for (rows, most, sizes) in expected {
            let parts = Parts::new(rows, most, 1);
            assert_eq!((parts.inside.len(), parts.left_out.len(), parts.whole), sizes);
            let all: BTreeSet<u32> = parts.inside.iter().chain(&parts.left_out).copied().collect();
            assert_eq!(all.len(), sizes.0 + sizes.1);
        }
    }
}
