//! The categorical density: `log p_k = z_k - log sum_j exp z_j`.

/// Writes `log softmax(logits)` into `out`, in double precision.
///
/// The gradient of `log p_y` by `z_k` is `[k = y] - p_k`.
pub fn log_softmax(logits: &[f32], out: &mut [f64]) {
    let log_sum = log_sum_exp(logits);
    for (out, &z) in out.iter_mut().zip(logits) {
        *out = f64::from(z) - log_sum;
    }
}

/// `log sum_k exp z_k`, in double precision.
pub fn log_sum_exp(logits: &[f32]) -> f64 {
    let high = logits.iter().fold(f32::NEG_INFINITY, |high, &z| high.max(z));
    let high = f64::from(high);
    high + logits.iter().map(|&z| (f64::from(z) - high).exp()).sum::<f64>().ln()
}
