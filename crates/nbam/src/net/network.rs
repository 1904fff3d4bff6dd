//! Forward and backward passes.

use super::matmul::{Operand, multiply, multiply_into};
use super::shape::{Activation, Block, Layout, Shape};
use super::vector;
use super::{Features, Precision, Pull, Scaler};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// A network: its shape and its parameters in one flat vector.
#[derive(Debug, Clone)]
pub struct Network {
    shape: Shape,
    layout: Layout,
    parameters: Vec<f32>,
    precision: Precision,
}

/// The buffers of one shard of a batch: everything that a pass needs, allocated once.
#[derive(Debug, Clone)]
pub struct Workspace {
    capacity: usize,
    rows: usize,
    inputs: Vec<f32>,
    hidden: Vec<Vec<f32>>,
    /// First layers of all heads, side by side.
    stage: Vec<f32>,
    outputs: Vec<f32>,
    d_outputs: Vec<f32>,
    /// Gradients by the stage and by the hidden layers take turns in these two.
    d_stage: Vec<f32>,
    d_hidden: Vec<f32>,
    gradient: Vec<f32>,
}

impl Network {
    /// A network with freshly drawn parameters: Glorot-uniform weights, zero biases, heads as they say.
    ///
    /// # Errors
    /// When the shape is not valid.
    pub fn new(shape: Shape, random: &mut ChaCha8Rng) -> crate::Result<Self> {
        shape.check()?;
        let layout = shape.layout();
        let mut parameters = vec![0.0; layout.parameters];
        for block in layout.blocks.iter().filter(|block| block.is_weight) {
            let limit = (6.0 / (block.rows + block.columns) as f32).sqrt();
            for value in &mut parameters[block.range()] {
                *value = random.random_range(-limit..limit);
            }
        }
        let mut network = Self { shape, layout, parameters, precision: Precision::Single };
        network.start_heads();
        Ok(network)
    }

    /// A network whose tensors are read by name.
    ///
    /// # Errors
    /// When the shape is not valid, or a tensor cannot be read or has another size.
    pub fn from_tensors(
        shape: Shape,
        mut read: impl FnMut(&str) -> crate::Result<Vec<f32>>,
    ) -> crate::Result<Self> {
        shape.check()?;
        let layout = shape.layout();
        let mut parameters = Vec::new();
        for block in &layout.blocks {
            let values = read(&block.name)?;
            if values.len() != block.range().len() {
                return Err(crate::Error::new(
                    crate::ErrorKind::Shape,
                    format!(
                        "tensor '{}' has {} values, expected {}",
                        block.name,
                        values.len(),
                        block.range().len()
                    ),
                ));
            }
            parameters.extend(values);
        }
        Ok(Self { shape, layout, parameters, precision: Precision::Single })
    }

    /// Sets the heads' first biases, and zero weights where a head asks for them.
    ///
    /// The stage is drawn as one matrix, but a head's own fan-out is what its scale should know: the
    /// columns of each head are rescaled from the stage's limit to the head's.
    fn start_heads(&mut self) {
        let Layout { blocks, stage, heads, stage_width, .. } = &self.layout;
        let trunk = self.shape.trunk_width();
        let weight = blocks[stage.0].range();
        for (head, layout) in self.shape.heads.iter().zip(heads) {
            let own = 6.0 / (trunk + layout.stage.len()) as f32;
            let drawn = 6.0 / (trunk + stage_width) as f32;
            let is_last = layout.last.is_none();
            let factor = if is_last && head.starts_at_zero { 0.0 } else { (own / drawn).sqrt() };
            for row in self.parameters[weight.clone()].chunks_exact_mut(*stage_width) {
                row[layout.stage.clone()].iter_mut().for_each(|value| *value *= factor);
            }
            let bias = match layout.last {
                None => {
                    let start = blocks[stage.1].start;
                    start + layout.stage.start..start + layout.stage.end
                }
                Some((last, bias)) => {
                    if head.starts_at_zero {
                        self.parameters[blocks[last].range()].fill(0.0);
                    }
                    blocks[bias].range()
                }
            };
            self.parameters[bias].copy_from_slice(&head.bias);
            if let Some(skip) = layout.skip {
                // The linear path starts at nothing: the likelihood has to ask for it.
                self.parameters[blocks[skip].range()].fill(0.0);
            }
        }
    }

    /// The same network, whose matrix products are computed in this precision.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The network's shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of outputs of all heads together.
    pub fn outputs(&self) -> usize {
        self.layout.outputs
    }

    /// The columns of the outputs that belong to head number `head`.
    pub fn head(&self, head: usize) -> Range<usize> {
        self.layout.heads[head].outputs.clone()
    }

    /// All parameters.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All parameters, to be changed.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// The tensors by name: (name, rows, columns, place in the parameter vector).
    pub fn tensors(&self) -> impl Iterator<Item = (&str, usize, usize, Range<usize>)> {
        self.layout.blocks.iter().map(|block| (block.name.as_str(), block.rows, block.columns, block.range()))
    }

    /// Stretches of the parameter vector with what draws them to zero.
    ///
    /// `prior` is the strength of a Gaussian prior on the weights, whose variance is one over the layer's inputs
    /// (so that a layer's outputs have the same prior scale whatever its width), divided by the number of rows.
    pub fn pulls(&self, decay: f32, prior: f32) -> Vec<(Range<usize>, Pull)> {
        let pull = |block: &Block| {
            let gaussian = prior * block.rows as f32;
            if block.is_weight { Pull { decay, gaussian } } else { Pull::default() }
        };
        self.layout.blocks.iter().map(|block| (block.range(), pull(block))).collect()
    }

    /// Minus the log density of the weights under the Gaussian prior of [`Self::pulls`], but for a constant.
    pub fn prior_energy(&self, prior: f64) -> f64 {
        let block = |block: &Block| {
            let squares = self.parameters[block.range()].iter().map(|&weight| f64::from(weight).powi(2));
            if block.is_weight { 0.5 * prior * block.rows as f64 * squares.sum::<f64>() } else { 0.0 }
        };
        self.layout.blocks.iter().map(block).sum()
    }

    fn operand(&self, block: usize) -> Operand<'_> {
        let block = &self.layout.blocks[block];
        Operand::new(&self.parameters[block.range()], block.rows, block.columns)
    }

    fn bias(&self, block: usize) -> &[f32] {
        &self.parameters[self.layout.blocks[block].range()]
    }

    /// Adds the bias to some columns of a matrix and applies the nonlinearity.
    fn activate(&self, values: &mut [f32], width: usize, columns: Range<usize>, bias: &[f32]) {
        match self.shape.activation {
            Activation::Tanh => vector::bias_tanh(values, width, columns, bias),
            Activation::Relu => vector::bias_relu(values, width, columns, bias),
        }
    }

    fn activation_backward(
        &self,
        gradient: &mut [f32],
        activation: &[f32],
        width: usize,
        columns: Range<usize>,
    ) {
        match self.shape.activation {
            Activation::Tanh => vector::tanh_backward(gradient, activation, width, columns),
            Activation::Relu => vector::relu_backward(gradient, activation, width, columns),
        }
    }

    /// Runs the rows in the workspace through the network.
    pub fn forward(&self, work: &mut Workspace) {
        let rows = work.rows;
        let inputs = Operand::new(&work.inputs, rows, self.shape.inputs);
        let mut previous = inputs;
        for (layer, &(weight, bias)) in work.hidden.iter_mut().zip(&self.layout.backbone) {
            let width = self.layout.blocks[weight].columns;
            let values = &mut layer[..rows * width];
            multiply(values, previous, self.operand(weight), self.precision);
            self.activate(values, width, 0..width, self.bias(bias));
            previous = Operand::new(values, rows, width);
        }
        let (weight, bias) = self.layout.stage;
        let (stage_width, width) = (self.layout.stage_width, self.layout.outputs);
        let stage = &mut work.stage[..rows * stage_width];
        multiply(stage, previous, self.operand(weight), self.precision);
        let stage_bias = self.bias(bias);

        let outputs = &mut work.outputs[..rows * width];
        for head in &self.layout.heads {
            let bias = &stage_bias[head.stage.clone()];
            if let Some((weight, last_bias)) = head.last {
                self.activate(stage, stage_width, head.stage.clone(), bias);
                let hidden = Operand::columns_of(stage, rows, stage_width, head.stage.clone());
                multiply_into(
                    outputs,
                    width,
                    head.outputs.clone(),
                    hidden,
                    self.operand(weight),
                    false,
                    self.precision,
                );
                vector::bias_add(outputs, width, head.outputs.clone(), self.bias(last_bias));
            } else {
                for (out, stage) in outputs.chunks_exact_mut(width).zip(stage.chunks_exact(stage_width)) {
                    let staged = &stage[head.stage.clone()];
                    for ((out, value), bias) in out[head.outputs.clone()].iter_mut().zip(staged).zip(bias) {
                        *out = value + bias;
                    }
                }
            }
            if let Some(skip) = head.skip {
                multiply_into(
                    outputs,
                    width,
                    head.outputs.clone(),
                    inputs,
                    self.operand(skip),
                    true,
                    self.precision,
                );
            }
        }
    }

    /// From the gradient by the outputs, the gradient by every parameter.
    pub fn backward(&self, work: &mut Workspace) {
        let rows = work.rows;
        let (stage_width, width) = (self.layout.stage_width, self.layout.outputs);
        let inputs = Operand::new(&work.inputs, rows, self.shape.inputs);
        let d_outputs = &work.d_outputs[..rows * width];
        let d_stage = &mut work.d_stage[..rows * stage_width];
        let stage = &work.stage[..rows * stage_width];
        let gradient = &mut work.gradient;
        let blocks = &self.layout.blocks;

        for head in &self.layout.heads {
            let delta = Operand::columns_of(d_outputs, rows, width, head.outputs.clone());
            if let Some(skip) = head.skip {
                multiply(&mut gradient[blocks[skip].range()], inputs.transposed(), delta, self.precision);
            }
            if let Some((weight, bias)) = head.last {
                let hidden = Operand::columns_of(stage, rows, stage_width, head.stage.clone());
                multiply(&mut gradient[blocks[weight].range()], hidden.transposed(), delta, self.precision);
                vector::column_sums(
                    &mut gradient[blocks[bias].range()],
                    d_outputs,
                    width,
                    head.outputs.clone(),
                );
                let transposed = self.operand(weight).transposed();
                multiply_into(
                    d_stage,
                    stage_width,
                    head.stage.clone(),
                    delta,
                    transposed,
                    false,
                    self.precision,
                );
                self.activation_backward(d_stage, stage, stage_width, head.stage.clone());
            } else {
                for (d_stage, d_output) in
                    d_stage.chunks_exact_mut(stage_width).zip(d_outputs.chunks_exact(width))
                {
                    d_stage[head.stage.clone()].copy_from_slice(&d_output[head.outputs.clone()]);
                }
            }
        }

        let (mut weight, mut bias) = self.layout.stage;
        let mut delta: &mut Vec<f32> = &mut work.d_stage;
        let mut spare: &mut Vec<f32> = &mut work.d_hidden;
        for layer in (0..=work.hidden.len()).rev() {
            let block = &blocks[weight];
            let values = &delta[..rows * block.columns];
            let below = match layer {
                0 => inputs,
                _ => Operand::new(&work.hidden[layer - 1], rows, block.rows),
            };
            let operand = Operand::new(values, rows, block.columns);
            multiply(&mut gradient[block.range()], below.transposed(), operand, self.precision);
            vector::column_sums(&mut gradient[blocks[bias].range()], values, block.columns, 0..block.columns);
            if layer == 0 {
                break;
            }
            let next = &mut spare[..rows * block.rows];
            multiply(next, operand, self.operand(weight).transposed(), self.precision);
            self.activation_backward(next, &work.hidden[layer - 1], block.rows, 0..block.rows);
            (weight, bias) = self.layout.backbone[layer - 1];
            std::mem::swap(&mut delta, &mut spare);
        }
    }
}

impl Workspace {
    /// Buffers for at most `capacity` rows at a time; `trains` also for the backward pass.
    pub fn new(network: &Network, capacity: usize, trains: bool) -> Self {
        let Network { shape, layout, .. } = network;
        let widest = shape.hidden.iter().copied().chain([layout.stage_width]).max().unwrap_or(0);
        let backward = |size: usize| vec![0.0; if trains { size } else { 0 }];
        Self {
            capacity,
            rows: 0,
            inputs: vec![0.0; capacity * shape.inputs],
            hidden: shape.hidden.iter().map(|width| vec![0.0; capacity * width]).collect(),
            stage: vec![0.0; capacity * layout.stage_width],
            outputs: vec![0.0; capacity * layout.outputs],
            d_outputs: backward(capacity * layout.outputs),
            d_stage: backward(capacity * widest),
            d_hidden: backward(capacity * widest),
            gradient: backward(layout.parameters),
        }
    }

    /// Fills the inputs with rows of the features, as the scaler brings them in.
    ///
    /// # Panics
    /// When there are more rows than the workspace was made for.
    pub fn load(
        &mut self,
        features: &Features<'_>,
        scaler: &Scaler,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
    ) {
        /// As many rows of some hundred features as memory can deliver while one is read.
        const AHEAD: usize = 4;
        assert!(rows.len() <= self.capacity, "more rows than the workspace holds");
        self.rows = rows.len();
        let mut ahead = rows.clone();
        ahead.by_ref().take(AHEAD).for_each(|row| features.prefetch(row));
        for (row, out) in rows.zip(self.inputs.chunks_exact_mut(scaler.inputs())) {
            if let Some(row) = ahead.next() {
                features.prefetch(row);
            }
            scaler.read(features, row, out);
        }
    }

    /// The outputs of the last forward pass, row by row.
    pub fn outputs(&self, network: &Network) -> &[f32] {
        &self.outputs[..self.rows * network.layout.outputs]
    }

    /// The outputs, and where to write the gradient by them.
    pub fn outputs_and_gradient(&mut self, network: &Network) -> (&[f32], &mut [f32]) {
        let length = self.rows * network.layout.outputs;
        (&self.outputs[..length], &mut self.d_outputs[..length])
    }

    /// The gradient by the parameters, after a backward pass.
    pub fn gradient(&self) -> &[f32] {
        &self.gradient
    }
}
