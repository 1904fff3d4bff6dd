//! How a run ends: exit codes 0 done, 1 failed, 2 bad usage or input, 3 a gate said no.

use nbam_audit::ErrorKind;

/// A run that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to object to.
    Done,
    /// A gate said no.
    Refused,
}

/// A run that did not.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
    is_broken_pipe: bool,
}

impl Failure {
    /// The work failed, through no fault of the input.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: 1, is_broken_pipe: false }
    }

    /// The input or the usage was at fault.
    pub(crate) fn bad_input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), code: 2, is_broken_pipe: false }
    }

    /// A table that could not be written: only a name or a value that the format does not take is the user's fault.
    pub(crate) fn writing(error: nbam_table::Error) -> Self {
        let is_input = matches!(error.kind(), nbam_table::ErrorKind::Format | nbam_table::ErrorKind::Value);
        Self { code: if is_input { 2 } else { 1 }, ..Self::from(error) }
    }

    /// The user stopped the work; the exit code is what shells give to a program ended by Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self { code: 130, ..Self::failed("stopped before the end; nothing was written") }
    }

    /// The same failure with other advice.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.is_broken_pipe
    }
}

impl From<nbam_audit::Error> for Failure {
    fn from(error: nbam_audit::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Cancelled => return Self::interrupted(),
            ErrorKind::Input | ErrorKind::Model | ErrorKind::Exists | ErrorKind::Range => 2,
            _ => 1,
        };
        Self {
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            code,
            is_broken_pipe: error.io_kind() == Some(std::io::ErrorKind::BrokenPipe),
        }
    }
}

impl From<nbam_table::Error> for Failure {
    fn from(error: nbam_table::Error) -> Self {
        nbam_audit::Error::from(error).into()
    }
}

impl From<nbam::Error> for Failure {
    fn from(error: nbam::Error) -> Self {
        nbam_audit::Error::from(error).into()
    }
}

impl From<nbam_paper::Error> for Failure {
    fn from(error: nbam_paper::Error) -> Self {
        let code = match error.kind() {
            nbam_paper::ErrorKind::Cancelled => 130,
            nbam_paper::ErrorKind::Input => 2,
            _ => 1,
        };
        let hint = error.hint().map(str::to_owned);
        Self { message: error.to_string(), hint, code, is_broken_pipe: false }
    }
}

/// Only for standard output: files have errors that name them.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let is_broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { is_broken_pipe, ..Self::failed(format!("standard output cannot be written: {error}")) }
    }
}
