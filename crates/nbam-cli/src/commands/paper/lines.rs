//! What an experiment says while it runs.

use std::time::Instant;

use nbam_paper::Watch;
use nbam_paper::results::Record;

use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;

/// Each cell with the number of its runs that are done, to standard output.
pub(super) fn print_cells(cells: &[(String, usize, usize)], printer: &Printer) -> Result<(), Failure> {
    let width = cells.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text = format!("{:<width$}  {:>7} {:>7}\n", "cell", "done", "missing");
    let mut line = |name: &str, done: usize, total: usize| {
        text += &format!("{name:<width$}  {done:>7} {:>7}\n", total - done);
    };
    for (name, done, total) in cells {
        line(name, *done, *total);
    }
    let sum = |of: fn(&(String, usize, usize)) -> usize| cells.iter().map(of).sum::<usize>();
    line("all", sum(|cell| cell.1), sum(|cell| cell.2));
    printer.data(&text)
}

/// A line for each run that ends.
pub(super) struct Lines<'a> {
    printer: &'a Printer,
    start: Instant,
}

impl<'a> Lines<'a> {
    pub(super) fn new(printer: &'a Printer) -> Self {
        Self { printer, start: Instant::now() }
    }
}

impl Watch for Lines<'_> {
    fn finished(&self, record: &Record, done: usize, total: usize) {
        let (run, measures) = (&record.run, &record.measures);
        let number =
            |name: &str, value: Option<f64>| value.map_or(String::new(), |v| format!(", {name} {v:.3}"));
        let what = match &record.failure {
            Some(failure) => format!(", failed: {failure}"),
            None => [
                number("accuracy", measures.accuracy),
                number("RMSE", measures.rmse),
                number("AP", measures.ap),
                number("ECE", measures.ece),
            ]
            .concat(),
        };
        let left = self.start.elapsed().as_secs_f64() / done as f64 * (total - done) as f64;
        self.printer.line(format_args!(
            "{done} of {total}, about {:.0} min left: {} {} seed {}{what}, {:.1} s",
            left / 60.0,
            run.cell(),
            run.method,
            run.seed,
            measures.seconds
        ));
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_requested()
    }
}
