//! Running rows through trained networks.

use crate::net::{Features, Network, Scaler, Workspace};
use crate::{Error, ErrorKind, Result};
use rayon::prelude::*;

/// Rows of one task. Fixed, so that a row's bits do not depend on the number of threads.
const CHUNK: usize = 512;

/// What rows are run through.
#[derive(Clone, Copy)]
pub(crate) struct Scoring<'a> {
    pub(crate) scaler: &'a Scaler,
    pub(crate) features: &'a Features<'a>,
    /// The rows in question, in this order; all without it.
    pub(crate) rows: Option<&'a [u32]>,
}

impl Scoring<'_> {
    fn len(&self) -> usize {
        self.rows.map_or(self.features.rows(), <[u32]>::len)
    }

    fn row_at(&self, at: usize) -> usize {
        self.rows.map_or(at, |rows| rows[at] as usize)
    }

    /// Calls `value` with the outputs of every row and collects what it returns, in row order.
    pub(crate) fn each_row<R: Send + Clone + Default>(
        &self,
        network: &Network,
        value: impl Fn(usize, &[f32]) -> R + Sync,
    ) -> Vec<R> {
        let mut results = vec![R::default(); self.len()];
        self.each_row_into(&[network], &mut results, 1, |row, outputs, result| {
            result[0] = value(row, outputs[0])
        });
        results
    }

    /// Calls `value` with the outputs of every row under all networks, and with the row's stretch of `results`,
    /// which holds `width` elements for each row.
    pub(crate) fn each_row_into<R: Send>(
        &self,
        networks: &[&Network],
        results: &mut [R],
        width: usize,
        value: impl Fn(usize, &[&[f32]], &mut [R]) + Sync,
    ) {
        let capacity = CHUNK.min(self.len());
        results.par_chunks_mut(CHUNK * width).enumerate().for_each_init(
            || networks.iter().map(|network| Workspace::new(network, capacity, false)).collect::<Vec<_>>(),
            |work, (chunk, results)| {
                let start = chunk * CHUNK;
                let rows = start..start + results.len() / width;
                for (network, work) in networks.iter().zip(work.iter_mut()) {
                    work.load(self.features, self.scaler, rows.clone().map(|at| self.row_at(at)));
                    network.forward(work);
                }
                let mut outputs = Vec::with_capacity(networks.len());
                for (offset, result) in results.chunks_exact_mut(width).enumerate() {
                    outputs.clear();
                    outputs.extend(networks.iter().zip(work.iter()).map(|(network, work)| {
                        &work.outputs(network)[offset * network.outputs()..(offset + 1) * network.outputs()]
                    }));
                    value(self.row_at(start + offset), &outputs, result);
                }
            },
        );
    }
}

/// Runs `work` with this many threads; 0 is as many as the machine has.
pub(crate) fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::new(ErrorKind::Parameter, format!("could not start {threads} threads: {error}"))
            .with_hint("ask for fewer threads")
    })?;
    Ok(pool.install(work))
}
