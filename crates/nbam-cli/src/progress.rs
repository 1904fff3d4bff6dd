//! How far a fit has come: a bar on a terminal, a line every few seconds elsewhere.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use nbam::{Monitor, Progress};

use crate::interrupt;
use crate::printer::Printer;

/// Time between two lines where there is no bar.
const PAUSE: Duration = Duration::from_secs(5);

/// What trial fits are for.
const TRIALS: &str = "trial fits, judged by left-out rows";

/// Reports a fit's progress and passes Ctrl-C on to it.
pub(crate) struct FitProgress {
    printer: Printer,
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    /// Epochs of trial fits so far.
    trial_epochs: usize,
    /// When the first epoch was over: what came before (reading, trial fits) says nothing of the time left.
    first: Option<Instant>,
    last_line: Instant,
    done: usize,
    total: usize,
    /// What is being done, in a word.
    work: &'static str,
}

impl FitProgress {
    pub(crate) fn new(printer: Printer) -> Self {
        let bar = printer.draws_progress().then(ProgressBar::no_length);
        let state = State {
            trial_epochs: 0,
            first: None,
            last_line: Instant::now(),
            done: 0,
            total: 0,
            work: "training",
        };
        Self { printer, bar, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A reporter that panicked has left nothing half done here.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes the bar away, whether the fit ended well or not.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Monitor for FitProgress {
    fn epoch(&self, progress: Progress) {
        if self.printer.is_quiet() {
            return;
        }
        let mut state = self.state();
        if state.total > 0 && state.done == state.total {
            // The first fit is over: what follows is the one that --check asked for.
            state.done = 0;
            state.first = None;
            state.work = "checking";
        }
        let first = *state.first.get_or_insert_with(|| {
            if let Some(bar) = &self.bar {
                bar.set_message("");
                bar.reset();
                style(bar, "{prefix} [{bar:32}] {percent:>3} %  {elapsed} passed, {eta} left  {msg}");
            }
            Instant::now()
        });
        state.done += 1;
        state.total = progress.members * progress.epochs;
        if let Some(bar) = &self.bar {
            bar.set_prefix(state.work);
            bar.set_length(state.total as u64);
            bar.set_position(state.done as u64);
            bar.set_message(format!("loss {:.3}", progress.loss));
        } else if state.last_line.elapsed() >= PAUSE && state.done > 1 {
            state.last_line = Instant::now();
            let left = state.total.saturating_sub(state.done) as f64;
            let left = first.elapsed().as_secs_f64() / (state.done - 1) as f64 * left;
            self.printer.line(format_args!(
                "{}: epoch {} of {}, about {left:.0} s left, loss {:.3}",
                state.work, state.done, state.total, progress.loss
            ));
        }
    }

    fn trial_epoch(&self, _: Progress) {
        if self.printer.is_quiet() {
            return;
        }
        let mut state = self.state();
        state.trial_epochs += 1;
        if let Some(bar) = &self.bar {
            style(bar, "{msg}  {elapsed} passed");
            bar.set_message(format!("{TRIALS}: {} epochs", state.trial_epochs));
        } else if state.last_line.elapsed() >= PAUSE {
            state.last_line = Instant::now();
            self.printer.line(format_args!("{TRIALS}: {} epochs so far", state.trial_epochs));
        }
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_requested()
    }
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸ "));
    }
}
