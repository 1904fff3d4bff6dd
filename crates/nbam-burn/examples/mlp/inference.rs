//! What the trained models say, against the truth.

use std::error::Error;

use ::nbam::metrics::{accuracy, average_precision};
use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

use crate::data::{DigitBatch, Digits};
use crate::{cross_entropy, nbam};

/// How good a model is.
pub(crate) struct Quality {
    /// Share of the images that are classified rightly.
    pub(crate) accuracy: f64,
    /// How well its suspicion ranks the wrong labels first.
    pub(crate) average_precision: f64,
}

/// The model with cross-entropy: a label is as suspicious as it is improbable.
pub(crate) fn cross_entropy(
    model: &cross_entropy::Model,
    all: DigitBatch,
    digits: &Digits,
) -> Result<Quality, Box<dyn Error>> {
    let logits = model.classify(model.features(all.pixels));
    let probabilities = softmax(logits.clone(), 1);
    let own: Tensor<1> = probabilities.gather(1, all.labels.unsqueeze_dim(1)).squeeze_dim(1);
    quality(logits, -own, digits)
}

/// The model with NBAM: a label is as suspicious as it is probably wrong.
pub(crate) fn nbam(model: &nbam::Model, all: DigitBatch, digits: &Digits) -> Result<Quality, Box<dyn Error>> {
    let features = model.features(all.pixels);
    let logits = model.classify(features.clone());
    let review = model.nbam.review(features, logits.clone(), all.labels);
    quality(logits, review.terms.posterior(), digits)
}

fn quality(logits: Tensor<2>, suspicion: Tensor<1>, digits: &Digits) -> Result<Quality, Box<dyn Error>> {
    let predicted: Vec<i64> = logits.argmax(1).try_into_vec_as()?;
    let truth: Vec<i64> = digits.truth().iter().map(|&class| class as i64).collect();
    let suspicion: Vec<f32> = suspicion.try_into_vec_as()?;
    Ok(Quality {
        accuracy: accuracy(&predicted, &truth)?,
        average_precision: average_precision(&suspicion, &digits.is_contaminated())?,
    })
}
