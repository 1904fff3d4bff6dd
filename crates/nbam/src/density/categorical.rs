//! The categorical density: `log p_k = z_k - log sum_j exp z_j`.

/// Writes `log softmax(logits)` into `out`, in double precision.
///
/// The gradient of `log p_y` by `z_k` is `[k = y] - p_k`.
pub fn log_softmax(logits: &[f32], out: &mut [f64]) {
    let high = logits.iter().fold(f64::NEG_INFINITY, |high, &z| high.max(f64::from(z)));
    let sum: f64 = logits.iter().map(|&z| (f64::from(z) - high).exp()).sum();
    let log_sum = high + sum.ln();
    for (out, &z) in out.iter_mut().zip(logits) {
        *out = f64::from(z) - log_sum;
    }
}
