//! The one error type of this crate.

use std::fmt;
use std::path::Path;

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Two inputs that must describe the same rows have different lengths.
    Length,
    /// A number lies outside the range it must lie in.
    Range,
    /// The report could not be written.
    Render,
    /// The data or the settings cannot be used; the message says what to change.
    Input,
    /// A saved model cannot be used: damaged, of another version, or made for other data.
    Model,
    /// The place of the output is taken.
    Exists,
    /// The fit stopped being finite.
    Diverged,
    /// The caller asked for the fit to stop.
    Cancelled,
    /// A file could not be written.
    Io,
}

/// Why data could not be turned into decisions, a report or files.
///
/// Opaque on purpose: match on [`Error::kind`], show the message and the hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    io_kind: Option<std::io::ErrorKind>,
    table_kind: Option<nbam_table::ErrorKind>,
    method_kind: Option<nbam::ErrorKind>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        Self { kind, message, hint: None, io_kind: None, table_kind: None, method_kind: None }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A table that could not be written.
    pub(crate) fn writing_table(error: &nbam_table::Error) -> Self {
        let kind = match error.kind() {
            // A name without a known extension, or a column that the format cannot hold.
            nbam_table::ErrorKind::Format | nbam_table::ErrorKind::Value => ErrorKind::Input,
            _ => ErrorKind::Io,
        };
        Self { kind, io_kind: error.io_kind(), ..Self::from_parts(error, error.hint()) }
    }

    /// A file or folder that could not be written.
    pub(crate) fn writing(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("{}: cannot be written: {error}", path.display());
        Self { io_kind: Some(error.kind()), ..Self::new(ErrorKind::Io, message) }
    }

    /// The same fault, found while a model was loaded: a file that cannot be read is a model that cannot be used.
    pub(crate) fn while_loading(mut self) -> Self {
        self.kind = ErrorKind::Model;
        self
    }

    fn from_parts(message: &dyn fmt::Display, hint: Option<&str>) -> Self {
        Self { hint: hint.map(str::to_owned), ..Self::new(ErrorKind::Input, message) }
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What the table layer calls this error, if it comes from there.
    pub fn table_kind(&self) -> Option<nbam_table::ErrorKind> {
        self.table_kind
    }

    /// What the method calls this error, if it comes from there.
    pub fn method_kind(&self) -> Option<nbam::ErrorKind> {
        self.method_kind
    }

    /// The operating system's error when one is behind this error; a broken pipe, for instance.
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        self.io_kind
    }
}

/// A table that could not be read or used.
impl From<nbam_table::Error> for Error {
    fn from(error: nbam_table::Error) -> Self {
        let (io_kind, table_kind) = (error.io_kind(), Some(error.kind()));
        Self { io_kind, table_kind, ..Self::from_parts(&error, error.hint()) }
    }
}

/// A fit or a model that failed.
impl From<nbam::Error> for Error {
    fn from(error: nbam::Error) -> Self {
        let kind = match error.kind() {
            nbam::ErrorKind::Diverged => ErrorKind::Diverged,
            nbam::ErrorKind::Cancelled => ErrorKind::Cancelled,
            nbam::ErrorKind::Model => ErrorKind::Model,
            nbam::ErrorKind::Io => ErrorKind::Io,
            _ => ErrorKind::Input,
        };
        Self { kind, method_kind: Some(error.kind()), ..Self::from_parts(&error, error.hint()) }
    }
}
