//! The same weights and the same batches give the same losses, step by step, in Burn and in `nbam`.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Int, Tensor, TensorData};
use nbam::net::Network;
use nbam::{
    Classification, Classifier, Features, LabelModel, Params, Preset, Scaling, Schedule, TransitionPrior,
};
use nbam_burn::{LossOutput, NbamClassification, PaperNetwork, TransitionAnomalyHeadConfig};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::{training_device, values};

const ROWS: usize = 120;
const COLUMNS: usize = 6;
const CLASSES: usize = 4;
const SEED: u64 = 5;
const RATE: f64 = 1e-3;

/// Four classes on a noisy ring, one label in six wrong.
fn data() -> (Vec<f32>, Vec<usize>) {
    let mut features = Vec::new();
    let mut labels = Vec::new();
    for row in 0..ROWS {
        let class = row % CLASSES;
        let angle = class as f32 * 1.6 + ((row * 37) % 50) as f32 * 0.02;
        features.extend((0..COLUMNS).map(|column| (angle * (1.0 + column as f32 * 0.3)).sin()));
        labels.push(if row % 6 == 0 { (class + 1) % CLASSES } else { class });
    }
    (features, labels)
}

/// The classifier's losses of each epoch, and the same classifier before its first step.
fn nbam_losses(params: impl Fn() -> Params<Classification>, epochs: usize) -> (Vec<f64>, Classifier) {
    let (features, labels) = data();
    let features = Features::new(&features, COLUMNS).unwrap();
    let losses = params().epochs(epochs).fit(&features, &labels).unwrap().losses()[0].clone();
    // A step of this size moves no weight.
    let start = params().epochs(1).learning_rate(1e-30).fit(&features, &labels).unwrap();
    (losses, start)
}

/// Trains in Burn on the batches that `nbam` draws; returns the mean loss of each epoch.
fn burn_losses<M: Module>(
    mut model: M,
    epochs: usize,
    batches: usize,
    loss: impl Fn(&M, Tensor<2>, Tensor<1, Int>) -> LossOutput,
) -> Vec<f64> {
    let device = training_device();
    let (features, labels) = data();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut order: Vec<u32> = (0..ROWS as u32).collect();
    let mut optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    let mut losses = Vec::new();
    for _ in 0..epochs {
        order.shuffle(&mut random);
        let mut total = 0.0;
        for batch in order.chunks(ROWS / batches) {
            let rows = batch.iter().map(|&row| row as usize);
            let x: Vec<f32> =
                rows.clone().flat_map(|row| features[row * COLUMNS..(row + 1) * COLUMNS].to_vec()).collect();
            let y: Vec<i32> = rows.map(|row| labels[row] as i32).collect();
            let inputs = Tensor::from_data(TensorData::new(x, [batch.len(), COLUMNS]), &device);
            let output = loss(&model, inputs, Tensor::from_ints(y.as_slice(), &device));
            total += f64::from(values(output.loss.clone())[0]) * batch.len() as f64;
            let gradients = GradientsParams::from_grads(output.loss.backward(), &model);
            model = optimizer.step(RATE, model, gradients);
        }
        losses.push(total / ROWS as f64);
    }
    losses
}

fn assert_same(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (epoch, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got / expected - 1.0).abs() < 1e-3, "epoch {epoch}: {got}, expected {expected}");
    }
    let lowest = expected.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(lowest < 0.9 * expected[0], "nothing was learned: {expected:?}");
}

#[test]
fn the_papers_network_takes_the_same_path() {
    for (epochs, batches) in [(100, 1), (25, 4)] {
        let params = || {
            Params::<Classification>::preset(Preset::Paper)
                .hidden(&[32, 16])
                .batch_size(ROWS / batches)
                .seed(SEED)
        };
        let (expected, start) = nbam_losses(params, epochs);
        let model = PaperNetwork::from_classifier(&start, &training_device()).unwrap();
        let got = burn_losses(model, epochs, batches, PaperNetwork::loss);
        assert_same(&got, &expected);
    }
}

/// A network with the class transition, as `nbam::Classifier` has it by default.
#[derive(Module, Debug)]
struct Tied {
    hidden: Linear,
    clean: Linear,
    nbam: NbamClassification,
}

fn linear(network: &Network, layer: &str, device: &Device) -> Linear {
    let find = |part: &str| {
        let mut tensors = network.tensors();
        let (_, rows, columns, range) = tensors.find(|tensor| tensor.0 == format!("{layer}.{part}")).unwrap();
        (network.parameters()[range].to_vec(), rows, columns)
    };
    let ((weight, rows, columns), (bias, ..)) = (find("weight"), find("bias"));
    Linear {
        weight: Param::from_data(TensorData::new(weight, [rows, columns]), device),
        bias: Some(Param::from_data(TensorData::new(bias, [columns]), device)),
    }
}

#[test]
fn the_class_transition_takes_the_same_path() {
    // Online EM, doubt, the rising sharpness prior and the channel that is held even at first all pass within the steps.
    for (epochs, batches, starts_even) in [(100, 1, false), (25, 4, false), (50, 4, true)] {
        let prior = TransitionPrior { starts_even, ..TransitionPrior::default() };
        let params = || {
            Classifier::params()
                .label_model(LabelModel::Transition(prior))
                .hidden(&[32])
                .members(1)
                .weight_prior(0.0)
                .scaling(Scaling::None)
                .learning_rate(RATE)
                .schedule(Schedule::Constant)
                .batch_size(ROWS / batches)
                .seed(SEED)
        };
        let (expected, start) = nbam_losses(params, epochs);
        let device = training_device();
        let network = start.networks()[0];
        let config = TransitionAnomalyHeadConfig::new(CLASSES, ROWS, epochs * batches).with_prior(prior);
        let model = Tied {
            hidden: linear(network, "hidden.0", &device),
            clean: linear(network, "stage", &device),
            nbam: NbamClassification::Transition(config.init(&device)),
        };
        let got = burn_losses(model, epochs, batches, |model, inputs, targets| {
            let features = model.hidden.forward(inputs).tanh();
            let logits = model.clean.forward(features.clone());
            model.nbam.classification_loss(features, logits, targets)
        });
        assert_same(&got, &expected);
    }
}
