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
    let width = network.outputs();
    let mut results = vec![R::default(); features.rows()];
    results.par_chunks_mut(CHUNK).enumerate().for_each_init(
        || Workspace::new(network, CHUNK.min(features.rows()), false),
        |work, (chunk, results)| {
            let start = chunk * CHUNK;
            work.load(features, scaler, start..start + results.len());
            network.forward(work);
            let outputs = work.outputs(network).chunks_exact(width);
            for (offset, (result, outputs)) in results.iter_mut().zip(outputs).enumerate() {
                *result = value(start + offset, outputs);
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
