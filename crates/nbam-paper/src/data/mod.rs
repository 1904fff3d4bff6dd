//! Data sets as files, and the rows of them that a run sees.

mod any;
mod cifar;
mod fingerprint;
mod folder;
mod idx;
mod images;
mod matrix;
mod sample;

pub use any::read_data;
pub use folder::{DataSet, Targets, read_folder, read_set};
pub use matrix::Matrix;
pub use sample::{Sample, Test, paper_split, sample};
