//! The binary version of CIFAR-10: five files of training images and one of test images.
//!
//! A file is a sequence of records of 3,073 bytes: the class, then 1,024 red, 1,024 green and 1,024 blue pixels.

use std::path::Path;

use super::folder::DataSet;
use super::images::{Images, from_images};
use crate::error::{Error, Result};

/// The file by which a folder is recognised.
pub(super) const FIRST_FILE: &str = "data_batch_1.bin";

const TRAINING_FILES: usize = 5;
const TEST_FILE: &str = "test_batch.bin";
const PIXELS: usize = 3072;
const CLASSES: u8 = 10;

/// Reads the folder that the published archive unpacks to.
pub(super) fn read(folder: &Path) -> Result<DataSet> {
    let mut train = Images { size: PIXELS, pixels: Vec::new(), labels: Vec::new() };
    for batch in 1..=TRAINING_FILES {
        add(&folder.join(format!("data_batch_{batch}.bin")), &mut train)?;
    }
    let mut test = Images { size: PIXELS, pixels: Vec::new(), labels: Vec::new() };
    add(&folder.join(TEST_FILE), &mut test)?;
    from_images(folder, "cifar10", &train, &test)
}

fn add(path: &Path, images: &mut Images) -> Result<()> {
    let bytes = std::fs::read(path).map_err(|error| Error::reading(path, &error))?;
    let records = bytes.chunks_exact(PIXELS + 1);
    if bytes.is_empty() || !records.remainder().is_empty() {
        return Err(Error::input(format!(
            "{}: {} bytes are no whole number of images of {} bytes",
            path.display(),
            bytes.len(),
            PIXELS + 1
        ))
        .with_hint("get the file again: it is cut off, or not of CIFAR-10's binary version"));
    }
    for (index, record) in records.enumerate() {
        if record[0] >= CLASSES {
            return Err(Error::input(format!(
                "{}: image {index} has class {}, expected below {CLASSES}",
                path.display(),
                record[0]
            ))
            .with_hint("CIFAR-100 has two classes in each record and cannot be used"));
        }
        images.labels.push(record[0]);
        images.pixels.extend_from_slice(&record[1..]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Targets, read_data};
    use super::*;

    /// Two images of each class in every file; pixel j of image i is i + j, modulo 251.
    fn write(folder: &Path) {
        for name in
            (1..=TRAINING_FILES).map(|batch| format!("data_batch_{batch}.bin")).chain([TEST_FILE.into()])
        {
            let image = |index: usize| {
                let pixels = (0..PIXELS).map(move |pixel| ((index + pixel) % 251) as u8);
                [(index % 10) as u8].into_iter().chain(pixels)
            };
            std::fs::write(folder.join(name), (0..20).flat_map(image).collect::<Vec<u8>>()).unwrap();
        }
    }

    #[test]
    fn the_published_files_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let data = read_data(folder.path()).unwrap();
        assert_eq!(
            (data.name.as_str(), data.features.rows(), data.features.columns()),
            ("cifar10", 100, PIXELS)
        );
        let Targets::Labels { labels, classes } = &data.targets else { panic!("classes") };
        assert_eq!((*classes, &labels[..12]), (10, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1][..]));
        let image = data.features.row(3);
        assert_eq!((image[0], image[PIXELS - 1]), (3.0, ((3 + PIXELS - 1) % 251) as f32));
        assert_eq!(data.test.unwrap().1.len(), 20);
    }

    #[test]
    fn torn_and_foreign_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let path = folder.path().join("data_batch_3.bin");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let error = read_data(folder.path()).unwrap_err().to_string();
        assert!(error.contains("data_batch_3.bin: 61459 bytes are no whole number of images"), "{error}");
        std::fs::write(&path, [&[77], &whole[1..]].concat()).unwrap();
        let error = read_data(folder.path()).unwrap_err().to_string();
        assert!(error.contains("data_batch_3.bin: image 0 has class 77"), "{error}");
        std::fs::remove_file(&path).unwrap();
        let error = read_data(folder.path()).unwrap_err().to_string();
        assert!(error.contains("data_batch_3.bin: cannot be read"), "{error}");
        let empty = tempfile::tempdir().unwrap();
        let error = read_data(empty.path()).unwrap_err().to_string();
        assert!(error.contains("holds neither data_batch_1.bin"), "{error}");
    }
}
