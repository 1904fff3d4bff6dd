//! Points on a curve, some of them wrong.

use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

/// Standard deviation of clean points about the curve.
pub(crate) const NOISE: f64 = 0.1;
/// Standard deviation of wrong points, whose mean is 0.
pub(crate) const WRONG: f64 = 1.5;

/// Points.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) is_wrong: Vec<bool>,
}

/// The curve that clean points scatter about.
pub(crate) fn curve(x: f64) -> f64 {
    (2.3 * x).sin() + 0.3 * x
}

/// The probability that a point is wrong: a quarter on average.
pub(crate) fn prior(x: f64) -> f64 {
    nbam::switch::sigmoid(x - 1.742)
}

/// Draws points on [-3, 3].
pub(crate) fn draw(count: usize, seed: u64) -> Points {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut points = Points { x: Vec::new(), y: Vec::new(), is_wrong: Vec::new() };
    for _ in 0..count {
        let x = random.random_range(-3.0..3.0);
        let is_wrong = random.random_range(0.0..1.0) < prior(x);
        let normal: f64 = StandardNormal.sample(&mut random);
        points.x.push(x);
        points.y.push(if is_wrong { WRONG * normal } else { curve(x) + NOISE * normal });
        points.is_wrong.push(is_wrong);
    }
    points
}

/// The probability that a point is wrong, for someone who knows how it was drawn.
pub(crate) fn exact_posterior(x: f64, y: f64) -> f64 {
    let log_density = |y: f64, mean: f64, sd: f64| -0.5 * ((y - mean) / sd).powi(2) - sd.ln();
    let l = -log_density(y, curve(x), NOISE);
    nbam::switch::posterior(l, nbam::switch::logit(prior(x)), log_density(y, 0.0, WRONG))
}

/// A column of inputs, shape `[rows, 1]`.
pub(crate) fn inputs(x: &[f64], device: &Device) -> Tensor<2> {
    let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let rows = x.len();
    Tensor::from_data(TensorData::new(x, [rows, 1]), device)
}

/// Targets, shape `[rows]`.
pub(crate) fn targets(y: &[f64], device: &Device) -> Tensor<1> {
    let y: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    Tensor::from_floats(y.as_slice(), device)
}
