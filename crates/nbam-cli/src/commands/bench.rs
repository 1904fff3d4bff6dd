//! `nbam bench`: the speed of the paper's step on this machine.

use clap::Args;
use nbam::Precision;
use nbam::bench::{Speed, measure};

use crate::arguments::{Common, PrecisionName, positive};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Epochs to time; the fastest counts
    #[arg(long, value_name = "N", default_value = "5", value_parser = positive)]
    epochs: usize,
    /// In which precision matrix products are computed; bfloat16 where the processor multiplies such numbers
    #[arg(long, value_enum, default_value_t)]
    precision: PrecisionName,
    /// Print the measures as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &BenchArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    printer.line("measuring the paper's step: 45,000 rows of 512 features, width 256, batches of 512");
    let precision = Precision::from(arguments.precision);
    if precision.here() != precision {
        printer
            .line("this processor does not multiply bfloat16 numbers; single precision is measured instead");
    }
    let speed = measure(arguments.epochs, common.threads.unwrap_or(0), precision)?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&speed)
            .map_err(|error| Failure::failed(format!("the measures cannot be written as JSON: {error}")))?;
        printer.data(&format!("{text}\n"))?;
    } else {
        printer.data(&table(&speed))?;
    }
    Ok(Outcome::Done)
}

fn table(speed: &Speed) -> String {
    let threads = match speed.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let rows = [
        (format!("an epoch on {threads}"), format!("{:.3} s", speed.seconds_per_epoch)),
        ("an epoch on 1 thread".to_owned(), format!("{:.3} s", speed.seconds_per_epoch_1t)),
        (
            "arithmetic".to_owned(),
            format!(
                "{:.0} GFLOP/s, {:.0} % of the {:.0} that a matrix product reaches in single precision",
                speed.gflops,
                100.0 * speed.gflops / speed.peak_gflops,
                speed.peak_gflops
            ),
        ),
        ("scoring".to_owned(), format!("{:.0} rows/s", speed.score_rows_per_second)),
    ];
    rows.map(|(name, value)| format!("  {name:<24}{value}\n")).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_was_measured() {
        let speed = Speed {
            seconds_per_epoch: 0.25,
            seconds_per_epoch_1t: 0.5,
            gflops: 150.0,
            peak_gflops: 200.0,
            score_rows_per_second: 1e6,
            threads: 2,
            precision: Precision::Single,
        };
        let table = table(&speed);
        assert!(table.contains("an epoch on 2 threads   0.250 s"), "{table}");
        assert!(table.contains("150 GFLOP/s, 75 % of the 200"), "{table}");
    }
}
