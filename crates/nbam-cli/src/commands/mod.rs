//! The verbs, one file each.

pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod corrupt;
pub(crate) mod demo;
pub(crate) mod paper;
pub(crate) mod predict;
pub(crate) mod score;

use std::path::Path;

use nbam_audit::Summary;
use nbam_table::OutputColumn;

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::printer::Printer;

/// Writes rows to a file, or to standard output as CSV.
fn write_rows(columns: &[OutputColumn], out: Option<&Path>, printer: &Printer) -> Result<(), Failure> {
    match out {
        None => printer.csv(columns),
        Some(path) => {
            interrupt::while_writing(|| nbam_table::write_table(columns, path).map_err(Failure::writing))
        }
    }
}

/// Says no when the estimated rate is above the limit.
fn gate(summary: &Summary, max_rate: Option<f64>, printer: &Printer) -> Outcome {
    match max_rate {
        Some(limit) if summary.rate.mean > limit => {
            printer.line(format_args!(
                "gate: the estimated rate of {:.4} exceeds --max-rate {limit}",
                summary.rate.mean
            ));
            Outcome::Refused
        }
        _ => Outcome::Done,
    }
}

/// The most frequent changes of labels, one line each.
fn print_transitions(summary: &Summary, printer: &Printer) {
    const SHOWN: usize = 5;
    let Some(most) = summary.transitions.first() else { return };
    printer.line("");
    printer.line("most frequent suspicions (probably → labelled as):");
    let shown = &summary.transitions[..summary.transitions.len().min(SHOWN)];
    let width = |name: &str| name.chars().count().min(24);
    let from = shown.iter().map(|pair| width(&pair.from)).max().unwrap_or(0);
    let to = shown.iter().map(|pair| width(&pair.to)).max().unwrap_or(0);
    for pair in shown {
        let bar = "█".repeat((pair.rows * 24).div_ceil(most.rows.max(1)));
        let (from_name, to_name) = (shortened(&pair.from), shortened(&pair.to));
        printer.line(format_args!(
            "  {from_name:>from$} → {to_name:<to$}  {:>6} {}",
            pair.rows,
            printer.faint(&bar)
        ));
    }
    let rest: usize = summary.transitions.iter().skip(SHOWN).map(|pair| pair.rows).sum();
    if rest > 0 {
        printer.line(format_args!("  and {rest} more in {} other pairs", summary.transitions.len() - SHOWN));
    }
}

fn shortened(name: &str) -> String {
    const WIDEST: usize = 24;
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if plain.chars().count() <= WIDEST {
        return plain;
    }
    plain.chars().take(WIDEST - 1).chain(['…']).collect()
}

fn print_remarks(summary: &Summary, printer: &Printer) {
    for warning in &summary.warnings {
        printer.remark("warning", &warning.message);
    }
    for note in &summary.notes {
        printer.remark("note", note);
    }
}
