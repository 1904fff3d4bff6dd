//! The regressor.

use super::ensemble::{fit_members, left_out_outputs, take_apart};
use super::folds::Folds;
use super::params::{Checked, Params, Regression, Structure};
use super::posterior::{Posterior, PosteriorSum, columns};
use super::rows::{check_features, check_length, check_weights, relative_weights};
use super::target_scale::TargetScale;
use super::values::{ValueObjective, ValueState, Values};
use crate::net::{Features, Network, Scaler, Shape};
use crate::switch::{Evidence, Known, sigmoid};
use crate::train::{Monitor, Setting, Silent, Trained, each_row, in_pool, refine, train};
use crate::{Error, ErrorKind, Result};
use rand::SeedableRng as _;
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
        check_length("targets", self.values.len(), rows)?;
        if let Some(row) = self.values.iter().position(|value| !value.is_finite()) {
            return Err(Error::new(
                ErrorKind::Value,
                format!("the target of row {row} is {}, expected a finite number", self.values[row]),
            )
            .with_hint("leave the row out, or give it as contaminated with a finite stand-in"));
        }
        check_errors(self.errors, rows)?;
        check_weights(self.weights, rows)?;
        if let Some(known) = self.known {
            check_length("known switches", known.len(), rows)?;
        }
        if self.values.iter().all(|value| *value == self.values[0]) {
            return Err(Error::new(ErrorKind::Value, format!("every target is {}, expected at least two values", self.values[0])));
        }
        Ok(())
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

/// The training rows with scaled targets, and everything that a member's fit shares with the others'.
struct Fit<'a> {
    params: &'a Params<Regression>,
    features: &'a Features<'a>,
    scaler: &'a Scaler,
    values: Values<'a>,
    /// Width of the targets' range, for a uniform anomaly.
    range: f64,
    monitor: &'a dyn Monitor,
}

impl Fit<'_> {
    fn objective(&self) -> ValueObjective<'_> {
        let task = &self.params.task;
        ValueObjective::new(self.values, ValueState::new(task.model, self.range, f64::from(task.prior_bias)))
    }

    /// Trains one member on these rows. A linear structure has no hidden layers.
    fn member(
        &self,
        linear_only: bool,
        order: Vec<u32>,
        member: usize,
        averages: bool,
        is_parallel: bool,
        members: usize,
    ) -> Result<Trained<ValueObjective<'_>>> {
        let (params, task) = (self.params, &self.params.task);
        let plan = params.plan(order.len(), member, averages);
        let shape = Shape {
            inputs: self.features.columns(),
            hidden: if linear_only { Vec::new() } else { params.hidden.clone() },
            activation: params.activation,
            heads: task.model.heads(task.linear && !linear_only, task.prior_hidden, task.prior_bias),
        };
        let network = Network::new(shape, &mut ChaCha8Rng::seed_from_u64(!plan.seed))?;
        let setting = Setting {
            features: self.features,
            scaler: self.scaler,
            member,
            members,
            is_parallel,
            monitor: self.monitor,
        };
        train(network, self.objective(), order, &plan, &setting)
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
        let scaler = Scaler::fit(&rows.features, &params.scaling)?;
        let target = TargetScale::fit(rows.values);
        let values: Vec<f64> = rows.values.iter().map(|&value| target.scale(value)).collect();
        let errors: Option<Vec<f64>> =
            rows.errors.map(|errors| errors.iter().map(|error| error / target.spread).collect());
        let weights = relative_weights(rows.weights);
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &y| (low.min(y), high.max(y)));
        let fit = Fit {
            params,
            features: &rows.features,
            scaler: &scaler,
            values: Values {
                values: &values,
                errors: errors.as_deref(),
                weights: weights.as_deref(),
                known: rows.known,
            },
            range: high - low,
            monitor,
        };
        let mut by_value: Vec<u32> = (0..values.len() as u32).collect();
        by_value.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let folds = Folds::new(params.members, &by_value, params.seed);

        let fit_all = |linear_only: bool| {
            fit_members(params.members, |member, is_parallel| {
                let order = folds.training_rows(member);
                fit.member(linear_only, order, member, !folds.is_crossed(), is_parallel, params.members)
            })
        };
        let mut fitted = Fitted::new(&fit, fit_all(params.task.structure == Structure::Linear)?, &folds);
        if params.task.structure == Structure::Best && folds.is_crossed() && !params.hidden.is_empty() {
            let line = Fitted::new(&fit, fit_all(true)?, &folds);
            if line.log_likelihood(&fit) >= fitted.log_likelihood(&fit) {
                fitted = line;
            }
        }
        let posterior = fitted.posterior(&fit, rows.values.len());
        let Fitted { networks, states, losses, .. } = fitted;
        let members = networks.into_iter().zip(states);
        let members = members.map(|(network, state)| RegressorMember { network, state }).collect();
        let mut model = Regressor { params: params.clone(), scaler, target, members, losses, training: None };
        model.training = Some(match posterior {
            Some(posterior) => model.target.in_target_units(posterior),
            None => model.posterior_here(&rows.features, rows.values, rows.errors),
        });
        Ok(model)
    }
}
