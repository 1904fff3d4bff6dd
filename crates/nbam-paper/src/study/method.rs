//! The paper's five methods and our default, with every parameter of theirs.

use nbam::loss::RobustLoss;
use nbam::{Classification, Classifier, LabelModel, Params, Preset};
use serde_json::Value;

use crate::LABELS_VERSION;
use crate::error::{Error, ErrorKind, Result};
use crate::names::named;

/// The version of what the paper's methods give, part of their runs' identity in place of [`LABELS_VERSION`], which is raised whenever
/// our default changes. Raise it when the engine, a loss, the paper's preset or the protocol changes what these runs give though no
/// parameter in their settings did: all of them are then done again.
pub const PAPER_VERSION: u32 = 1;

/// The parameters that make up a method of the paper, as the library names them. The seed is told apart, and what the library may
/// learn to do beyond the paper is off in these runs.
const PARAMETERS: [&str; 12] = [
    "epochs",
    "batch_size",
    "learning_rate",
    "schedule",
    "hidden",
    "activation",
    "weight_decay",
    "weight_prior",
    "scaling",
    "members",
    "averaged_share",
    "task",
];

/// A column of the table.
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
    /// The paper's method: free heads for prior and anomaly.
    Nbam,
    /// Our default preset, with its own settings.
    Default,
}

const NAMES: [(Method, &str); 6] = [
    (Method::CrossEntropy, "ce"),
    (Method::StudentT, "student-t"),
    (Method::Huber, "huber"),
    (Method::Gce, "gce"),
    (Method::Nbam, "nbam"),
    (Method::Default, "default"),
];

named!(Method, NAMES);

/// The settings that the paper's appendix varies. They are for the paper's methods: our default has its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Passes over the data; if absent, 200, and the default's own number for our default.
    pub epochs: Option<usize>,
    /// Rows of a batch.
    pub batch_size: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Width of both hidden layers.
    pub width: usize,
}

impl Setting {
    /// Epochs of the paper.
    pub const EPOCHS: usize = 200;
    /// The paper's settings.
    pub const PAPER: Self = Self { epochs: None, batch_size: 512, learning_rate: 1e-3, width: 256 };
}

impl Method {
    /// The paper's methods, in the order of its table.
    pub const PAPER: [Self; 5] = [Self::CrossEntropy, Self::StudentT, Self::Huber, Self::Gce, Self::Nbam];
    /// Those that the paper compares its own with.
    pub const BASELINES: [Self; 4] = [Self::CrossEntropy, Self::StudentT, Self::Huber, Self::Gce];

    /// Whether it gives a posterior rather than a score.
    pub fn has_posterior(self) -> bool {
        matches!(self, Self::Nbam | Self::Default)
    }

    /// The version in its runs' identity.
    pub(crate) fn version(self) -> u32 {
        if self == Self::Default { LABELS_VERSION } else { PAPER_VERSION }
    }

    /// What it fits.
    pub(crate) fn params(self, setting: &Setting) -> Params<Classification> {
        let [cross_entropy, student_t, huber, gce] = RobustLoss::PAPER;
        let paper = |loss: Option<RobustLoss>| {
            let params = Params::<Classification>::preset(Preset::Paper)
                .epochs(setting.epochs.unwrap_or(Setting::EPOCHS))
                .batch_size(setting.batch_size)
                .learning_rate(setting.learning_rate)
                .hidden(&[setting.width; 2]);
            match loss {
                Some(loss) => params.label_model(LabelModel::Plain { loss }),
                None => params,
            }
        };
        match self {
            Self::CrossEntropy => paper(Some(cross_entropy)),
            Self::StudentT => paper(Some(student_t)),
            Self::Huber => paper(Some(huber)),
            Self::Gce => paper(Some(gce)),
            Self::Nbam => paper(None),
            Self::Default => match setting.epochs {
                Some(epochs) => Classifier::params().epochs(epochs),
                None => Classifier::params(),
            },
        }
    }

    /// Every parameter of it: for our default all that the library writes, for the paper's methods those that the paper, or our reading of it, fixes.
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn settings(self, setting: &Setting) -> Result<Value> {
        let mut settings = serde_json::to_value(self.params(setting)).map_err(|error| {
            Error::new(ErrorKind::Method, format!("the settings of '{}' are no JSON: {error}", self.name()))
        })?;
        if let (true, Value::Object(settings)) = (self != Self::Default, &mut settings) {
            settings.retain(|name, _| PARAMETERS.contains(&name.as_str()));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_papers_settings_are_all_there() {
        let settings = Method::Nbam.settings(&Setting::PAPER).unwrap();
        assert_eq!(settings.as_object().unwrap().len(), PARAMETERS.len());
        for (name, value) in [
            ("epochs", json!(200)),
            ("batch_size", json!(512)),
            ("learning_rate", json!(1e-3)),
            ("hidden", json!([256, 256])),
            ("weight_decay", json!(0.0)),
            ("weight_prior", json!(0.0)),
            ("members", json!(1)),
        ] {
            assert_eq!(settings[name], value, "{name}");
        }
        assert_eq!(settings["task"]["prior_hidden"], json!(128));
    }

    #[test]
    fn every_setting_and_method_is_told_apart() {
        let paper = Setting::PAPER;
        let changed = [
            Setting { epochs: Some(100), ..paper },
            Setting { batch_size: 128, ..paper },
            Setting { learning_rate: 3e-3, ..paper },
            Setting { width: 64, ..paper },
        ];
        for method in Method::PAPER {
            let plain = method.settings(&paper).unwrap();
            assert!(changed.iter().all(|setting| method.settings(setting).unwrap() != plain));
            assert_eq!(method.settings(&Setting { epochs: Some(200), ..paper }).unwrap(), plain);
            let others = Method::all().filter(|other| *other != method);
            assert!(others.map(|other| other.settings(&paper).unwrap()).all(|other| other != plain));
            assert_eq!(Method::parse(method.name()).unwrap(), method);
        }
    }
}
