//! A network that gives a mean and an error bar.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use nbam_burn::{LossOutput, NbamRegression, ValueReview};

/// Two hidden layers, a mean and a log standard deviation.
#[derive(Module, Debug)]
pub(crate) struct Curve {
    first: Linear,
    second: Linear,
    output: Linear,
    nbam: NbamRegression,
}

const WIDTH: usize = 48;

impl Curve {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            first: LinearConfig::new(1, WIDTH).init(device),
            second: LinearConfig::new(WIDTH, WIDTH).init(device),
            output: LinearConfig::new(WIDTH, 2).init(device),
            nbam: NbamRegression::new(WIDTH, 0.0, 1.0, device),
        }
    }

    /// Features, mean and log standard deviation.
    pub(crate) fn forward(&self, inputs: Tensor<2>) -> (Tensor<2>, Tensor<1>, Tensor<1>) {
        let features = self.second.forward(self.first.forward(inputs).tanh()).tanh();
        let outputs = self.output.forward(features.clone());
        let column = |column: usize| outputs.clone().narrow(1, column, 1).squeeze_dim(1);
        (features, column(0), column(1))
    }

    pub(crate) fn loss(&self, inputs: Tensor<2>, targets: Tensor<1>) -> LossOutput {
        let (features, mean, log_sd) = self.forward(inputs);
        self.nbam.regression_loss(features, mean, log_sd, targets)
    }

    pub(crate) fn review(&self, inputs: Tensor<2>, targets: Tensor<1>) -> ValueReview {
        let (features, mean, log_sd) = self.forward(inputs);
        self.nbam.review(features, mean, log_sd, targets)
    }
}
