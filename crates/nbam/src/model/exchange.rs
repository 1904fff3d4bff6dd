//! Networks that go to other frameworks, and networks that come from there.

use super::classifier::{Classifier, ClassifierMember};
use super::labels::{LabelModel, LabelState};
use super::params::{Checked, Classification};
use crate::net::{Network, Scaler, Shape};
use crate::{Error, ErrorKind, Result};

impl Checked<Classification> {
    /// The network that these parameters ask for, with this many features and classes.
    pub fn shape(&self, inputs: usize, classes: usize) -> Shape {
        let (params, task) = (&self.0, &self.0.task);
        Shape {
            inputs,
            hidden: params.hidden.clone(),
            activation: params.activation,
            heads: task.model.heads(classes, task.prior_hidden, task.prior_bias),
        }
    }

    /// A classifier around a network that was trained elsewhere. The label model must be one whose whole state is the network:
    /// the paper's free heads, or a uniform anomaly.
    ///
    /// # Errors
    /// When the network is not of [`Self::shape`], the scaler has another number of columns, or the label model has a state beside
    /// its network.
    pub fn with_network(self, network: Network, scaler: Scaler, classes: usize) -> Result<Classifier> {
        let expected = self.shape(scaler.inputs(), classes);
        if *network.shape() != expected || !scaler.is_whole() || classes < 2 {
            let message = format!(
                "the network is not the one that the parameters give for {} features and {classes} classes",
                scaler.mean.len()
            );
            return Err(Error::new(ErrorKind::Shape, message));
        }
        let state = match self.0.task.model {
            LabelModel::Free { clean } => LabelState::Free { clean },
            LabelModel::Uniform { clean } => LabelState::Uniform { clean },
            LabelModel::Transition(_) | LabelModel::Plain { .. } => {
                return Err(Error::new(
                    ErrorKind::Parameter,
                    "the label model has more than its network, expected the paper's free heads or a uniform anomaly",
                ));
            }
        };
        let members = vec![ClassifierMember { network, state }];
        Ok(Classifier::loaded(self.0, classes, scaler, members, false))
    }
}

impl Classifier {
    /// How features are standardised before they enter the networks.
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    /// What is assumed of contaminated labels.
    pub fn label_model(&self) -> LabelModel {
        self.params.task.model
    }
}

#[cfg(test)]
mod tests {
    use crate::{Classification, Classifier, Features, Params, Preset};

    #[test]
    fn a_network_that_left_comes_back_the_same() {
        let x: Vec<f32> = (0..60).map(|i| (i % 2) as f32 + (i % 7) as f32 * 0.1).collect();
        let y: Vec<usize> = (0..60).map(|i| i % 2).collect();
        let features = Features::new(&x, 1).unwrap();
        let params = || Params::<Classification>::preset(Preset::Paper).hidden(&[8]).epochs(3);
        let model = params().fit(&features, &y).unwrap();
        let network = model.networks()[0].clone();
        let back =
            params().check().unwrap().with_network(network.clone(), model.scaler().clone(), 2).unwrap();
        assert_eq!(back.contamination(&features, &y).unwrap(), model.contamination(&features, &y).unwrap());
        let error =
            params().check().unwrap().with_network(network.clone(), model.scaler().clone(), 3).unwrap_err();
        assert!(error.to_string().contains("1 features and 3 classes"), "{error}");
        let transition = Classifier::params().hidden(&[8]).check().unwrap();
        assert!(transition.with_network(network, model.scaler().clone(), 2).is_err());
    }
}
