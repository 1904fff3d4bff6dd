//! The `nbam` command.
//!
//! Arguments are parsed first; the verbs then do the work through the libraries and speak through one printer.

mod arguments;
mod commands;
mod failure;
mod interrupt;
mod printer;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Verb};
use failure::{Failure, Outcome};
use printer::Printer;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let printer = Printer::new(arguments.common.quiet);
    let outcome = run(&arguments, &printer);
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(3),
        // Whoever reads the output has seen enough.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::from(failure.code())
        }
    }
}

fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    interrupt::install()?;
    // Reading, preparing and writing use rayon's own pool.
    let threads = arguments.common.threads.unwrap_or(0);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Failure::failed(format!("the threads cannot be started: {error}")))?;
    match &arguments.verb {
        Verb::Audit(verb) => commands::audit::run(verb, &arguments.common, printer),
        Verb::Score(verb) => commands::score::run(verb, printer),
        Verb::Predict(verb) => commands::predict::run(verb, printer),
        Verb::Corrupt(verb) => commands::corrupt::run(verb, printer),
        Verb::Demo(verb) => commands::demo::run(verb, &arguments.common, printer),
        Verb::Paper(verb) => commands::paper::run(verb, &arguments.common, printer),
        Verb::Bench(verb) => commands::bench::run(verb, &arguments.common, printer),
    }
}
