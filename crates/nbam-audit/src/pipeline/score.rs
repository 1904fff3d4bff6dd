//! The posterior of new rows under a saved model.

use std::path::Path;

use nbam_table::{OutputColumn, Table, Target, Task, known_classes, known_values};
use serde_json::json;

use super::audit::Clock;
use super::fit::{Asked, review};
use super::{SavedModel, rows};
use crate::{
    Decisions, Error, ErrorKind, FlagRule, LISTED_LIMIT, ListedRow, Report, RunFacts, Scored, Summary,
    Timing, decide,
};

/// What a saved model says of new rows.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The posterior and the targets of all rows.
    pub scored: Scored,
    /// What follows from them.
    pub decisions: Decisions,
    /// Both in numbers.
    pub summary: Summary,
    ids: Option<Vec<String>>,
}

impl Scores {
    /// What follows from a posterior that any model gave: rows, summary and report as an audit has them. `ids` names the rows.
    ///
    /// # Errors
    /// `Length` if there is not one id for each row.
    pub fn new(
        scored: Scored,
        rule: FlagRule,
        facts: RunFacts,
        ids: Option<Vec<String>>,
    ) -> Result<Self, Error> {
        if let Some(ids) = ids.as_ref().filter(|ids| ids.len() != scored.rows()) {
            let message =
                format!("There are {} ids for {} rows; pass one id per row.", ids.len(), scored.rows());
            return Err(Error::new(ErrorKind::Length, message));
        }
        let decisions = decide(&scored, rule);
        let summary = Summary::new(&scored, &decisions, facts);
        Ok(Self { scored, decisions, summary, ids })
    }

    /// Renders the report as one HTML document; `source` says in words what was scored.
    ///
    /// # Errors
    /// `Render` if a part cannot be written.
    pub fn report(&self, source: &str) -> Result<String, Error> {
        let listed: Vec<ListedRow> = self
            .decisions
            .listed(&self.scored, LISTED_LIMIT)
            .iter()
            .map(|&row| ListedRow {
                row,
                id: self.ids.as_ref().map(|ids| ids[row].clone()),
                ..ListedRow::default()
            })
            .collect();
        let report = Report {
            source,
            scored: &self.scored,
            decisions: &self.decisions,
            summary: &self.summary,
            listed: &listed,
            feature_names: &[],
            training: &[],
            image_folder: None,
        };
        report.render()
    }

    /// The same columns as an audit's rows.
    pub fn rows(&self) -> Vec<OutputColumn> {
        rows::columns(&self.scored, &self.decisions, self.ids.as_deref())
    }
}

impl SavedModel {
    /// Reads a file of new rows, with their targets to be scored or without them to be predicted.
    ///
    /// # Errors
    /// `Input` if the file cannot be read or lacks a column that the model needs.
    pub fn read(&self, path: &Path, id: Option<&str>, with_target: bool) -> Result<Table, Error> {
        Table::read(path, &self.read_options(id, with_target)).map_err(|error| {
            if error.kind() != nbam_table::ErrorKind::UnknownColumn {
                return error.into();
            }
            let is_id = id.is_some_and(|id| error.to_string().ends_with(&format!("'{id}'")));
            let hint = if is_id {
                "the audit named its rows by this column; give --id for another, or --no-id for none"
            } else {
                "the model was trained with this column; add it to the new rows"
            };
            Error::from(error).with_hint(hint)
        })
    }
}

/// Scores the rows of a table by the final networks of a saved model. Rows are flagged as in the audit, at the model's
/// false discovery rate or the one given.
///
/// # Errors
/// `Input` if the table lacks a column, or holds a class or a category that the model does not know.
pub fn score(table: &Table, saved: &SavedModel, id: Option<&str>, fdr: Option<f64>) -> Result<Scores, Error> {
    let attachment = &saved.attachment;
    let fdr = fdr.unwrap_or(attachment.fdr);
    let rule = FlagRule::at(fdr)?;
    let mut clock = Clock::start();
    let target = match attachment.task {
        Task::Regression => Target::Regression { values: known_values(table, &attachment.target)? },
        Task::Classification | Task::Auto => Target::Classification {
            codes: known_classes(table, &attachment.target, &attachment.classes)?,
            classes: attachment.classes.clone(),
        },
    };
    let errors =
        attachment.error.as_ref().map(|name| nbam_table::standard_errors(table, name)).transpose()?;
    let ids = id.map(|name| nbam_table::texts(table, name)).transpose()?;
    let design = attachment.preparation.apply(table)?;
    let prepare = clock.lap();
    let (posterior, targets) = review(&saved.model, &design, target, errors, Asked::New)?;
    let scored = Scored::new(attachment.target.clone(), posterior, targets)?;
    let decisions = decide(&scored, rule);
    let facts = RunFacts {
        features: design.columns,
        seed: 0,
        settings: json!({ "source": table.source(), "id": id, "fdr": fdr }),
        duplicates_in_conflict: 0,
        warnings: Vec::new(),
        notes: design.notes.iter().map(|note| note.message.clone()).collect(),
        check: None,
        timing: Timing { prepare, decide: clock.lap(), ..Timing::default() },
    };
    let summary = Summary::new(&scored, &decisions, facts);
    Ok(Scores { scored, decisions, summary, ids })
}
