//! IDX files, as MNIST and Fashion-MNIST are published: images and labels in files of their own, often gzipped.
//!
//! A file starts with two zero bytes, a type (8 for bytes) and the number of dimensions, then each dimension as a
//! big-endian 32-bit number, then the values.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::folder::DataSet;
use super::images::{Images, from_images};
use crate::error::{Error, Result};

/// The file by which a folder is recognised, possibly with `.gz`.
pub(super) const FIRST_FILE: &str = "train-images-idx3-ubyte";

const BYTES: u8 = 8;
/// Values at most; more is taken for a damaged header. MNIST has 47 million pixels.
const MOST_VALUES: usize = 1 << 31;

/// Whether the folder holds such files.
pub(super) fn is_there(folder: &Path) -> bool {
    find(folder, FIRST_FILE).is_file()
}

/// The file as it is there: plain, or gzipped.
fn find(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    if plain.is_file() { plain } else { folder.join(format!("{name}.gz")) }
}

/// Reads the four published files. The set is named after its folder.
pub(super) fn read(folder: &Path) -> Result<DataSet> {
    let train = read_part(folder, "train")?;
    let test = read_part(folder, "t10k")?;
    let name =
        folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    from_images(folder, name.as_deref().unwrap_or("images"), &train, &test)
}

fn read_part(folder: &Path, part: &str) -> Result<Images> {
    let (images, labels) = (
        find(folder, &format!("{part}-images-idx3-ubyte")),
        find(folder, &format!("{part}-labels-idx1-ubyte")),
    );
    let (shape, pixels) = read_array(&images)?;
    let (label_shape, labels_read) = read_array(&labels)?;
    let ([count, height, width], [labels_count]) = (shape.as_slice(), label_shape.as_slice()) else {
        return Err(Error::input(format!(
            "{}: {} dimensions, expected 3 for images and 1 for labels",
            images.display(),
            shape.len()
        )));
    };
    if count != labels_count {
        return Err(Error::input(format!(
            "{}: {labels_count} labels, expected {count}, one for each image of {}",
            labels.display(),
            images.display()
        )));
    }
    Ok(Images { size: height * width, pixels, labels: labels_read })
}

/// The dimensions and the values of a file of bytes.
fn read_array(path: &Path) -> Result<(Vec<usize>, Vec<u8>)> {
    let failed = |error: std::io::Error| Error::reading(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        file.read_to_end(&mut bytes).map_err(failed)?;
    }
    parse(&bytes).map_err(|fault| Error::input(format!("{}: {fault}", path.display())))
}

fn parse(bytes: &[u8]) -> std::result::Result<(Vec<usize>, Vec<u8>), String> {
    let (magic, rest) = bytes.split_first_chunk::<4>().ok_or("too short for an IDX file")?;
    let [0, 0, BYTES, dimensions] = *magic else {
        return Err(format!(
            "starts with the bytes {magic:?}, expected [0, 0, 8, dimensions] of an IDX file of bytes"
        ));
    };
    let (mut shape, mut values) = (Vec::new(), rest);
    for _ in 0..dimensions {
        let (size, rest) = values.split_first_chunk::<4>().ok_or("too short for its dimensions")?;
        shape.push(u32::from_be_bytes(*size) as usize);
        values = rest;
    }
    let expected = shape.iter().try_fold(1_usize, |total, &size| total.checked_mul(size));
    match expected.filter(|&expected| expected <= MOST_VALUES && expected > 0) {
        Some(expected) if expected == values.len() => Ok((shape, values.to_vec())),
        _ => Err(format!("holds {} values, expected those of the dimensions {shape:?}", values.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Targets, read_data};
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn array(shape: &[u32], values: impl IntoIterator<Item = u8>) -> Vec<u8> {
        let mut bytes = vec![0, 0, BYTES, shape.len() as u8];
        shape.iter().for_each(|size| bytes.extend(size.to_be_bytes()));
        bytes.extend(values);
        bytes
    }

    fn zipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Six training images, gzipped, and three test images, plain, of 2 x 3 pixels and three classes.
    fn write(folder: &Path) {
        let save = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
        save("train-images-idx3-ubyte.gz", &zipped(&array(&[6, 2, 3], 0..36)));
        save("train-labels-idx1-ubyte.gz", &zipped(&array(&[6], [2, 1, 0, 0, 1, 2])));
        save("t10k-images-idx3-ubyte", &array(&[3, 2, 3], 200..218));
        save("t10k-labels-idx1-ubyte", &array(&[3], [0, 1, 1]));
    }

    #[test]
    fn zipped_and_plain_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("fashion");
        std::fs::create_dir(&folder).unwrap();
        write(&folder);
        let data = read_data(&folder).unwrap();
        assert_eq!((data.name.as_str(), data.features.rows(), data.features.columns()), ("fashion", 6, 6));
        assert_eq!(data.targets, Targets::Labels { labels: vec![2, 1, 0, 0, 1, 2], classes: 3 });
        let (images, labels) = data.test.unwrap();
        assert_eq!(labels, Targets::Labels { labels: vec![0, 1, 1], classes: 3 });
        assert_eq!(images.row(2), [212.0, 213.0, 214.0, 215.0, 216.0, 217.0]);
    }

    #[test]
    fn damaged_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str, bytes: &[u8]| {
            write(folder.path());
            std::fs::write(folder.path().join(name), bytes).unwrap();
            let error = read_data(folder.path()).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
            error
        };
        let images = array(&[3, 2, 3], 200..218);
        assert!(refused("t10k-images-idx3-ubyte", &images[..20]).contains("holds 4 values"));
        assert!(refused("t10k-images-idx3-ubyte", &images[..3]).contains("too short"));
        assert!(refused("t10k-images-idx3-ubyte", b"\x1f\x8b\x08\x00").contains("starts with the bytes"));
        assert!(refused("t10k-labels-idx1-ubyte", &array(&[2], [0, 1])).contains("2 labels, expected 3"));
        let cut = &zipped(&array(&[6, 2, 3], 0..36))[..20];
        assert!(refused("train-images-idx3-ubyte.gz", cut).contains("cannot be read"));
    }
}
