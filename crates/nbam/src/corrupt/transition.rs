use super::{check_classes, check_rate};
use crate::Result;
use crate::error::{Error, ErrorKind};

/// How far a row of a matrix may be from summing to one: room for numbers that were printed with six digits.
const SUM_TOLERANCE: f64 = 1e-5;

/// One flip of a pair-flip protocol: a label of class `from` becomes `to` with probability `rate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFlip {
    /// The true class.
    pub from: usize,
    /// The class that is observed instead.
    pub to: usize,
    /// The probability of the flip.
    pub rate: f64,
}

/// A checked row-stochastic matrix: `T[k, j]` is the probability that class `k` is observed as class `j`.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionMatrix {
    classes: usize,
    /// Row-major, `classes * classes`.
    probabilities: Vec<f64>,
}

impl TransitionMatrix {
    /// A matrix from its entries, row by row (the true class first). Each row must sum to one.
    ///
    /// ```
    /// use nbam::corrupt::{TransitionMatrix, transition};
    ///
    /// let swap = TransitionMatrix::new(2, vec![0.0, 1.0, 1.0, 0.0])?;
    /// assert_eq!(transition(&[0, 1, 1], &swap, 0)?.targets, [1, 0, 0]);
    /// assert!(TransitionMatrix::new(2, vec![0.5, 0.6, 0.0, 1.0]).is_err());
    /// # Ok::<(), nbam::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are fewer than two classes, the number of entries is not their square, or a row is no
    /// distribution.
    pub fn new(classes: usize, probabilities: Vec<f64>) -> Result<Self> {
        check_classes(classes)?;
        let expected = check_size(classes)?;
        if probabilities.len() != expected {
            return Err(Error::new(
                ErrorKind::Shape,
                format!(
                    "a transition matrix of {classes} classes needs {expected} entries, got {}",
                    probabilities.len()
                ),
            ));
        }
        for (from, row) in probabilities.chunks_exact(classes).enumerate() {
            for (to, &probability) in row.iter().enumerate() {
                check_rate(&format!("the transition from class {from} to class {to}"), probability)?;
            }
            let sum: f64 = row.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::new(
                    ErrorKind::Parameter,
                    format!("the transitions from class {from} sum to {sum}, expected 1"),
                )
                .with_hint("rows are true classes, columns observed ones; is the matrix transposed?"));
            }
        }
        Ok(Self { classes, probabilities })
    }

    /// The matrix of the symmetric protocol: `(1 - rate) I + rate / K`.
    ///
    /// # Errors
    /// When there are fewer than two classes or `rate` is no probability.
    pub fn symmetric(classes: usize, rate: f64) -> Result<Self> {
        check_classes(classes)?;
        check_rate("the rate", rate)?;
        let mut probabilities = vec![rate / classes as f64; check_size(classes)?];
        for diagonal in probabilities.iter_mut().step_by(classes + 1) {
            *diagonal += 1.0 - rate;
        }
        Self::new(classes, probabilities)
    }

    /// The matrix of a pair-flip protocol. Several flips may leave one class, as long as their rates sum to
    /// at most one.
    ///
    /// # Errors
    /// When a flip is not between two classes, is given twice, has a rate that is no probability, or the
    /// rates that leave a class sum to more than one.
    pub fn pair_flips(classes: usize, flips: &[PairFlip]) -> Result<Self> {
        check_classes(classes)?;
        let mut probabilities = vec![0.0; check_size(classes)?];
        for (number, &PairFlip { from, to, rate }) in flips.iter().enumerate() {
            if let Some(class) = [from, to].into_iter().find(|&class| class >= classes) {
                return Err(Error::new(
                    ErrorKind::Label,
                    format!(
                        "the flip {from} -> {to} names class {class}, but there are {classes} classes, from 0"
                    ),
                ));
            }
            if from == to {
                return Err(Error::new(
                    ErrorKind::Parameter,
                    format!("the flip {from} -> {to} changes nothing"),
                )
                .with_hint("name two different classes"));
            }
            if flips[..number].iter().any(|earlier| (earlier.from, earlier.to) == (from, to)) {
                return Err(Error::new(
                    ErrorKind::Parameter,
                    format!("the flip {from} -> {to} is given twice"),
                ));
            }
            check_rate(&format!("the rate of the flip {from} -> {to}"), rate)?;
            probabilities[from * classes + to] = rate;
        }
        for (class, row) in probabilities.chunks_exact_mut(classes).enumerate() {
            let leaving: f64 = row.iter().sum();
            if leaving > 1.0 + SUM_TOLERANCE {
                return Err(Error::new(
                    ErrorKind::Parameter,
                    format!(
                        "the flips from class {class} have rates that sum to {leaving}, expected at most 1"
                    ),
                ));
            }
            row[class] = (1.0 - leaving).max(0.0);
        }
        Self::new(classes, probabilities)
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The distribution of the observed class when the true one is `from`; none if there is no such class.
    pub fn row(&self, from: usize) -> Option<&[f64]> {
        self.probabilities.chunks_exact(self.classes).nth(from)
    }

    /// The observed class at the quantile `uniform` in [0, 1) of the row of class `from`, which the caller
    /// has checked.
    pub(super) fn destination(&self, from: usize, uniform: f64) -> usize {
        let row = &self.probabilities[from * self.classes..][..self.classes];
        // The row may sum to one only almost; scaling the quantile instead of the row leaves the entries as
        // given.
        let quantile = uniform * row.iter().sum::<f64>();
        let mut cumulative = 0.0;
        let found = row.iter().position(|&probability| {
            cumulative += probability;
            cumulative > quantile
        });
        // Rounding may put the quantile on the very end: then it is the last class that can happen at all.
        found.or_else(|| row.iter().rposition(|&probability| probability > 0.0)).unwrap_or(from)
    }
}

/// The number of entries, if it is a number at all.
fn check_size(classes: usize) -> Result<usize> {
    classes.checked_mul(classes).ok_or_else(|| {
        Error::new(
            ErrorKind::Parameter,
            format!("a transition matrix of {classes} classes does not fit in memory"),
        )
    })
}
