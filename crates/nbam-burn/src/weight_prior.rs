//! A Gaussian prior on a network's weights.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;

/// Minus the log density of a module's weights under a Gaussian prior, divided by the rows: to be added to the mean loss of a batch.
///
/// ```text
/// strength / (2 rows) * sum over layers of inputs * |W|^2
/// ```
///
/// A layer's weights have the variance `1 / (strength * inputs)`, so that its outputs have the same scale under the prior whatever
/// its width. It is a proper prior: its weight against the likelihood falls as rows are added. Biases and other vectors are left alone, and so is
/// everything that is not trained.
///
/// A network that is held too loosely memorises wrong labels. [`usual_weight_prior`](crate::usual_weight_prior) is the strength
/// from which `nbam::Classifier` starts.
pub fn weight_prior<M: Module>(module: &M, strength: f64, rows: usize) -> Tensor<1> {
    let mut visitor = Energy { total: None };
    module.visit(&mut visitor);
    match visitor.total {
        Some(total) => total.mul_scalar(0.5 * strength / rows.max(1) as f64),
        None => Tensor::zeros([1], &module.devices().into_iter().next().unwrap_or_default()),
    }
}

struct Energy {
    total: Option<Tensor<1>>,
}

impl ModuleVisitor for Energy {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let weight = param.val();
        if D < 2 || !weight.is_require_grad() {
            return;
        }
        // A linear layer has the inputs first, a convolution the outputs.
        let dims = weight.dims();
        let inputs: usize = if D == 2 { dims[0] } else { dims[1..].iter().product() };
        let energy = weight.square().sum().mul_scalar(inputs as f64);
        self.total = Some(match self.total.take() {
            Some(total) => total + energy,
            None => energy,
        });
    }
}
