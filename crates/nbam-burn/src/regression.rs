//! The whole loss of a regression in one call.

use burn::module::Module;
use burn::nn::loss::Reduction;
use burn::tensor::{Device, Tensor};

use crate::head::{GaussianAnomalyHead, GaussianAnomalyHeadConfig, PriorHead, PriorHeadConfig, gaussian_nll};
use crate::loss::precise;
use crate::{LossOutput, Terms};

/// The heads of a regression: what stands beside your network's mean and log standard deviation.
#[derive(Module, Debug)]
pub struct NbamRegression {
    /// `pi(x)`.
    pub prior: PriorHead,
    /// `q(y|x)`.
    pub anomaly: GaussianAnomalyHead,
}

/// What is known of rows with numeric targets when training is over; the `score` helper takes it.
#[derive(Debug, Clone)]
pub struct ValueReview {
    /// The three terms of each row.
    pub terms: Terms,
    /// The mean of a clean target. Shape `[rows]`.
    pub mean: Tensor<1>,
    /// Its standard deviation: the error bar. Shape `[rows]`.
    pub sd: Tensor<1>,
    /// The targets. Shape `[rows]`.
    pub targets: Tensor<1>,
}

impl NbamRegression {
    /// Heads on features of this width, for targets with this centre and spread (their median, and 1.48 times their median absolute
    /// deviation, say). Wrong values come from one Gaussian that is learned.
    ///
    /// # Panics
    /// When the spread is not a positive number.
    pub fn new(features: usize, centre: f64, spread: f64, device: &Device) -> Self {
        Self {
            prior: PriorHeadConfig::new(features).init(device),
            anomaly: GaussianAnomalyHeadConfig::new().with_centre(centre).with_spread(spread).init(device),
        }
    }

    /// The mean loss of a batch, for a clean branch `N(y; mean, sd^2)` that your network gives.
    ///
    /// # Shapes
    ///
    /// - features: `[rows, features]`, whatever your network's last layer sees
    /// - mean, log_sd: `[rows]`, of your network, in the targets' units
    /// - targets: `[rows]`
    pub fn regression_loss(
        &self,
        features: Tensor<2>,
        mean: Tensor<1>,
        log_sd: Tensor<1>,
        targets: Tensor<1>,
    ) -> LossOutput {
        let terms = Terms {
            clean_nll: gaussian_nll(precise(mean), precise(log_sd), precise(targets.clone())),
            prior_logit: self.prior.forward(features.clone()),
            anomaly_logp: self.anomaly.forward(features, targets),
        };
        LossOutput { loss: terms.loss(Reduction::Mean), terms }
    }

    /// Everything that can be said of rows with targets. Use it on `model.valid()`.
    ///
    /// # Shapes
    ///
    /// As [`Self::regression_loss`].
    pub fn review(
        &self,
        features: Tensor<2>,
        mean: Tensor<1>,
        log_sd: Tensor<1>,
        targets: Tensor<1>,
    ) -> ValueReview {
        let LossOutput { terms, .. } =
            self.regression_loss(features, mean.clone(), log_sd.clone(), targets.clone());
        ValueReview { terms, mean, sd: log_sd.exp(), targets }
    }
}
