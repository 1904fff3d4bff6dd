//! What a network looks like: its layers, heads and where each parameter lies.

use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The nonlinearity of the hidden layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// `tanh(z)`, the paper's.
    #[default]
    Tanh,
    /// `max(z, 0)`.
    Relu,
}

/// A group of outputs that branches off the shared backbone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// What the head is for; names its tensors in a saved model.
    pub name: String,
    /// How many numbers it gives.
    pub outputs: usize,
    /// Width of a hidden layer of its own, if it has one.
    pub hidden: Option<usize>,
    /// Whether a linear path leads from the inputs straight to the outputs, beside the backbone.
    pub skip: bool,
    /// Whether the last layer starts at zero weights, so that the head starts as its bias.
    pub starts_at_zero: bool,
    /// Where the outputs' biases start.
    pub bias: Vec<f32>,
}

/// A backbone of hidden layers and the heads that share it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of input features.
    pub inputs: usize,
    /// Width of each hidden layer; none makes the network linear.
    pub hidden: Vec<usize>,
    /// The hidden layers' nonlinearity.
    pub activation: Activation,
    /// The heads, in the order of their outputs.
    pub heads: Vec<Head>,
}

/// A weight matrix or a bias within the flat parameter vector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) start: usize,
    /// Rows (inputs) and columns (outputs); a bias is one row.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) is_weight: bool,
}

impl Block {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }
}

/// Where everything lies: offsets in the parameter vector, and columns in the stage and the outputs.
///
/// The first layers of all heads are one matrix, the *stage*: one product instead of several thin ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) blocks: Vec<Block>,
    /// Weight and bias of each hidden layer.
    pub(crate) backbone: Vec<(usize, usize)>,
    /// Weight and bias of the stage.
    pub(crate) stage: (usize, usize),
    /// For each head: its columns of the stage, its columns of the outputs, its own last layer, its linear path.
    pub(crate) heads: Vec<HeadLayout>,
    pub(crate) stage_width: usize,
    pub(crate) outputs: usize,
    pub(crate) parameters: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeadLayout {
    pub(crate) stage: Range<usize>,
    pub(crate) outputs: Range<usize>,
    pub(crate) last: Option<(usize, usize)>,
    pub(crate) skip: Option<usize>,
}

impl Shape {
    /// Width of the last shared layer.
    pub(crate) fn trunk_width(&self) -> usize {
        self.hidden.last().copied().unwrap_or(self.inputs)
    }

    /// Checks that every width is positive and that the biases fit.
    ///
    /// # Errors
    /// When they do not.
    pub fn check(&self) -> Result<()> {
        let fault = |message: String| Err(Error::new(ErrorKind::Shape, message));
        if self.inputs == 0 {
            return fault("the network has no inputs, expected at least one feature".into());
        }
        if let Some(layer) = self.hidden.iter().position(|&width| width == 0) {
            return fault(format!("hidden layer {layer} has width 0, expected at least 1"));
        }
        for head in &self.heads {
            if head.outputs == 0 || head.hidden == Some(0) || head.bias.len() != head.outputs {
                return fault(format!(
                    "head '{}' has {} outputs and {} biases, expected as many of both and at least one",
                    head.name,
                    head.outputs,
                    head.bias.len()
                ));
            }
        }
        if self.heads.is_empty() {
            return fault("the network has no heads, expected at least one".into());
        }
        Ok(())
    }

    pub(crate) fn layout(&self) -> Layout {
        let mut blocks = Blocks::default();
        let mut width = self.inputs;
        let mut backbone = Vec::new();
        for (layer, &next) in self.hidden.iter().enumerate() {
            backbone.push(blocks.linear(&format!("hidden.{layer}"), width, next));
            width = next;
        }
        let stage_width = self.heads.iter().map(|head| head.hidden.unwrap_or(head.outputs)).sum();
        let stage = blocks.linear("stage", width, stage_width);
        let (mut stage_at, mut output_at) = (0, 0);
        let mut heads = Vec::new();
        for head in &self.heads {
            let staged = head.hidden.unwrap_or(head.outputs);
            let name = &head.name;
            heads.push(HeadLayout {
                stage: stage_at..stage_at + staged,
                outputs: output_at..output_at + head.outputs,
                last: head.hidden.map(|hidden| blocks.linear(&format!("{name}.last"), hidden, head.outputs)),
                skip: head
                    .skip
                    .then(|| blocks.add(format!("{name}.skip.weight"), self.inputs, head.outputs, true)),
            });
            stage_at += staged;
            output_at += head.outputs;
        }
        Layout {
            backbone,
            stage,
            heads,
            stage_width,
            outputs: output_at,
            parameters: blocks.length,
            blocks: blocks.list,
        }
    }
}

/// Hands out consecutive stretches of the parameter vector.
#[derive(Default)]
struct Blocks {
    list: Vec<Block>,
    length: usize,
}

impl Blocks {
    fn add(&mut self, name: String, rows: usize, columns: usize, is_weight: bool) -> usize {
        self.list.push(Block { name, start: self.length, rows, columns, is_weight });
        self.length += rows * columns;
        self.list.len() - 1
    }

    fn linear(&mut self, name: &str, rows: usize, columns: usize) -> (usize, usize) {
        let weight = self.add(format!("{name}.weight"), rows, columns, true);
        (weight, self.add(format!("{name}.bias"), 1, columns, false))
    }
}
