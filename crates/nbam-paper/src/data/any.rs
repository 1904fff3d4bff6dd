//! A data set in whichever form it comes.

use std::path::Path;

use super::folder::{DataSet, read_set};
use super::{cifar, idx};
use crate::error::{Error, Result};

/// Reads a data set: an `.npz` file, a folder with the CIFAR-10 binary files, or a folder with IDX files (MNIST,
/// Fashion-MNIST; gzipped or not). Images become rows of pixels from 0 to 255.
///
/// # Errors
/// When the path is none of these, or a file of it cannot be used.
pub fn read_data(path: &Path) -> Result<DataSet> {
    if !path.is_dir() {
        return read_set(path);
    }
    if path.join(cifar::FIRST_FILE).is_file() {
        return cifar::read(path);
    }
    if idx::is_there(path) {
        return idx::read(path);
    }
    Err(Error::input(format!(
        "{}: this folder holds neither {} (CIFAR-10, binary version) nor {} (IDX)",
        path.display(),
        cifar::FIRST_FILE,
        idx::FIRST_FILE
    ))
    .with_hint("give an .npz file, or the folder with the files as they were published"))
}
