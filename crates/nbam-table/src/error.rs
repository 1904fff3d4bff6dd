//! The one error type of this crate.

use std::fmt;

/// What went wrong, for programs; the sentence for people is the error's `Display`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be opened, read or written.
    Io,
    /// A file is not what its extension says, is truncated, ragged, or of an unknown kind.
    Format,
    /// The data would not fit in memory.
    Memory,
    /// A column that was asked for does not exist.
    UnknownColumn,
    /// The same column name occurs twice, or one column was given two roles.
    DuplicateColumn,
    /// There are no rows, or no features.
    Empty,
    /// A value of a feature or of a side column cannot be used.
    Value,
    /// The target cannot be used.
    Target,
    /// New rows hold a category that the training rows did not.
    UnseenCategory,
}

/// An opaque error: a kind, one sentence, and often a hint that says what to do.
///
/// The sentence names the file, row, column and value that are at fault, as far as they are known.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, source: None }))
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// A file of the given name that could not be read.
    pub(crate) fn reading(source_name: &str, error: std::io::Error) -> Self {
        let failure = Self::new(ErrorKind::Io, format!("{source_name}: cannot be read: {}", plain(&error)));
        let failure = match error.kind() {
            std::io::ErrorKind::NotFound => failure.with_hint("check the path and the working directory"),
            std::io::ErrorKind::PermissionDenied => failure.with_hint("check the file's permissions"),
            _ => failure,
        };
        failure.with_source(error)
    }

    /// A file of the given name that could not be written.
    pub(crate) fn writing(source_name: &str, error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{source_name}: cannot be written: {}", plain(&error)))
            .with_source(error)
    }

    /// The kind of the fault.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The operating system's error when one is behind this error; a broken pipe, for instance.
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        let source = self.0.source.as_ref()?;
        source.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
    }
}

/// The operating system's words without the error number.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            match text.find(" (os error") {
                Some(end) => text[..end].to_lowercase(),
                None => text,
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
