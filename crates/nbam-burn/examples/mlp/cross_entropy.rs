//! The model before: an ordinary MLP with cross-entropy.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use burn::train::ClassificationOutput;

use crate::data::{CLASSES, DigitBatch, PIXELS};

#[derive(Module, Debug)]
pub(crate) struct Model {
    hidden: Linear,
    output: Linear,
}

impl Model {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(PIXELS, 128).init(device),
            output: LinearConfig::new(128, CLASSES).init(device),
        }
    }

    pub(crate) fn features(&self, pixels: Tensor<2>) -> Tensor<2> {
        self.hidden.forward(pixels).tanh()
    }

    pub(crate) fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.output.forward(features)
    }

    pub(crate) fn loss(&self, batch: DigitBatch) -> ClassificationOutput {
        let features = self.features(batch.pixels);
        let (output, targets) = (self.classify(features), batch.labels);
        let loss = CrossEntropyLossConfig::new().init(&output.device());
        let loss = loss.forward(output.clone(), targets.clone());
        ClassificationOutput { loss, output, targets }
    }
}
