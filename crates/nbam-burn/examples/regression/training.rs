//! A training loop of one's own.

use burn::module::Module as _;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;

use crate::data::{Points, inputs, targets};
use crate::model::Curve;

const STEPS: usize = 3_000;

/// Trains on all points at once.
pub(crate) fn train(mut curve: Curve, points: &Points, device: &Device) -> Curve {
    let (inputs, targets) = (inputs(&points.x, device), targets(&points.y, device));
    let mut optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    for step in 0..STEPS {
        let output = curve.loss(inputs.clone(), targets.clone());
        let gradients = GradientsParams::from_grads(output.loss.backward(), &curve);
        let progress = step as f64 / STEPS as f64;
        let rate = 1e-2 * nbam::Schedule::Cosine.factor(progress);
        curve = optimizer.step(rate, curve, gradients);
    }
    curve.valid()
}
