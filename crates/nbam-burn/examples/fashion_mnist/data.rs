//! Fashion-MNIST as a Burn data set, from its IDX files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::{Device, Int, Tensor, TensorData};
use flate2::read::GzDecoder;

/// Number of classes.
pub(crate) const CLASSES: usize = 10;
/// Width and height of an image.
pub(crate) const SIDE: usize = 28;
/// What the classes are.
pub(crate) const NAMES: [&str; CLASSES] =
    ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"];

/// Grey images with a label each.
#[derive(Debug, Clone)]
pub(crate) struct Images {
    pixels: Arc<Vec<u8>>,
    labels: Vec<usize>,
}

/// One image, and which it is.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pixels: Vec<f32>,
    label: usize,
}

impl Images {
    /// Reads the images and labels of one part, `train` or `t10k`.
    pub(crate) fn load(folder: &Path, part: &str) -> Result<Self, String> {
        let pixels = read_idx(&folder.join(format!("{part}-images-idx3-ubyte.gz")), 3)?;
        let labels = read_idx(&folder.join(format!("{part}-labels-idx1-ubyte.gz")), 1)?;
        let labels: Vec<usize> = labels.into_iter().map(usize::from).collect();
        if pixels.len() != labels.len() * SIDE * SIDE || labels.iter().any(|&label| label >= CLASSES) {
            return Err(format!("{}: the {part} labels do not fit the images", folder.display()));
        }
        Ok(Self { pixels: Arc::new(pixels), labels })
    }

    /// At most this many, from the front.
    pub(crate) fn first(self, rows: usize) -> Self {
        let mut labels = self.labels;
        labels.truncate(rows);
        Self { labels, ..self }
    }

    /// The labels.
    pub(crate) fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The same images with other labels.
    pub(crate) fn replace_labels(&mut self, labels: Vec<usize>) {
        self.labels = labels;
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }
}

impl Dataset<Item> for Images {
    fn get(&self, index: usize) -> Result<Item, DatasetError> {
        let pixels = &self.pixels[index * SIDE * SIDE..(index + 1) * SIDE * SIDE];
        // The mean and the spread of all training pixels.
        let standardised = pixels.iter().map(|&pixel| (f32::from(pixel) / 255.0 - 0.286) / 0.353);
        Ok(Item { pixels: standardised.collect(), label: self.labels[index] })
    }

    fn len(&self) -> usize {
        self.labels.len()
    }
}

/// Some images.
#[derive(Debug, Clone)]
pub(crate) struct ImageBatch {
    /// Shape `[rows, 1, 28, 28]`.
    pub(crate) images: Tensor<4>,
    /// Shape `[rows]`.
    pub(crate) labels: Tensor<1, Int>,
}

/// Puts images together.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImageBatcher;

impl Batcher<Item, ImageBatch> for ImageBatcher {
    fn batch(&self, items: Vec<Item>, device: &Device) -> ImageBatch {
        let pixels: Vec<f32> = items.iter().flat_map(|item| item.pixels.iter().copied()).collect();
        let labels: Vec<i32> = items.iter().map(|item| item.label as i32).collect();
        ImageBatch {
            images: Tensor::from_data(TensorData::new(pixels, [items.len(), 1, SIDE, SIDE]), device),
            labels: Tensor::from_ints(labels.as_slice(), device),
        }
    }
}

/// The bytes of a gzipped IDX file with this many dimensions.
fn read_idx(path: &Path, dimensions: usize) -> Result<Vec<u8>, String> {
    let fault = |what: &dyn std::fmt::Display| {
        let hint =
            "install Debian's package dataset-fashion-mnist, or give the folder of the files with --data";
        format!("{}: {what}; {hint}", path.display())
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| fault(&error))?;
    GzDecoder::new(file).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
    let header = 4 + 4 * dimensions;
    // Two zeros, the type (unsigned bytes) and the number of dimensions; then each dimension's size.
    if bytes.len() < header || bytes[..4] != [0, 0, 8, dimensions as u8] {
        return Err(fault(&format!("is no IDX file of unsigned bytes with {dimensions} dimensions")));
    }
    let sizes =
        bytes[4..header].chunks_exact(4).map(|size| u32::from_be_bytes([size[0], size[1], size[2], size[3]]));
    let expected = sizes.map(u64::from).try_fold(1_u64, u64::checked_mul);
    if expected != Some((bytes.len() - header) as u64) {
        return Err(fault(&"is shorter or longer than its header says"));
    }
    Ok(bytes.split_off(header))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn write(folder: &Path, name: &str, bytes: &[u8]) {
        let mut encoder =
            flate2::write::GzEncoder::new(File::create(folder.join(name)).unwrap(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap();
    }

    #[test]
    fn the_shipped_subset_is_whole() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fashion_mnist/subset");
        let (train, test) = (Images::load(&folder, "train").unwrap(), Images::load(&folder, "t10k").unwrap());
        assert_eq!((train.len(), test.len()), (2_000, 500));
        for class in 0..CLASSES {
            assert!(train.labels().contains(&class) && test.labels().contains(&class));
        }
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |expected: &str| {
            let error = Images::load(folder.path(), "train").unwrap_err();
            assert!(error.contains(expected) && error.contains("--data"), "{error}");
        };
        refused("train-images-idx3-ubyte.gz");
        write(folder.path(), "train-images-idx3-ubyte.gz", &[0, 0, 8, 1, 0, 0, 0, 0]);
        refused("is no IDX file");
        write(
            folder.path(),
            "train-images-idx3-ubyte.gz",
            &[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 9],
        );
        refused("shorter or longer");
    }
}
