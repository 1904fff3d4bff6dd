//! The paper's architecture, to and from `nbam::Classifier`.

use burn::config::Config;
use burn::module::{Module, Param};
use burn::nn::{Initializer, Linear, LinearConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use nbam::loss::RobustLoss;
use nbam::net::{Network, Scaler};
use nbam::{Classification, Classifier, Error, ErrorKind, LabelModel, Params, Preset};

use crate::{CategoricalAnomalyHeadConfig, FreeHeads, LossOutput, NbamClassification, PriorHeadConfig};

/// Width of the paper's prior head.
const PRIOR_HIDDEN: usize = 128;

/// Configuration to create a [network of the paper](PaperNetwork).
#[derive(Config, Debug)]
pub struct PaperNetworkConfig {
    /// Number of input features.
    pub inputs: usize,
    /// Number of classes.
    pub classes: usize,
    /// Widths of the hidden layers.
    #[config(default = "vec![256, 256]")]
    pub hidden: Vec<usize>,
}

/// The paper's network: `tanh` layers, and linear heads for the classes, the anomaly and (through 128 units) the prior.
///
/// It holds the standardisation of its inputs, `(x - mean) * scale`, so that it converts to and from a fitted `nbam::Classifier`
/// of `Preset::Paper` with equal outputs.
#[derive(Module, Debug)]
pub struct PaperNetwork {
    /// What is subtracted from each feature. Shape `[inputs]`; not trained.
    pub mean: Param<Tensor<1>>,
    /// What each feature is then multiplied with. Shape `[inputs]`; not trained.
    pub scale: Param<Tensor<1>>,
    /// The shared layers.
    pub hidden: Vec<Linear>,
    /// The clean predictor's last layer.
    pub clean: Linear,
    /// Prior and anomaly.
    pub heads: FreeHeads,
}

impl PaperNetworkConfig {
    /// Initialises a [network of the paper](PaperNetwork) whose inputs are used as they are.
    pub fn init(&self, device: &Device) -> PaperNetwork {
        let glorot = |inputs, outputs| {
            let layer = LinearConfig::new(inputs, outputs)
                .with_initializer(Initializer::XavierUniform { gain: 1.0 })
                .init(device);
            Linear { bias: Some(Initializer::Zeros.init([outputs], device)), ..layer }
        };
        let mut width = self.inputs;
        let mut hidden = Vec::new();
        for &next in &self.hidden {
            hidden.push(glorot(width, next));
            width = next;
        }
        PaperNetwork {
            mean: constant(vec![0.0; self.inputs], device),
            scale: constant(vec![1.0; self.inputs], device),
            hidden,
            clean: glorot(width, self.classes),
            heads: FreeHeads {
                prior: PriorHeadConfig::new(width).with_hidden(Some(PRIOR_HIDDEN)).init(device),
                anomaly: CategoricalAnomalyHeadConfig::new(width, self.classes).init(device),
            },
        }
    }
}

impl PaperNetwork {
    /// The features of the last shared layer, and the logits of the clean predictor.
    ///
    /// # Shapes
    ///
    /// - inputs: `[rows, inputs]`
    /// - output: `[rows, width]` and `[rows, classes]`
    pub fn forward(&self, inputs: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let centred = inputs - self.mean.val().unsqueeze_dim(0);
        let mut features = centred * self.scale.val().unsqueeze_dim(0);
        for layer in &self.hidden {
            features = layer.forward(features).tanh();
        }
        (features.clone(), self.clean.forward(features))
    }

    /// The mean loss of a batch and the terms of its rows.
    ///
    /// # Shapes
    ///
    /// - inputs: `[rows, inputs]`
    /// - targets: `[rows]`
    pub fn loss(&self, inputs: Tensor<2>, targets: Tensor<1, Int>) -> LossOutput {
        let (features, logits) = self.forward(inputs);
        NbamClassification::Free(self.heads.clone()).classification_loss(features, logits, targets)
    }

    /// The network of a fitted classifier of `Preset::Paper`.
    ///
    /// # Errors
    /// When the classifier has other heads than the paper's, another activation than `tanh`, or more than one member.
    pub fn from_classifier(classifier: &Classifier, device: &Device) -> nbam::Result<Self> {
        let model = classifier.label_model();
        if model != (LabelModel::Free { clean: RobustLoss::CrossEntropy }) {
            let message =
                format!("the classifier's label model is {model:?}, expected the paper's free heads");
            return Err(Error::new(ErrorKind::Model, message).with_hint("fit it with Preset::Paper"));
        }
        let networks = classifier.networks();
        let [network] = networks.as_slice() else {
            let message = format!("the classifier has {} members, expected one", networks.len());
            return Err(Error::new(ErrorKind::Model, message).with_hint("fit it with members(1)"));
        };
        let shape = network.shape();
        if shape.activation != nbam::Activation::Tanh {
            return Err(Error::new(ErrorKind::Model, "the classifier's activation is not tanh"));
        }
        let config =
            PaperNetworkConfig::new(shape.inputs, classifier.classes()).with_hidden(shape.hidden.clone());
        let mut own = config.init(device);
        let scaler = classifier.scaler();
        (own.mean, own.scale) =
            (constant(scaler.mean.clone(), device), constant(scaler.scale.clone(), device));
        let tensors = Tensors(network);
        for (layer, linear) in own.hidden.iter_mut().enumerate() {
            *linear = tensors.linear(&format!("hidden.{layer}"), device)?;
        }
        // The first layers of all heads lie side by side in one matrix.
        let classes = classifier.classes();
        let stage = tensors.linear("stage", device)?;
        own.clean = columns(&stage, 0, classes);
        own.heads.anomaly.output = columns(&stage, classes, classes);
        own.heads.prior.hidden = Some(columns(&stage, 2 * classes, PRIOR_HIDDEN));
        own.heads.prior.output = tensors.linear("prior.last", device)?;
        Ok(own)
    }

    /// The same model as a classifier: it gives the same outputs, saves and audits.
    ///
    /// # Errors
    /// When the prior head is not the paper's, or a layer has no bias.
    pub fn to_classifier(&self) -> nbam::Result<Classifier> {
        let widths: Vec<usize> = self.hidden.iter().map(|layer| layer.weight.dims()[1]).collect();
        let params = Params::<Classification>::preset(Preset::Paper).hidden(&widths).check()?;
        let [inputs] = self.mean.dims();
        let [_, classes] = self.clean.weight.dims();
        let no_hidden =
            || Error::new(ErrorKind::Shape, "the prior head has no hidden layer, expected one of 128 units");
        let prior = self.heads.prior.hidden.as_ref().ok_or_else(no_hidden)?;
        let stage = [&self.clean, &self.heads.anomaly.output, prior];
        let network = Network::from_tensors(params.shape(inputs, classes), |name| {
            let (layer, part) = name.rsplit_once('.').unwrap_or((name, ""));
            let pieces: &[&Linear] = match layer {
                "stage" => &stage,
                "prior.last" => &[&self.heads.prior.output],
                _ => {
                    let number =
                        layer.strip_prefix("hidden.").and_then(|number| number.parse::<usize>().ok());
                    let linear = number.and_then(|number| self.hidden.get(number));
                    &[linear.ok_or_else(|| {
                        Error::new(ErrorKind::Shape, format!("there is no layer '{layer}'"))
                    })?]
                }
            };
            side_by_side(pieces, part == "weight")
        })?;
        let scaler = Scaler::plain(values(self.mean.val())?, values(self.scale.val())?);
        params.with_network(network, scaler, classes)
    }
}

/// A buffer: moves and saves with the module, and is not trained.
fn constant(values: Vec<f32>, device: &Device) -> Param<Tensor<1>> {
    let tensor = Tensor::from_data(TensorData::from(values.as_slice()), device);
    Param::from_tensor(tensor).set_require_grad(false)
}

/// The tensors of a network by name.
struct Tensors<'a>(&'a Network);

impl Tensors<'_> {
    fn linear(&self, layer: &str, device: &Device) -> nbam::Result<Linear> {
        let (weight, rows, columns) = self.find(&format!("{layer}.weight"))?;
        let (bias, ..) = self.find(&format!("{layer}.bias"))?;
        Ok(Linear {
            weight: Param::from_data(TensorData::new(weight, [rows, columns]), device),
            bias: Some(Param::from_data(TensorData::new(bias, [columns]), device)),
        })
    }

    fn find(&self, wanted: &str) -> nbam::Result<(Vec<f32>, usize, usize)> {
        let mut tensors = self.0.tensors();
        let found = tensors.find_map(|(name, rows, columns, range)| {
            (name == wanted).then(|| (self.0.parameters()[range].to_vec(), rows, columns))
        });
        found.ok_or_else(|| Error::new(ErrorKind::Model, format!("the network has no tensor '{wanted}'")))
    }
}

/// Some columns of a layer as a layer of their own.
fn columns(stage: &Linear, start: usize, count: usize) -> Linear {
    let part = |tensor: Tensor<2>| tensor.narrow(1, start, count).detach();
    let bias = stage.bias.as_ref().map(|bias| part(bias.val().unsqueeze_dim(0)).squeeze_dim(0));
    Linear { weight: Param::from_tensor(part(stage.weight.val())), bias: bias.map(Param::from_tensor) }
}

/// The weights or the biases of layers, column beside column, row-major.
fn side_by_side(layers: &[&Linear], is_weight: bool) -> nbam::Result<Vec<f32>> {
    let pieces: nbam::Result<Vec<Tensor<2>>> = layers
        .iter()
        .map(|layer| {
            if is_weight {
                return Ok(layer.weight.val());
            }
            let bias = layer.bias.as_ref().map(|bias| bias.val().unsqueeze_dim(0));
            bias.ok_or_else(|| {
                Error::new(ErrorKind::Shape, "a layer has no bias, expected one on every layer")
            })
        })
        .collect();
    values(Tensor::cat(pieces?, 1))
}

fn values<const D: usize>(tensor: Tensor<D>) -> nbam::Result<Vec<f32>> {
    let failed = |error| {
        Error::new(ErrorKind::Value, format!("the weights cannot be read from their device: {error}"))
    };
    tensor.try_into_vec_as::<f32>().map_err(failed)
}
