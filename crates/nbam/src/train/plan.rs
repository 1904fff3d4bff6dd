//! What a fit is told, and what it tells.

use crate::net::Schedule;

/// How one network is trained.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) epochs: usize,
    pub(crate) batch: usize,
    pub(crate) learning_rate: f64,
    pub(crate) schedule: Schedule,
    /// Decoupled decay of the weight matrices.
    pub(crate) decay: f64,
    /// Strength of the Gaussian prior on the weights, for all rows together.
    pub(crate) prior: f64,
    /// Over how many of the last epochs each row's evidence is averaged; 0 for none.
    pub(crate) averaged: usize,
    pub(crate) seed: u64,
}

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The member of the ensemble that this is about, from 0.
    pub member: usize,
    /// How many members there are.
    pub members: usize,
    /// Epochs that this member has finished.
    pub epoch: usize,
    /// Epochs that each member takes.
    pub epochs: usize,
    /// The mean loss of the epoch.
    pub loss: f64,
}

/// Watches a fit and may stop it. Members may report from several threads.
pub trait Monitor: Sync {
    /// Called after each epoch of each member.
    fn epoch(&self, progress: Progress);

    /// Called after each epoch of a trial fit: before the members are trained, left-out rows may have to decide how smooth the model is, which
    /// beliefs hold, and with few rows whether a committee judges better. How many trials there will be depends on what they give.
    fn trial_epoch(&self, _: Progress) {}

    /// Asked before each step: `true` ends the fit with an error of kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A monitor that says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {
    fn epoch(&self, _: Progress) {}
}
