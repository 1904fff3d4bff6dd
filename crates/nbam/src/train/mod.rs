//! Training: batches, shards, the loop, and the pass that scores rows afterwards.
//!
//! The same seed gives the same bits for any number of threads: a batch is cut into shards whose number
//! depends on its size alone, each shard has its own gradient, and the gradients are added in order.

mod objective;
mod plan;
mod score;
mod step;

pub(crate) use objective::{Context, Objective, ShardRows};
pub(crate) use plan::Plan;
pub use plan::{Monitor, Progress, Silent};
pub(crate) use score::{Scoring, in_pool};
pub(crate) use step::{Setting, Trained, train};
