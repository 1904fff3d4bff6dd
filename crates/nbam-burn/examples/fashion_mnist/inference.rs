//! What a trained model says of its images, against the truth.

use std::error::Error;
use std::fmt;

use burn::data::dataloader::batcher::Batcher as _;
use burn::data::dataset::Dataset as _;
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor};
use nbam::metrics::{accuracy, average_precision, expected_calibration_error};
use nbam_burn::ClassReview;

use crate::data::{ImageBatch, ImageBatcher, Images};
use crate::model::Model;

/// Images that are scored at once.
const BATCH: usize = 500;

/// How good a model is.
pub(crate) struct Quality {
    test_accuracy: f64,
    average_precision: f64,
    calibration_error: f64,
    mean: f64,
}

impl fmt::Display for Quality {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { test_accuracy, average_precision, calibration_error, mean } = self;
        write!(
            formatter,
            "{test_accuracy:<15.4} {average_precision:<7.3} {calibration_error:<7.3} {:<15}",
            format!("{:.1} %", 100.0 * mean)
        )
    }
}

/// All images in their order.
fn batches(images: &Images) -> impl Iterator<Item = ImageBatch> + '_ {
    (0..images.len()).step_by(BATCH).map(|start| {
        let rows = start..(start + BATCH).min(images.len());
        let items = rows.filter_map(|row| images.get(row).ok()).collect();
        ImageBatcher.batch(items, &Device::flex())
    })
}

/// What the heads say of the training images; nothing for a model without them.
pub(crate) fn reviews(model: &Model, images: &Images) -> impl Iterator<Item = ClassReview> {
    batches(images).filter_map(|batch| {
        let (features, logits) = model.forward(batch.images);
        Some(model.nbam.as_ref()?.review(features, logits, batch.labels))
    })
}

/// The probability that each training label is wrong. Without a mixture, one minus the label's own probability takes its place.
fn suspicion(model: &Model, images: &Images) -> Result<Vec<f32>, Box<dyn Error>> {
    let mut all = Vec::new();
    for batch in batches(images) {
        let (features, logits) = model.forward(batch.images);
        let suspicion: Tensor<1> = match &model.nbam {
            Some(nbam) => nbam.review(features, logits, batch.labels).terms.posterior(),
            None => {
                let own = softmax(logits, 1).gather(1, batch.labels.unsqueeze_dim(1));
                (-own).add_scalar(1.0).clamp_min(0.0).squeeze_dim(1)
            }
        };
        all.extend(suspicion.try_into_vec_as::<f32>()?);
    }
    Ok(all)
}

/// Accuracy on the test images, and how well the wrong training labels were found.
pub(crate) fn quality(
    model: &Model,
    train: &Images,
    test: &Images,
    is_contaminated: &[bool],
) -> Result<Quality, Box<dyn Error>> {
    let mut predicted = Vec::new();
    for batch in batches(test) {
        let classes: Vec<i64> = model.forward(batch.images).1.argmax(1).try_into_vec_as()?;
        predicted.extend(classes.into_iter().map(|class| class as usize));
    }
    let suspicion = suspicion(model, train)?;
    Ok(Quality {
        test_accuracy: accuracy(&predicted, test.labels())?,
        average_precision: average_precision(&suspicion, is_contaminated)?,
        calibration_error: expected_calibration_error(&suspicion, is_contaminated)?,
        mean: suspicion.iter().map(|&value| f64::from(value)).sum::<f64>() / suspicion.len() as f64,
    })
}
