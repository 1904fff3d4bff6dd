//! Rust errors as Python exceptions: one class for each kind, defined in `nbam.exceptions`.

use pyo3::prelude::*;

/// A failure on its way to Python: the exception's class, the sentence, the hint.
#[derive(Debug)]
pub(crate) struct Fault {
    class: &'static str,
    message: String,
    hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    /// A defect of nbam itself, such as a panic in a worker thread.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let hint = "this is a defect of nbam: please report it with what you did";
        Self { hint: Some(hint.to_owned()), ..Self::new("InternalError", message) }
    }

    fn raise(&self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("nbam.exceptions")?.getattr(self.class)?;
        Ok(PyErr::from_value(class.call1((&self.message, self.hint.as_deref()))?))
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        Python::attach(|py| fault.raise(py).unwrap_or_else(|error| error))
    }
}

impl From<nbam::Error> for Fault {
    fn from(error: nbam::Error) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { hint, ..Self::new(method_class(error.kind()), error.to_string()) }
    }
}

impl From<nbam_table::Error> for Fault {
    fn from(error: nbam_table::Error) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { hint, ..Self::new(table_class(error.kind()), error.to_string()) }
    }
}

impl From<nbam_audit::Error> for Fault {
    fn from(error: nbam_audit::Error) -> Self {
        let class = match (error.table_kind(), error.method_kind()) {
            (Some(kind), _) => table_class(kind),
            (None, Some(kind)) => method_class(kind),
            (None, None) => audit_class(error.kind()),
        };
        let hint = error.hint().map(str::to_owned);
        Self { hint, ..Self::new(class, error.to_string()) }
    }
}

fn method_class(kind: nbam::ErrorKind) -> &'static str {
    use nbam::ErrorKind::{Cancelled, Diverged, Io, Label, Model, Parameter, Shape, Value};
    match kind {
        Shape => "ShapeError",
        Value => "DataValueError",
        Label => "LabelError",
        Parameter => "ParameterError",
        Diverged => "DivergedError",
        Cancelled => "CancelledError",
        Model => "ModelError",
        Io => "FileError",
        _ => "NBAMError",
    }
}

fn table_class(kind: nbam_table::ErrorKind) -> &'static str {
    use nbam_table::ErrorKind::{
        DuplicateColumn, Empty, Format, Io, Memory, Target, UnknownColumn, UnseenCategory, Value,
    };
    match kind {
        Io => "FileError",
        Format => "FormatError",
        Memory => "TooLargeError",
        UnknownColumn => "UnknownColumnError",
        DuplicateColumn => "DuplicateColumnError",
        Empty => "EmptyError",
        Value => "DataValueError",
        Target => "TargetError",
        UnseenCategory => "UnseenCategoryError",
        _ => "NBAMError",
    }
}

fn audit_class(kind: nbam_audit::ErrorKind) -> &'static str {
    use nbam_audit::ErrorKind::{Cancelled, Diverged, Exists, Input, Io, Length, Model, Range, Render};
    match kind {
        Length => "ShapeError",
        Range => "ParameterError",
        Render => "ReportError",
        Input => "InputError",
        Model => "ModelError",
        Exists => "ExistsError",
        Diverged => "DivergedError",
        Cancelled => "CancelledError",
        Io => "FileError",
        _ => "NBAMError",
    }
}
