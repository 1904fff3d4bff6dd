//! The drop-in loss.

use burn::config::Config;
use burn::module::Module;
use burn::nn::loss::Reduction;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Bool, DType, Device, FloatDType, Tensor};

/// Configuration to create an [NBAM loss](NbamLoss).
#[derive(Config, Debug)]
pub struct NbamLossConfig {}

impl NbamLossConfig {
    /// Initialises an [NBAM loss](NbamLoss). It holds no tensors: it computes where its inputs are.
    pub fn init(&self, _device: &Device) -> NbamLoss {
        NbamLoss {}
    }
}

impl Default for NbamLossConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// The loss of rows of which some targets are wrong.
///
/// For one row, let `l = -log p(y|x)` be the clean negative log-likelihood, `g` the prior logit (`pi = sigmoid(g)`) and
/// `a = log q(y|x)` the anomaly log-likelihood. Then
///
/// ```text
/// loss       L = -log[(1 - pi) p + pi q]
/// posterior  r = sigmoid(g + l + a)
/// gradient   dL/dl = 1 - r      dL/da = -r      dL/dg = pi - r
/// ```
///
/// Value and gradient are both computed in this closed form: derived automatically, the gradient would be a difference of numbers
/// that nearly cancel. Half precision is computed in single, because it has too few digits for a posterior.
///
/// The anomaly `q` must be normalised, or flagging every row would be free. The heads of this crate are.
#[derive(Module, Debug)]
pub struct NbamLoss {}

impl NbamLoss {
    /// The loss of all rows, reduced to one value.
    ///
    /// `Reduction::Auto` behaves as `Reduction::Mean`; `Reduction::BatchMean` divides the sum by the size of the first dimension.
    ///
    /// # Shapes
    ///
    /// - clean_nll, prior_logit, anomaly_logp: `[...dims]`; sizes of one are broadcast
    /// - output: `[1]`
    pub fn forward<const D: usize>(
        &self,
        clean_nll: Tensor<D>,
        prior_logit: Tensor<D>,
        anomaly_logp: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        let losses = self.forward_no_reduction(clean_nll, prior_logit, anomaly_logp);
        match reduction {
            Reduction::Mean | Reduction::Auto => losses.mean(),
            Reduction::Sum => losses.sum(),
            Reduction::BatchMean => {
                let batch = losses.shape()[0].max(1);
                losses.sum().div_scalar(batch as f64)
            }
        }
    }

    /// The loss of each row.
    ///
    /// # Shapes
    ///
    /// - clean_nll, prior_logit, anomaly_logp: `[...dims]`; sizes of one are broadcast
    /// - output: `[...dims]`
    pub fn forward_no_reduction<const D: usize>(
        &self,
        clean_nll: Tensor<D>,
        prior_logit: Tensor<D>,
        anomaly_logp: Tensor<D>,
    ) -> Tensor<D> {
        let (l, g, a) = (precise(clean_nll), precise(prior_logit), precise(anomaly_logp));
        let row = Row::new(l.clone().detach(), g.clone().detach(), a.clone().detach());
        if !row.loss.is_autodiff() {
            return row.loss;
        }
        // Adds nothing to the value and the closed form to the gradient. A branch that is impossible has no weight, and its
        // infinity must not meet that zero.
        let carrier = row.d_clean * finite(l) + row.d_prior * finite(g) + row.d_anomaly * finite(a);
        row.loss + (carrier.clone() - carrier.detach())
    }

    /// The probability that each row's target is wrong, `r = sigmoid(g + l + a)`.
    ///
    /// # Shapes
    ///
    /// - clean_nll, prior_logit, anomaly_logp: `[...dims]`; sizes of one are broadcast
    /// - output: `[...dims]`
    pub fn posterior<const D: usize>(
        &self,
        clean_nll: Tensor<D>,
        prior_logit: Tensor<D>,
        anomaly_logp: Tensor<D>,
    ) -> Tensor<D> {
        sigmoid(precise(prior_logit) + (precise(clean_nll) + precise(anomaly_logp)))
    }
}

/// Loss and gradient of each row, all constants.
struct Row<const D: usize> {
    loss: Tensor<D>,
    d_clean: Tensor<D>,
    d_prior: Tensor<D>,
    d_anomaly: Tensor<D>,
}

impl<const D: usize> Row<D> {
    fn new(l: Tensor<D>, g: Tensor<D>, a: Tensor<D>) -> Self {
        // One shape for all, whatever is broadcast.
        let zero = (l.clone() + g.clone() + a.clone()).zeros_like();
        let [l, g, a] = [l, g, a].map(|term| term + zero.clone());
        let fit = l.clone() + a.clone();
        let odds = g.clone() + fit.clone();
        // Factor the probable branch out. Seen from it the other one is less probable, `log_odds <= 0`, though it may fit better.
        let is_anomaly = odds.clone().greater_scalar(0.0);
        let sign = odds.ones_like().mask_fill(is_anomaly.clone(), -1.0);
        let other = Other::new(sign.clone() * g, sign.clone() * fit, -odds.clone().abs());
        Self {
            loss: l.mask_where(is_anomaly, -a) - other.log_gain(),
            d_clean: sigmoid(-odds.clone()),
            d_prior: sign * other.surprise(),
            d_anomaly: -sigmoid(odds),
        }
    }
}

/// The less probable branch, seen from the more probable one.
struct Other<const D: usize> {
    /// The logit of its prior, `pi = sigmoid(prior_logit)`.
    prior_logit: Tensor<D>,
    /// The logit of its posterior, never positive.
    log_odds: Tensor<D>,
    /// `pi [1 - exp(fit)]`, where `fit` is by how much it explains the row better: exact where `fit` is small.
    missing: Tensor<D>,
    /// Where `fit` is not small, and differences with the posterior are safe.
    fits_better: Tensor<D, Bool>,
}

impl<const D: usize> Other<D> {
    fn new(prior_logit: Tensor<D>, fit: Tensor<D>, log_odds: Tensor<D>) -> Self {
        let missing = sigmoid(prior_logit.clone()) * one_minus_exp(fit.clone().clamp_max(1.0));
        Self { prior_logit, log_odds, missing, fits_better: fit.greater_scalar(1.0) }
    }

    /// `log[(1 - pi) + pi exp(fit)]`, which keeps its relative accuracy near zero.
    fn log_gain(&self) -> Tensor<D> {
        let far = log_sigmoid(-self.prior_logit.clone()) + self.log_odds.clone().exp().log1p();
        let is_near = self.missing.clone().lower_scalar(0.5).bool_and(self.fits_better.clone().bool_not());
        far.mask_where(is_near, (-self.missing.clone().clamp_max(0.5)).log1p())
    }

    /// Prior minus posterior: as a product, so that it keeps its relative accuracy where they agree.
    fn surprise(&self) -> Tensor<D> {
        let close = self.missing.clone() * sigmoid(-self.log_odds.clone());
        let apart = sigmoid(self.prior_logit.clone()) - sigmoid(self.log_odds.clone());
        close.mask_where(self.fits_better.clone(), apart)
    }
}

/// `log sigmoid(x)`. Burn's own loses its relative accuracy where the result is small.
fn log_sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.clone().clamp_max(0.0) - (-x.abs()).exp().log1p()
}

/// `1 - exp(t)`, with full relative accuracy near zero: `-tanh(t / 2) (1 + exp(t))`.
fn one_minus_exp<const D: usize>(t: Tensor<D>) -> Tensor<D> {
    -t.clone().mul_scalar(0.5).tanh() * t.exp().add_scalar(1.0)
}

fn finite<const D: usize>(term: Tensor<D>) -> Tensor<D> {
    let is_infinite = term.clone().is_inf();
    term.mask_fill(is_infinite, 0.0)
}

/// The same numbers in single precision at least.
pub(crate) fn precise<const D: usize>(term: Tensor<D>) -> Tensor<D> {
    match term.dtype() {
        DType::F32 | DType::F64 => term,
        _ => term.cast(FloatDType::F32),
    }
}
