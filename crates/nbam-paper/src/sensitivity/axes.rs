//! The four axes of the sweep.

use crate::study::Setting;

/// A setting that is varied while the others stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Axis {
    /// Adam's learning rate.
    LearningRate,
    /// Width of both hidden layers.
    Width,
    /// Passes over the data.
    Epochs,
    /// Rows of a batch.
    Batch,
}

const LEARNING_RATES: [f64; 4] = [1e-4, 3e-4, 1e-3, 3e-3];
const WIDTHS: [usize; 4] = [64, 128, 256, 512];
/// In quarters of the default: 50, 100, 200 and 400 of 200.
const EPOCH_QUARTERS: [usize; 4] = [1, 2, 4, 8];
const BATCHES: [usize; 4] = [128, 256, 512, 1024];

impl Axis {
    /// All axes, in the order of the paper's table.
    pub const ALL: [Self; 4] = [Self::LearningRate, Self::Width, Self::Epochs, Self::Batch];

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Self::LearningRate => "learning-rate",
            Self::Width => "width",
            Self::Epochs => "epochs",
            Self::Batch => "batch",
        }
    }

    /// The settings on it, each with its value as text. `epochs` are those of the default.
    pub(super) fn settings(self, epochs: usize) -> [(String, Setting); 4] {
        let base = base(epochs);
        let place = [0, 1, 2, 3];
        match self {
            Self::LearningRate => place.map(|at| {
                let learning_rate = LEARNING_RATES[at];
                (format!("{learning_rate:e}"), Setting { learning_rate, ..base })
            }),
            Self::Width => place.map(|at| (WIDTHS[at].to_string(), Setting { width: WIDTHS[at], ..base })),
            Self::Epochs => place.map(|at| {
                let epochs = (epochs * EPOCH_QUARTERS[at] / 4).max(1);
                (epochs.to_string(), Setting { epochs: Some(epochs), ..base })
            }),
            Self::Batch => {
                place.map(|at| (BATCHES[at].to_string(), Setting { batch_size: BATCHES[at], ..base }))
            }
        }
    }
}

/// The setting that every axis goes through.
fn base(epochs: usize) -> Setting {
    Setting { epochs: Some(epochs), ..Setting::PAPER }
}

/// The settings of these axes, each once, the default first.
pub(super) fn settings_of(axes: &[Axis], epochs: usize) -> Vec<Setting> {
    let mut settings = vec![base(epochs)];
    for (_, setting) in axes.iter().flat_map(|axis| axis.settings(epochs)) {
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_cross_in_the_default() {
        let settings = settings_of(&Axis::ALL, 200);
        assert_eq!(settings.len(), 13);
        for axis in Axis::ALL {
            let with_default =
                axis.settings(200).iter().filter(|(_, setting)| *setting == settings[0]).count();
            assert_eq!(with_default, 1, "{}", axis.name());
        }
        let epochs: Vec<String> = Axis::Epochs.settings(200).into_iter().map(|(name, _)| name).collect();
        assert_eq!(epochs, ["50", "100", "200", "400"]);
        let rates: Vec<String> = Axis::LearningRate.settings(200).into_iter().map(|(name, _)| name).collect();
        assert_eq!(rates, ["1e-4", "3e-4", "1e-3", "3e-3"]);
    }
}
