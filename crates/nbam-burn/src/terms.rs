//! What the loss takes: three numbers for each row.

use burn::nn::loss::Reduction;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};

use crate::NbamLossConfig;

/// The three terms of each row, from which its loss and its posterior are made.
#[derive(Debug, Clone)]
pub struct Terms {
    /// `l = -log p(y|x)`, the clean negative log-likelihood. Shape `[rows]`.
    pub clean_nll: Tensor<1>,
    /// `g = logit pi(x)`. Shape `[rows]`.
    pub prior_logit: Tensor<1>,
    /// `a = log q(y|x)`, the anomaly log-likelihood. Shape `[rows]`.
    pub anomaly_logp: Tensor<1>,
}

impl Terms {
    /// The loss of all rows; see [`NbamLoss`](crate::NbamLoss).
    pub fn loss(&self, reduction: Reduction) -> Tensor<1> {
        let Self { clean_nll, prior_logit, anomaly_logp } = self.clone();
        let loss = NbamLossConfig::new().init(&self.device());
        loss.forward(clean_nll, prior_logit, anomaly_logp, reduction)
    }

    /// The probability that each row's target is wrong. Shape `[rows]`.
    pub fn posterior(&self) -> Tensor<1> {
        let Self { clean_nll, prior_logit, anomaly_logp } = self.clone();
        let loss = NbamLossConfig::new().init(&self.device());
        loss.posterior(clean_nll, prior_logit, anomaly_logp)
    }

    /// The same probability before the target is looked at, `pi(x)`. Shape `[rows]`.
    pub fn prior(&self) -> Tensor<1> {
        sigmoid(self.prior_logit.clone())
    }

    /// The same numbers off the autodiff graph: for metrics and for scoring.
    pub fn without_autodiff(self) -> Self {
        Self {
            clean_nll: self.clean_nll.without_autodiff(),
            prior_logit: self.prior_logit.without_autodiff(),
            anomaly_logp: self.anomaly_logp.without_autodiff(),
        }
    }

    /// The device that the terms are on.
    pub fn device(&self) -> Device {
        self.clean_nll.device()
    }
}

/// What a convenience wrapper makes of a batch.
#[derive(Debug, Clone)]
pub struct LossOutput {
    /// The loss to call `backward` on. Shape `[1]`.
    pub loss: Tensor<1>,
    /// The three terms of each row: what posterior and metrics are made of.
    pub terms: Terms,
}
