//! A free anomaly density over classes.

use burn::config::Config;
use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor};

use super::{pick, starting_at};

/// Configuration to create a [categorical anomaly head](CategoricalAnomalyHead).
#[derive(Config, Debug)]
pub struct CategoricalAnomalyHeadConfig {
    /// Width of the features that the head attaches to.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
}

/// The paper's anomaly density for classes: `q(y|x)` is a softmax of its own on the features.
///
/// It starts uniform. It knows nothing of the clean predictor, so initialisation is all that keeps the two apart; the
/// [`TransitionAnomalyHead`](super::TransitionAnomalyHead) is tied to it and needs no luck.
#[derive(Module, Debug)]
pub struct CategoricalAnomalyHead {
    /// From the features to the logits of `q(.|x)`.
    pub output: Linear,
}

impl CategoricalAnomalyHeadConfig {
    /// Initialises a [categorical anomaly head](CategoricalAnomalyHead).
    pub fn init(&self, device: &Device) -> CategoricalAnomalyHead {
        CategoricalAnomalyHead { output: starting_at(self.features, &vec![0.0; self.classes], device) }
    }
}

impl CategoricalAnomalyHead {
    /// `log q(y|x)` of each row's target.
    ///
    /// # Shapes
    ///
    /// - features: `[rows, features]`
    /// - targets: `[rows]`
    /// - output: `[rows]`
    pub fn forward(&self, features: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
        pick(log_softmax(self.output.forward(features), 1), targets)
    }
}
