//! Work without the GIL: the one place where it is released.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use nbam::{Monitor, Progress};
use pyo3::prelude::*;

use crate::error::Fault;

/// How often Python is asked whether the user pressed Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Does work that cannot be stopped, without the GIL.
pub(crate) fn released<R: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> Result<R, Fault> + Send,
) -> PyResult<R> {
    let outcome = py.detach(|| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| in_own_pool(threads, work)))
            .unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
    });
    Ok(outcome?)
}

/// Does work that Ctrl-C stops, without the GIL, and tells `callback` of each epoch:
/// `callback(is_trial, members, epochs, loss)`.
///
/// The work runs on a thread of its own while this one, which may be the only one that Python lets handle signals, waits.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    threads: usize,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Monitor) -> Result<R, Fault> + Send,
) -> PyResult<R> {
    let is_cancelled = AtomicBool::new(false);
    let (outcome, interruption) = py.detach(|| {
        let (sender, all_news) = channel();
        let watch = Watch { is_cancelled: &is_cancelled, news: sender, is_reporting: callback.is_some() };
        std::thread::scope(|scope| {
            // The sender goes with the work: the channel closes when it ends.
            let worker = scope.spawn(move || in_own_pool(threads, || work(&watch)));
            let mut interruption: Option<PyErr> = None;
            let mut asked = Instant::now();
            loop {
                let news = match all_news.recv_timeout(POLL) {
                    Ok(news) => Some(news),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if interruption.is_some() || (news.is_none() && asked.elapsed() < POLL / 2) {
                    continue;
                }
                let told = Python::attach(|py| {
                    if let (Some(News { is_trial, progress }), Some(callback)) = (news, &callback) {
                        let Progress { members, epochs, loss, .. } = progress;
                        callback.bind(py).call1((is_trial, members, epochs, loss))?;
                    }
                    py.check_signals()
                });
                asked = Instant::now();
                if let Err(error) = told {
                    is_cancelled.store(true, Ordering::Relaxed);
                    interruption = Some(error);
                }
            }
            let outcome = worker.join().unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
            (outcome, interruption)
        })
    });
    match interruption {
        Some(error) => Err(error),
        None => Ok(outcome?),
    }
}

/// A pool for this call alone: threads of a pool that is kept do not survive a fork.
fn in_own_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R, Fault> + Send) -> Result<R, Fault> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Fault::new("ParameterError", format!("could not start {threads} threads: {error}"))
    })?;
    pool.install(work)
}

fn panicked(panic: &(dyn Any + Send)) -> Fault {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Fault::internal(format!("nbam failed unexpectedly: {message}"))
}

/// An epoch, and whether it was one of a trial fit.
struct News {
    is_trial: bool,
    progress: Progress,
}

struct Watch<'a> {
    is_cancelled: &'a AtomicBool,
    news: Sender<News>,
    is_reporting: bool,
}

impl Watch<'_> {
    fn tell(&self, news: News) {
        if self.is_reporting {
            // Nobody listens any more only if the caller is gone, and then nobody is to be told.
            let _ = self.news.send(news);
        }
    }
}

impl Monitor for Watch<'_> {
    fn epoch(&self, progress: Progress) {
        self.tell(News { is_trial: false, progress });
    }

    fn trial_epoch(&self, progress: Progress) {
        self.tell(News { is_trial: true, progress });
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}
