//! How good predictions, contamination posteriors and flags are, against a known truth.
//!
//! Scores and probabilities may be `f32` or `f64`; every result is computed in `f64`. Truths are `true` for
//! the positive case, here a contaminated row. Lengths that disagree, empty input, NaN, and probabilities
//! outside [0, 1] are errors, never a number that looks like a result.

mod accuracy;
mod calibration;
mod check;
mod flags;
mod ranking;
mod regression;

pub use accuracy::accuracy;
pub use calibration::{
    DEFAULT_BINS, ReliabilityBin, ReliabilityCurve, brier, expected_calibration_error, log_loss, reliability,
};
pub use flags::{FlagCounts, expected_fdr};
pub use ranking::{auroc, average_precision};
pub use regression::{mean_absolute_error, root_mean_squared_error};
