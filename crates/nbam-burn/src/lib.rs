//! Neural Bayesian Anomaly Mitigation for networks written in [Burn](burn).
//!
//! Keep your network and your training loop, swap the loss, and get for every row the probability that its target is wrong.
//! Every row has a hidden switch, clean or contaminated, and the likelihood is marginalised over it:
//!
//! ```text
//! P(y|x) = (1 - pi(x)) p(y|x) + pi(x) q(y|x)
//! ```
//!
//! | what | for |
//! | --- | --- |
//! | [`NbamLoss`] | the loss itself, from the three terms of each row |
//! | [`NbamClassification`], [`NbamRegression`] | heads and loss in one module: `classification_loss`, `regression_loss` |
//! | [`head`] | the heads one by one |
//! | [`weight_prior`](fn@weight_prior), [`clean_output`] | what else keeps a network from memorising wrong targets |
//! | [`metric`] | metrics for the training dashboard (feature `train`) |
//! | [`score`] | rows, summary and report as `nbam audit` writes them, for any Burn model (feature `audit`) |
//! | [`PaperNetwork`] | the paper's architecture, to and from `nbam::Classifier` |

mod classification;
pub mod head;
mod loss;
#[cfg(feature = "train")]
pub mod metric;
mod paper;
mod regression;
#[cfg(feature = "audit")]
pub mod score;
mod terms;
mod weight_prior;

pub use classification::{ClassReview, FreeHeads, NbamClassification};
pub use head::{
    CategoricalAnomalyHead, CategoricalAnomalyHeadConfig, GaussianAnomalyHead, GaussianAnomalyHeadConfig,
    PriorHead, PriorHeadConfig, TransitionAnomalyHead, TransitionAnomalyHeadConfig, clean_output,
    gaussian_nll,
};
pub use nbam::usual_weight_prior;

pub use loss::{NbamLoss, NbamLossConfig};
pub use paper::{PaperNetwork, PaperNetworkConfig};
pub use regression::{NbamRegression, ValueReview};
pub use terms::{LossOutput, Terms};
pub use weight_prior::weight_prior;

/// The guide's code is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/burn.md")]
struct Guide;
