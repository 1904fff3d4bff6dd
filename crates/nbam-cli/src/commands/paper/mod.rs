//! `nbam paper`: the experiments, one file each.

mod compare;
mod figures;
mod identify;
mod lines;
mod sensitivity;
mod synthetic;
mod table;

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
    /// The paper's table: accuracy of its methods and of our default under label noise, beside its numbers
    Table(table::TableArguments),
    /// The paper's figures, drawn from the results of the table without training again
    Figures(figures::FiguresArguments),
    /// The sweep of the paper's appendix: learning rate, width, epochs and batch, one at a time
    Sensitivity(sensitivity::SensitivityArguments),
    /// The paper's one-dimensional example with its settings, against the truth
    Synthetic(synthetic::SyntheticArguments),
}

pub(crate) fn run(
    arguments: &PaperArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    match &arguments.experiment {
        Experiment::Compare(experiment) => compare::run(experiment, common, printer),
        Experiment::Identify(experiment) => identify::run(experiment, common, printer),
        Experiment::Table(experiment) => table::run(experiment, common, printer),
        Experiment::Figures(experiment) => figures::run(experiment, printer),
        Experiment::Sensitivity(experiment) => sensitivity::run(experiment, common, printer),
        Experiment::Synthetic(experiment) => synthetic::run(experiment, common, printer),
    }
}

/// How many networks are trained at a time if nobody says.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
