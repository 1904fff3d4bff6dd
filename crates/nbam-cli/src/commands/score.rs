//! `nbam score`: the posterior of new rows under a saved model.

use std::path::PathBuf;

use clap::Args;
use nbam_audit::pipeline::{SavedModel, score};

use super::{gate, print_remarks, print_transitions, write_rows};
use crate::arguments::{share, share_below_one};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct ScoreArguments {
    /// The file with the new rows and their targets, in any format that an audit reads; - is CSV on standard input
    input: PathBuf,
    /// The folder that an audit wrote, or the model folder in it
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// A column that names the rows; the audit's if not given
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// The new rows have no names
    #[arg(long, conflicts_with = "id")]
    no_id: bool,
    /// Flag the largest set of rows whose expected share of false flags is at most this; the audit's if not given
    #[arg(long, value_name = "F", value_parser = share_below_one)]
    fdr: Option<f64>,
    /// Exit with code 3 if the estimated share of wrong targets exceeds this
    #[arg(long, value_name = "R", value_parser = share)]
    max_rate: Option<f64>,
    /// Write the rows to this .csv or .parquet file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the summary as one JSON object on standard output; the rows then go to --out only
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ScoreArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let saved = SavedModel::load(&arguments.model)?;
    let id = if arguments.no_id { None } else { arguments.id.as_deref().or(saved.id()) };
    let table = saved.read(&arguments.input, id, true)?;
    let scores = score(&table, &saved, id, arguments.fdr)?;
    if arguments.out.is_some() || !arguments.json {
        write_rows(&scores.rows(), arguments.out.as_deref(), printer)?;
    }
    print_remarks(&scores.summary, printer);
    printer.headline(&scores.summary.headline());
    print_transitions(&scores.summary, printer);
    let outcome = gate(&scores.summary, arguments.max_rate, printer);
    if arguments.json {
        printer.data(&scores.summary.to_json()?)?;
    }
    Ok(outcome)
}
