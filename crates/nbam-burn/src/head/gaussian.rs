//! The anomaly density of numbers.

use burn::config::Config;
use burn::module::{Module, Param};
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::{Device, Tensor};

/// Configuration to create a [Gaussian anomaly head](GaussianAnomalyHead).
#[derive(Config, Debug)]
pub struct GaussianAnomalyHeadConfig {
    /// Width of the features, where wrong values depend on them as in the paper; without it, one Gaussian serves all rows.
    pub features: Option<usize>,
    /// A robust centre of the targets, such as their median.
    #[config(default = 0.0)]
    pub centre: f64,
    /// A robust spread of the targets, such as 1.48 times their median absolute deviation.
    #[config(default = 1.0)]
    pub spread: f64,
    /// Where the log variance of wrong values starts, in units of the spread: wider than the targets, so that a row that the
    /// clean branch can explain is not wrong.
    #[config(default = 1.5)]
    pub log_variance: f64,
}

/// Wrong values come from a Gaussian, `q(y|x) = N(y; m, s^2)`, that is learned.
///
/// One Gaussian serves all rows unless features are given; then mean and log variance are linear in them, starting constant.
#[derive(Module, Debug)]
pub struct GaussianAnomalyHead {
    /// Mean and log variance for all rows, as a distance from the start. Shape `[2]`.
    pub common: Param<Tensor<1>>,
    /// What the features add to them.
    pub per_row: Option<Linear>,
    centre: f64,
    spread: f64,
    log_variance: f64,
}

/// How much faster the common Gaussian learns than the weights: gross errors may be many spreads away.
const SPEED: f64 = 10.0;

impl GaussianAnomalyHeadConfig {
    /// Initialises a [Gaussian anomaly head](GaussianAnomalyHead).
    ///
    /// # Panics
    /// When the spread is not a positive number.
    pub fn init(&self, device: &Device) -> GaussianAnomalyHead {
        assert!(
            self.spread > 0.0 && self.spread.is_finite(),
            "the spread of the targets is {}, expected a positive number",
            self.spread
        );
        let per_row = self.features.map(|features| {
            LinearConfig::new(features, 2).with_bias(false).with_initializer(Initializer::Zeros).init(device)
        });
        GaussianAnomalyHead {
            common: Initializer::Zeros.init([2], device),
            per_row,
            centre: self.centre,
            spread: self.spread,
            log_variance: self.log_variance,
        }
    }
}

impl GaussianAnomalyHead {
    /// `log q(y|x)` of each row's target, in the target's own units.
    ///
    /// # Shapes
    ///
    /// - features: `[rows, features]`; only looked at if the head was made for features
    /// - targets: `[rows]`
    /// - output: `[rows]`
    pub fn forward(&self, features: Tensor<2>, targets: Tensor<1>) -> Tensor<1> {
        let [rows] = targets.dims();
        let common = self.common.val().mul_scalar(SPEED).unsqueeze_dim::<2>(0);
        let outputs = match &self.per_row {
            Some(linear) => common + linear.forward(features),
            None => common.expand([rows, 2]),
        };
        let mean: Tensor<1> = outputs.clone().narrow(1, 0, 1).squeeze_dim(1);
        let log_variance: Tensor<1> = outputs.narrow(1, 1, 1).squeeze_dim(1).add_scalar(self.log_variance);
        let scaled = targets.sub_scalar(self.centre).div_scalar(self.spread);
        -gaussian_nll(mean, log_variance.mul_scalar(0.5), scaled).add_scalar(self.spread.ln())
    }
}

/// The negative log density of each target under a Gaussian, normalised:
/// `((y - mean) / sd)^2 / 2 + log sd + log(2 pi) / 2`.
///
/// # Shapes
///
/// - mean, log_sd, targets, output: `[rows]`
pub fn gaussian_nll(mean: Tensor<1>, log_sd: Tensor<1>, targets: Tensor<1>) -> Tensor<1> {
    let distance = (targets - mean) * (-log_sd.clone()).exp();
    distance.square().mul_scalar(0.5) + log_sd.add_scalar(0.5 * std::f64::consts::TAU.ln())
}
