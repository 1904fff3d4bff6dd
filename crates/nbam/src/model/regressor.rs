//! The regressor.

use super::ensemble::{averaged_posterior, fit_members};
use super::fit_values::Fit;
use super::params::{Checked, Params, Regression};
use super::posterior::{Posterior, PosteriorSum, columns};
use super::rows::{check_features, check_length, check_weights, relative_weights};
use super::target_scale::TargetScale;
use super::values::{ValueState, Values};
use super::warning::{Warning, posterior_warnings};
use crate::net::{Features, Network, Scaler};
use crate::switch::{Known, sigmoid};
use crate::train::{Monitor, Scoring, Silent, Trained, in_pool};
use crate::{Error, ErrorKind, Result};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// A predictor of numbers that learned from partly wrong targets, and knows which were wrong.
///
/// ```
/// use nbam::{Features, Regressor};
///
/// // A line; the target of row 7 is a sentinel.
/// let x: Vec<f32> = (0..100).map(|i| i as f32 / 10.0).collect();
/// let mut y: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.3 + f64::from(i % 5) * 0.02).collect();
/// y[7] = -999.0;
/// let x = Features::new(&x, 1)?;
/// let model = Regressor::params().hidden(&[16]).epochs(300).seed(0).fit(&x, &y)?;
/// let contamination = model.contamination(&x, &y)?;
/// assert!(contamination[7] > 0.99 && contamination[8] < 0.1);
/// assert!((model.predict(&x)?.mean[7] - 2.1).abs() < 0.5);
/// # Ok::<(), nbam::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Regressor {
    pub(crate) params: Params<Regression>,
    pub(crate) scaler: Scaler,
    pub(crate) target: TargetScale,
    pub(crate) members: Vec<RegressorMember>,
    pub(crate) losses: Vec<Vec<f64>>,
    pub(crate) training: Option<Posterior>,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Debug, Clone)]
pub(crate) struct RegressorMember {
    pub(crate) network: Network,
    pub(crate) state: ValueState,
}

/// What a regressor is trained on.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredRows<'a> {
    /// The features.
    pub features: Features<'a>,
    /// A target for each row.
    pub values: &'a [f64],
    /// The known standard error of each target, added to the learned noise in quadrature.
    pub errors: Option<&'a [f64]>,
    /// How much each row counts; all the same without it.
    pub weights: Option<&'a [f64]>,
    /// Rows whose switch is known.
    pub known: Option<&'a [Known]>,
}

/// Predictions of a regressor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prediction {
    /// The clean mean of each row.
    pub mean: Vec<f64>,
    /// The standard deviation of a clean target about it: learned noise and members' disagreement.
    pub sd: Vec<f64>,
}

impl Regressor {
    /// Parameters of the default preset, to be changed and fitted.
    pub fn params() -> Params<Regression> {
        Params::default()
    }
}

impl Params<Regression> {
    /// Checks the parameters and fits; see [`Checked::fit_rows`] for errors, weights, verified rows and progress.
    ///
    /// # Errors
    /// When a parameter or the data is not valid, or the fit diverges.
    pub fn fit(self, features: &Features<'_>, values: &[f64]) -> Result<Regressor> {
        let rows = MeasuredRows { features: *features, values, errors: None, weights: None, known: None };
        self.check()?.fit_rows(&rows, &Silent)
    }
}

impl MeasuredRows<'_> {
    fn check(&self) -> Result<()> {
        let rows = self.features.rows();
        self.features.check()?;
        check_values(self.values, rows)?;
        check_errors(self.errors, rows)?;
        check_weights(self.weights, rows)?;
        if let Some(known) = self.known {
            check_length("known switches", known.len(), rows)?;
        }
        if self.values.iter().all(|value| *value == self.values[0]) {
            return Err(Error::new(
                ErrorKind::Value,
                format!("every target is {}, expected at least two values", self.values[0]),
            ));
        }
        Ok(())
    }
}

fn check_values(values: &[f64], rows: usize) -> Result<()> {
    check_length("targets", values.len(), rows)?;
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::new(
            ErrorKind::Value,
            format!("the target of row {row} is {}, expected a finite number", values[row]),
        )
        .with_hint("leave the row out")),
    }
}

fn check_errors(errors: Option<&[f64]>, rows: usize) -> Result<()> {
    let Some(errors) = errors else { return Ok(()) };
    check_length("errors", errors.len(), rows)?;
    match errors.iter().position(|error| !(*error >= 0.0 && error.is_finite())) {
        None => Ok(()),
        Some(row) => Err(Error::new(
            ErrorKind::Value,
            format!("the error of row {row} is {}, expected a finite number of at least 0", errors[row]),
        )),
    }
}

impl Checked<Regression> {
    /// Fits on rows with errors, weights and verified rows, reporting to a monitor.
    ///
    /// # Errors
    /// When the data is not valid, the fit diverges, or the monitor cancels it.
    pub fn fit_rows(&self, rows: &MeasuredRows<'_>, monitor: &dyn Monitor) -> Result<Regressor> {
        rows.check()?;
        in_pool(self.0.threads, || self.fit_here(rows, monitor))?
    }

    fn fit_here(&self, rows: &MeasuredRows<'_>, monitor: &dyn Monitor) -> Result<Regressor> {
        let params = &self.0;
        let weights = relative_weights(rows.weights);
        let scaler = Scaler::fit(&rows.features, weights.as_deref(), &params.scaling)?;
        let counts = |row: usize| weights.as_ref().is_none_or(|weights| weights[row] > 0.0);
        let counted = |values: &[f64]| -> Vec<f64> {
            values.iter().enumerate().filter(|(row, _)| counts(*row)).map(|(_, &value)| value).collect()
        };
        let target = TargetScale::fit(counted(rows.values));
        let values: Vec<f64> = rows.values.iter().map(|&value| target.scale(value)).collect();
        let errors: Option<Vec<f64>> =
            rows.errors.map(|errors| errors.iter().map(|error| error / target.spread).collect());
        let scaled = Values {
            values: &values,
            errors: errors.as_deref(),
            weights: weights.as_deref(),
            known: rows.known,
        };
        let (low, high) =
            counted(&values).iter().fold((f64::MAX, f64::MIN), |(low, high), &y| (low.min(y), high.max(y)));
        let mut fit = Fit {
            params,
            features: &rows.features,
            scaler: &scaler,
            values: scaled,
            range: high - low,
            monitor,
        };
        let in_pieces;
        let weight_prior = if let Some(strength) = params.weight_prior {
            strength
        } else {
            in_pieces = scaler.in_pieces(&rows.features, weights.as_deref(), &params.scaling);
            fit.choose(in_pieces.as_ref())?
        };
        let members = params.members;
        let fitted = fit_members(members, |member, is_parallel| {
            fit.train(weight_prior, None, (member, members), is_parallel)
        })?;
        let averaged = averaged_posterior(&fitted, values.len());
        let (mut members, mut losses) = (Vec::new(), Vec::new());
        for Trained { network, objective, losses: member_losses, .. } in fitted {
            members.push(RegressorMember { network, state: objective.state });
            losses.push(member_losses);
        }
        let params = Params { weight_prior: Some(weight_prior), ..params.clone() };
        let (training, warnings) = (None, Vec::new());
        let scaler = fit.scaler.clone();
        let mut model = Regressor { params, scaler, target, members, losses, training, warnings };
        let posterior = match averaged {
            Some(posterior) => target.in_target_units(posterior),
            None => model.posterior_here(&rows.features, rows.values, rows.errors),
        };
        let posterior = posterior.with_known(rows.known);
        model.warnings = posterior_warnings(&posterior);
        model.training = Some(posterior);
        Ok(model)
    }
}

impl Regressor {
    /// Number of features.
    pub fn features(&self) -> usize {
        self.scaler.mean.len()
    }

    fn scoring<'a>(&'a self, features: &'a Features<'a>) -> Scoring<'a> {
        Scoring { scaler: &self.scaler, features, rows: None }
    }

    /// The mean loss of each epoch, for each member, in units of the scaled target. Empty for a loaded model.
    pub fn losses(&self) -> &[Vec<f64>] {
        &self.losses
    }

    /// The posterior of the rows that the model was trained on, averaged over members and, if so asked, over the
    /// last epochs of training. `None` for a loaded model.
    pub fn training(&self) -> Option<&Posterior> {
        self.training.as_ref()
    }

    /// Signs that the posterior should not be taken at its word. Empty for a loaded model.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The clean mean of each row, and the standard deviation of a clean target about it.
    ///
    /// # Errors
    /// When the features do not fit the model.
    pub fn predict(&self, features: &Features<'_>) -> Result<Prediction> {
        check_features(features, self.features())?;
        in_pool(self.params.threads, || {
            let count = self.members.len() as f64;
            // Sums over members of the mean, its square, and the noise's variance.
            let mut sums = vec![[0.0; 3]; features.rows()];
            for member in &self.members {
                let rows = self.scoring(features).each_row(&member.network, |_, outputs| {
                    let (mean, log_sd) = member.state.clean(outputs);
                    [mean, mean * mean, (2.0 * log_sd).exp()]
                });
                for (sums, row) in sums.iter_mut().zip(rows) {
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum += value / count;
                    }
                }
            }
            let sd = |[mean, square, noise]: &[f64; 3]| (noise + (square - mean * mean).max(0.0)).sqrt();
            Prediction {
                mean: sums.iter().map(|sums| self.target.unscale(sums[0])).collect(),
                sd: sums.iter().map(|sums| self.target.spread * sd(sums)).collect(),
            }
        })
    }

    /// The prior `pi(x)` of each row.
    ///
    /// # Errors
    /// When the features do not fit the model.
    pub fn prior(&self, features: &Features<'_>) -> Result<Vec<f64>> {
        check_features(features, self.features())?;
        in_pool(self.params.threads, || {
            let mut total = vec![0.0; features.rows()];
            for member in &self.members {
                let rows = self
                    .scoring(features)
                    .each_row(&member.network, |_, outputs| sigmoid(member.state.prior_logit(outputs)));
                for (total, prior) in total.iter_mut().zip(rows) {
                    *total += prior / self.members.len() as f64;
                }
            }
            total
        })
    }

    /// The probability that each row's target is contaminated.
    ///
    /// # Errors
    /// When the rows do not fit the model.
    pub fn contamination(&self, features: &Features<'_>, values: &[f64]) -> Result<Vec<f64>> {
        Ok(self.posterior(features, values, None)?.contamination)
    }

    /// The contamination posterior with its evidence; `errors` are known standard errors of the targets.
    ///
    /// # Errors
    /// When the rows do not fit the model.
    pub fn posterior(
        &self,
        features: &Features<'_>,
        values: &[f64],
        errors: Option<&[f64]>,
    ) -> Result<Posterior> {
        check_features(features, self.features())?;
        check_values(values, features.rows())?;
        check_errors(errors, features.rows())?;
        in_pool(self.params.threads, || self.posterior_here(features, values, errors))
    }

    fn posterior_here(&self, features: &Features<'_>, values: &[f64], errors: Option<&[f64]>) -> Posterior {
        let mut sum = PosteriorSum::new(values.len());
        for member in &self.members {
            let rows = self.scoring(features).each_row(&member.network, |row, outputs| {
                let error = errors.map_or(0.0, |errors| errors[row] / self.target.spread);
                columns(&member.state.evidence(outputs, self.target.scale(values[row]), error))
            });
            sum.add(rows.into_iter());
        }
        self.target.in_target_units(sum.finish())
    }

    /// A value from `q(y|x)` for each of some rows, from a member picked at random.
    ///
    /// # Errors
    /// When the model has no anomaly density.
    pub(crate) fn anomalous_values(
        &self,
        rows: &MeasuredRows<'_>,
        chosen: &[u32],
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>> {
        let scoring = Scoring { rows: Some(chosen), ..self.scoring(&rows.features) };
        let low = self.target.scale(rows.values.iter().copied().fold(f64::INFINITY, f64::min));
        let outputs: Vec<Vec<Vec<f32>>> = self
            .members
            .iter()
            .map(|member| scoring.each_row(&member.network, |_, outputs| outputs.to_vec()))
            .collect();
        let draw = |(at, &row): (usize, &u32)| {
            let member = random.random_range(0..self.members.len());
            let error = rows.errors.map_or(0.0, |errors| errors[row as usize] / self.target.spread);
            let state = &self.members[member].state;
            let value = state.draw_anomaly(&outputs[member][at], error, low, random);
            value.map(|value| self.target.unscale(value)).ok_or_else(|| {
                Error::new(ErrorKind::Parameter, "a plain robust density has no anomaly to draw errors from")
                    .with_hint("choose a model with an anomaly density")
            })
        };
        chosen.iter().enumerate().map(draw).collect()
    }
}
