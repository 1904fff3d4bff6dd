//! Planting wrong values.

use super::{PlantedCheck, Planting, SALT, training};
use crate::Result;
use crate::model::{Checked, MeasuredRows, Params, Regression, Regressor};
use crate::train::{Monitor, in_pool};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

impl Regressor {
    /// Plants values drawn from the learned `q(y|x)` into rows that are clean with confidence, fits again to these rows alone, and
    /// measures how well they are found. Takes as long as the first fit. `rows` are the ones that this model was fitted on.
    ///
    /// A value that happens to fall where clean ones lie cannot be found by anybody; it counts all the same, because the
    /// probabilities are to allow for it.
    ///
    /// # Errors
    /// When the model was not fitted on these rows, no row is clean with confidence, or the monitor cancels the fit.
    pub fn check_by_planting(&self, rows: &MeasuredRows<'_>, monitor: &dyn Monitor) -> Result<PlantedCheck> {
        let posterior = training(self.training(), rows.values.len())?;
        let mut random = ChaCha8Rng::seed_from_u64(self.params.seed ^ SALT);
        let planting = Planting::choose(posterior, rows.known, &mut random)?;
        let planted: Vec<u32> =
            (0..rows.values.len() as u32).filter(|&row| planting.is_planted[row as usize]).collect();
        let draws = in_pool(self.params.threads, || self.anomalous_values(rows, &planted, &mut random))??;
        let mut values = rows.values.to_vec();
        for (&row, value) in planted.iter().zip(draws) {
            values[row as usize] = value;
        }
        let weights = planting.weights(rows.weights);
        let params = Params { seed: self.params.seed ^ SALT, ..self.params.clone() };
        let again = Checked::<Regression>(params)
            .fit_rows(&MeasuredRows { values: &values, weights: Some(&weights), ..*rows }, monitor)?;
        planting.measure(training(again.training(), values.len())?)
    }
}
