//! Members of an ensemble on the machine's cores.

use super::folds::Folds;
use super::posterior::{Posterior, PosteriorSum};
use crate::Result;
use crate::net::{Features, Network, Scaler};
use crate::train::{Averages, Trained, each_row_of};
use rayon::prelude::*;

/// Fits members `0..count` on the current thread pool; the closure is told whether it may use all threads.
///
/// One model per core has no barrier and wastes nothing, so full waves of members run that way; what is left
/// over runs one by one, with the batch split over the cores. The bits are the same either way.
pub(crate) fn fit_members<R: Send>(count: usize, fit: impl Fn(usize, bool) -> Result<R> + Sync) -> Result<Vec<R>> {
    let threads = rayon::current_num_threads();
    let alone = if threads > 1 { count % threads } else { 0 };
    let together = count - alone;
    let mut members: Vec<R> =
        (0..together).into_par_iter().with_max_len(1).map(|member| fit(member, false)).collect::<Result<_>>()?;
    for member in together..count {
        members.push(fit(member, true)?);
    }
    Ok(members)
}

/// The parts of what training leaves, each for all members.
pub(crate) fn take_apart<O>(fitted: Vec<Trained<O>>) -> (Vec<Network>, Vec<O>, Vec<Vec<f64>>, Vec<Averages>) {
    let (mut networks, mut objectives, mut losses, mut averages) = (vec![], vec![], vec![], vec![]);
    for member in fitted {
        networks.push(member.network);
        objectives.push(member.objective);
        losses.push(member.losses);
        averages.push(member.averages);
    }
    (networks, objectives, losses, averages)
}

/// Outputs of every row under the members that left it out.
pub(crate) struct LeftOut {
    width: usize,
    rows: usize,
    /// The mean over the members that left a row out, row-major.
    pub(crate) mean: Vec<f32>,
    /// For each member, the rows that it left out and their outputs.
    members: Vec<(Vec<u32>, Vec<Vec<f32>>)>,
}

/// Runs each row through the members that left it out.
pub(crate) fn left_out_outputs(networks: &[Network], scaler: &Scaler, features: &Features<'_>, folds: &Folds) -> LeftOut {
    let width = networks[0].outputs();
    let mut mean = vec![0.0; features.rows() * width];
    let mut counts = vec![0_u16; features.rows()];
    let mut members = Vec::new();
    for (member, network) in networks.iter().enumerate() {
        let rows = folds.left_out(member);
        let outputs = each_row_of(network, scaler, features, &rows, |_, outputs| outputs.to_vec());
        for (&row, outputs) in rows.iter().zip(&outputs) {
            counts[row as usize] += 1;
            for (mean, output) in mean[row as usize * width..].iter_mut().zip(outputs) {
                *mean += output;
            }
        }
        members.push((rows, outputs));
    }
    for (mean, count) in mean.chunks_exact_mut(width).zip(counts) {
        mean.iter_mut().for_each(|value| *value /= f32::from(count.max(1)));
    }
    LeftOut { width, rows: features.rows(), mean, members }
}

impl LeftOut {
    /// The posterior of every row, averaged over the members that left it out.
    pub(crate) fn posterior(&self, columns: impl Fn(usize, &[f32]) -> [f64; 4]) -> Posterior {
        let mut sum = PosteriorSum::new(self.rows);
        for (rows, outputs) in &self.members {
            sum.add_some(rows.iter().zip(outputs).map(|(&row, outputs)| (row as usize, columns(row as usize, outputs))));
        }
        debug_assert_eq!(self.mean.len(), self.rows * self.width);
        sum.finish()
    }
}
