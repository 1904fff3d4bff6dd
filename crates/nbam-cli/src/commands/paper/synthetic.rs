//! `nbam paper synthetic`: the one-dimensional example with the paper's settings, against the truth.

use std::path::PathBuf;

use clap::Args;
use nbam::Schedule;
use nbam_paper::figures::write_file;
use nbam_paper::synthetic::{BATCH, Fitted, Options, STEPS, best_expected_accuracy, figure, fit};
use serde_json::json;

use crate::arguments::{Common, positive};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::FitProgress;

#[derive(Debug, Args)]
pub(crate) struct SyntheticArguments {
    /// Steps of the optimiser; every step has new rows
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = STEPS)]
    steps: usize,
    /// Rows of a step
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = BATCH)]
    batch: usize,
    /// Keep the learning rate at 1e-2 to the end; if not given, it falls to zero along half a cosine
    #[arg(long)]
    constant_rate: bool,
    /// Where all random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where the figure goes; a file of this name is replaced
    #[arg(long, value_name = "FILE", default_value = "results/figures/synthetic.svg")]
    out: PathBuf,
    /// Print the measures as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &SyntheticArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let options = Options {
        steps: arguments.steps,
        batch: arguments.batch,
        schedule: if arguments.constant_rate { Schedule::Constant } else { Schedule::Cosine },
        seed: arguments.seed,
        threads: common.threads.unwrap_or(0),
    };
    let progress = FitProgress::new(*printer);
    let fitted = fit(&options, &progress);
    progress.finish();
    let fitted = fitted?;
    interrupt::while_writing(|| Ok(write_file(&arguments.out, &figure(&fitted))?))?;
    printer.data(&if arguments.json { summary(&options, &fitted) } else { goals(&fitted) })?;
    printer.line(format_args!("{}  the figure", arguments.out.display()));
    Ok(Outcome::Done)
}

fn goals(fitted: &Fitted) -> String {
    let measures = &fitted.measures;
    let mut text = "| goal | measured | |\n| --- | --- | --- |\n".to_owned();
    for goal in measures.goals() {
        let verdict = if goal.is_met { "met" } else { "**MISSED**" };
        text += &format!("| {} | {:.4} | {verdict} |\n", goal.name, goal.measured);
    }
    text + &format!(
        "\nThe posterior that knows the true densities has an accuracy of {:.4} on the same rows, and of {:.4} in expectation. The mean \
         posterior is {:.4}, the true rate {:.4}. The fit took {:.1} s.\n",
        measures.best_accuracy,
        best_expected_accuracy(),
        measures.rate.0,
        measures.rate.1,
        measures.seconds
    )
}

fn summary(options: &Options, fitted: &Fitted) -> String {
    let measures = &fitted.measures;
    let goals: Vec<_> = measures
        .goals()
        .iter()
        .map(|goal| json!({"goal": goal.name, "measured": goal.measured, "is_met": goal.is_met}))
        .collect();
    let summary = json!({
        "steps": options.steps,
        "batch": options.batch,
        "schedule": options.schedule,
        "seed": options.seed,
        "posterior_accuracy": measures.accuracy,
        "best_accuracy": measures.best_accuracy,
        "expected_best_accuracy": best_expected_accuracy(),
        "signal_rmse": measures.signal_error,
        "prior_mean_absolute_error": measures.prior_error,
        "anomaly_scale": measures.anomaly_scale,
        "rate": measures.rate.0,
        "true_rate": measures.rate.1,
        "goals": goals,
        "seconds": measures.seconds,
    });
    format!("{summary:#}\n")
}
