//! The input: what a model said about every row, checked once.

use crate::{Error, ErrorKind};

/// The posterior of every row, and the three terms that it is made of. Natural logarithms throughout.
///
/// For one model, with π the prior, `p` the clean and `q` the anomaly likelihood of the given target,
///
/// ```text
/// contamination = sigmoid(logit π + log q − log p)
/// ```
///
/// For an ensemble, or an average over epochs, each of the four columns is a mean and the equation holds only
/// approximately. A row whose state is known (a verified row) has a contamination of exactly 0 or 1.
#[derive(Debug, Clone, Default)]
pub struct Posterior {
    /// Probability that the row's target is contaminated, in [0, 1].
    pub contamination: Vec<f64>,
    /// Probability of the same before the target is looked at, in [0, 1].
    pub prior: Vec<f64>,
    /// Log-likelihood of the given target if it is clean. May be minus infinity.
    pub log_clean: Vec<f64>,
    /// Log-likelihood of the given target if it is contaminated. May be minus infinity.
    pub log_anomaly: Vec<f64>,
    /// The mean contamination of all rows according to each ensemble member: how far the members disagree about
    /// the rate. One entry, or none, for a single model.
    pub member_means: Vec<f64>,
}

/// What was to be predicted, and what the model makes of it.
#[derive(Debug, Clone)]
pub enum Targets {
    /// A target with named classes.
    Classification(ClassTargets),
    /// A numeric target.
    Regression(ValueTargets),
}

/// The targets of a classification. Classes are indices into `classes`.
#[derive(Debug, Clone, Default)]
pub struct ClassTargets {
    /// The name of each class.
    pub classes: Vec<String>,
    /// The class that the data gives.
    pub given: Vec<usize>,
    /// The most probable class by the features alone.
    pub predicted: Vec<usize>,
    /// The most probable true class by everything that is known, the given label included. It is the given label
    /// wherever that label is probably right; it suggests a change only where it differs from it.
    pub suggested: Vec<usize>,
    /// The probability of the suggested class, in [0, 1].
    pub suggested_probability: Vec<f64>,
}

/// The targets of a regression. The suggested value of a row is its predicted value.
#[derive(Debug, Clone, Default)]
pub struct ValueTargets {
    /// The value that the data gives.
    pub given: Vec<f64>,
    /// The value predicted by the features alone.
    pub predicted: Vec<f64>,
    /// The standard deviation of a clean target about the prediction, measurement error included.
    pub predicted_sd: Vec<f64>,
    /// The known standard error of each given value, if there is one.
    pub error: Option<Vec<f64>>,
}

/// A posterior and its targets: every length and range has been checked.
#[derive(Debug, Clone)]
pub struct Scored {
    target: String,
    posterior: Posterior,
    targets: Targets,
}

impl Scored {
    /// Checks that all columns describe the same rows and that every number is in its range.
    ///
    /// # Errors
    /// `Length` if there are no rows or two columns differ in length; `Range`, naming the row, for a number out of
    /// range or a class that does not exist.
    pub fn new(target: impl Into<String>, posterior: Posterior, targets: Targets) -> Result<Self, Error> {
        let rows = posterior.contamination.len();
        if rows == 0 {
            return Err(Error::new(
                ErrorKind::Length,
                "The posterior has no rows, so there is nothing to decide; pass at least one row.",
            ));
        }
        probabilities("contamination", &posterior.contamination, rows)?;
        probabilities("prior", &posterior.prior, rows)?;
        numbers("log_clean", &posterior.log_clean, rows, |value| value < f64::INFINITY)?;
        numbers("log_anomaly", &posterior.log_anomaly, rows, |value| value < f64::INFINITY)?;
        probabilities("member_means", &posterior.member_means, posterior.member_means.len())?;
        match &targets {
            Targets::Classification(targets) => {
                let count = targets.classes.len();
                classes("given", &targets.given, rows, count)?;
                classes("predicted", &targets.predicted, rows, count)?;
                classes("suggested", &targets.suggested, rows, count)?;
                probabilities("suggested_probability", &targets.suggested_probability, rows)?;
            }
            Targets::Regression(targets) => {
                numbers("given", &targets.given, rows, f64::is_finite)?;
                numbers("predicted", &targets.predicted, rows, f64::is_finite)?;
                let is_spread = |value: f64| value >= 0.0 && value.is_finite();
                numbers("predicted_sd", &targets.predicted_sd, rows, is_spread)?;
                if let Some(error) = &targets.error {
                    numbers("error", error, rows, is_spread)?;
                }
            }
        }
        Ok(Self { target: target.into(), posterior, targets })
    }

    /// The name of the target column.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The posterior.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The number of rows; never zero.
    pub fn rows(&self) -> usize {
        self.posterior.contamination.len()
    }

    /// The class names; empty for a regression.
    pub fn classes(&self) -> &[String] {
        match &self.targets {
            Targets::Classification(targets) => &targets.classes,
            Targets::Regression(_) => &[],
        }
    }
}

fn same_length(name: &str, length: usize, rows: usize) -> Result<(), Error> {
    if length == rows {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Length,
        format!(
            "Column `{name}` has {length} rows where `contamination` has {rows}; pass one value per row."
        ),
    ))
}

fn numbers(name: &str, values: &[f64], rows: usize, is_valid: impl Fn(f64) -> bool) -> Result<(), Error> {
    same_length(name, values.len(), rows)?;
    match values.iter().position(|&value| !is_valid(value)) {
        None => Ok(()),
        Some(row) => Err(Error::new(
            ErrorKind::Range,
            format!("Row {row} of `{name}` is {}, which is out of its range.", values[row]),
        )),
    }
}

fn probabilities(name: &str, values: &[f64], rows: usize) -> Result<(), Error> {
    numbers(name, values, rows, |value| (0.0..=1.0).contains(&value))
}

fn classes(name: &str, values: &[usize], rows: usize, count: usize) -> Result<(), Error> {
    same_length(name, values.len(), rows)?;
    match values.iter().position(|&class| class >= count) {
        None => Ok(()),
        Some(row) => Err(Error::new(
            ErrorKind::Range,
            format!("Row {row} of `{name}` is class {}, but there are only {count} classes.", values[row]),
        )),
    }
}
