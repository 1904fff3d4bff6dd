//! The bundled digits as a Burn data set.

use std::error::Error;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Pixels of an image.
pub(crate) const PIXELS: usize = 64;
/// Number of classes.
pub(crate) const CLASSES: usize = 10;

/// One image of 8 x 8 pixels with its label, which may be wrong.
#[derive(Debug, Clone)]
pub(crate) struct Digit {
    pixels: Vec<f32>,
    label: usize,
    truth: usize,
}

/// All images.
#[derive(Debug, Clone)]
pub(crate) struct Digits(Vec<Digit>);

impl Digits {
    /// Reads `examples/digits/digits.csv`: a number, 64 pixels, the label, and the truth, which nothing here is trained on.
    pub(crate) fn load() -> Result<Self, Box<dyn Error>> {
        let text = include_str!("../../../../examples/digits/digits.csv");
        let digit = |line: &str| -> Result<Digit, Box<dyn Error>> {
            let cells: Vec<&str> = line.split(',').collect();
            let [_, pixels @ .., label, truth, _] = cells.as_slice() else {
                return Err("a short line".into());
            };
            let pixels: Result<Vec<f32>, _> = pixels.iter().map(|cell| cell.parse::<f32>()).collect();
            let pixels = pixels?.iter().map(|pixel| pixel / 8.0 - 1.0).collect();
            Ok(Digit { pixels, label: label.parse()?, truth: truth.parse()? })
        };
        Ok(Self(text.lines().skip(1).map(digit).collect::<Result<_, _>>()?))
    }

    /// The right labels, to compare with.
    pub(crate) fn truth(&self) -> Vec<usize> {
        self.0.iter().map(|digit| digit.truth).collect()
    }

    /// Which of the labels are wrong.
    pub(crate) fn is_contaminated(&self) -> Vec<bool> {
        self.0.iter().map(|digit| digit.truth != digit.label).collect()
    }
}

impl Dataset<Digit> for Digits {
    fn get(&self, index: usize) -> Result<Digit, DatasetError> {
        Ok(self.0[index].clone())
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Some images.
#[derive(Debug, Clone)]
pub(crate) struct DigitBatch {
    /// Shape `[rows, 64]`.
    pub(crate) pixels: Tensor<2>,
    /// Shape `[rows]`.
    pub(crate) labels: Tensor<1, Int>,
}

/// Puts images together.
#[derive(Debug, Clone, Default)]
pub(crate) struct DigitBatcher;

impl Batcher<Digit, DigitBatch> for DigitBatcher {
    fn batch(&self, items: Vec<Digit>, device: &Device) -> DigitBatch {
        let pixels: Vec<f32> = items.iter().flat_map(|digit| digit.pixels.clone()).collect();
        let labels: Vec<i32> = items.iter().map(|digit| digit.label as i32).collect();
        DigitBatch {
            pixels: Tensor::from_data(TensorData::new(pixels, [items.len(), PIXELS]), device),
            labels: Tensor::from_ints(labels.as_slice(), device),
        }
    }
}

/// All images in one batch.
pub(crate) fn whole(digits: &Digits, device: &Device) -> DigitBatch {
    DigitBatcher.batch(digits.0.clone(), device)
}
