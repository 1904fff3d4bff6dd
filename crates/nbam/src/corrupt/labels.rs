//! Protocols for class labels, numbered 0 to K - 1.

use rand::RngExt;

use super::transition::{PairFlip, TransitionMatrix};
use super::{Corrupted, Rates, Streams, check_classes, check_labels, check_rows};
use crate::Result;
use crate::error::{Error, ErrorKind};

/// What the label of a hit row becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Destination<'a> {
    /// A class drawn uniformly from all classes, the true one included.
    Uniform,
    /// Row i becomes the i-th of these labels.
    Labels(&'a [usize]),
    /// A class drawn from the true label's row of this matrix.
    Transition(&'a TransitionMatrix),
}

/// The paper's symmetric protocol: each label is replaced with probability `rate` by a class drawn uniformly
/// from all `classes`, the true one included. The expected share of contaminated rows is `rate (K - 1) / K`.
///
/// # Errors
/// When there are no rows, fewer than two classes, a label out of range, or `rate` is no probability.
pub fn symmetric(labels: &[usize], classes: usize, rate: f64, seed: u64) -> Result<Corrupted<usize>> {
    input_dependent(labels, classes, rate, Destination::Uniform, seed)
}

/// The paper's asymmetric protocol: a label of class `from` becomes `to` with the given probability, for each
/// of the flips. They act at once, not one after the other: no label moves twice.
///
/// ```
/// use nbam::corrupt::{self, PairFlip};
///
/// // Every cat becomes a dog; dogs stay.
/// let flips = [PairFlip { from: 0, to: 1, rate: 1.0 }];
/// let corrupted = corrupt::pair_flips(&[0, 1, 0], 2, &flips, 0)?;
/// assert_eq!(corrupted.targets, [1, 1, 1]);
/// assert_eq!(corrupted.is_contaminated, [true, false, true]);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// As [`symmetric`], and when a flip is not between two classes, is given twice, or the rates that leave a
/// class sum to more than one.
pub fn pair_flips(
    labels: &[usize],
    classes: usize,
    flips: &[PairFlip],
    seed: u64,
) -> Result<Corrupted<usize>> {
    transition(labels, &TransitionMatrix::pair_flips(classes, flips)?, seed)
}

/// Each label is drawn from its class's row of the matrix. Here a row counts as drawn when its label changed,
/// since the matrix does not say why a label stayed.
///
/// # Errors
/// When there are no rows or a label is out of range.
pub fn transition(labels: &[usize], matrix: &TransitionMatrix, seed: u64) -> Result<Corrupted<usize>> {
    let mut corrupted =
        input_dependent(labels, matrix.classes(), 1.0, Destination::Transition(matrix), seed)?;
    corrupted.is_drawn.clone_from(&corrupted.is_contaminated);
    Ok(corrupted)
}

/// Each row is hit with its own probability, and a hit label goes to its destination. Rates that depend on
/// the input are computed by the caller, who knows it; see [`boundary_rates`](super::boundary_rates).
///
/// ```
/// use nbam::corrupt::{self, Destination};
///
/// let rates = [1.0, 0.0, 1.0];
/// let corrupted = corrupt::input_dependent(&[0, 0, 2], 3, &rates[..], Destination::Labels(&[1, 1, 2]), 0)?;
/// assert_eq!(corrupted.targets, [1, 0, 2]);
/// assert_eq!(corrupted.is_drawn, [true, false, true]);
/// assert_eq!(corrupted.is_contaminated, [true, false, false]);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// As [`symmetric`], and when rates or destinations are not one per row, or the matrix is of another size.
pub fn input_dependent<'a>(
    labels: &[usize],
    classes: usize,
    rates: impl Into<Rates<'a>>,
    destination: Destination<'_>,
    seed: u64,
) -> Result<Corrupted<usize>> {
    let rates = rates.into();
    check_classes(classes)?;
    check_rows(labels.len())?;
    check_labels("label", labels, classes)?;
    rates.check(labels.len())?;
    check_destination(&destination, labels.len(), classes)?;

    let mut streams = Streams::new(seed);
    let mut is_drawn = Vec::with_capacity(labels.len());
    let mut targets = Vec::with_capacity(labels.len());
    for (row, &label) in labels.iter().enumerate() {
        let is_hit = streams.is_hit(rates.of(row));
        let replacement = match destination {
            Destination::Uniform => streams.outcomes.random_range(0..classes),
            Destination::Labels(destinations) => destinations[row],
            Destination::Transition(matrix) => matrix.destination(label, streams.outcomes.random()),
        };
        is_drawn.push(is_hit);
        targets.push(if is_hit { replacement } else { label });
    }
    Ok(Corrupted::new(labels, targets, is_drawn))
}

fn check_destination(destination: &Destination<'_>, rows: usize, classes: usize) -> Result<()> {
    match destination {
        Destination::Uniform => Ok(()),
        Destination::Labels(destinations) if destinations.len() != rows => Err(Error::new(
            ErrorKind::Shape,
            format!("there are {} destinations for {rows} rows, expected one per row", destinations.len()),
        )),
        Destination::Labels(destinations) => check_labels("destination", destinations, classes),
        Destination::Transition(matrix) if matrix.classes() != classes => Err(Error::new(
            ErrorKind::Shape,
            format!("the transition matrix has {} classes, expected {classes}", matrix.classes()),
        )),
        Destination::Transition(_) => Ok(()),
    }
}
