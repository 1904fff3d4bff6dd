//! `nbam predict`: the predictions of a saved model.

use std::path::PathBuf;

use clap::Args;
use nbam_audit::pipeline::{SavedModel, predict};

use super::write_rows;
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// The file with the new rows, in any format that an audit reads; - is CSV on standard input
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
    /// Write to this .csv or .parquet file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &PredictArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let saved = SavedModel::load(&arguments.model)?;
    let id = if arguments.no_id { None } else { arguments.id.as_deref().or(saved.id()) };
    let table = saved.read(&arguments.input, id, false)?;
    let predictions = predict(&table, &saved, id)?;
    write_rows(&predictions.columns, arguments.out.as_deref(), printer)?;
    for note in &predictions.notes {
        printer.remark("note", note);
    }
    Ok(Outcome::Done)
}
