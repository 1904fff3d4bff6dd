//! `nbam audit`: from a file to decisions.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use nbam::Preset;
use nbam_audit::Summary;
use nbam_audit::pipeline::{AuditOptions, RowsFormat, audit_file, check_output};
use nbam_table::{Roles, Task};

use super::{gate, print_remarks, print_transitions};
use crate::arguments::{Common, PrecisionName, bytes, positive, share, share_below_one};
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::printer::Printer;
use crate::progress::FitProgress;

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// The file: .csv, .tsv (also .gz), .parquet, .arrow, .feather, .jsonl or .npz; - is CSV on standard input
    input: PathBuf,
    /// The column whose values are in doubt
    #[arg(long, value_name = "NAME")]
    target: String,
    /// The feature columns; all columns without another role if not given
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    features: Vec<String>,
    /// Columns that are not features
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    exclude: Vec<String>,
    /// A column that names the rows
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// A column with the known standard error of each numeric target
    #[arg(long, value_name = "NAME")]
    error: Option<String>,
    /// A column that says how much each row counts
    #[arg(long, value_name = "NAME")]
    weight: Option<String>,
    /// A column that is true for rows known to be right, false for rows known to be wrong, and empty for the others
    #[arg(long, value_name = "NAME")]
    verified: Option<String>,
    /// A column of image paths, shown in the report; relative ones start from the file's folder
    #[arg(long, value_name = "NAME")]
    image: Option<String>,
    /// Whether the target names classes or is a number
    #[arg(long, value_enum, default_value_t)]
    task: TaskName,
    /// The method's settings: the recommended ones, or exactly the paper's
    #[arg(long, value_enum, default_value_t)]
    preset: PresetName,
    /// Flag the largest set of rows whose expected share of false flags is at most this
    #[arg(long, value_name = "F", default_value = "0.05", value_parser = share_below_one)]
    fdr: f64,
    /// How many networks are trained and averaged
    #[arg(long, value_name = "N", value_parser = positive)]
    members: Option<usize>,
    /// How often each network sees all rows
    #[arg(long, value_name = "N", value_parser = positive)]
    epochs: Option<usize>,
    /// What matrix products are computed in: bfloat16 is faster where the processor multiplies such numbers, and rounds them
    #[arg(long, value_enum, default_value_t)]
    precision: PrecisionName,
    /// Take the final networks' posterior instead of an average over the last epochs
    #[arg(long)]
    no_average: bool,
    /// Plant known errors, fit once more and report how well they are found; takes twice as long
    #[arg(long)]
    check: bool,
    /// Exit with code 3 if the estimated share of wrong targets exceeds this
    #[arg(long, value_name = "R", value_parser = share)]
    max_rate: Option<f64>,
    /// The format of the file with all rows
    #[arg(long, value_enum, default_value_t)]
    rows: RowsName,
    /// The folder to write; it appears when everything is in it
    #[arg(long, value_name = "DIR", default_value = "nbam-audit")]
    out: PathBuf,
    /// Replace an audit that is already there
    #[arg(long)]
    force: bool,
    /// The most memory that the table may take, such as 500M or 6G; 80 % of what is free if not given
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory_limit: Option<u64>,
    /// Where all random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the summary as one JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum TaskName {
    #[default]
    Auto,
    Classification,
    Regression,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum PresetName {
    #[default]
    Default,
    Paper,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum RowsName {
    #[default]
    Parquet,
    Csv,
}

impl AuditArguments {
    fn options(&self, common: &Common) -> AuditOptions {
        AuditOptions {
            roles: Roles {
                target: Some(self.target.clone()),
                features: (!self.features.is_empty()).then(|| self.features.clone()),
                exclude: self.exclude.clone(),
                id: self.id.clone(),
                error: self.error.clone(),
                weight: self.weight.clone(),
                verified: self.verified.clone(),
                image: self.image.clone(),
            },
            task: match self.task {
                TaskName::Auto => Task::Auto,
                TaskName::Classification => Task::Classification,
                TaskName::Regression => Task::Regression,
            },
            preset: match self.preset {
                PresetName::Default => Preset::Default,
                PresetName::Paper => Preset::Paper,
            },
            fdr: self.fdr,
            members: self.members,
            epochs: self.epochs,
            precision: self.precision.into(),
            is_averaged: !self.no_average,
            check: self.check,
            seed: self.seed,
            threads: common.threads.unwrap_or(0),
            memory_limit: self.memory_limit,
        }
    }

    fn format(&self) -> RowsFormat {
        match self.rows {
            RowsName::Parquet => RowsFormat::Parquet,
            RowsName::Csv => RowsFormat::Csv,
        }
    }
}

pub(crate) fn run(
    arguments: &AuditArguments,
    common: &Common,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let options = arguments.options(common);
    // Known before the work, not after it.
    check_output(&arguments.out, arguments.force)?;
    let progress = FitProgress::new(*printer);
    let outcome = audit_file(&arguments.input, &options, &progress);
    progress.finish();
    let mut audit = outcome?;
    interrupt::while_writing(|| Ok(audit.write(&arguments.out, arguments.format(), arguments.force)?))?;
    print(&audit.summary, arguments, printer);
    let outcome = gate(&audit.summary, arguments.max_rate, printer);
    if arguments.json {
        printer.data(&audit.summary.to_json()?)?;
    }
    Ok(outcome)
}

/// What a person wants to know first, and what to do next.
fn print(summary: &Summary, arguments: &AuditArguments, printer: &Printer) {
    print_remarks(summary, printer);
    printer.headline(&summary.headline());
    print_transitions(summary, printer);
    if let Some(check) = &summary.check {
        printer.line("");
        printer.remark("check", &check.sentence());
    }
    printer.line("");
    let out = &arguments.out;
    let score = format!("score new rows: nbam score FILE --model {}", out.display());
    let files = [
        (out.join("report.html"), "start here: open it in a browser"),
        (out.join(arguments.format().file_name()), "every row with its probability and suggestion"),
        (out.join("summary.json"), "the numbers, for programs"),
        (out.join("model"), score.as_str()),
    ];
    let width = files.iter().map(|(path, _)| path_width(path)).max().unwrap_or(0);
    for (path, purpose) in &files {
        let gap = " ".repeat(width - path_width(path) + 2);
        printer.line(format_args!("  {}{gap}{}", path.display(), printer.faint(purpose)));
    }
    if summary.flagged > 0 {
        printer.line("");
        printer.remark(
            "next",
            "check the flagged rows, most suspicious first. Put what you find in a column (true = right, false = wrong, \
             empty = not checked) and audit again with --verified to make use of it.",
        );
    }
}

fn path_width(path: &Path) -> usize {
    path.display().to_string().chars().count()
}
