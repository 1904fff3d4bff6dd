//! Contamination of true targets, by name, rate and seed.

mod boundary;

use nbam::Monitor;
use nbam::corrupt::{self, Corrupted, GrossError, PairFlip, TransitionMatrix};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::Exp1;
use serde::{Deserialize, Serialize};

use crate::data::{Matrix, Targets};
use crate::error::{Error, Result};

/// What goes wrong with targets. The rate is a probability for each row that the kind concerns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// What happens.
    pub kind: NoiseKind,
    /// How often.
    pub rate: f64,
}

/// The kinds of [`Noise`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoiseKind {
    /// Nothing.
    None,
    /// Labels: a class drawn uniformly from all, the true one included (the paper's protocol).
    Symmetric,
    /// Labels of CIFAR-10: truck to automobile, bird to airplane, cat to dog, deer to horse (the paper's protocol).
    Asymmetric,
    /// Labels: each class becomes the next one, the last the first.
    Next,
    /// Labels: the classes are matched in pairs by the seed, and one of each pair becomes the other.
    Pairs,
    /// Labels: each class has its own random distribution over all others, drawn uniformly from the simplex.
    Dense,
    /// Labels: rows near the decision boundary are confused with the runner-up. The probabilities are those of a
    /// network trained on true labels, tempered just so far that no row is wrong with a probability above one half.
    Boundary,
    /// Numbers: replaced by a draw from a Gaussian about the mean with four times the standard deviation.
    Wide,
    /// Numbers: four standard deviations are added.
    Shift,
    /// Numbers: replaced by the value five standard deviations below the mean.
    Sentinel,
}

/// The paper's flips of CIFAR-10.
pub(crate) const CIFAR_FLIPS: [(usize, usize); 4] = [(9, 1), (2, 0), (3, 5), (4, 7)];
const CIFAR_CLASSES: usize = 10;

impl Noise {
    /// Noise of this kind and rate.
    pub const fn new(kind: NoiseKind, rate: f64) -> Self {
        Self { kind, rate }
    }

    /// A short name: `symmetric-0.2`, `none`.
    pub fn name(&self) -> String {
        let kind = match self.kind {
            NoiseKind::None => return "none".to_owned(),
            NoiseKind::Symmetric => "symmetric",
            NoiseKind::Asymmetric => "asymmetric",
            NoiseKind::Next => "next",
            NoiseKind::Pairs => "pairs",
            NoiseKind::Dense => "dense",
            NoiseKind::Boundary => "boundary",
            NoiseKind::Wide => "wide",
            NoiseKind::Shift => "shift",
            NoiseKind::Sentinel => "sentinel",
        };
        format!("{kind}-{}", self.rate)
    }

    /// Whether it is made for numbers rather than labels.
    pub fn is_for_numbers(&self) -> bool {
        matches!(self.kind, NoiseKind::Wide | NoiseKind::Shift | NoiseKind::Sentinel)
    }

    /// The observed targets and which of them are wrong.
    ///
    /// # Errors
    /// When the noise is not for targets of this kind, or the network that finds the boundary cannot be fitted.
    pub fn apply(
        &self,
        features: &Matrix,
        targets: &Targets,
        seed: u64,
        monitor: &dyn Monitor,
    ) -> Result<(Targets, Vec<bool>)> {
        match targets {
            Targets::Labels { labels, classes } => {
                let corrupted = self.labels(features, labels, *classes, seed, monitor)?;
                let observed = Targets::Labels { labels: corrupted.targets, classes: *classes };
                Ok((observed, corrupted.is_contaminated))
            }
            Targets::Values(values) => {
                let corrupted = self.values(values, seed)?;
                Ok((Targets::Values(corrupted.targets), corrupted.is_contaminated))
            }
        }
    }

    fn labels(
        &self,
        features: &Matrix,
        labels: &[usize],
        classes: usize,
        seed: u64,
        monitor: &dyn Monitor,
    ) -> Result<Corrupted<usize>> {
        let flips = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
            let flips: Vec<PairFlip> =
                pairs.map(|(from, to)| PairFlip { from, to, rate: self.rate }).collect();
            corrupt::pair_flips(labels, classes, &flips, seed)
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STRUCTURE_STREAM);
        Ok(match self.kind {
            NoiseKind::None => corrupt::symmetric(labels, classes, 0.0, seed)?,
            NoiseKind::Symmetric => corrupt::symmetric(labels, classes, self.rate, seed)?,
            NoiseKind::Asymmetric if classes == CIFAR_CLASSES => flips(&mut CIFAR_FLIPS.into_iter())?,
            NoiseKind::Next => flips(&mut (0..classes).map(|class| (class, (class + 1) % classes)))?,
            NoiseKind::Pairs => {
                let mut order: Vec<usize> = (0..classes).collect();
                order.shuffle(&mut random);
                flips(&mut order.chunks_exact(2).map(|pair| (pair[0], pair[1])))?
            }
            NoiseKind::Dense => {
                corrupt::transition(labels, &dense_transition(classes, self.rate, &mut random)?, seed)?
            }
            NoiseKind::Boundary => boundary::apply(features, labels, classes, self.rate, seed, monitor)?,
            NoiseKind::Asymmetric | NoiseKind::Wide | NoiseKind::Shift | NoiseKind::Sentinel => {
                return Err(self.misplaced(&format!("labels of {classes} classes")));
            }
        })
    }

    fn values(&self, values: &[f64], seed: u64) -> Result<Corrupted<f64>> {
        let (mean, sd) = mean_and_sd(values);
        let error = match self.kind {
            NoiseKind::None => GrossError::Sentinel { value: 0.0 },
            NoiseKind::Wide => GrossError::Gaussian { mean, sd: 4.0 * sd },
            NoiseKind::Shift => GrossError::ShiftInSd { multiple: 4.0 },
            NoiseKind::Sentinel => GrossError::Sentinel { value: mean - 5.0 * sd },
            _ => return Err(self.misplaced("numbers")),
        };
        let rate = if self.kind == NoiseKind::None { 0.0 } else { self.rate };
        Ok(corrupt::values(values, rate, error, seed)?)
    }

    fn misplaced(&self, targets: &str) -> Error {
        Error::input(format!("the noise '{}' is not for {targets}", self.name()))
    }
}

/// The stream of a seed that decides the structure of noise; which rows are hit is decided by others.
const STRUCTURE_STREAM: u64 = 11;

/// `T[k, k] = 1 - rate`, the rest of each row uniform on the simplex.
fn dense_transition(classes: usize, rate: f64, random: &mut ChaCha8Rng) -> Result<TransitionMatrix> {
    let mut matrix = Vec::with_capacity(classes * classes);
    for from in 0..classes {
        let draws: Vec<f64> =
            (0..classes).map(|to| if to == from { 0.0 } else { random.sample(Exp1) }).collect();
        let total: f64 = draws.iter().sum();
        matrix.extend(
            draws.iter().enumerate().map(
                |(to, draw)| {
                    if to == from { 1.0 - rate } else { rate * draw / total }
                },
            ),
        );
    }
    Ok(TransitionMatrix::new(classes, matrix)?)
}

/// The mean, and the standard deviation (dividing by n).
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbam::Silent;

    fn labels(rows: usize, classes: usize) -> Targets {
        Targets::Labels { labels: (0..rows).map(|row| row % classes).collect(), classes }
    }

    fn observed(noise: Noise, targets: &Targets) -> (Vec<usize>, Vec<bool>) {
        let matrix = Matrix::new(vec![0.0; targets.len()], 1);
        match noise.apply(&matrix, targets, 5, &Silent).unwrap() {
            (Targets::Labels { labels, .. }, wrong) => (labels, wrong),
            _ => panic!("labels stay labels"),
        }
    }

    #[test]
    fn the_papers_flips_move_four_classes() {
        let (observed, wrong) = observed(Noise::new(NoiseKind::Asymmetric, 1.0), &labels(100, 10));
        let expected = [0, 1, 0, 5, 7, 5, 6, 7, 8, 1];
        assert!(observed.iter().enumerate().all(|(row, &label)| label == expected[row % 10]));
        assert_eq!(wrong.iter().filter(|wrong| **wrong).count(), 40);
        let few = Noise::new(NoiseKind::Asymmetric, 0.5).apply(
            &Matrix::new(vec![0.0; 9], 1),
            &labels(9, 3),
            0,
            &Silent,
        );
        assert_eq!(few.unwrap_err().to_string(), "the noise 'asymmetric-0.5' is not for labels of 3 classes");
    }

    #[test]
    fn pairs_move_half_of_the_classes_and_next_moves_all() {
        let (after, wrong) = observed(Noise::new(NoiseKind::Pairs, 1.0), &labels(700, 7));
        assert_eq!(wrong.iter().filter(|wrong| **wrong).count(), 300);
        let distinct: std::collections::BTreeSet<_> = after.into_iter().collect();
        assert_eq!(distinct.len(), 4);
        let (after, _) = observed(Noise::new(NoiseKind::Next, 1.0), &labels(6, 3));
        assert_eq!(after, [1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn dense_noise_has_its_rate_in_every_class() {
        let (after, wrong) = observed(Noise::new(NoiseKind::Dense, 0.3), &labels(40_000, 4));
        for class in 0..4 {
            let rows: Vec<usize> = (0..40_000).filter(|row| row % 4 == class).collect();
            let share = rows.iter().filter(|&&row| wrong[row]).count() as f64 / rows.len() as f64;
            assert!((share - 0.3).abs() < 0.025, "{share}");
            assert!((0..4).all(|to| rows.iter().any(|&row| after[row] == to)));
        }
    }

    #[test]
    fn numbers_go_where_they_are_sent() {
        let values: Vec<f64> = (0..1000).map(|row| 100.0 + f64::from(row % 10)).collect();
        let (mean, sd) = mean_and_sd(&values);
        let apply = |kind| {
            let matrix = Matrix::new(vec![0.0; 1000], 1);
            let noise = Noise::new(kind, 0.3);
            match noise.apply(&matrix, &Targets::Values(values.clone()), 1, &Silent).unwrap() {
                (Targets::Values(values), wrong) => (values, wrong),
                _ => panic!("numbers stay numbers"),
            }
        };
        let (after, wrong) = apply(NoiseKind::Sentinel);
        assert!((0..1000).filter(|&row| wrong[row]).all(|row| after[row] == mean - 5.0 * sd));
        let (after, wrong) = apply(NoiseKind::Shift);
        assert!(
            (0..1000).filter(|&row| wrong[row]).all(|row| (after[row] - values[row] - 4.0 * sd).abs() < 1e-9)
        );
        let (after, wrong) = apply(NoiseKind::Wide);
        let draws: Vec<f64> = (0..1000).filter(|&row| wrong[row]).map(|row| after[row]).collect();
        let (draws_mean, draws_sd) = mean_and_sd(&draws);
        assert!((draws_mean - mean).abs() < 4.0 * sd && (draws_sd / sd - 4.0).abs() < 1.0);
        assert_eq!(apply(NoiseKind::None).0, values);
    }
}
