//! The network: two convolutions and two linear layers, with either loss.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use burn::train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep};
use nbam_burn::{LossOutput, NbamClassification, clean_output, usual_weight_prior, weight_prior};

use crate::data::{CLASSES, ImageBatch, SIDE};

/// What the network is trained with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Loss {
    /// Cross-entropy, with or without the weight prior that NBAM has.
    CrossEntropy { is_held: bool },
    /// The mixture with the class transition.
    Nbam,
}

impl Loss {
    /// For the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CrossEntropy { is_held: false } => "cross-entropy",
            Self::CrossEntropy { is_held: true } => "cross-entropy with weight prior",
            Self::Nbam => "NBAM",
        }
    }
}

/// A small CNN.
#[derive(Module, Debug)]
pub(crate) struct Model {
    first: Conv2d,
    second: Conv2d,
    pool: MaxPool2d,
    hidden: Linear,
    output: Linear,
    /// The switch of every row; cross-entropy has none.
    pub(crate) nbam: Option<NbamClassification>,
    /// Strength of the Gaussian prior on the weights.
    strength: f64,
    rows: usize,
}

/// Width of the last layer's features.
const WIDTH: usize = 128;

impl Model {
    /// A network for this many training images and steps of training.
    pub(crate) fn new(loss: Loss, rows: usize, steps: usize, device: &Device) -> Self {
        let convolution =
            |channels| Conv2dConfig::new(channels, [3, 3]).with_padding(PaddingConfig2d::Same).init(device);
        let (is_held, is_mixture) = match loss {
            Loss::CrossEntropy { is_held } => (is_held, false),
            Loss::Nbam => (true, true),
        };
        Self {
            first: convolution([1, 16]),
            second: convolution([16, 32]),
            pool: MaxPool2dConfig::new([2, 2]).init(),
            hidden: LinearConfig::new(32 * (SIDE / 4) * (SIDE / 4), WIDTH).init(device),
            output: clean_output(WIDTH, CLASSES, device),
            nbam: is_mixture.then(|| NbamClassification::transition(CLASSES, rows, steps, device)),
            strength: if is_held { usual_weight_prior(rows) } else { 0.0 },
            rows,
        }
    }

    /// What the last layer sees, and the logits.
    pub(crate) fn forward(&self, images: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        let images = self.pool.forward(relu(self.first.forward(images)));
        let images = self.pool.forward(relu(self.second.forward(images)));
        let features = relu(self.hidden.forward(images.flatten(1, 3)));
        (features.clone(), self.output.forward(features))
    }

    fn loss(&self, batch: ImageBatch) -> ClassificationOutput {
        let (features, output) = self.forward(batch.images);
        let targets = batch.labels;
        let mut loss = match &self.nbam {
            Some(nbam) => {
                let LossOutput { loss, .. } =
                    nbam.classification_loss(features, output.clone(), targets.clone());
                loss
            }
            None => {
                let loss = CrossEntropyLossConfig::new().init(&output.device());
                loss.forward(output.clone(), targets.clone())
            }
        };
        if self.strength > 0.0 {
            loss = loss + weight_prior(self, self.strength, self.rows);
        }
        ClassificationOutput { loss, output, targets }
    }
}

impl TrainStep for Model {
    type Input = ImageBatch;
    type Output = ClassificationOutput;

    fn step(&self, batch: ImageBatch) -> TrainOutput<ClassificationOutput> {
        let output = self.loss(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for Model {
    type Input = ImageBatch;
    type Output = ClassificationOutput;

    fn step(&self, batch: ImageBatch) -> ClassificationOutput {
        self.loss(batch)
    }
}
