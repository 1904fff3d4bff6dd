//! The experiments behind the project's claims, each as one resumable command.
//!
//! All of them share one way from data to a table:
//!
//! ```text
//! data  ->  noise  ->  runs (one network per core)  ->  results file  ->  table, figures
//! ```
//!
//! * [`data`] reads data sets and chooses the rows of a run by its seed.
//! * [`noise`] makes targets wrong and keeps the truth.
//! * [`results`] names a run by all its settings, measures it, and appends it to a JSON-lines file at once: a second
//!   call continues where the first one stopped, and changed settings never mix.
//! * [`compare`] holds the mixture against other methods for wrong labels.
//! * [`identify`] is the experiment on whether the default preset stays identified and finds bad rows.
//! * [`study`] holds the paper's methods and runs them; [`mod@table`] is the paper's table with them, [`sensitivity`] the sweep of its
//!   appendix, [`figures`] what is drawn from the table's results.
//! * [`synthetic`] is the paper's one-dimensional example.
pub mod compare;
pub mod data;
mod error;
pub mod figures;
pub mod identify;
mod names;
pub mod noise;
mod pick;
pub mod results;
mod runner;
pub mod sensitivity;
pub mod study;
pub mod synthetic;
pub mod table;

pub use error::{Error, ErrorKind, Result};
pub use runner::Watch;

/// The version of what is measured where targets are labels. It is part of every run's identity: raise it whenever the library's code
/// or a protocol of this crate changes what a run gives, though no parameter changed, and every run is done again.
pub const LABELS_VERSION: u32 = 5;

/// The same where targets are numbers.
pub const VALUES_VERSION: u32 = 4;

/// The version for targets of this kind.
pub(crate) const fn version_for(is_classification: bool) -> u32 {
    if is_classification { LABELS_VERSION } else { VALUES_VERSION }
}
