//! The one error type of the crate.

use std::fmt;
use std::path::Path;

/// What went wrong, for programs. More kinds may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data, the results file or the settings cannot be used; the message says what to change.
    Input,
    /// The user asked to stop.
    Cancelled,
    /// A file could not be written.
    Io,
    /// The method failed on data that it should have taken.
    Method,
}

/// Why an experiment could not be run: one sentence, with a hint where there is one.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn reading(path: &Path, error: &std::io::Error) -> Self {
        Self::input(format!("{}: cannot be read: {error}", path.display()))
    }

    pub(crate) fn writing(path: &Path, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{}: cannot be written: {error}", path.display()))
    }

    /// The same error, said of a run.
    pub(crate) fn of_run(mut self, run: &str) -> Self {
        if self.kind != ErrorKind::Cancelled {
            self.message = format!("{run}: {}", self.message);
        }
        self
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<nbam::Error> for Error {
    fn from(error: nbam::Error) -> Self {
        let kind = match error.kind() {
            nbam::ErrorKind::Cancelled => ErrorKind::Cancelled,
            nbam::ErrorKind::Io => ErrorKind::Io,
            nbam::ErrorKind::Diverged | nbam::ErrorKind::Parameter => ErrorKind::Method,
            _ => ErrorKind::Input,
        };
        Self { kind, message: error.message().to_owned(), hint: error.hint().map(str::to_owned) }
    }
}

impl From<nbam_audit::Error> for Error {
    fn from(error: nbam_audit::Error) -> Self {
        Self { hint: error.hint().map(str::to_owned), ..Self::new(ErrorKind::Method, error.to_string()) }
    }
}

impl From<nbam_table::Error> for Error {
    fn from(error: nbam_table::Error) -> Self {
        Self { hint: error.hint().map(str::to_owned), ..Self::input(error.to_string()) }
    }
}
