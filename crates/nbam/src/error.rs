//! The one error type of the crate.

use std::fmt;

/// What kind of fault an [`Error`] reports. More kinds may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Two inputs disagree in size, or an input is empty.
    Shape,
    /// A feature, target, weight or error is not finite or out of range.
    Value,
    /// A label is out of range, or the labels cannot be learned from (one class only).
    Label,
    /// A parameter of the method is out of range.
    Parameter,
    /// The fit stopped being finite.
    Diverged,
    /// The caller asked for the fit to stop.
    Cancelled,
    /// A saved model cannot be read: damaged, or of another version.
    Model,
    /// The file system said no.
    Io,
}

/// A failed operation: what, where, expected and got, in one sentence, with a hint where there is one.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind, with one sentence that says what is wrong.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Adds what the reader can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The kind of fault.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The sentence without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
