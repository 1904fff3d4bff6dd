//! The model after: the same MLP, and the switch of every row.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use nbam_burn::metric::NbamClassificationOutput;
use nbam_burn::{LossOutput, NbamClassification, clean_output, usual_weight_prior, weight_prior};

use crate::data::{CLASSES, DigitBatch, PIXELS};
use crate::training::Settings;

#[derive(Module, Debug)]
pub(crate) struct Model {
    hidden: Linear,
    output: Linear,
    pub(crate) nbam: NbamClassification,
    rows: usize,
}

impl Model {
    pub(crate) fn new(settings: &Settings, device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(PIXELS, 128).init(device),
            output: clean_output(128, CLASSES, device),
            nbam: NbamClassification::transition(CLASSES, settings.rows, settings.steps(), device),
            rows: settings.rows,
        }
    }

    pub(crate) fn features(&self, pixels: Tensor<2>) -> Tensor<2> {
        self.hidden.forward(pixels).tanh()
    }

    pub(crate) fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.output.forward(features)
    }

    pub(crate) fn loss(&self, batch: DigitBatch) -> NbamClassificationOutput {
        let features = self.features(batch.pixels);
        let (output, targets) = (self.classify(features.clone()), batch.labels);
        let LossOutput { loss, terms } =
            self.nbam.classification_loss(features, output.clone(), targets.clone());
        let loss = loss + weight_prior(self, usual_weight_prior(self.rows), self.rows);
        NbamClassificationOutput { loss, output, targets, terms }
    }
}
