//! One finished run.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::measure::Measures;
use crate::noise::Noise;

/// Everything that a run depends on. Two runs are the same if and only if all of it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Which experiment it belongs to.
    pub experiment: String,
    /// The data set's name.
    pub data: String,
    /// The data set's contents.
    pub fingerprint: String,
    /// What was done to its targets.
    pub noise: Noise,
    /// The share of rows whose switch the method was told.
    pub verified: f64,
    /// Where all random numbers come from: split, noise and fit.
    pub seed: u64,
    /// The method's name.
    pub method: String,
    /// Every parameter of the method, as the library writes them, but for the seed.
    pub settings: serde_json::Value,
    /// The version of the method's code; see [`crate::LABELS_VERSION`].
    pub version: u32,
}

/// A run with what it measured: one line of a results file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Which run it was.
    pub run: Identity,
    /// What it measured; nothing if it failed.
    pub measures: Measures,
    /// Why it failed, if it did: a fit that diverged is a result too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Identity {
    /// A name for the run that no other run has.
    pub fn key(&self) -> String {
        // Objects are written with sorted keys and numbers with the fewest digits that read back the same, so
        // that equal settings give equal texts.
        let text = serde_json::to_string(self).unwrap_or_default();
        Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// A name for what runs that differ only in their seed have in common: those that a mean may be taken of.
    pub fn series(&self) -> String {
        Self { seed: 0, ..self.clone() }.key()
    }

    /// The cell of a table that the run belongs to: `cifar10/asymmetric-0.8+verified-0.02`.
    pub fn cell(&self) -> String {
        cell_name(&self.data, &self.noise, self.verified)
    }
}

/// The name of a cell.
pub(crate) fn cell_name(data: &str, noise: &Noise, verified: f64) -> String {
    let help = if verified > 0.0 { format!("+verified-{verified}") } else { String::new() };
    format!("{data}/{}{help}", noise.name())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::noise::NoiseKind;
    use serde_json::json;

    pub(crate) fn identity() -> Identity {
        Identity {
            experiment: "identify".into(),
            data: "wine".into(),
            fingerprint: "0123".into(),
            noise: Noise::new(NoiseKind::Symmetric, 0.2),
            verified: 0.0,
            seed: 1,
            method: "ce".into(),
            settings: json!({"b": 0.1, "a": [1, 2]}),
            version: 1,
        }
    }

    #[test]
    fn every_setting_is_part_of_the_key() {
        let base = identity();
        let changed = [
            Identity { data: "digits".into(), ..base.clone() },
            Identity { fingerprint: "0124".into(), ..base.clone() },
            Identity { noise: Noise::new(NoiseKind::Symmetric, 0.4), ..base.clone() },
            Identity { noise: Noise::new(NoiseKind::Next, 0.2), ..base.clone() },
            Identity { verified: 0.02, ..base.clone() },
            Identity { method: "gce".into(), ..base.clone() },
            Identity { settings: json!({"b": 0.1, "a": [1, 3]}), ..base.clone() },
            Identity { version: 2, ..base.clone() },
        ];
        for other in &changed {
            assert_ne!(other.key(), base.key(), "{other:?}");
            assert_ne!(other.series(), base.series(), "{other:?}");
        }
        let seed = Identity { seed: 2, ..base.clone() };
        assert_ne!(seed.key(), base.key());
        assert_eq!(seed.series(), base.series());
    }

    #[test]
    fn the_key_survives_the_file() {
        let text = serde_json::to_string(&identity()).unwrap();
        let read: Identity = serde_json::from_str(&text).unwrap();
        assert_eq!(read.key(), identity().key());
        let reordered = json!({"a": [1, 2], "b": 0.1});
        assert_eq!(Identity { settings: reordered, ..identity() }.key(), identity().key());
    }
}
