//! From a posterior to decisions that a person can act on.
//!
//! Data flows one way, as plain structs:
//!
//! ```text
//! Scored  ->  decide  ->  Decisions  ->  Summary (summary.json)  ->  Report (report.html)
//! ```
//!
//! [`Scored`] holds what a model said about every row: the probability that its target is contaminated, the three
//! terms that probability is made of, and what the target probably should have been. [`decide`] turns it into the
//! estimated rate, the flags at a false discovery rate, the transitions and the answer for any review budget.
//! [`Summary`] and [`Report`] only show what was decided. [`pipeline`] stands before and after all that: from a table to
//! a posterior, and from decisions to files.
//!
//! ```
//! use nbam_audit::{ClassTargets, FlagRule, Posterior, Scored, Targets, decide};
//!
//! let posterior = Posterior {
//!     contamination: vec![0.02, 0.99, 0.01],
//!     prior: vec![0.1, 0.1, 0.1],
//!     log_clean: vec![-0.05, -6.9, -0.05],
//!     log_anomaly: vec![-1.7, -0.1, -2.4],
//!     member_means: vec![0.34],
//! };
//! let targets = Targets::Classification(ClassTargets {
//!     classes: vec!["cat".into(), "dog".into()],
//!     given: vec![0, 1, 1],
//!     predicted: vec![0, 0, 1],
//!     suggested: vec![0, 0, 1],
//!     suggested_probability: vec![0.98, 0.99, 0.99],
//! });
//! let scored = Scored::new("animal", posterior, targets)?;
//! let decisions = decide(&scored, FlagRule::at(0.05)?);
//! assert_eq!(decisions.flags.is_flagged, [false, true, false]);
//! assert_eq!(decisions.transitions.pairs[0].rows, 1);
//! # Ok::<(), nbam_audit::Error>(())
//! ```

mod decisions;
mod error;
pub mod markup;
pub mod pipeline;
mod posterior;
mod report;
mod summary;
mod words;

pub use decisions::{
    ClassRate, Decisions, Estimate, Evidence, FlagRule, Flags, Found, Histogram, Rate, ReviewBudget,
    Transition, Transitions, decide,
};
pub use error::{Error, ErrorKind};
pub use posterior::{ClassTargets, Posterior, Scored, Targets, ValueTargets};
pub use report::{LISTED_LIMIT, ListedRow, Report};
pub use summary::{
    CheckBin, CheckSummary, RateSummary, RunFacts, Summary, Timing, TransitionSummary, Warning,
};
