//! `nbam paper compare`: the mixture against other methods for wrong labels, resumable.

use std::path::PathBuf;

use clap::Args;
use nbam_paper::compare::{Choice, Comparison, EPOCHS, Method, Options, SEEDS, render};
use nbam_paper::identify::FIRST_SEED;
use nbam_paper::results::read_results;

use super::lines::Lines;
use crate::arguments::{Common, positive};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The data: an .npz file with x_train and y_train, and x_test and y_test if there are test rows
    #[arg(long, value_name = "FILE", required_unless_present = "table")]
    data: Option<PathBuf>,
    /// Where finished runs are kept, and looked for before they are done again
    #[arg(long, value_name = "FILE", default_value = "results/compare.jsonl")]
    results: PathBuf,
    /// Only cells whose name holds this, or fits it where * stands for anything: symmetric-0.4, '*-0.2'
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these methods, such as ce,sce,nbam-default
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    methods: Vec<String>,
    /// Epochs of every network but those of nbam-default, which has its own number
    #[arg(long, value_name = "N", default_value_t = EPOCHS, value_parser = positive)]
    epochs: usize,
    /// Seeds of every cell
    #[arg(long, value_name = "N", default_value_t = SEEDS, value_parser = positive)]
    seeds: usize,
    /// The first seed. Those from 101 are for reporting: try things out with smaller ones
    #[arg(long, value_name = "N", default_value_t = FIRST_SEED)]
    first_seed: u64,
    /// Do nothing but print the table of what is done
    #[arg(long)]
    table: bool,
}

pub(crate) fn run(
    arguments: &CompareArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let CompareArguments { epochs, seeds, first_seed, .. } = *arguments;
    if let (false, Some(data)) = (arguments.table, &arguments.data) {
        let methods = arguments.methods.iter().map(|name| Method::parse(name));
        let comparison = Comparison::new(Options {
            data: data.clone(),
            results: arguments.results.clone(),
            only: arguments.only.clone(),
            methods: methods.collect::<Result<_, _>>()?,
            epochs,
            seeds,
            first_seed,
            threads: common.threads.unwrap_or_else(super::cores),
        })?;
        comparison.run(&Lines::new(printer))?;
    }
    let choice = Choice { epochs, first_seed, seeds };
    printer.data(&render(&read_results(&arguments.results)?, choice)?)?;
    Ok(Outcome::Done)
}
