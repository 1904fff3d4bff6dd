//! The parameters of an estimator, as Python gives them.

use nbam::{Activation, Params, Precision, Preset};
use pyo3::prelude::*;

use crate::error::Fault;

/// What an estimator was told; `None` is the preset's choice.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    pub(crate) preset: String,
    hidden_layer_sizes: Option<Vec<usize>>,
    activation: Option<String>,
    alpha: Option<f64>,
    batch_size: Option<usize>,
    learning_rate: Option<f64>,
    max_epochs: Option<usize>,
    n_members: Option<usize>,
    precision: String,
    average: bool,
    seed: u64,
    pub(crate) threads: usize,
}

impl Settings {
    pub(crate) fn preset(&self) -> Result<Preset, Fault> {
        preset(&self.preset)
    }

    pub(crate) fn apply<T>(&self, mut params: Params<T>) -> Result<Params<T>, Fault> {
        if let Some(widths) = &self.hidden_layer_sizes {
            params = params.hidden(widths);
        }
        if let Some(name) = &self.activation {
            params = params.activation(match name.as_str() {
                "tanh" => Activation::Tanh,
                "relu" => Activation::Relu,
                _ => return Err(unknown("activation", name, "'tanh' or 'relu'")),
            });
        }
        if let Some(strength) = self.alpha {
            params = params.weight_prior(strength);
        }
        if let Some(rows) = self.batch_size {
            params = params.batch_size(rows);
        }
        if let Some(rate) = self.learning_rate {
            params = params.learning_rate(rate);
        }
        if let Some(epochs) = self.max_epochs {
            params = params.epochs(epochs);
        }
        if let Some(members) = self.n_members {
            params = params.members(members);
        }
        params = params.precision(precision(&self.precision)?);
        if !self.average {
            params = params.averaged_share(0.0);
        }
        Ok(params.seed(self.seed).threads(self.threads))
    }
}

/// A preset by its name.
pub(crate) fn preset(name: &str) -> Result<Preset, Fault> {
    match name {
        "default" => Ok(Preset::Default),
        "paper" => Ok(Preset::Paper),
        _ => Err(unknown("preset", name, "'default' or 'paper'")),
    }
}

/// A precision by its name.
pub(crate) fn precision(name: &str) -> Result<Precision, Fault> {
    match name {
        "single" => Ok(Precision::Single),
        "bfloat16" => Ok(Precision::Bfloat16),
        _ => Err(unknown("precision", name, "'single' or 'bfloat16'")),
    }
}

pub(crate) fn unknown(name: &str, got: &str, expected: &str) -> Fault {
    Fault::new("ParameterError", format!("{name} is '{got}', expected {expected}"))
}
