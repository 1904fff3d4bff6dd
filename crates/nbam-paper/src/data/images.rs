//! Images with labels, from bytes to a data set.

use std::path::Path;

use nbam_table::{Column, NumericColumn};

use super::fingerprint::Fingerprint;
use super::folder::{DataSet, assemble};
use super::matrix::Matrix;
use crate::error::Result;

/// The images of a part, one after the other, each `size` bytes, with the class of each.
pub(super) struct Images {
    pub(super) size: usize,
    pub(super) pixels: Vec<u8>,
    pub(super) labels: Vec<u8>,
}

/// A data set whose features are the pixels, 0 to 255. Models bring features to a common scale themselves.
pub(super) fn from_images(folder: &Path, name: &str, train: &Images, test: &Images) -> Result<DataSet> {
    let mut fingerprint = Fingerprint::default();
    let mut part = |part: &str, images: &Images| {
        let matrix = Matrix::from_bytes(&images.pixels, images.size);
        let labels: Vec<f64> = images.labels.iter().map(|&label| f64::from(label)).collect();
        fingerprint.add(&format!("x_{part}"), &matrix.to_column());
        fingerprint.add(&format!("y_{part}"), &Column::Numeric(NumericColumn::new(labels.clone())));
        (matrix, labels)
    };
    let (train, test) = (part("train", train), part("test", test));
    assemble(folder, name.to_owned(), fingerprint, train, Some(test))
}
