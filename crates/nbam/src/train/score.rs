//! Running rows through trained networks.

use crate::net::{Features, Network, Scaler, Workspace};
use crate::{Error, ErrorKind, Result};
use rayon::prelude::*;

/// Rows of one task. Fixed, so that a row's bits do not depend on the number of threads.
const CHUNK: usize = 512;

/// Calls `value` with the outputs of every row and collects what it returns, in row order.
pub(crate) fn each_row<R: Send + Clone + Default>(
    network: &Network,
    scaler: &Scaler,
    features: &Features<'_>,
    value: impl Fn(usize, &[f32]) -> R + Sync,
) -> Vec<R> {
    score(network, scaler, features, features.rows(), |at| at, value)
}

/// The same for some rows, in the order in which they are named.
pub(crate) fn each_row_of<R: Send + Clone + Default>(
    network: &Network,
    scaler: &Scaler,
    features: &Features<'_>,
    rows: &[u32],
    value: impl Fn(usize, &[f32]) -> R + Sync,
) -> Vec<R> {
    score(network, scaler, features, rows.len(), |at| rows[at] as usize, value)
}

fn score<R: Send + Clone + Default>(
    network: &Network,
    scaler: &Scaler,
    features: &Features<'_>,
    count: usize,
    row_at: impl Fn(usize) -> usize + Sync,
    value: impl Fn(usize, &[f32]) -> R + Sync,
) -> Vec<R> {
    let width = network.outputs();
    let mut results = vec![R::default(); count];
    results.par_chunks_mut(CHUNK).enumerate().for_each_init(
        || Workspace::new(network, CHUNK.min(count), false),
        |work, (chunk, results)| {
            let start = chunk * CHUNK;
            work.load(features, scaler, (start..start + results.len()).map(&row_at));
            network.forward(work);
            let outputs = work.outputs(network).chunks_exact(width);
            for (offset, (result, outputs)) in results.iter_mut().zip(outputs).enumerate() {
                *result = value(row_at(start + offset), outputs);
            }
        },
    );
    results
}

/// Runs `work` with this many threads; 0 is as many as the machine has.
pub(crate) fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::new(ErrorKind::Parameter, format!("could not start {threads} threads: {error}"))
            .with_hint("ask for fewer threads")
    })?;
    Ok(pool.install(work))
}
