//! Data sets as files, and the rows of them that a run sees.

mod fingerprint;
mod folder;
mod matrix;
mod sample;

pub use folder::{DataSet, Targets, read_folder, read_set};
pub use matrix::Matrix;
pub use sample::{Sample, Test, sample};
