//! Standardisation of the features, fitted on the training rows and kept with the model.

use super::{Features, Pieces};
use crate::{Error, ErrorKind, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How features are brought to a common scale before they enter the network.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Each column is centred and divided by its own standard deviation: for tables.
    #[default]
    Columns,
    /// Each column is centred; all are divided by one common number: for embeddings, whose
    /// columns' relative sizes mean something.
    Common,
    /// Columns with the same group share one divisor: for tables that hold embeddings.
    Groups(Vec<u32>),
    /// The features are used as they are.
    None,
}

/// A fitted standardisation: `(x - mean) * scale`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaler {
    /// The mean of each column.
    pub mean: Vec<f32>,
    /// One over the standard deviation; 0 for a constant column, which then has no effect.
    pub scale: Vec<f32>,
    /// What columns enter the network as beside themselves; nothing, or ramps between their quantiles.
    pub pieces: Pieces,
}

/// Rows whose sums are added up by one task. Fixed, so that the result does not depend on threads.
const CHUNK: usize = 4096;

impl Scaler {
    /// Fits means and scales on the rows, each counted with its weight: a row of weight 0 leaves no trace.
    ///
    /// # Errors
    /// When the groups do not name one group for each column.
    pub fn fit(features: &Features<'_>, weights: Option<&[f32]>, scaling: &Scaling) -> Result<Self> {
        let columns = features.columns();
        let groups: Vec<u32> = match scaling {
            Scaling::None => return Ok(Self::plain(vec![0.0; columns], vec![1.0; columns])),
            Scaling::Columns => (0..columns as u32).collect(),
            Scaling::Common => vec![0; columns],
            Scaling::Groups(groups) if groups.len() == columns => groups.clone(),
            Scaling::Groups(groups) => {
                return Err(Error::new(
                    ErrorKind::Shape,
                    format!("scaling names {} groups, expected {columns}: one for each column", groups.len()),
                ));
            }
        };
        let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
        let rows: f64 = (0..features.rows()).map(weight).sum();
        // Two passes: the variance about the mean does not cancel, whatever the offset of a column.
        let mean: Vec<f64> =
            column_totals(features, weight, |_, value| value).into_iter().map(|total| total / rows).collect();
        let variance = column_totals(features, weight, |column, value| (value - mean[column]).powi(2));
        let mut group_variance = std::collections::BTreeMap::<u32, (f64, usize)>::new();
        for (group, total) in groups.iter().zip(&variance) {
            let entry = group_variance.entry(*group).or_default();
            entry.0 += total / rows;
            entry.1 += 1;
        }
        let scale = groups.iter().zip(&mean).zip(&variance).map(|((group, mean), own)| {
            let (total, count) = group_variance[group];
            let deviation = (total / count as f64).sqrt();
            // Rounding leaves a constant column with a tiny spread.
            let is_constant = (own / rows).sqrt() <= 1e-6 * mean.abs();
            if !is_constant && deviation > f64::from(f32::MIN_POSITIVE) {
                (1.0 / deviation) as f32
            } else {
                0.0
            }
        });
        Ok(Self::plain(mean.iter().map(|&mean| mean as f32).collect(), scale.collect()))
    }

    /// A standardisation alone.
    pub fn plain(mean: Vec<f32>, scale: Vec<f32>) -> Self {
        Self { mean, scale, pieces: Pieces::default() }
    }

    /// The same with every column that has a scale of its own [in pieces](Pieces) as well, fitted on the same rows; `None` if there is none, or too many.
    pub fn in_pieces(
        &self,
        features: &Features<'_>,
        weights: Option<&[f32]>,
        scaling: &Scaling,
    ) -> Option<Self> {
        let has_own_scale = |column: usize| match scaling {
            Scaling::Columns => true,
            Scaling::Groups(groups) => groups.iter().filter(|group| **group == groups[column]).count() == 1,
            Scaling::Common | Scaling::None => false,
        };
        let pieces = Pieces::fit(features, weights, self, has_own_scale);
        (!pieces.is_empty()).then(|| Self { pieces, ..self.clone() })
    }

    /// Number of inputs that a network has for these columns.
    pub fn inputs(&self) -> usize {
        self.mean.len() + self.pieces.len()
    }

    /// Whether all parts are of the sizes that they should be.
    pub(crate) fn is_whole(&self) -> bool {
        let Pieces { counts, low, slope, mean, scale } = &self.pieces;
        let columns = self.mean.len();
        let ramps = counts.iter().fold(0_usize, |sum, count| sum.saturating_add(*count));
        self.scale.len() == columns
            && (counts.is_empty() || counts.len() == columns)
            && [low, slope, mean, scale].iter().all(|values| values.len() == ramps)
    }

    /// Writes what one row of the features enters the network as.
    pub(crate) fn read(&self, features: &Features<'_>, row: usize, out: &mut [f32]) {
        let (standardised, ramps) = out.split_at_mut(self.mean.len());
        features.read_standardised(row, &self.mean, &self.scale, standardised);
        if !self.pieces.is_empty() {
            self.pieces.write(standardised, ramps);
        }
    }
}

fn column_totals(
    features: &Features<'_>,
    weight: impl Fn(usize) -> f64 + Sync,
    value: impl Fn(usize, f64) -> f64 + Sync,
) -> Vec<f64> {
    let chunks: Vec<Vec<f64>> = (0..features.rows().div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut totals = vec![0.0; features.columns()];
            let mut row_values = vec![0.0_f32; features.columns()];
            for row in chunk * CHUNK..((chunk + 1) * CHUNK).min(features.rows()) {
                features.read(row, &mut row_values);
                let weight = weight(row);
                for (column, (total, &x)) in totals.iter_mut().zip(&row_values).enumerate() {
                    *total += weight * value(column, f64::from(x));
                }
            }
            totals
        })
        .collect();
    let mut sum = vec![0.0; features.columns()];
    for chunk in chunks {
        for (sum, total) in sum.iter_mut().zip(chunk) {
            *sum += total;
        }
    }
    sum
}
