//! Planting wrong labels.

use super::{PlantedCheck, Planting, SALT, training};
use crate::Result;
use crate::model::{Checked, Classification, Classifier, LabelledRows, Params};
use crate::train::{Monitor, in_pool};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

impl Classifier {
    /// Plants labels drawn from the learned `q(y|x)` into rows that are clean with confidence, fits again to these rows alone, and
    /// measures how well they are found. Takes as long as the first fit. `rows` are the ones that this model was fitted on.
    ///
    /// # Errors
    /// When the model was not fitted on these rows, no row is clean with confidence, or the monitor cancels the fit.
    pub fn check_by_planting(&self, rows: &LabelledRows<'_>, monitor: &dyn Monitor) -> Result<PlantedCheck> {
        let posterior = training(self.training(), rows.labels.len())?;
        let mut random = ChaCha8Rng::seed_from_u64(self.params.seed ^ SALT);
        let planting = Planting::choose(posterior, rows.known, &mut random)?;
        let mut labels = rows.labels.to_vec();
        let planted: Vec<u32> =
            (0..labels.len() as u32).filter(|&row| planting.is_planted[row as usize]).collect();
        let classes = self.classes();
        let densities = in_pool(self.params.threads, || self.anomaly_densities(&rows.features, &planted))?;
        for (&row, densities) in planted.iter().zip(densities.chunks_exact(classes)) {
            let label = &mut labels[row as usize];
            *label = draw(densities, *label, random.random());
        }
        let weights = planting.weights(rows.weights);
        let params = Params { seed: self.params.seed ^ SALT, ..self.params.clone() };
        let planted = LabelledRows { labels: &labels, weights: Some(&weights), ..*rows };
        let params = Checked::<Classification>(params);
        let again = if self.is_pooled {
            params.fit_committee(&planted, monitor)?
        } else {
            params.fit_rows(&planted, monitor)?
        };
        planting.measure(training(again.training(), labels.len())?)
    }
}

/// A label other than `label`, with probabilities in proportion to `densities`; `position` is uniform in `[0, 1)`.
fn draw(densities: &[f64], label: usize, position: f64) -> usize {
    let others = || densities.iter().enumerate().filter(|(other, _)| *other != label);
    let total: f64 = others().map(|(_, density)| density).sum();
    let mut left = position * total;
    let mut chosen = None;
    for (other, density) in others() {
        if *density > 0.0 || total <= 0.0 {
            chosen = Some(other);
            left -= density;
            if left < 0.0 {
                break;
            }
        }
    }
    chosen.unwrap_or(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_density_and_never_keep_the_label() {
        let densities = [0.5, 0.3, 0.0, 0.2];
        let mut counts = [0; 4];
        for step in 0..1000 {
            counts[draw(&densities, 0, f64::from(step) / 1000.0)] += 1;
        }
        assert_eq!(counts, [0, 600, 0, 400]);
    }
}
