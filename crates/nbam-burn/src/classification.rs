//! The whole loss of a classification in one call.

use burn::module::Module;
use burn::nn::loss::Reduction;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Int, Tensor};

use crate::head::{
    CategoricalAnomalyHead, CategoricalAnomalyHeadConfig, PriorHead, PriorHeadConfig, TransitionAnomalyHead,
    TransitionAnomalyHeadConfig, pick,
};
use crate::loss::precise;
use crate::{LossOutput, Terms};

/// The heads of a classification: what stands beside your network's logits.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use nbam_burn::NbamClassification;
///
/// let device = Device::flex().autodiff();
/// let nbam = NbamClassification::transition(3, 1_000, 500, &device);
/// let features = Tensor::<2>::zeros([2, 8], &device);
/// let logits = Tensor::<2>::from_floats([[2.0, 0.0, 0.0], [2.0, 0.0, 0.0]], &device);
/// let targets = Tensor::from_ints([0, 1], &device);
/// let output = nbam.classification_loss(features, logits, targets);
/// // The second label contradicts the logits.
/// let posterior: Vec<f32> = output.terms.posterior().try_into_vec_as().unwrap();
/// assert!(posterior[1] > posterior[0]);
/// ```
#[derive(Module, Debug)]
pub enum NbamClassification {
    /// A wrong label is drawn from the row's true class: identified, and what we recommend.
    Transition(TransitionAnomalyHead),
    /// The paper's heads of their own for prior and anomaly.
    Free(FreeHeads),
}

/// A prior and an anomaly that are functions of the features.
#[derive(Module, Debug)]
pub struct FreeHeads {
    /// `pi(x)`.
    pub prior: PriorHead,
    /// `q(y|x)`.
    pub anomaly: CategoricalAnomalyHead,
}

/// What is known of labelled rows when training is over; the `score` helper takes it.
#[derive(Debug, Clone)]
pub struct ClassReview {
    /// The three terms of each row.
    pub terms: Terms,
    /// `p(.|x)` of the clean predictor. Shape `[rows, classes]`.
    pub predicted: Tensor<2>,
    /// The probability of each true class, the label considered. Shape `[rows, classes]`.
    pub true_class: Tensor<2>,
    /// The labels. Shape `[rows]`.
    pub targets: Tensor<1, Int>,
}

impl NbamClassification {
    /// Heads by which a wrong label is drawn from the row's true class, for a training set of this many rows and a training of this
    /// many steps (epochs times batches). See [`TransitionAnomalyHead`].
    ///
    /// # Panics
    /// When there are fewer than two classes, no rows or no steps.
    pub fn transition(classes: usize, rows: usize, steps: usize, device: &Device) -> Self {
        Self::Transition(TransitionAnomalyHeadConfig::new(classes, rows, steps).init(device))
    }

    /// The paper's free heads on features of this width.
    pub fn free(features: usize, classes: usize, device: &Device) -> Self {
        Self::Free(FreeHeads {
            prior: PriorHeadConfig::new(features).init(device),
            anomaly: CategoricalAnomalyHeadConfig::new(features, classes).init(device),
        })
    }

    /// The loss of a batch: the mean over its rows, and in training the sharpness prior.
    ///
    /// # Shapes
    ///
    /// - features: `[rows, features]`, whatever your network's last layer sees; the transition does not look at them
    /// - logits: `[rows, classes]`, of your network
    /// - targets: `[rows]`
    pub fn classification_loss(
        &self,
        features: Tensor<2>,
        logits: Tensor<2>,
        targets: Tensor<1, Int>,
    ) -> LossOutput {
        match self {
            Self::Transition(head) => {
                let output = head.forward(logits, targets);
                let loss = output.terms.loss(Reduction::Mean) + output.sharpness;
                LossOutput { loss, terms: output.terms }
            }
            Self::Free(heads) => {
                let terms = heads.terms(features, logits, targets);
                LossOutput { loss: terms.loss(Reduction::Mean), terms }
            }
        }
    }

    /// Everything that can be said of labelled rows. Learns nothing; use it on `model.valid()`.
    ///
    /// # Shapes
    ///
    /// As [`Self::classification_loss`].
    pub fn review(&self, features: Tensor<2>, logits: Tensor<2>, targets: Tensor<1, Int>) -> ClassReview {
        let predicted = softmax(precise(logits.clone()), 1);
        let (terms, true_class) = match self {
            Self::Transition(head) => head.review(logits, targets.clone()),
            Self::Free(heads) => {
                let terms = heads.terms(features, logits, targets.clone());
                let true_class = other_class(predicted.clone(), terms.posterior(), targets.clone());
                (terms, true_class)
            }
        };
        ClassReview { terms, predicted, true_class, targets }
    }
}

impl From<TransitionAnomalyHead> for NbamClassification {
    fn from(head: TransitionAnomalyHead) -> Self {
        Self::Transition(head)
    }
}

impl From<FreeHeads> for NbamClassification {
    fn from(heads: FreeHeads) -> Self {
        Self::Free(heads)
    }
}

impl FreeHeads {
    /// The three terms of each row.
    ///
    /// # Shapes
    ///
    /// As [`NbamClassification::classification_loss`].
    pub fn terms(&self, features: Tensor<2>, logits: Tensor<2>, targets: Tensor<1, Int>) -> Terms {
        Terms {
            clean_nll: -pick(log_softmax(precise(logits), 1), targets.clone()),
            prior_logit: self.prior.forward(features.clone()),
            anomaly_logp: self.anomaly.forward(features, targets),
        }
    }
}

/// If the label is wrong, the class is one of the others, as probable as the predictor says.
fn other_class(predicted: Tensor<2>, posterior: Tensor<1>, targets: Tensor<1, Int>) -> Tensor<2> {
    let [_, classes] = predicted.dims();
    let own = targets.one_hot::<2>(classes).float();
    let others = predicted * (-own.clone()).add_scalar(1.0);
    let total = others.clone().sum_dim(1).clamp_min(f64::from(f32::MIN_POSITIVE));
    let posterior = posterior.unsqueeze_dim::<2>(1);
    own * (-posterior.clone()).add_scalar(1.0) + posterior * others / total
}
