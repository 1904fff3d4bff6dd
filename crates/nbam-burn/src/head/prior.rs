//! The probability of contamination that depends on the input.

use burn::config::Config;
use burn::module::Module;
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::{Device, Tensor};

use super::starting_at;

/// Configuration to create a [prior head](PriorHead).
#[derive(Config, Debug)]
pub struct PriorHeadConfig {
    /// Width of the features that the head attaches to.
    pub features: usize,
    /// Width of a hidden layer of the head's own, with `tanh`; the paper's has 128.
    pub hidden: Option<usize>,
    /// Where the logit starts. The default of -2 is a contamination of 12 %: small, so that the branches know their roles.
    #[config(default = -2.0)]
    pub bias: f64,
}

/// The prior `pi(x)` as a function of any features: gives its logit.
///
/// The last layer starts at zero weights, so that the prior starts constant. Started otherwise, the branches of the mixture may
/// change roles class by class while the loss falls as it should.
#[derive(Module, Debug)]
pub struct PriorHead {
    /// The hidden layer, if there is one.
    pub hidden: Option<Linear>,
    /// From the features, or from the hidden layer, to the logit.
    pub output: Linear,
}

impl PriorHeadConfig {
    /// Initialises a [prior head](PriorHead).
    pub fn init(&self, device: &Device) -> PriorHead {
        let hidden = self.hidden.map(|width| {
            let glorot = Initializer::XavierUniform { gain: 1.0 };
            LinearConfig::new(self.features, width).with_initializer(glorot).init(device)
        });
        let width = self.hidden.unwrap_or(self.features);
        PriorHead { hidden, output: starting_at(width, &[self.bias as f32], device) }
    }
}

impl PriorHead {
    /// The prior logit of each row.
    ///
    /// # Shapes
    ///
    /// - features: `[rows, features]`
    /// - output: `[rows]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        let features = match &self.hidden {
            Some(hidden) => hidden.forward(features).tanh(),
            None => features,
        };
        self.output.forward(features).squeeze_dim(1)
    }
}
