//! `nbam demo`: the paper's one-dimensional example, fitted and drawn.

mod canvas;
mod picture;

use std::time::Instant;

use clap::Args;
use nbam::{Features, MeasuredRows, Params, Preset, Regression, Schedule};
use nbam_paper::synthetic::{self as example, Example};
use serde_json::json;

use crate::arguments::Common;
use crate::failure::{Failure, Outcome};
use crate::printer::{Printer, output_terminal};
use crate::progress::FitProgress;

/// Rows of the example.
const ROWS: usize = 2000;
/// Passes over them: enough to find the signal, few enough to watch.
const EPOCHS: usize = 3000;
/// Points at which the learned functions are drawn and compared with the true ones.
const GRID: usize = 481;

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Where all random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the measures as one JSON object instead of the picture
    #[arg(long)]
    json: bool,
}

/// What the fit found, at the rows and on a grid.
struct Found {
    grid: Vec<f64>,
    signal: Vec<f64>,
    prior: Vec<f64>,
    contamination: Vec<f64>,
    seconds: f64,
}

/// How good that is, beside the best that is possible.
struct Measures {
    /// Share of the rows that the learned posterior puts on the right side of one half.
    accuracy: f64,
    /// The same for the posterior that knows the true densities.
    best_accuracy: f64,
    /// The mean of the learned posterior, and the true share of replaced rows.
    rate: f64,
    true_rate: f64,
    /// Root mean squared distance of the learned signal and prior from the true ones.
    signal_error: f64,
    prior_error: f64,
}

pub(crate) fn run(arguments: &DemoArguments, common: &Common, printer: &Printer) -> Result<Outcome, Failure> {
    let example = Example::draw(ROWS, arguments.seed);
    let progress = FitProgress::new(*printer);
    let found = fit(&example, arguments.seed, common.threads.unwrap_or(0), &progress);
    progress.finish();
    let found = found?;
    let measures = measure(&example, &found);
    if arguments.json {
        let ceiling = example::best_expected_accuracy();
        let summary = json!({
            "rows": ROWS,
            "posterior_accuracy": measures.accuracy,
            "best_accuracy": measures.best_accuracy,
            "expected_best_accuracy": ceiling,
            "rate": measures.rate,
            "true_rate": measures.true_rate,
            "signal_rmse": measures.signal_error,
            "prior_rmse": measures.prior_error,
            "seconds": found.seconds,
        });
        printer.data(&format!("{summary:#}\n"))?;
    } else {
        let (has_color, width) = output_terminal();
        printer.data(&picture::draw(&example, &found, &measures, width, has_color))?;
    }
    Ok(Outcome::Done)
}

fn fit(example: &Example, seed: u64, threads: usize, progress: &FitProgress) -> Result<Found, Failure> {
    let start = Instant::now();
    let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let x = single(&example.x);
    let rows = MeasuredRows {
        features: Features::new(&x, 1)?,
        values: &example.y,
        errors: None,
        weights: None,
        known: None,
    };
    // Not the paper's constant rate: after as many epochs a falling one left the signal closer to the true one.
    let params = Params::<Regression>::preset(Preset::Paper).epochs(EPOCHS).schedule(Schedule::Cosine);
    let params = params.seed(seed).threads(threads);
    let model = params.check()?.fit_rows(&rows, progress)?;
    let grid: Vec<f64> = (0..GRID)
        .map(|point| example::LOW + (example::HIGH - example::LOW) * point as f64 / (GRID - 1) as f64)
        .collect();
    let x_grid = single(&grid);
    let on_grid = Features::new(&x_grid, 1)?;
    Ok(Found {
        signal: model.predict(&on_grid)?.mean,
        prior: model.prior(&on_grid)?,
        contamination: model.posterior(&rows.features, &example.y, None)?.contamination,
        grid,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn measure(example: &Example, found: &Found) -> Measures {
    let right = |posterior: f64, row: usize| (posterior > 0.5) == example.is_contaminated[row];
    let rows = example.x.len();
    let share = |is_right: &dyn Fn(usize) -> bool| {
        (0..rows).filter(|&row| is_right(row)).count() as f64 / rows as f64
    };
    let distance = |learned: &[f64], truth: fn(f64) -> f64| {
        let squares = found.grid.iter().zip(learned).map(|(&x, learned)| (learned - truth(x)).powi(2));
        (squares.sum::<f64>() / found.grid.len() as f64).sqrt()
    };
    Measures {
        accuracy: share(&|row| right(found.contamination[row], row)),
        best_accuracy: share(&|row| right(example::posterior(example.x[row], example.y[row]), row)),
        rate: found.contamination.iter().sum::<f64>() / rows as f64,
        true_rate: share(&|row| example.is_contaminated[row]),
        signal_error: distance(&found.signal, example::signal),
        prior_error: distance(&found.prior, example::prior),
    }
}
