//! The methods that are compared, by name.

use nbam::Preset;
use nbam::loss::RobustLoss;
use serde_json::{Value, json};

use super::network::{self, Answer, Task};
use super::{
    bootstrap_hard, bootstrap_soft, co_teaching, confident_learning, early_learning, forward, loss_mixture,
    normalised, paper_losses, presets, symmetric,
};
use crate::LABELS_VERSION;
use crate::error::Result;
use crate::names::named;

/// A method of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Cross-entropy.
    CrossEntropy,
    /// The Student-t loss of the cross-entropy.
    StudentT,
    /// The Huber loss of the cross-entropy.
    Huber,
    /// The generalised cross-entropy.
    Gce,
    /// Forward correction with an estimated transition matrix.
    Forward,
    /// Soft bootstrapping.
    BootstrapSoft,
    /// Hard bootstrapping.
    BootstrapHard,
    /// Symmetric cross-entropy.
    Symmetric,
    /// Normalised and reverse cross-entropy.
    Normalised,
    /// Early-learning regularisation.
    EarlyLearning,
    /// Co-teaching.
    CoTeaching,
    /// A Gaussian mixture on the losses of rows.
    LossMixture,
    /// Confident learning.
    ConfidentLearning,
    /// The paper's mixture.
    NbamPaper,
    /// The default preset.
    NbamDefault,
}

/// Every method with its name, in the order of the tables.
const NAMES: [(Method, &str); 15] = [
    (Method::CrossEntropy, "ce"),
    (Method::StudentT, "student-t"),
    (Method::Huber, "huber"),
    (Method::Gce, "gce"),
    (Method::Forward, "forward"),
    (Method::BootstrapSoft, "bootstrap-soft"),
    (Method::BootstrapHard, "bootstrap-hard"),
    (Method::Symmetric, "sce"),
    (Method::Normalised, "nce-rce"),
    (Method::EarlyLearning, "elr"),
    (Method::CoTeaching, "co-teaching"),
    (Method::LossMixture, "loss-mixture"),
    (Method::ConfidentLearning, "confident-learning"),
    (Method::NbamPaper, "nbam-paper"),
    (Method::NbamDefault, "nbam-default"),
];

named!(Method, NAMES);

/// The version of the methods that are trained by this module alone. Raise it when its code changes what a run gives; a
/// new version of the library's models, [`LABELS_VERSION`], is none of theirs.
const OWN_VERSION: u32 = 1;

/// The version of the library's model with the paper's settings, which nothing is chosen for.
const PAPER_PRESET_VERSION: u32 = 4;

/// What a method gives.
pub(super) enum Outcome {
    /// Predictions and a ranking of the rows.
    Ranked(Answer),
    /// A fitted mixture, with a posterior.
    Fitted(Box<nbam::Classifier>),
}

impl Method {
    /// Every parameter of it with this many epochs. The seed is not among them: it is told apart.
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn settings(self, epochs: usize) -> Result<Value> {
        let [cross_entropy, student_t, huber, gce] = RobustLoss::PAPER;
        let own = match self {
            Self::CrossEntropy => paper_losses::settings(cross_entropy),
            Self::StudentT => paper_losses::settings(student_t),
            Self::Huber => paper_losses::settings(huber),
            Self::Gce => paper_losses::settings(gce),
            Self::Forward => forward::settings(),
            Self::BootstrapSoft => bootstrap_soft::settings(),
            Self::BootstrapHard => bootstrap_hard::settings(),
            Self::Symmetric => symmetric::settings(),
            Self::Normalised => normalised::settings(),
            Self::EarlyLearning => early_learning::settings(),
            Self::CoTeaching => co_teaching::settings(),
            Self::LossMixture => loss_mixture::settings(),
            Self::ConfidentLearning => confident_learning::settings(),
            Self::NbamPaper => return presets::settings(Preset::Paper, epochs),
            Self::NbamDefault => return presets::settings(Preset::Default, epochs),
        };
        Ok(json!({"network": network::settings(epochs), "method": own}))
    }

    /// The version of the method's code, which is part of a run's identity.
    pub fn version(self) -> u32 {
        match self {
            Self::NbamPaper => PAPER_PRESET_VERSION,
            Self::NbamDefault => LABELS_VERSION,
            _ => OWN_VERSION,
        }
    }

    pub(super) fn run(self, task: &Task<'_>) -> Result<Outcome> {
        let [cross_entropy, student_t, huber, gce] = RobustLoss::PAPER;
        let answer = match self {
            Self::CrossEntropy => paper_losses::run(cross_entropy, task),
            Self::StudentT => paper_losses::run(student_t, task),
            Self::Huber => paper_losses::run(huber, task),
            Self::Gce => paper_losses::run(gce, task),
            Self::Forward => forward::run(task),
            Self::BootstrapSoft => bootstrap_soft::run(task),
            Self::BootstrapHard => bootstrap_hard::run(task),
            Self::Symmetric => symmetric::run(task),
            Self::Normalised => normalised::run(task),
            Self::EarlyLearning => early_learning::run(task),
            Self::CoTeaching => co_teaching::run(task),
            Self::LossMixture => loss_mixture::run(task),
            Self::ConfidentLearning => confident_learning::run(task),
            Self::NbamPaper => return presets::run(Preset::Paper, task).map(Outcome::Fitted),
            Self::NbamDefault => return presets::run(Preset::Default, task).map(Outcome::Fitted),
        };
        answer.map(Outcome::Ranked)
    }
}
