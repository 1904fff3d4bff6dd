//! Calibration that can be checked without the truth: plant known errors and see whether they are found.
//!
//! Rows that a fit takes for clean with confidence are kept, the others are left out. Some of those kept get a target drawn from the
//! `q(y|x)` that was learned, as many as the learned prior says: a data set like the one at hand, whose truth is known. The model is
//! fitted to it from another seed, and its probabilities are held against that truth.

mod labels;
mod values;

use super::posterior::Posterior;
use crate::metrics::{DEFAULT_BINS, FlagCounts, ReliabilityCurve, average_precision, reliability};
use crate::switch::Known;
use crate::{Error, ErrorKind, Result};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// Rows with a posterior below this are clean with confidence.
const CONFIDENT: f64 = 0.05;
/// A row is planted with the probability of its prior, but at least and at most with these: errors must be there to be
/// found, and must not change what the data are like.
const PLANTED: (f64, f64) = (0.02, 0.3);

/// Keeps the seed of the second fit away from the first one's.
const SALT: u64 = 0x706C_616E_7465_6421;

/// How well planted errors were told from clean rows.
///
/// It answers for errors of the kind that the model believes in: `q` is what it has learned. Errors of a kind that it
/// has not seen stay unseen here too.
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedCheck {
    /// Rows that were clean with confidence, planted ones included: the rows that the check is about.
    pub rows: usize,
    /// Rows of them that were given an error.
    pub planted: usize,
    /// Planted rows that the second fit gives a probability above one half.
    pub found: usize,
    /// Other rows that it gives a probability above one half.
    pub false_alarms: usize,
    /// Average precision of the ranking.
    pub average_precision: f64,
    /// Predicted probability against the share of planted rows.
    pub reliability: ReliabilityCurve,
    /// The mean gap between the two.
    pub expected_calibration_error: f64,
}

/// Which rows take part, and which of them were given an error.
struct Planting {
    is_eligible: Vec<bool>,
    is_planted: Vec<bool>,
}

impl Planting {
    fn choose(posterior: &Posterior, known: Option<&[Known]>, random: &mut ChaCha8Rng) -> Result<Self> {
        let is_open = |row: usize| known.is_none_or(|known| known[row] == Known::Unknown);
        let is_eligible: Vec<bool> = posterior
            .contamination
            .iter()
            .enumerate()
            .map(|(row, contamination)| *contamination < CONFIDENT && is_open(row))
            .collect();
        let chance = |row: usize| posterior.prior[row].clamp(PLANTED.0, PLANTED.1);
        let is_planted: Vec<bool> = is_eligible
            .iter()
            .enumerate()
            .map(|(row, is_eligible)| *is_eligible && random.random::<f64>() < chance(row))
            .collect();
        if !is_planted.contains(&true) {
            return Err(Error::new(
                ErrorKind::Value,
                format!(
                    "no error could be planted: {} of {} rows are clean with confidence",
                    is_eligible.iter().filter(|is_eligible| **is_eligible).count(),
                    is_eligible.len()
                ),
            )
            .with_hint("the check needs a few hundred rows, most of them clean"));
        }
        Ok(Self { is_eligible, is_planted })
    }

    /// The weights of the second fit: rows that do not take part count for nothing.
    fn weights(&self, weights: Option<&[f64]>) -> Vec<f64> {
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let rows = self.is_eligible.iter().enumerate();
        rows.map(|(row, is_eligible)| if *is_eligible { weight(row) } else { 0.0 }).collect()
    }

    /// What a fit on the planted targets says of the eligible rows.
    fn measure(&self, posterior: &Posterior) -> Result<PlantedCheck> {
        let eligible = |row: &usize| self.is_eligible[*row];
        let rows: Vec<usize> = (0..self.is_eligible.len()).filter(eligible).collect();
        let probabilities: Vec<f64> = rows.iter().map(|&row| posterior.contamination[row]).collect();
        let truth: Vec<bool> = rows.iter().map(|&row| self.is_planted[row]).collect();
        let flags: Vec<bool> = probabilities.iter().map(|probability| *probability > 0.5).collect();
        let counts = FlagCounts::new(&flags, &truth)?;
        let reliability = reliability(&probabilities, &truth, DEFAULT_BINS)?;
        Ok(PlantedCheck {
            rows: rows.len(),
            planted: truth.iter().filter(|is_planted| **is_planted).count(),
            found: counts.true_flags,
            false_alarms: counts.false_flags,
            average_precision: average_precision(&probabilities, &truth)?,
            expected_calibration_error: reliability.expected_calibration_error(),
            reliability,
        })
    }
}

/// The posterior of the fit that planting starts from.
fn training(posterior: Option<&Posterior>, rows: usize) -> Result<&Posterior> {
    posterior.filter(|posterior| posterior.contamination.len() == rows).ok_or_else(|| {
        Error::new(
            ErrorKind::Parameter,
            "errors can be planted only into the rows that the model was just fitted on",
        )
        .with_hint("fit the model on these rows first; a loaded model has no training rows")
    })
}
