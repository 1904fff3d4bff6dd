//! What can be typed. Everything here is parsed before anything is built.

use clap::{Args, Parser, Subcommand, ValueEnum};
use nbam::Precision;

use crate::commands;

/// Finds the wrong targets in a data set, and trains a model that they do not fool.
#[derive(Debug, Parser)]
#[command(
    name = "nbam",
    version,
    max_term_width = 110,
    after_help = "Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 3 the rate exceeds --max-rate."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of every verb.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Threads to use; all cores if not given. The result does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
}

/// What matrix products are computed in.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum PrecisionName {
    #[default]
    Single,
    Bfloat16,
}

impl From<PrecisionName> for Precision {
    fn from(name: PrecisionName) -> Self {
        match name {
            PrecisionName::Single => Self::Single,
            PrecisionName::Bfloat16 => Self::Bfloat16,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Find the wrong targets of a file: how many, which rows, why, and what they should be
    Audit(commands::audit::AuditArguments),
    /// Give the probability that the target is wrong for each row of a new file, by the model of an audit
    Score(commands::score::ScoreArguments),
    /// Predict the target of each row of a new file, by the model of an audit
    Predict(commands::predict::PredictArguments),
    /// Make some targets of a clean file wrong on purpose, and keep the truth in added columns
    Corrupt(commands::corrupt::CorruptArguments),
    /// Fit and draw the paper's one-dimensional example in a few seconds
    Demo(commands::demo::DemoArguments),
    /// Run the project's experiments, and print their tables
    Paper(commands::paper::PaperArguments),
    /// Measure the speed of training and scoring on this machine
    Bench(commands::bench::BenchArguments),
}

/// A whole number of at least one.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a whole number of at least 1".to_owned()),
    }
}

/// A number of threads that a machine survives.
fn thread_count(text: &str) -> Result<usize, String> {
    match positive(text) {
        Ok(number) if number <= 1024 => Ok(number),
        _ => Err("give a whole number from 1 to 1,024".to_owned()),
    }
}

/// A size in bytes, with K, M, G or T for thousands, millions and so on.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T']);
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "K" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        "T" => Some(1_000_000_000_000_u64),
        _ => None,
    };
    let size = unit.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit)).filter(|size| *size > 0);
    size.ok_or_else(|| "give a whole number of bytes, such as 500M or 6G".to_owned())
}

/// A number from 0 to below 1.
pub(crate) fn share_below_one(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("give a number of at least 0 and below 1, such as 0.05".to_owned()),
    }
}

/// A number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number between 0 and 1, such as 0.2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        assert_eq!((positive("3"), positive("0").is_err()), (Ok(3), true));
        assert!(thread_count("1024").is_ok() && thread_count("1025").is_err() && thread_count("0").is_err());
        assert_eq!((bytes("6G"), bytes("100")), (Ok(6_000_000_000), Ok(100)));
        assert!(bytes("6KM").is_err() && bytes("1.5G").is_err() && bytes("0").is_err());
        assert!(share_below_one("1").is_err() && share("1").is_ok());
        assert!(share("nan").is_err() && share("-0.1").is_err());
    }
}
