//! From a table to an audit, and from a saved model to the scores and predictions of new rows.
//!
//! This is everything the command line does but for arguments and printing, so that other front ends give the same
//! bits.
//!
//! ```
//! use nbam_audit::pipeline::{AuditOptions, audit};
//! use nbam_table::{ReadOptions, Roles, Table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("fruit.csv");
//! let mut text = "weight,kind\n".to_owned();
//! for row in 0..40 {
//!     // Light fruit are cherries, but for row 6.
//!     let is_light = row % 2 == 0;
//!     let weight = if is_light { 8 + row % 5 } else { 140 + row };
//!     text += &format!("{weight},{}\n", if is_light && row != 6 { "cherry" } else { "apple" });
//! }
//! std::fs::write(&path, text)?;
//! let table = Table::read(&path, &ReadOptions::default())?;
//! let options = AuditOptions {
//!     roles: Roles { target: Some("kind".to_owned()), ..Roles::default() },
//!     epochs: Some(150),
//!     ..AuditOptions::default()
//! };
//! let audit = audit(&table, &options, &nbam::Silent)?;
//! // The most suspicious row comes first.
//! assert_eq!(audit.decisions.order[0], 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod fit;
mod options;
mod predict;
mod rows;
mod saved;
mod score;
mod write;

pub use audit::{Audit, audit, audit_file};
pub use options::AuditOptions;
pub use predict::{Predictions, predict};
pub use saved::SavedModel;
pub use score::{Scores, score};
pub use write::{RowsFormat, check_output};

use nbam::Features;
use nbam_table::Design;

use crate::Error;

/// The design as the method takes it; nothing is copied.
fn features(design: &Design) -> Result<Features<'_>, Error> {
    Ok(match design.as_f16() {
        Some(values) => Features::from_half(values, design.columns)?,
        None => Features::new(design.as_f32().unwrap_or_default(), design.columns)?,
    })
}
