//! Heads that attach to any feature tensor, started so that the mixture is identified.
//!
//! The mixture alone does not say which branch is the clean one: exchange them, and every row keeps its likelihood. What decides is
//! how the heads are tied and where they start; `docs/identification.md` has the reasons and the measurements.

mod categorical;
mod gaussian;
mod prior;
mod transition;

pub use categorical::{CategoricalAnomalyHead, CategoricalAnomalyHeadConfig};
pub use gaussian::{GaussianAnomalyHead, GaussianAnomalyHeadConfig, gaussian_nll};
pub use prior::{PriorHead, PriorHeadConfig};
pub use transition::{TransitionAnomalyHead, TransitionAnomalyHeadConfig, TransitionOutput};

use burn::module::Param;
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::{Device, Int, Tensor};

/// A last layer for your network that starts at zero: every class is as probable as any other.
///
/// With a [`TransitionAnomalyHead`] beside it, a network that starts from a random function may be believed where it contradicts the
/// labels by chance, and two classes may change names.
pub fn clean_output(features: usize, classes: usize, device: &Device) -> Linear {
    starting_at(features, &vec![0.0; classes], device)
}

/// A linear layer with zero weights and these biases: a constant, until it learns otherwise.
pub(crate) fn starting_at(features: usize, biases: &[f32], device: &Device) -> Linear {
    let zeros = LinearConfig::new(features, biases.len()).with_initializer(Initializer::Zeros).init(device);
    Linear { bias: Some(Param::from_data(biases, device)), ..zeros }
}

/// The element of each row that its target names: `[rows, classes]` and `[rows]` to `[rows]`.
pub(crate) fn pick(values: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    values.gather(1, targets.unsqueeze_dim(1)).squeeze_dim(1)
}
