//! `nbam paper sensitivity`: the sweep of the paper's appendix, resumable.

use std::path::PathBuf;

use clap::Args;
use nbam_paper::results::read_results;
use nbam_paper::sensitivity::{Axis, Experiment, RATES, Selection, render};
use nbam_paper::study::Setting;
use nbam_paper::table::{FIRST_SEED, SEEDS};

use super::lines::{Lines, print_cells};
use crate::arguments::{Common, positive, share};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct SensitivityArguments {
    /// The data: an .npz file with x_train, y_train, x_test and y_test, or a folder with the CIFAR-10 binary files or
    /// with IDX files (Fashion-MNIST)
    #[arg(long, value_name = "FILE", required_unless_present = "print")]
    data: Option<PathBuf>,
    /// Where finished runs are kept, and looked for before they are done again
    #[arg(long, value_name = "FILE", default_value = "results/sensitivity.jsonl")]
    results: PathBuf,
    /// What is varied; everything if not given
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = axis, default_value = "learning-rate,width,epochs,batch")]
    axes: Vec<Axis>,
    /// Rates of symmetric noise; 0.1 to 0.9 if not given
    #[arg(long, value_name = "R,S", value_delimiter = ',', value_parser = share, default_values_t = RATES)]
    rates: Vec<f64>,
    /// Seeds of every cell
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = SEEDS)]
    seeds: usize,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = FIRST_SEED)]
    first_seed: u64,
    /// Epochs of the default setting; the axis of epochs goes from a quarter to twice of it
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = Setting::EPOCHS)]
    epochs: usize,
    /// Do nothing but show each rate with the number of its runs that are done
    #[arg(long, conflicts_with = "print")]
    list: bool,
    /// Do nothing but print the tables of what is done
    #[arg(long)]
    print: bool,
}

fn axis(name: &str) -> Result<Axis, String> {
    let found = Axis::ALL.into_iter().find(|axis| axis.name() == name);
    found.ok_or_else(|| "give learning-rate, width, epochs or batch".to_owned())
}

pub(crate) fn run(
    arguments: &SensitivityArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let selection = Selection {
        axes: arguments.axes.clone(),
        rates: arguments.rates.clone(),
        seeds: arguments.seeds,
        first_seed: arguments.first_seed,
        epochs: arguments.epochs,
    };
    if let (false, Some(data)) = (arguments.print, &arguments.data) {
        let threads = common.threads.unwrap_or_else(super::cores);
        let experiment = Experiment::new(data.clone(), arguments.results.clone(), &selection, threads)?;
        if arguments.list {
            print_cells(&experiment.list()?, printer)?;
            return Ok(Outcome::Done);
        }
        experiment.run(&Lines::new(printer))?;
    }
    printer.data(&render(&read_results(&arguments.results)?, &selection)?)?;
    Ok(Outcome::Done)
}
