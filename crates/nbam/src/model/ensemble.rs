//! Members of an ensemble on the machine's cores.

use super::posterior::{Posterior, PosteriorSum};
use crate::Result;
use crate::train::Trained;
use rayon::prelude::*;

/// Fits members `0..count` on the current thread pool; the closure is told whether it may use all threads.
///
/// One model per core has no barrier and wastes nothing, so full waves of members run that way; what is left over
/// also splits its batches over the cores. The bits are the same either way.
pub(crate) fn fit_members<R: Send>(
    count: usize,
    fit: impl Fn(usize, bool) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = rayon::current_num_threads();
    let alone = if threads > 1 { count % threads } else { 0 };
    let together = count - alone;
    let mut members: Vec<R> = (0..together)
        .into_par_iter()
        .with_max_len(1)
        .map(|member| fit(member, false))
        .collect::<Result<_>>()?;
    let rest = (together..count).into_par_iter().with_max_len(1).map(|member| fit(member, true));
    members.extend(rest.collect::<Result<Vec<R>>>()?);
    Ok(members)
}

/// The mean over members of what their last epochs said of each row; `None` where nothing was averaged.
pub(crate) fn averaged_posterior<O>(members: &[Trained<O>], rows: usize) -> Option<Posterior> {
    if members.iter().any(|member| member.averages.is_empty()) {
        return None;
    }
    let mut sum = PosteriorSum::new(rows);
    for member in members {
        sum.add((0..rows).map(|row| member.averages.row(row)));
    }
    Some(sum.finish())
}
