//! `nbam paper identify`: the default preset against its baselines, resumable.

use std::path::PathBuf;

use clap::Args;
use nbam_paper::identify::{Experiment, FIRST_SEED, Method, Options, Seeds, render};
use nbam_paper::results::read_results;

use super::lines::Lines;
use crate::arguments::{Common, positive};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct IdentifyArguments {
    /// A folder of data sets: .npz files with x_train and y_train, and x_test and y_test if there are test rows
    #[arg(long, value_name = "DIR", required_unless_present = "table")]
    data: Option<PathBuf>,
    /// Where finished runs are kept, and looked for before they are done again
    #[arg(long, value_name = "FILE", default_value = "results/identify.jsonl")]
    results: PathBuf,
    /// Only cells whose name holds this, or fits it where * stands for anything: cifar10, 'digits/*-0.2'
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these methods, such as default,ce,gce
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    methods: Vec<String>,
    /// Seeds of every cell; 3, and 20 on small data, if not given
    #[arg(long, value_name = "N", value_parser = positive)]
    seeds: Option<usize>,
    /// The first seed. Those from 101 are for reporting: try things out with smaller ones
    #[arg(long, value_name = "N", default_value_t = FIRST_SEED)]
    first_seed: u64,
    /// Write rows and out-of-sample probabilities here, for bench/identify_peers.py
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Do nothing but show each cell with its runs: done, missing, and waiting for identify_peers.py
    #[arg(long, conflicts_with = "table")]
    list: bool,
    /// Do nothing but print the tables of what is done
    #[arg(long)]
    table: bool,
}

pub(crate) fn run(
    arguments: &IdentifyArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let seeds = Seeds { first: arguments.first_seed, count: arguments.seeds };
    if let (false, Some(data)) = (arguments.table, &arguments.data) {
        let experiment = Experiment::new(options(arguments, common, data.clone())?)?;
        if arguments.list {
            return list(&experiment, printer);
        }
        experiment.run(&Lines::new(printer))?;
    }
    printer.data(&render(&read_results(&arguments.results)?, seeds)?)?;
    Ok(Outcome::Done)
}

fn options(arguments: &IdentifyArguments, common: &Common, data: PathBuf) -> Result<Options, Failure> {
    let methods = arguments.methods.iter().map(|name| Method::parse(name));
    Ok(Options {
        data,
        results: arguments.results.clone(),
        only: arguments.only.clone(),
        methods: methods.collect::<Result<_, _>>()?,
        seeds: arguments.seeds,
        first_seed: arguments.first_seed,
        threads: common.threads.unwrap_or_else(super::cores),
        export: arguments.export.clone(),
    })
}

fn list(experiment: &Experiment, printer: &Printer) -> Result<Outcome, Failure> {
    let cells = experiment.list()?;
    let width = cells.iter().map(|cell| cell.name.len()).max().unwrap_or(0);
    let mut text = format!("{:<width$}  {:>7} {:>7} {:>7}\n", "cell", "done", "missing", "waiting");
    for cell in &cells {
        text += &format!("{:<width$}  {:>7} {:>7} {:>7}\n", cell.name, cell.done, cell.missing, cell.waiting);
    }
    let total = cells.iter().fold((0, 0, 0), |(done, missing, waiting), cell| {
        (done + cell.done, missing + cell.missing, waiting + cell.waiting)
    });
    text += &format!("{:<width$}  {:>7} {:>7} {:>7}\n", "all", total.0, total.1, total.2);
    printer.data(&text)?;
    Ok(Outcome::Done)
}
