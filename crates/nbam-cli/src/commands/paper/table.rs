//! `nbam paper table`: the paper's table on a feature file, resumable.

use std::path::PathBuf;

use clap::Args;
use nbam_paper::results::read_results;
use nbam_paper::study::Method;
use nbam_paper::table::{Experiment, FIRST_SEED, Options, SEEDS, Selection, render};

use super::lines::{Lines, print_cells};
use crate::arguments::{Common, positive};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// The data: an .npz file with x_train, y_train, x_test and y_test, or a folder with the CIFAR-10 binary files or
    /// with IDX files (Fashion-MNIST)
    #[arg(long, value_name = "FILE", required_unless_present = "print")]
    data: Option<PathBuf>,
    /// Where finished runs are kept, and looked for before they are done again
    #[arg(long, value_name = "FILE", default_value = "results/table.jsonl")]
    results: PathBuf,
    /// Only cells whose name holds this, or fits it where * stands for anything: asymmetric-0.4, /symmetric, '*-0.2'
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these methods: ce, student-t, huber, gce, nbam (the paper's) and default (ours)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    methods: Vec<String>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Do nothing but show each cell with the number of its runs that are done
    #[arg(long, conflicts_with = "print")]
    list: bool,
    /// Do nothing but print the table of what is done
    #[arg(long)]
    print: bool,
}

/// Seeds and epochs, for the table and its figures.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// Seeds of every cell
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = SEEDS)]
    seeds: usize,
    /// The first seed. Those from 101 are for reporting: try things out with smaller ones
    #[arg(long, value_name = "N", default_value_t = FIRST_SEED)]
    first_seed: u64,
    /// Epochs of every fit, to try it out; if not given, 200 for the paper's methods and the default's own
    #[arg(long, value_name = "N", value_parser = positive)]
    epochs: Option<usize>,
}

impl SelectionArguments {
    pub(super) fn selection(&self) -> Selection {
        Selection { seeds: self.seeds, first_seed: self.first_seed, epochs: self.epochs }
    }
}

pub(crate) fn run(
    arguments: &TableArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let selection = arguments.selection.selection();
    if let (false, Some(data)) = (arguments.print, &arguments.data) {
        let methods = arguments.methods.iter().map(|name| Method::parse(name));
        let experiment = Experiment::new(Options {
            data: data.clone(),
            results: arguments.results.clone(),
            only: arguments.only.clone(),
            methods: methods.collect::<Result<_, _>>()?,
            selection,
            threads: common.threads.unwrap_or_else(super::cores),
        })?;
        if arguments.list {
            print_cells(&experiment.list()?, printer)?;
            return Ok(Outcome::Done);
        }
        experiment.run(&Lines::new(printer))?;
    }
    printer.data(&render(&read_results(&arguments.results)?, selection)?)?;
    Ok(Outcome::Done)
}
