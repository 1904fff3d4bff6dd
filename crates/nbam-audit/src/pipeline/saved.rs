//! A model with everything that is needed to apply it to new files.

use std::path::{Path, PathBuf};

use nbam::Model;
use nbam_table::{Preparation, ReadOptions, Task};
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};

/// The layout of [`Attachment`]; a reader refuses all others.
const FORMAT: u32 = 1;

/// A trained model with the preparation of its features and the names of its columns and classes.
#[derive(Debug, Clone)]
pub struct SavedModel {
    pub(super) model: Model,
    pub(super) attachment: Attachment,
}

/// What the table layer needs, saved in the model's own JSON file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attachment {
    pub(super) format: u32,
    pub(super) target: String,
    /// Whether the labels were read as text, so that 01 and 1 are two classes.
    pub(super) is_text_target: bool,
    pub(super) task: Task,
    pub(super) classes: Vec<String>,
    pub(super) id: Option<String>,
    pub(super) error: Option<String>,
    pub(super) fdr: f64,
    pub(super) preparation: Preparation,
}

impl Attachment {
    pub(super) const FORMAT: u32 = FORMAT;
}

impl SavedModel {
    /// Loads the model of an audit: `folder` is the audit's folder or the `model` folder in it.
    ///
    /// # Errors
    /// `Model` if the folder holds no model, or one that is damaged, of another version or inconsistent.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let folder = model_folder(folder)?;
        let (model, attachment) = Model::load(&folder).map_err(|error| Error::from(error).while_loading())?;
        let damaged = |reason: &str| {
            Error::new(ErrorKind::Model, format!("{}: the model cannot be used: {reason}", folder.display()))
                .with_hint("copy the whole folder again, or repeat the audit that made it")
        };
        match attachment.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                let reason = format!("its preparation has format {format}, and this version reads {FORMAT}");
                return Err(damaged(&reason));
            }
            None => return Err(damaged("it holds no preparation of features")),
        }
        let attachment: Attachment =
            serde_json::from_value(attachment).map_err(|error| damaged(&error.to_string()))?;
        let saved = Self { model, attachment };
        saved.check().map_err(damaged)?;
        Ok(saved)
    }

    /// Whether the parts belong together.
    fn check(&self) -> Result<(), &'static str> {
        let (features, is_consistent) = match &self.model {
            Model::Classifier(model) => (
                model.features(),
                self.attachment.task == Task::Classification
                    && model.classes() == self.attachment.classes.len(),
            ),
            Model::Regressor(model) => (
                model.features(),
                self.attachment.task == Task::Regression && self.attachment.classes.is_empty(),
            ),
        };
        if !is_consistent {
            return Err("its classes are not those of its network");
        }
        if features != self.attachment.preparation.columns() {
            return Err("its preparation does not give the features of its network");
        }
        if !(0.0..1.0).contains(&self.attachment.fdr) {
            return Err("its false discovery rate is not between 0 and 1");
        }
        Ok(())
    }

    /// Writes `model.safetensors` and `model.json` into a folder, which is made if need be.
    ///
    /// # Errors
    /// `Io` if a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), Error> {
        let attachment = serde_json::to_value(&self.attachment).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the preparation cannot be written as JSON: {error}"))
        })?;
        std::fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        Ok(self.model.save(folder, &attachment)?)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The name of the target column.
    pub fn target(&self) -> &str {
        &self.attachment.target
    }

    /// The column that named the rows of the audit, if one did.
    pub fn id(&self) -> Option<&str> {
        self.attachment.id.as_deref()
    }

    /// The class names; empty for a regression.
    pub fn classes(&self) -> &[String] {
        &self.attachment.classes
    }

    /// How a file of new rows is to be read: with its target to be scored, without it to be predicted.
    pub fn read_options(&self, id: Option<&str>, with_target: bool) -> ReadOptions {
        let attachment = &self.attachment;
        let target = with_target.then_some(&attachment.target);
        let error = attachment.error.as_ref().filter(|_| with_target);
        let mut columns: Vec<String> = attachment.preparation.feature_names().map(str::to_owned).collect();
        let mut text = attachment.preparation.text_features();
        text.extend(target.filter(|_| attachment.is_text_target).cloned());
        text.extend(id.map(str::to_owned));
        for name in target.into_iter().chain(error).map(String::as_str).chain(id) {
            if !columns.iter().any(|column| column == name) {
                columns.push(name.to_owned());
            }
        }
        ReadOptions { columns: Some(columns), exclude: Vec::new(), text, memory_limit: None }
    }
}

fn model_folder(folder: &Path) -> Result<PathBuf, Error> {
    let candidates = [folder.to_owned(), folder.join("model")];
    if let Some(found) = candidates.into_iter().find(|candidate| candidate.join("model.json").is_file()) {
        return Ok(found);
    }
    let reason =
        if folder.is_dir() { "there is no model.json in this folder" } else { "there is no such folder" };
    Err(Error::new(ErrorKind::Model, format!("{}: {reason}", folder.display()))
        .with_hint("give the folder that an audit wrote, or the model folder in it"))
}
