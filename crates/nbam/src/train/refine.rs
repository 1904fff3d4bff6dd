//! Re-estimating what an objective learned beside its network, from outputs that are given.

use super::{Context, Objective, ShardRows};
use crate::switch::Evidence;

/// Passes over the rows: the estimates are those of EM, which has settled by then.
const PASSES: usize = 60;

/// Runs the objective's own estimation (the M-step of EM) on fixed outputs of all rows.
///
/// Members estimate rates and scales on the rows that they train on, where a network looks better than it is.
/// With the outputs of members that left a row out, the same estimates are honest.
pub(crate) fn refine<O: Objective>(objective: &mut O, outputs: &[f32]) {
    let rows: Vec<u32> = (0..objective.rows() as u32).collect();
    let none = Evidence { log_clean: 0.0, logit_prior: 0.0, log_anomaly: 0.0 };
    let mut evidence = vec![none; rows.len()];
    let mut d_outputs = vec![0.0; outputs.len()];
    let mut statistics = vec![0.0; objective.statistics()];
    let (mut scratch, mut probabilities) = (Vec::new(), Vec::new());
    let context = Context { batch: rows.len(), rows: rows.len(), progress: 1.0, learning_rate: 0.0, blend: Some(1.0) };
    for _ in 0..PASSES {
        statistics.fill(0.0);
        objective.evaluate(
            ShardRows {
                rows: &rows,
                outputs,
                d_outputs: &mut d_outputs,
                statistics: &mut statistics,
                evidence: &mut evidence,
                scratch: &mut scratch,
                probabilities: &mut probabilities,
            },
            &context,
        );
        objective.absorb(&statistics, &context);
    }
}
