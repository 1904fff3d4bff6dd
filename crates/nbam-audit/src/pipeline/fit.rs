//! Training on a prepared table.

use nbam::switch::Known;
use nbam::{
    Classification, Classifier, LabelledRows, MeasuredRows, Model, Monitor, Params, PlantedCheck, Regression,
    Regressor,
};
use nbam_table::{Design, Table, Target};
use serde_json::Value;

use super::{AuditOptions, features};
use crate::{ClassTargets, Error, Posterior, Targets, ValueTargets};

/// What is known of rows besides their features and targets.
#[derive(Debug, Default)]
pub(super) struct SideColumns {
    pub(super) errors: Option<Vec<f64>>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) known: Option<Vec<Known>>,
}

impl SideColumns {
    pub(super) fn read(table: &Table, options: &AuditOptions) -> Result<Self, Error> {
        let roles = &options.roles;
        let errors = roles.error.as_ref().map(|name| nbam_table::standard_errors(table, name));
        let weights = roles.weight.as_ref().map(|name| nbam_table::weights(table, name));
        let verified = roles.verified.as_ref().map(|name| nbam_table::verified(table, name));
        let known = |verified: Vec<Option<bool>>| -> Vec<Known> {
            verified
                .into_iter()
                .map(|is_clean| match is_clean {
                    None => Known::Unknown,
                    Some(true) => Known::Clean,
                    Some(false) => Known::Contaminated,
                })
                .collect()
        };
        Ok(Self {
            errors: errors.transpose()?,
            weights: weights.transpose()?,
            known: verified.transpose()?.map(known),
        })
    }
}

/// A trained model, and the parameters it was trained with.
pub(super) struct Fitted {
    pub(super) model: Model,
    pub(super) method: Value,
}

/// Trains the model that the target calls for.
pub(super) fn fit(
    design: &Design,
    target: &Target,
    side: &SideColumns,
    options: &AuditOptions,
    monitor: &dyn Monitor,
) -> Result<Fitted, Error> {
    let features = features(design)?;
    let (weights, known) = (side.weights.as_deref(), side.known.as_deref());
    let (model, method) = match target {
        Target::Classification { codes, .. } => {
            let params = options.apply(Params::<Classification>::preset(options.preset), design);
            let method = serde_json::to_value(&params);
            let rows = LabelledRows { features, labels: codes, weights, known };
            (Model::Classifier(params.check()?.fit_rows(&rows, monitor)?), method)
        }
        Target::Regression { values } => {
            let params = options.apply(Params::<Regression>::preset(options.preset), design);
            let method = serde_json::to_value(&params);
            let rows = MeasuredRows { features, values, errors: side.errors.as_deref(), weights, known };
            (Model::Regressor(params.check()?.fit_rows(&rows, monitor)?), method)
        }
    };
    Ok(Fitted { model, method: method.unwrap_or_default() })
}

/// Plants known errors into rows that look clean, fits again, and measures how well they are found.
pub(super) fn check_by_planting(
    model: &Model,
    design: &Design,
    target: &Target,
    side: &SideColumns,
    monitor: &dyn Monitor,
) -> Result<PlantedCheck, Error> {
    let features = features(design)?;
    let (weights, known) = (side.weights.as_deref(), side.known.as_deref());
    match (model, target) {
        (Model::Classifier(model), Target::Classification { codes, .. }) => {
            let rows = LabelledRows { features, labels: codes, weights, known };
            Ok(model.check_by_planting(&rows, monitor)?)
        }
        (Model::Regressor(model), Target::Regression { values }) => {
            let rows = MeasuredRows { features, values, errors: side.errors.as_deref(), weights, known };
            Ok(model.check_by_planting(&rows, monitor)?)
        }
        _ => Err(wrong_kind()),
    }
}

fn wrong_kind() -> Error {
    Error::new(crate::ErrorKind::Model, "the model was not made for this kind of target")
}

/// Which rows a model is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Those that it was just trained on: their posterior is the one that training left.
    Training,
    /// Any others.
    New,
}

/// The model's opinion of rows with targets: posterior, predictions and suggestions.
pub(super) fn review(
    model: &Model,
    design: &Design,
    target: Target,
    errors: Option<Vec<f64>>,
    asked: Asked,
) -> Result<(Posterior, Targets), Error> {
    match (model, target) {
        (Model::Classifier(model), Target::Classification { classes, codes }) => {
            review_labels(model, design, classes, codes, asked)
        }
        (Model::Regressor(model), Target::Regression { values }) => {
            review_values(model, design, values, errors, asked)
        }
        _ => Err(wrong_kind()),
    }
}

fn review_labels(
    model: &Classifier,
    design: &Design,
    classes: Vec<String>,
    given: Vec<usize>,
    asked: Asked,
) -> Result<(Posterior, Targets), Error> {
    let features = features(design)?;
    let review = match asked {
        Asked::Training => model.review_training(&features, &given)?,
        Asked::New => model.review(&features, &given)?,
    };
    let targets = ClassTargets {
        classes,
        given,
        predicted: review.predicted,
        suggested: review.suggested,
        suggested_probability: review.suggested_probability.into_iter().map(|p| p.clamp(0.0, 1.0)).collect(),
    };
    Ok((review.posterior.into(), Targets::Classification(targets)))
}

fn review_values(
    model: &Regressor,
    design: &Design,
    given: Vec<f64>,
    errors: Option<Vec<f64>>,
    asked: Asked,
) -> Result<(Posterior, Targets), Error> {
    let features = features(design)?;
    let posterior = match model.training().filter(|_| asked == Asked::Training) {
        Some(posterior) => posterior.clone(),
        None => model.posterior(&features, &given, errors.as_deref())?,
    };
    let prediction = model.predict(&features)?;
    let mut predicted_sd = prediction.sd;
    // A clean target is off by the noise and by its own measurement error.
    for (sd, error) in predicted_sd.iter_mut().zip(errors.iter().flatten()) {
        *sd = sd.hypot(*error);
    }
    let targets = ValueTargets { given, predicted: prediction.mean, predicted_sd, error: errors };
    Ok((posterior.into(), Targets::Regression(targets)))
}

impl From<nbam::Posterior> for Posterior {
    fn from(posterior: nbam::Posterior) -> Self {
        Self {
            // A mean of probabilities may exceed 1 by its last bit.
            contamination: posterior.contamination.into_iter().map(|r| r.clamp(0.0, 1.0)).collect(),
            prior: posterior.prior.into_iter().map(|r| r.clamp(0.0, 1.0)).collect(),
            log_clean: posterior.log_clean,
            log_anomaly: posterior.log_anomaly,
            member_means: posterior.member_means.into_iter().map(|r| r.clamp(0.0, 1.0)).collect(),
        }
    }
}

/// Rows whose switch is known have a contamination of exactly 0 or 1, and a suggestion that agrees with it.
pub(super) fn settle(posterior: &mut Posterior, targets: &mut Targets, known: &[Known]) {
    for (row, known) in known.iter().enumerate() {
        let is_clean = match known {
            Known::Unknown => continue,
            Known::Clean => true,
            Known::Contaminated => false,
        };
        posterior.contamination[row] = if is_clean { 0.0 } else { 1.0 };
        if let Targets::Classification(targets) = targets {
            if is_clean {
                targets.suggested[row] = targets.given[row];
                targets.suggested_probability[row] = 1.0;
            } else if targets.suggested[row] == targets.given[row] {
                // The label is known to be wrong: what the features say is all that is left, if it is something else.
                targets.suggested[row] = targets.predicted[row];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_rows_are_certain() {
        let mut posterior = Posterior { contamination: vec![0.3, 0.6, 0.2], ..Posterior::default() };
        let mut targets = Targets::Classification(ClassTargets {
            classes: vec!["a".into(), "b".into()],
            given: vec![0, 0, 0],
            predicted: vec![0, 1, 1],
            suggested: vec![0, 1, 0],
            suggested_probability: vec![0.7, 0.6, 0.8],
        });
        settle(&mut posterior, &mut targets, &[Known::Unknown, Known::Clean, Known::Contaminated]);
        assert_eq!(posterior.contamination, [0.3, 0.0, 1.0]);
        let Targets::Classification(targets) = targets else { unreachable!() };
        assert_eq!(targets.suggested, [0, 0, 1]);
        assert_eq!(targets.suggested_probability[1], 1.0);
    }
}
