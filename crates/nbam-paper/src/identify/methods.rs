//! The methods that are compared, and every parameter of theirs.

use nbam::density::RobustDensity;
use nbam::density::student_t::StudentT;
use nbam::loss::{Huber, RobustLoss};
use nbam::{
    Classification, Classifier, CleanNoise, LabelModel, Params, Regression, Regressor, ValueAnomaly,
    ValuePrior,
};
use serde_json::{Value, json};

use super::cells::Cell;
use crate::error::{Error, ErrorKind, Result};
use crate::names::named;

/// A method that this crate runs, or a peer that a script beside it runs on exported data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// The default preset.
    Default,
    /// The default preset with one member.
    DefaultOne,
    /// Cross-entropy; the score is `1 - p(y)`.
    CrossEntropy,
    /// The Student-t loss: of the cross-entropy for labels, of the residual for numbers.
    StudentT,
    /// The Huber loss: of the cross-entropy for labels, of the residual for numbers.
    Huber,
    /// The generalised cross-entropy.
    Gce,
    /// Cross-entropy, five-fold, out of sample; the score is `1 - p(y)`.
    OutOfSample,
    /// cleanlab's default label quality score, self-confidence, on the out-of-sample probabilities.
    Cleanlab,
    /// cleanlab's normalised margin on the out-of-sample probabilities.
    CleanlabMargin,
    /// scikit-learn's HuberRegressor; the score is the absolute residual.
    HuberLine,
    /// scikit-learn's RANSACRegressor.
    Ransac,
    /// scikit-learn's TheilSenRegressor.
    TheilSen,
}

/// Every method with its name, in the order of the tables.
const NAMES: [(Method, &str); 12] = [
    (Method::Default, "default"),
    (Method::DefaultOne, "default-1"),
    (Method::CrossEntropy, "ce"),
    (Method::StudentT, "student-t"),
    (Method::Huber, "huber"),
    (Method::Gce, "gce"),
    (Method::OutOfSample, "oos"),
    (Method::Cleanlab, "cleanlab"),
    (Method::CleanlabMargin, "cleanlab-margin"),
    (Method::HuberLine, "huber-line"),
    (Method::Ransac, "ransac"),
    (Method::TheilSen, "theil-sen"),
];

named!(Method, NAMES);

/// Degrees of freedom of the Student-t network for numbers, the paper's, and where its Huber turns linear: the
/// value that keeps 95 % of the efficiency under Gaussian noise.
const VALUE_NU: f64 = 3.0;
const VALUE_DELTA: f64 = 1.345;
/// Folds of the out-of-sample probabilities.
pub(crate) const FOLDS: usize = 5;

/// What a method of this crate fits.
pub(super) enum Fit {
    Labels(Params<Classification>),
    Values(Params<Regression>),
    Folds(Params<Classification>),
}

impl Method {
    /// Whether a script runs it on exported data.
    pub fn is_peer(self) -> bool {
        matches!(
            self,
            Self::Cleanlab | Self::CleanlabMargin | Self::HuberLine | Self::Ransac | Self::TheilSen
        )
    }

    /// Whether it is the method that the others are compared with.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Default | Self::DefaultOne)
    }

    /// Whether it has something to say in this cell.
    pub fn is_for(self, cell: &Cell) -> bool {
        if cell.verified > 0.0 {
            // No other method knows what to do with verified rows.
            return self.is_ours();
        }
        self.is_for_kind(cell.is_classification)
    }

    /// Whether it has something to say of targets of this kind.
    pub(super) fn is_for_kind(self, is_classification: bool) -> bool {
        match self {
            Self::Default | Self::StudentT | Self::Huber => true,
            Self::DefaultOne
            | Self::CrossEntropy
            | Self::Gce
            | Self::OutOfSample
            | Self::Cleanlab
            | Self::CleanlabMargin => is_classification,
            Self::HuberLine | Self::Ransac | Self::TheilSen => !is_classification,
        }
    }

    /// What it fits in a cell of this kind; nothing for a peer.
    pub(super) fn fit(self, is_classification: bool) -> Result<Option<Fit>> {
        let labels =
            |loss: RobustLoss| Classifier::params().members(1).label_model(LabelModel::Plain { loss });
        let values = |density: RobustDensity| {
            Regressor::params()
                .members(1)
                .clean_noise(CleanNoise::Common)
                .value_prior(ValuePrior::Common)
                .value_anomaly(ValueAnomaly::Plain { density })
        };
        let [cross_entropy, student_t, huber, gce] = RobustLoss::PAPER;
        Ok(Some(match (self, is_classification) {
            (Self::Default, true) => Fit::Labels(Classifier::params()),
            (Self::Default, false) => Fit::Values(Regressor::params()),
            (Self::DefaultOne, true) => Fit::Labels(Classifier::params().members(1)),
            (Self::CrossEntropy, true) => Fit::Labels(labels(cross_entropy)),
            (Self::StudentT, true) => Fit::Labels(labels(student_t)),
            (Self::StudentT, false) => Fit::Values(values(RobustDensity::StudentT(StudentT::new(VALUE_NU)?))),
            (Self::Huber, true) => Fit::Labels(labels(huber)),
            (Self::Huber, false) => Fit::Values(values(RobustDensity::Huber(Huber::new(VALUE_DELTA)?))),
            (Self::Gce, true) => Fit::Labels(labels(gce)),
            (Self::OutOfSample, true) => Fit::Folds(labels(cross_entropy)),
            _ => return Ok(None),
        }))
    }

    /// Every parameter of it, as the library writes them. The seed is not among them: it is told apart.
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn settings(self, is_classification: bool) -> Result<Value> {
        let failed = |error: serde_json::Error| {
            Error::new(ErrorKind::Method, format!("the settings of '{}' are no JSON: {error}", self.name()))
        };
        Ok(match self.fit(is_classification)? {
            Some(Fit::Labels(params)) => serde_json::to_value(params).map_err(failed)?,
            Some(Fit::Values(params)) => serde_json::to_value(params).map_err(failed)?,
            Some(Fit::Folds(params)) => {
                json!({"folds": FOLDS, "params": serde_json::to_value(params).map_err(failed)?})
            }
            None => match self {
                Self::Cleanlab => {
                    json!({"score": "self_confidence", "of": Self::OutOfSample.settings(true)?})
                }
                Self::CleanlabMargin => {
                    json!({"score": "normalized_margin", "of": Self::OutOfSample.settings(true)?})
                }
                _ => json!({"features": "standardised", "score": "absolute residual"}),
            },
        })
    }
}
