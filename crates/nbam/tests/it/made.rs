//! Data with known answers.

use nbam::switch::sigmoid;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Normal, StandardNormal};

/// Ten Gaussian clusters in twelve dimensions, close enough to overlap a little.
pub(crate) fn clusters(rows: usize, seed: u64) -> (Vec<f32>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let centres: Vec<f64> = (0..120).map(|_| random.random_range(-2.2..2.2)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let class = row % 10;
        for dimension in 0..12 {
            let noise: f64 = StandardNormal.sample(&mut random);
            x.push((centres[class * 12 + dimension] + noise) as f32);
        }
        y.push(class);
    }
    (x, y)
}

/// One class around the other: two rings in a plane.
pub(crate) fn rings(rows: usize, seed: u64) -> (Vec<f32>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let class = row % 2;
        let noise: f64 = StandardNormal.sample(&mut random);
        let (sine, cosine) = random.random_range(0.0..std::f64::consts::TAU).sin_cos();
        let radius = (1 + class) as f64 + 0.15 * noise;
        x.extend([(radius * sine) as f32, (radius * cosine) as f32]);
        y.push(class);
    }
    (x, y)
}

/// Standard normal points in so many dimensions, with the class that a function of them says.
pub(crate) fn normal_points(
    rows: usize,
    dimensions: usize,
    seed: u64,
    class: impl Fn(&[f32], &mut ChaCha8Rng) -> usize,
) -> (Vec<f32>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f32> = (0..rows * dimensions).map(|_| StandardNormal.sample(&mut random)).collect();
    let y = x.chunks_exact(dimensions).map(|point| class(point, &mut random)).collect();
    (x, y)
}

/// The paper's one-dimensional example: features, targets, and whether each is contaminated.
pub(crate) struct Example {
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f64>,
    pub(crate) is_contaminated: Vec<bool>,
}

/// Clean noise of the example.
pub(crate) const NOISE: f64 = 0.1;
/// Standard deviation of its contamination.
pub(crate) const CONTAMINATION: f64 = 1.5;

/// The clean signal.
pub(crate) fn signal(x: f64) -> f64 {
    (2.3 * x).sin() + 0.3 * x
}

/// The true prior: a ramp with mean 0.25.
pub(crate) fn prior(x: f64) -> f64 {
    sigmoid(x - 1.742)
}

pub(crate) fn example(rows: usize, seed: u64) -> Example {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let noise = Normal::new(0.0, NOISE).unwrap();
    let contamination = Normal::new(0.0, CONTAMINATION).unwrap();
    let mut made = Example { x: Vec::new(), y: Vec::new(), is_contaminated: Vec::new() };
    for _ in 0..rows {
        let x: f64 = random.random_range(-3.0..3.0);
        let is_contaminated = random.random_bool(prior(x));
        made.x.push(x as f32);
        made.y.push(if is_contaminated {
            contamination.sample(&mut random)
        } else {
            signal(x) + noise.sample(&mut random)
        });
        made.is_contaminated.push(is_contaminated);
    }
    made
}

/// The posterior of someone who knows everything.
pub(crate) fn exact_posterior(x: f64, y: f64) -> f64 {
    let density = |mean: f64, sd: f64| (-0.5 * ((y - mean) / sd).powi(2)).exp() / sd;
    let (clean, anomaly) =
        ((1.0 - prior(x)) * density(signal(x), NOISE), prior(x) * density(0.0, CONTAMINATION));
    anomaly / (clean + anomaly)
}
