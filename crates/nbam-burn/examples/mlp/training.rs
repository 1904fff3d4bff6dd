//! Training, the same for both models.

use std::error::Error;

use burn::data::dataloader::DataLoaderBuilder;
use burn::optim::AdamConfig;
use burn::tensor::Device;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, LearnerModel, SupervisedTraining, TrainOutput, TrainStep,
};
use nbam_burn::metric::{ContaminationMetric, FlaggedMetric, NbamClassificationOutput};

use crate::data::{DigitBatch, DigitBatcher, Digits};
use crate::{cross_entropy, nbam};

/// How a model is trained.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) rows: usize,
    pub(crate) batch_size: usize,
    pub(crate) epochs: usize,
    pub(crate) seed: u64,
}

impl Settings {
    /// Steps of the whole training.
    pub(crate) fn steps(&self) -> usize {
        self.epochs * self.rows.div_ceil(self.batch_size)
    }
}

impl TrainStep for cross_entropy::Model {
    type Input = DigitBatch;
    type Output = ClassificationOutput;

    fn step(&self, batch: DigitBatch) -> TrainOutput<ClassificationOutput> {
        let output = self.loss(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for cross_entropy::Model {
    type Input = DigitBatch;
    type Output = ClassificationOutput;

    fn step(&self, batch: DigitBatch) -> ClassificationOutput {
        self.loss(batch)
    }
}

impl TrainStep for nbam::Model {
    type Input = DigitBatch;
    type Output = NbamClassificationOutput;

    fn step(&self, batch: DigitBatch) -> TrainOutput<NbamClassificationOutput> {
        let output = self.loss(batch);
        TrainOutput::new(self, output.loss.backward(), output)
    }
}

impl InferenceStep for nbam::Model {
    type Input = DigitBatch;
    type Output = NbamClassificationOutput;

    fn step(&self, batch: DigitBatch) -> NbamClassificationOutput {
        self.loss(batch)
    }
}

/// What the dashboard shows of a model.
pub(crate) trait Watched: LearnerModel + Sized {
    /// Registers the metrics.
    fn watch(training: SupervisedTraining<Self>) -> SupervisedTraining<Self>;
}

impl Watched for cross_entropy::Model {
    fn watch(training: SupervisedTraining<Self>) -> SupervisedTraining<Self> {
        training.metrics((AccuracyMetric::new(), LossMetric::new()))
    }
}

impl Watched for nbam::Model {
    fn watch(training: SupervisedTraining<Self>) -> SupervisedTraining<Self> {
        training.metrics((
            AccuracyMetric::new(),
            LossMetric::new(),
            ContaminationMetric::new(),
            FlaggedMetric::default(),
        ))
    }
}

/// Trains a model on all digits, with their labels as they are.
pub(crate) fn train<M>(
    model: M,
    digits: &Digits,
    settings: &Settings,
    device: &Device,
) -> Result<M, Box<dyn Error>>
where
    M: Watched + TrainStep<Input = DigitBatch> + InferenceStep<Input = DigitBatch>,
{
    let loader = |is_shuffled: bool, device: Device| {
        let loader = DataLoaderBuilder::new(DigitBatcher).batch_size(settings.batch_size).set_device(device);
        let loader = if is_shuffled { loader.shuffle(settings.seed) } else { loader };
        loader.build(digits.clone())
    };
    let folder = tempfile::tempdir()?;
    let training = SupervisedTraining::new(
        folder.path(),
        loader(true, device.clone()),
        loader(false, device.clone().inner()),
    )
    .num_epochs(settings.epochs)
    .summary();
    let learner = Learner::new(model, AdamConfig::new().with_epsilon(1e-8).init(), 1e-3);
    let result = M::watch(training).launch(learner);
    match result.error {
        Some(error) => Err(error.to_string().into()),
        None => Ok(result.model),
    }
}
