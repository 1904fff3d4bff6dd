//! The engine: multilayer perceptrons with several heads, trained by Adam.
//!
//! Everything is laid out for one pass over memory: parameters are one flat vector, element-wise work is
//! fused and dispatched to the widest vectors that the machine has, and the buffers of a pass are allocated
//! once, before the training loop.

mod adam;
mod features;
mod matmul;
mod network;
mod pieces;
mod precision;
mod scaling;
mod shape;
#[cfg(target_arch = "x86_64")]
mod tiles;
pub(crate) mod vector;

pub use adam::{Adam, Pull, Schedule};
pub use features::Features;
pub use matmul::{Operand, multiply};
pub use network::{Network, Workspace};
pub use pieces::Pieces;
pub use precision::Precision;
pub use scaling::{Scaler, Scaling};
pub use shape::{Activation, Head, Shape};

#[cfg(test)]
mod tests;
