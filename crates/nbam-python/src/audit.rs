//! The audit behind `nbam.audit`: the pipeline of the command line, on tables from Python.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nbam::Model;
use nbam_audit::FlagRule;
use nbam_audit::pipeline::{self, AuditOptions, RowsFormat};
use nbam_table::{Roles, Task};
use pyo3::prelude::*;

use crate::error::Fault;
use crate::outputs::Columns;
use crate::params::{precision, preset, unknown};
use crate::run::{released, watched};
use crate::tables::Input;

/// What an audit is told; the names are those of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    target: String,
    features: Option<Vec<String>>,
    exclude: Vec<String>,
    id: Option<String>,
    error: Option<String>,
    weight: Option<String>,
    verified: Option<String>,
    image: Option<String>,
    task: String,
    preset: String,
    fdr: f64,
    members: Option<usize>,
    epochs: Option<usize>,
    precision: String,
    average: bool,
    check: bool,
    seed: u64,
    threads: usize,
    image_folder: Option<PathBuf>,
}

impl Options {
    fn checked(self) -> Result<AuditOptions, Fault> {
        let task = match self.task.as_str() {
            "auto" => Task::Auto,
            "classification" => Task::Classification,
            "regression" => Task::Regression,
            other => return Err(unknown("task", other, "'auto', 'classification' or 'regression'")),
        };
        Ok(AuditOptions {
            roles: Roles {
                target: Some(self.target),
                features: self.features,
                exclude: self.exclude,
                id: self.id,
                error: self.error,
                weight: self.weight,
                verified: self.verified,
                image: self.image,
            },
            task,
            preset: preset(&self.preset)?,
            fdr: self.fdr,
            members: self.members,
            epochs: self.epochs,
            precision: precision(&self.precision)?,
            is_averaged: self.average,
            check: self.check,
            seed: self.seed,
            threads: self.threads,
            ..AuditOptions::default()
        })
    }
}

/// A finished audit.
#[pyclass(frozen, module = "nbam._nbam")]
pub(crate) struct Audit {
    /// Writing an audit fills in how long that took.
    audit: Mutex<pipeline::Audit>,
}

impl Audit {
    fn lock(&self) -> MutexGuard<'_, pipeline::Audit> {
        // Whoever panicked while holding the lock has changed nothing but a time.
        self.audit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Audit {
    #[staticmethod]
    #[pyo3(signature = (source, options, callback))]
    fn run(py: Python<'_>, source: Input, options: Options, callback: Option<Py<PyAny>>) -> PyResult<Self> {
        let image_folder = options.image_folder.clone();
        let options = options.checked()?;
        let work = |monitor: &dyn nbam::Monitor| -> Result<pipeline::Audit, Fault> {
            Ok(match source {
                Input::File(path) => pipeline::audit_file(&path, &options, monitor)?,
                memory => pipeline::audit(&memory.read(&options.read_options())?, &options, monitor)?,
            })
        };
        let mut audit = watched(py, options.threads, callback, work)?;
        if let Some(folder) = image_folder {
            audit.set_image_folder(folder);
        }
        Ok(Self { audit: Mutex::new(audit) })
    }

    /// summary.json.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        released(py, 1, || Ok(self.lock().summary.to_json()?))
    }

    fn headline(&self, py: Python<'_>) -> PyResult<String> {
        released(py, 1, || Ok(self.lock().summary.headline()))
    }

    /// The columns of rows.parquet.
    fn rows(&self, py: Python<'_>) -> PyResult<Columns> {
        released(py, 1, || Ok(Columns::new(self.lock().rows())))
    }

    /// The flagged rows at another false discovery rate, most suspicious first.
    fn flagged(&self, py: Python<'_>, fdr: f64) -> PyResult<Columns> {
        released(py, 1, || {
            let rule = FlagRule::at(fdr)?;
            let audit = self.lock();
            let (columns, count) = audit.rows_flagged_by(rule);
            Ok(Columns::of_rows(&columns, &audit.decisions.order[..count]))
        })
    }

    /// Mean, low and high of the number of wrong rows among the `budget` most suspicious.
    fn expected_found(&self, py: Python<'_>, budget: usize) -> PyResult<(f64, f64, f64)> {
        released(py, 1, || {
            let found = self.lock().decisions.budget.expected_found(budget).found;
            Ok((found.mean, found.low, found.high))
        })
    }

    /// report.html.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        released(py, 1, || Ok(self.lock().report()?))
    }

    /// Writes everything that the command line writes.
    fn save(&self, py: Python<'_>, folder: PathBuf, rows: &str, force: bool) -> PyResult<()> {
        let format = match rows {
            "parquet" => RowsFormat::Parquet,
            "csv" => RowsFormat::Csv,
            other => return Err(unknown("rows", other, "'parquet' or 'csv'").into()),
        };
        released(py, 1, || Ok(self.lock().write(&folder, format, force)?))
    }

    fn model(&self, py: Python<'_>) -> PyResult<SavedModel> {
        released(py, 1, || Ok(SavedModel { saved: self.lock().model.clone() }))
    }
}

/// The model of an audit, with the preparation of its features.
#[pyclass(frozen, module = "nbam._nbam")]
pub(crate) struct SavedModel {
    saved: pipeline::SavedModel,
}

#[pymethods]
impl SavedModel {
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        released(py, 1, || Ok(Self { saved: pipeline::SavedModel::load(&folder)? }))
    }

    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        released(py, 1, || Ok(self.saved.save(&folder)?))
    }

    /// The rows and summary.json of new rows.
    #[pyo3(signature = (source, id, fdr))]
    fn score(
        &self,
        py: Python<'_>,
        source: Input,
        id: Option<&str>,
        fdr: Option<f64>,
    ) -> PyResult<(Columns, String)> {
        released(py, 0, || {
            let table = match source {
                Input::File(path) => self.saved.read(&path, id, true)?,
                memory => memory.read(&self.saved.read_options(id, true))?,
            };
            let scores = pipeline::score(&table, &self.saved, id, fdr)?;
            Ok((Columns::new(scores.rows()), scores.summary.to_json()?))
        })
    }

    /// The predictions of new rows.
    #[pyo3(signature = (source, id))]
    fn predict(&self, py: Python<'_>, source: Input, id: Option<&str>) -> PyResult<Columns> {
        released(py, 0, || {
            let table = match source {
                Input::File(path) => self.saved.read(&path, id, false)?,
                memory => memory.read(&self.saved.read_options(id, false))?,
            };
            Ok(Columns::new(pipeline::predict(&table, &self.saved, id)?.columns))
        })
    }

    #[getter]
    fn target(&self) -> &str {
        self.saved.target()
    }

    #[getter]
    fn id(&self) -> Option<&str> {
        self.saved.id()
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.saved.classes().to_vec()
    }

    #[getter]
    fn task(&self) -> &'static str {
        match self.saved.model() {
            Model::Classifier(_) => "classification",
            Model::Regressor(_) => "regression",
        }
    }
}
