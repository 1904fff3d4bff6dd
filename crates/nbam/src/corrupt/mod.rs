//! Contamination protocols: make some targets wrong on purpose, and keep the truth.
//!
//! Every protocol takes clean targets and a seed and returns [`Corrupted`]: the observed targets, and for
//! each row whether it is contaminated, that is, whether its observed target differs from the true one.
//!
//! | targets | protocol | function |
//! | --- | --- | --- |
//! | classes | with probability eta, a class uniform over all K, the true one included | [`symmetric`] |
//! | classes | some classes flip to others, each at its own rate | [`pair_flips`] |
//! | classes | any row-stochastic matrix `T[true, observed]` | [`transition`] |
//! | classes | a rate for every row, and where its label goes | [`input_dependent`] |
//! | classes | more errors near the decision boundary | [`boundary_rates`], then [`input_dependent`] |
//! | numbers | draws from a Gaussian, unit mistakes, sentinels, shifts, swapped digits | [`values`] |
//!
//! # Reproducible, and comparable across rates
//!
//! The same seed gives the same bits. Each row draws the same number of random numbers whether or not it is
//! hit, so the same seed at a higher rate contaminates the same rows and more: a sweep over rates compares
//! nested sets.
//!
//! ```
//! use nbam::corrupt;
//!
//! let labels = vec![0, 1, 2, 0, 1, 2];
//! let corrupted = corrupt::symmetric(&labels, 3, 0.5, 7)?;
//! for row in 0..labels.len() {
//!     assert_eq!(corrupted.is_contaminated[row], corrupted.targets[row] != labels[row]);
//! }
//! # Ok::<(), nbam::Error>(())
//! ```

mod boundary;
mod labels;
mod numbers;
mod transition;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Result;
use crate::error::{Error, ErrorKind};

pub use boundary::{BoundaryRates, boundary_rates};
pub use labels::{Destination, input_dependent, pair_flips, symmetric, transition};
pub use numbers::{GrossError, values};
pub use transition::{PairFlip, TransitionMatrix};

/// Observed targets with the truth about them: classes (`usize`) or numbers (`f64`).
#[derive(Clone, Debug, PartialEq)]
pub struct Corrupted<T> {
    /// The observed target of each row.
    pub targets: Vec<T>,
    /// Whether the observed target differs from the true one. This is what a contamination posterior is
    /// scored against.
    pub is_contaminated: Vec<bool>,
    /// Whether the protocol hit the row. A row may be hit and keep its target, as when a uniform draw gives
    /// the true class; the reverse never happens.
    pub is_drawn: Vec<bool>,
}

impl<T: Copy + PartialEq> Corrupted<T> {
    fn new(truth: &[T], targets: Vec<T>, is_drawn: Vec<bool>) -> Self {
        let is_contaminated = truth.iter().zip(&targets).map(|(truth, target)| truth != target).collect();
        Self { targets, is_contaminated, is_drawn }
    }
}

impl<T> Corrupted<T> {
    /// The realised share of contaminated rows.
    pub fn rate(&self) -> f64 {
        let contaminated = self.is_contaminated.iter().filter(|is_contaminated| **is_contaminated).count();
        contaminated as f64 / self.is_contaminated.len() as f64
    }
}

/// The probability that a row is hit: one for all rows, or one for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rates<'a> {
    /// Every row has this probability.
    Constant(f64),
    /// Row i has the i-th probability.
    PerRow(&'a [f64]),
}

impl From<f64> for Rates<'_> {
    fn from(rate: f64) -> Self {
        Self::Constant(rate)
    }
}

impl<'a> From<&'a [f64]> for Rates<'a> {
    fn from(rates: &'a [f64]) -> Self {
        Self::PerRow(rates)
    }
}

impl<'a> From<&'a Vec<f64>> for Rates<'a> {
    fn from(rates: &'a Vec<f64>) -> Self {
        Self::PerRow(rates)
    }
}

impl Rates<'_> {
    fn check(&self, rows: usize) -> Result<()> {
        match self {
            Self::Constant(rate) => check_rate("the rate", *rate),
            Self::PerRow(rates) if rates.len() != rows => Err(Error::new(
                ErrorKind::Shape,
                format!("there are {} rates for {rows} rows, expected one per row", rates.len()),
            )),
            Self::PerRow(rates) => rates
                .iter()
                .enumerate()
                .try_for_each(|(row, &rate)| check_rate(&format!("the rate of row {row}"), rate)),
        }
    }

    fn of(&self, row: usize) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::PerRow(rates) => rates[row],
        }
    }
}

/// The two random streams of a protocol. Apart, they keep the set of hit rows independent of what happens to
/// them.
struct Streams {
    /// Decides which rows are hit: one uniform number per row.
    switches: ChaCha8Rng,
    /// Decides what becomes of them: drawn for every row, hit or not.
    outcomes: ChaCha8Rng,
}

impl Streams {
    fn new(seed: u64) -> Self {
        let switches = ChaCha8Rng::seed_from_u64(seed);
        let mut outcomes = switches.clone();
        outcomes.set_stream(1);
        Self { switches, outcomes }
    }

    /// True with probability `rate`: never at 0, always at 1.
    fn is_hit(&mut self, rate: f64) -> bool {
        self.switches.random::<f64>() < rate
    }
}

fn check_rate(name: &str, rate: f64) -> Result<()> {
    if (0.0..=1.0).contains(&rate) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::Parameter, format!("{name} must lie between 0 and 1, got {rate}")))
    }
}

fn check_classes(classes: usize) -> Result<()> {
    if classes < 2 {
        return Err(Error::new(
            ErrorKind::Parameter,
            format!("corrupting labels needs at least 2 classes, got {classes}"),
        ));
    }
    Ok(())
}

fn check_rows(rows: usize) -> Result<()> {
    if rows == 0 {
        return Err(Error::new(ErrorKind::Shape, "there are no rows to corrupt"));
    }
    Ok(())
}

/// Checks that every label is the number of a class.
fn check_labels(name: &str, labels: &[usize], classes: usize) -> Result<()> {
    match labels.iter().position(|&label| label >= classes) {
        Some(row) => Err(Error::new(
            ErrorKind::Label,
            format!(
                "the {name} {} of row {row} is out of range: there are {classes} classes, numbered from 0",
                labels[row]
            ),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
