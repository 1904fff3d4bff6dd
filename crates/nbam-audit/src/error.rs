//! The one error type of this crate.

use std::fmt;

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
}

/// Why a posterior could not be turned into decisions or a report.
///
/// Opaque on purpose: match on [`Error::kind`], show the message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string() }
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
