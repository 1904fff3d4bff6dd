//! Ctrl-C: a fit is asked to stop, a file that is being written is finished, and anything else just ends.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::failure::Failure;

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);
static STAGE: AtomicU8 = AtomicU8::new(FREE);

/// Nothing would be left behind: the program ends at once.
const FREE: u8 = 0;
/// The fit asks [`is_requested`] before each step.
const FITTING: u8 = 1;
/// Files are being written beside their place; they are finished first.
const WRITING: u8 = 2;

/// Exit code of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Takes over Ctrl-C and the signals that ask a program to end.
pub(crate) fn install() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        let was_requested = IS_REQUESTED.swap(true, Ordering::SeqCst);
        match STAGE.load(Ordering::SeqCst) {
            WRITING => {}
            // Whoever presses twice does not want to wait for the step to end.
            FITTING if !was_requested => {}
            _ => std::process::exit(INTERRUPTED),
        }
    })
    .map_err(|error| Failure::failed(format!("Ctrl-C cannot be handled: {error}")))
}

/// Whether the user wants to stop. Asked by the fit, which from then on is waited for.
pub(crate) fn is_requested() -> bool {
    STAGE.store(FITTING, Ordering::SeqCst);
    IS_REQUESTED.load(Ordering::SeqCst)
}

/// Does the last stage, in which files appear; not begun if the user wants to stop.
pub(crate) fn while_writing<T>(write: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    STAGE.store(WRITING, Ordering::SeqCst);
    let outcome = if IS_REQUESTED.load(Ordering::SeqCst) { Err(Failure::interrupted()) } else { write() };
    STAGE.store(FREE, Ordering::SeqCst);
    outcome
}
