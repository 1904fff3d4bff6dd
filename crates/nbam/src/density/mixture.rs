//! A mixture of Gaussians: an anomaly with several habits.

use super::gaussian;
use crate::switch::log_add_exp;

/// `log sum_k w_k N(y; m_k, s_k^2)` and its gradient, with `w = softmax(weights)` and `s = exp(log_sds)`.
///
/// The gradients are written into `d_weights` (by the logits of the weights), `d_means` and `d_log_sds`.
pub fn log_density(
    y: f64,
    weights: &[f64],
    means: &[f64],
    log_sds: &[f64],
    d_weights: &mut [f64],
    d_means: &mut [f64],
    d_log_sds: &mut [f64],
) -> f64 {
    let log_sum = weights.iter().fold(f64::NEG_INFINITY, |sum, &weight| log_add_exp(sum, weight));
    let mut total = f64::NEG_INFINITY;
    for k in 0..weights.len() {
        let component = gaussian::log_density(y, means[k], log_sds[k], 0.0);
        let joint = weights[k] - log_sum + component.log_density;
        total = log_add_exp(total, joint);
        (d_weights[k], d_means[k], d_log_sds[k]) = (joint, component.d_mean, component.d_log_sd);
    }
    for k in 0..weights.len() {
        let share = (d_weights[k] - total).exp();
        d_weights[k] = share - (weights[k] - log_sum).exp();
        d_means[k] *= share;
        d_log_sds[k] *= share;
    }
    total
}
