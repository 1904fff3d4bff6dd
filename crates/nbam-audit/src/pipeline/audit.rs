//! The audit itself.

use std::path::{Path, PathBuf};
use std::time::Instant;

use nbam::{Model, Monitor};
use nbam_table::{Column, Note, Preparation, Table, Target, Task};

use super::fit::{Asked, Fitted, SideColumns, check_by_planting, fit, review, settle};
use super::saved::{Attachment, SavedModel};
use super::{AuditOptions, rows};
use crate::{
    CheckSummary, Decisions, Error, FlagRule, LISTED_LIMIT, ListedRow, Report, RunFacts, Scored, Summary,
    Timing, Warning, decide,
};

/// Notes of these codes are reasons to read the result with care; the others only say what was done.
const CODES_OF_WARNINGS: [&str; 1] = ["similar_labels"];
const NO_BFLOAT16: &str = "This processor does not multiply bfloat16 numbers, so single precision was used.";

/// A finished audit: what was found, and the model that found it.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The posterior and the targets of all rows.
    pub scored: Scored,
    /// What follows from them.
    pub decisions: Decisions,
    /// Both in numbers.
    pub summary: Summary,
    /// The model with the preparation of its features.
    pub model: SavedModel,
    source: String,
    ids: Option<Vec<String>>,
    listed: Vec<ListedRow>,
    feature_names: Vec<String>,
    image_folder: Option<PathBuf>,
}

/// Reads a file and audits it.
///
/// # Errors
/// As [`audit`], and `Input` if the file cannot be read.
pub fn audit_file(path: &Path, options: &AuditOptions, monitor: &dyn Monitor) -> Result<Audit, Error> {
    options.target()?;
    let start = Instant::now();
    let table = Table::read(path, &options.read_options())?;
    let read = start.elapsed().as_secs_f64();
    let mut audit = audit(&table, options, monitor)?;
    audit.image_folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
    audit.summary.timing.read = read;
    audit.summary.seconds = audit.summary.timing.total();
    Ok(audit)
}

/// Trains on the rows of a table and decides which of their targets are wrong.
///
/// # Errors
/// `Input` if the table or a setting cannot be used, `Diverged` if the fit stops being finite, `Cancelled` if the
/// monitor stops it.
pub fn audit(table: &Table, options: &AuditOptions, monitor: &dyn Monitor) -> Result<Audit, Error> {
    let rule = FlagRule::at(options.fdr)?;
    let mut clock = Clock::start();
    let target_name = options.target()?.to_owned();
    let (target, mut notes) = Target::extract(table, &target_name, options.task)?;
    let side = SideColumns::read(table, options)?;
    check_roles(table, options, &target)?;
    let ids = options.roles.id.as_ref().map(|name| nbam_table::texts(table, name)).transpose()?;
    let images = options.roles.image.as_ref().map(|name| nbam_table::texts(table, name)).transpose()?;
    let (preparation, remarks) = Preparation::fit(table, &options.roles)?;
    notes.extend(remarks);
    let design = preparation.apply(table)?;
    notes.extend(design.notes.iter().cloned());
    // Numbers scatter by nature: only classes contradict each other.
    let conflicts = match &target {
        Target::Classification { .. } => nbam_table::conflicting_duplicates(&design, &target).groups,
        Target::Regression { .. } => 0,
    };
    let prepare = clock.lap();

    let Fitted { model, method } = fit(&design, &target, &side, options, monitor)?;
    let fit = clock.lap();
    let check =
        if options.check { Some(check_by_planting(&model, &design, &target, &side, monitor)?) } else { None };
    let check_seconds = clock.lap();

    let (task, classes) = match &target {
        Target::Classification { classes, .. } => (Task::Classification, classes.clone()),
        Target::Regression { .. } => (Task::Regression, Vec::new()),
    };
    let (mut posterior, mut targets) = review(&model, &design, target, side.errors, Asked::Training)?;
    if let Some(known) = &side.known {
        settle(&mut posterior, &mut targets, known);
    }
    let scored = Scored::new(target_name.clone(), posterior, targets)?;
    let decisions = decide(&scored, rule);
    let listed: Vec<ListedRow> = decisions
        .listed(&scored, LISTED_LIMIT)
        .iter()
        .map(|&row| ListedRow {
            row,
            id: ids.as_ref().map(|ids| ids[row].clone()),
            features: preparation.describe(table, row).into_iter().map(|(_, value)| value).collect(),
            image: images.as_ref().map(|images| images[row].clone()).filter(|path| !path.is_empty()),
        })
        .collect();
    let feature_names = preparation.describe(table, 0).into_iter().map(|(name, _)| name).collect();
    let (mut warnings, mut notes) = sorted_notes(notes);
    if options.precision.here() != options.precision {
        notes.push(NO_BFLOAT16.to_owned());
    }
    warnings.extend(model_warnings(&model, &classes));
    let facts = RunFacts {
        features: design.columns,
        seed: options.seed,
        settings: options.to_json(table.source(), method),
        duplicates_in_conflict: conflicts,
        warnings,
        notes,
        check: check.as_ref().map(CheckSummary::new),
        timing: Timing { prepare, fit, check: check_seconds, decide: clock.lap(), ..Timing::default() },
    };
    let attachment = Attachment {
        format: Attachment::FORMAT,
        is_text_target: matches!(table.column(&target_name), Some(Column::Text(_))),
        target: target_name,
        task,
        classes,
        id: options.roles.id.clone(),
        error: options.roles.error.clone(),
        fdr: options.fdr,
        preparation,
    };
    Ok(Audit {
        summary: Summary::new(&scored, &decisions, facts),
        scored,
        decisions,
        model: SavedModel { model, attachment },
        source: table.source().to_owned(),
        ids,
        listed,
        feature_names,
        image_folder: None,
    })
}

/// Roles that make no sense for the task.
fn check_roles(table: &Table, options: &AuditOptions, target: &Target) -> Result<(), Error> {
    let is_classification = matches!(target, Target::Classification { .. });
    match &options.roles.error {
        Some(name) if is_classification => Err(Error::new(
            crate::ErrorKind::Input,
            format!(
                "{}: column '{name}' gives standard errors, but the target holds classes",
                table.source()
            ),
        )
        .with_hint("leave out --error, or give --task regression if the target is a quantity")),
        _ => Ok(()),
    }
}

fn sorted_notes(notes: Vec<Note>) -> (Vec<Warning>, Vec<String>) {
    let (warnings, notes): (Vec<Note>, Vec<Note>) =
        notes.into_iter().partition(|note| CODES_OF_WARNINGS.contains(&note.code));
    let warnings =
        warnings.into_iter().map(|note| Warning { code: note.code.to_owned(), message: note.message });
    (warnings.collect(), notes.into_iter().map(|note| note.message).collect())
}

/// What the model says of itself, with the classes' own names.
fn model_warnings(model: &Model, classes: &[String]) -> Vec<Warning> {
    let warnings = match model {
        Model::Classifier(model) => model.warnings(),
        Model::Regressor(model) => model.warnings(),
    };
    warnings
        .iter()
        .map(|warning| Warning { code: warning.code.clone(), message: warning.message_with_names(classes) })
        .collect()
}

impl Audit {
    /// The columns of rows.parquet.
    pub fn rows(&self) -> Vec<nbam_table::OutputColumn> {
        rows::columns(&self.scored, &self.decisions, self.ids.as_deref())
    }

    /// The same columns with the rows flagged by another rule, and how many those are.
    pub fn rows_flagged_by(&self, rule: FlagRule) -> (Vec<nbam_table::OutputColumn>, usize) {
        let decisions = decide(&self.scored, rule);
        (rows::columns(&self.scored, &decisions, self.ids.as_deref()), decisions.flags.count)
    }

    /// Renders the report as one HTML document.
    ///
    /// # Errors
    /// `Render` if a part cannot be written.
    pub fn report(&self) -> Result<String, Error> {
        let training = match self.model.model() {
            Model::Classifier(model) => model.losses(),
            Model::Regressor(model) => model.losses(),
        };
        let report = Report {
            source: &self.source,
            scored: &self.scored,
            decisions: &self.decisions,
            summary: &self.summary,
            listed: &self.listed,
            feature_names: &self.feature_names,
            training,
            image_folder: self.image_folder.as_deref(),
        };
        report.render()
    }

    /// Says where relative image paths start from: the folder of the data.
    pub fn set_image_folder(&mut self, folder: impl Into<PathBuf>) {
        self.image_folder = Some(folder.into());
    }
}

/// Seconds from one lap to the next.
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn lap(&mut self) -> f64 {
        let start = std::mem::replace(&mut self.0, Instant::now());
        (self.0 - start).as_secs_f64()
    }
}
