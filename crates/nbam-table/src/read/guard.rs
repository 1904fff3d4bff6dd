//! Libraries that panic on malformed files must not take the program down.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::error::{Error, ErrorKind};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a reader; a panic inside a library becomes an error, without a word on standard error.
pub(super) fn guarded<T>(
    source: &str,
    format: &str,
    read: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        // Only panics of guarded threads are kept quiet; all others go where they went before.
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                previous(panic);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(was_guarded);
    outcome.unwrap_or_else(|_| Err(damaged(source, format, "its parts contradict each other")))
}

/// The error for a file that is not what it claims to be.
pub(super) fn damaged(source: &str, format: &str, reason: &str) -> Error {
    let reason: String = reason.lines().next().unwrap_or_default().chars().take(160).collect();
    Error::new(
        ErrorKind::Format,
        format!("{source}: is not a complete {format} file: {}", reason.trim_end_matches('.')),
    )
    .with_hint("it may be truncated or of another format; write or copy it again")
}
