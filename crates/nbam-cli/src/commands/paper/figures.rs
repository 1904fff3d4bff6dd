//! `nbam paper figures`: the paper's figures from the table's results file.

use std::path::PathBuf;

use clap::Args;
use nbam_paper::figures::{draw, write};
use nbam_paper::results::read_results;

use super::table::SelectionArguments;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct FiguresArguments {
    /// The results file of nbam paper table; it may be incomplete
    #[arg(long, value_name = "FILE", default_value = "results/table.jsonl")]
    results: PathBuf,
    /// Where the SVG files and figures.html go; files of these names are replaced
    #[arg(long, value_name = "DIR", default_value = "results/figures")]
    out: PathBuf,
    #[command(flatten)]
    selection: SelectionArguments,
}

pub(crate) fn run(arguments: &FiguresArguments, printer: &Printer) -> Result<Outcome, Failure> {
    let figures = draw(&read_results(&arguments.results)?, arguments.selection.selection())?;
    let page = interrupt::while_writing(|| Ok(write(&arguments.out, &figures)?))?;
    for figure in &figures {
        printer.remark(&figure.name, &figure.caption);
    }
    printer.line(format_args!("{}  all of them on one page", page.display()));
    Ok(Outcome::Done)
}
