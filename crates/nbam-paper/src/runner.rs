//! Runs jobs, one for each core, until all are done or one fails.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use nbam::{Monitor, Progress};

use crate::error::{Error, ErrorKind, Result};
use crate::results::Record;

/// Watches an experiment and may stop it. Called from several threads.
pub trait Watch: Sync {
    /// A run has ended and is on the disk; `done` of `total` are.
    fn finished(&self, record: &Record, done: usize, total: usize);

    /// Asked before each step of each fit.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Stops a fit when the user asks for it or another fit has failed.
pub(crate) struct Stop<'a> {
    watch: &'a dyn Watch,
    has_failed: &'a AtomicBool,
}

impl Monitor for Stop<'_> {
    fn epoch(&self, _: Progress) {}

    fn is_cancelled(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed) || self.watch.is_cancelled()
    }
}

/// Does all jobs in order on this many threads. A job that fails ends the others; its error is returned.
pub(crate) fn run_jobs<J: Send>(
    jobs: Vec<J>,
    threads: usize,
    watch: &dyn Watch,
    work: impl Fn(J, &Stop<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let queue = Mutex::new(VecDeque::from(jobs));
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let has_failed = AtomicBool::new(false);
    // A lock is held only to take a job or to note an error, neither of which panics.
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let worker = || {
        let stop = Stop { watch, has_failed: &has_failed };
        while !stop.is_cancelled() {
            let Some(job) = next() else { return };
            if let Err(error) = work(job, &stop) {
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                // The first error is the cause; the others were only stopped.
                if failure.is_none() {
                    *failure = Some(error);
                }
                has_failed.store(true, Ordering::Relaxed);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(worker);
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    if watch.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled, "stopped; the runs that ended are kept"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    struct Nobody;

    impl Watch for Nobody {
        fn finished(&self, _: &Record, _: usize, _: usize) {}
    }

    #[test]
    fn every_job_is_done_once() {
        let sum = AtomicUsize::new(0);
        let work = |job: usize, _: &Stop<'_>| {
            sum.fetch_add(job, Ordering::Relaxed);
            Ok(())
        };
        run_jobs((0..100).collect(), 3, &Nobody, work).unwrap();
        assert_eq!(sum.into_inner(), 4950);
    }

    #[test]
    fn a_failure_stops_the_rest() {
        let done = AtomicUsize::new(0);
        let outcome = run_jobs((0..1000).collect(), 2, &Nobody, |job: usize, _| {
            if job == 3 {
                return Err(Error::input("job 3 failed"));
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!(outcome.unwrap_err().to_string(), "job 3 failed");
        assert!(done.into_inner() < 100);
    }
}
