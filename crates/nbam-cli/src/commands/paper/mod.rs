//! `nbam paper`: the experiments, one file each.

mod compare;
mod identify;

use clap::{Args, Subcommand};

use crate::arguments::Common;
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct PaperArguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// The mixture against thirteen other methods for wrong labels, on one network
    Compare(compare::CompareArguments),
    /// Whether the default preset stays identified and finds bad rows: data sets, noise, baselines and goals
    Identify(identify::IdentifyArguments),
}

pub(crate) fn run(
    arguments: &PaperArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    match &arguments.experiment {
        Experiment::Compare(experiment) => compare::run(experiment, common, printer),
        Experiment::Identify(experiment) => identify::run(experiment, common, printer),
    }
}
