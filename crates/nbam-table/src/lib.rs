//! Files to columns to a design matrix, and back to files.
//!
//! * [`Table::read`] reads CSV, Parquet, Arrow, JSON lines and NPZ into named columns.
//! * [`Roles`] says which column is the target, and [`Target::extract`] checks it.
//! * [`Preparation`] is fitted on the training rows, saved with the model, and turns the features of
//!   any rows into a [`Design`]: a matrix of finite numbers.
//! * [`write_table`] writes results, [`write_changed`] an input with changed columns.
//!
//! Every fault is an [`Error`] whose sentence names the file, row, column and value, with a hint
//! that says what to do; what does not stop the work is a [`Note`].
//!
//! ```
//! use nbam_table::{Preparation, ReadOptions, Roles, Table, Target, Task};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("fruit.csv");
//! std::fs::write(&path, "weight,colour,kind\n150,red,apple\n120,,apple\n11,red,cherry\n9,red,cherry\n")?;
//! let table = Table::read(&path, &ReadOptions::default())?;
//! let (target, _) = Target::extract(&table, "kind", Task::Auto)?;
//! assert!(matches!(target, Target::Classification { ref classes, .. } if classes.len() == 2));
//!
//! let roles = Roles { target: Some("kind".to_owned()), ..Roles::default() };
//! let (preparation, _) = Preparation::fit(&table, &roles)?;
//! let design = preparation.apply(&table)?;
//! assert_eq!(design.names, ["weight", "colour is rare", "colour is missing"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calendar;
mod column;
mod error;
mod notes;
mod prepare;
mod read;
mod roles;
mod table;
mod target;
mod write;

pub use column::{
    BlockColumn, BlockValues, BooleanColumn, Column, MISSING_CODE, NumericColumn, NumericKind, TextColumn,
    UnsupportedColumn,
};
pub use error::{Error, ErrorKind};
pub use notes::{Note, Task};
pub use prepare::{Conflicts, Design, DesignValues, Preparation, conflicting_duplicates};
pub use roles::{Roles, standard_errors, texts, verified, weights};
pub use table::{ReadOptions, Table};
pub use target::{Target, known_classes, known_values};
pub use write::{OutputColumn, OutputValues, record_batch, write_changed, write_csv, write_table};
