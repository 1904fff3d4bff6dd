//! Training, the same for all losses.

use std::error::Error;

use burn::data::dataloader::DataLoaderBuilder;
use burn::optim::AdamConfig;
use burn::tensor::Device;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{Learner, SupervisedTraining};

use crate::data::{ImageBatcher, Images};
use crate::model::Model;
use crate::options::Options;

/// Images of a batch.
pub(crate) const BATCH: usize = 128;

/// Trains a model on the images with their labels as they are. The test images are shown on the dashboard and decide nothing.
pub(crate) fn train(
    model: Model,
    train: &Images,
    test: &Images,
    options: &Options,
    device: &Device,
) -> Result<Model, Box<dyn Error>> {
    let batches = || DataLoaderBuilder::new(ImageBatcher).batch_size(BATCH);
    let train = batches().shuffle(options.seed).set_device(device.clone()).build(train.clone());
    let test = batches().set_device(device.clone().inner()).build(test.clone());
    let folder = tempfile::tempdir()?;
    let training = SupervisedTraining::new(folder.path(), train, test)
        .metrics((AccuracyMetric::new(), LossMetric::new()))
        .num_epochs(options.epochs)
        .summary();
    let optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    let result = training.launch(Learner::new(model, optimizer, 1e-3));
    match result.error {
        Some(error) => Err(error.to_string().into()),
        None => Ok(result.model),
    }
}
