//! Element-wise loops, compiled for several instruction sets and chosen at run time.

use super::Pieces;
use pulp::Arch;
use std::ops::Range;
use std::sync::OnceLock;

fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(Arch::new)
}

/// `exp(x)` for `x <= 0`, to a few units in the last place, in a form that the compiler vectorises.
///
/// `exp(x) = 2^n exp(r)` with `|r| <= ln(2) / 2`, where the Taylor series of degree seven has a
/// relative error below 1e-8. Below -87 the result is the smallest normal number instead of a denormal.
#[inline(always)]
#[expect(
    clippy::manual_clamp,
    reason = "clamp keeps a NaN, which must not reach the conversion to an integer"
)]
fn exp_of_negative(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer without a call.
    const ROUND: f32 = 12_582_912.0;
    // `max` drops a NaN, so what follows is always in range; callers see to it that a NaN is not lost.
    let x = x.max(-87.0).min(0.0);
    let n = x.mul_add(std::f32::consts::LOG2_E, ROUND) - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let mut series = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = f32::mul_add(series, r, coefficient);
    }
    // SAFETY: `x` is a number in [-87, 0], so `n` is an integer in [-126, 0].
    let exponent = unsafe { n.to_int_unchecked::<i32>() };
    series * f32::from_bits(((exponent + 127) << 23) as u32)
}

/// `1 / x` for `x` in [1, 2], to a unit in the last place.
///
/// A vector division takes as long as twenty multiplications. The parabola through the Chebyshev points is off by less than 1 %, and each of
/// Newton's steps squares the error: 1e-4, 1e-8.
#[inline(always)]
fn reciprocal(x: f32) -> f32 {
    let mut y = x.mul_add(x.mul_add(0.323_232_3, -1.454_545_5), 2.121_212);
    for _ in 0..2 {
        y = y.mul_add(x.mul_add(-y, 1.0), y);
    }
    y
}

/// `max(x, 0)`, which lets a NaN through.
#[inline(always)]
fn cut_off(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// `tanh(x)`, from `exp(-2|x|)`.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    let e = exp_of_negative(-2.0 * x.abs());
    let result = ((1.0 - e) * reciprocal(1.0 + e)).copysign(x);
    if x.is_nan() { x } else { result }
}

/// Defines a function whose body is compiled for several instruction sets, the best of which runs.
///
/// The body is a method that must be inlined: a closure may not be, and would then run without vectors.
macro_rules! vectorised {
    ($(#[$meta:meta])* fn $name:ident<$life:lifetime>($($arg:ident: $kind:ty),* $(,)?) -> $out:ty $body:block) => {
        $(#[$meta])*
        pub(crate) fn $name<$life>($($arg: $kind),*) -> $out {
            struct Loop<$life> { $($arg: $kind),* }
            impl<$life> pulp::NullaryFnOnce for Loop<$life> {
                type Output = $out;

                #[inline(always)]
                fn call(self) -> $out {
                    let Self { $($arg),* } = self;
                    $body
                }
            }
            arch().dispatch(Loop { $($arg),* })
        }
    };
}

vectorised! {
    /// Adds `bias` to some columns of a row-major matrix that is `width` wide, and applies tanh.
    fn bias_tanh<'a>(values: &'a mut [f32], width: usize, columns: Range<usize>, bias: &'a [f32]) -> () {
        for row in values.chunks_exact_mut(width) {
            for (value, bias) in row[columns.clone()].iter_mut().zip(bias) {
                *value = tanh(*value + bias);
            }
        }
    }
}

vectorised! {
    /// Adds `bias` to some columns and cuts off below zero.
    fn bias_relu<'a>(values: &'a mut [f32], width: usize, columns: Range<usize>, bias: &'a [f32]) -> () {
        for row in values.chunks_exact_mut(width) {
            for (value, bias) in row[columns.clone()].iter_mut().zip(bias) {
                *value = cut_off(*value + bias);
            }
        }
    }
}

vectorised! {
    /// Adds `bias` to some columns.
    fn bias_add<'a>(values: &'a mut [f32], width: usize, columns: Range<usize>, bias: &'a [f32]) -> () {
        for row in values.chunks_exact_mut(width) {
            for (value, bias) in row[columns.clone()].iter_mut().zip(bias) {
                *value += bias;
            }
        }
    }
}

vectorised! {
    /// Turns the gradient by an activation `h = tanh(z)` into that by `z`: times `1 - h^2`.
    fn tanh_backward<'a>(gradient: &'a mut [f32], activation: &'a [f32], width: usize, columns: Range<usize>) -> () {
        for (gradient, activation) in gradient.chunks_exact_mut(width).zip(activation.chunks_exact(width)) {
            for (gradient, h) in gradient[columns.clone()].iter_mut().zip(&activation[columns.clone()]) {
                *gradient *= h.mul_add(-h, 1.0);
            }
        }
    }
}

vectorised! {
    /// The same for `h = max(z, 0)`.
    fn relu_backward<'a>(gradient: &'a mut [f32], activation: &'a [f32], width: usize, columns: Range<usize>) -> () {
        for (gradient, activation) in gradient.chunks_exact_mut(width).zip(activation.chunks_exact(width)) {
            for (gradient, h) in gradient[columns.clone()].iter_mut().zip(&activation[columns.clone()]) {
                *gradient = if *h > 0.0 { *gradient } else { 0.0 };
            }
        }
    }
}

vectorised! {
    /// Sums over the rows of some columns.
    fn column_sums<'a>(sums: &'a mut [f32], values: &'a [f32], width: usize, columns: Range<usize>) -> () {
        sums.fill(0.0);
        for row in values.chunks_exact(width) {
            for (sum, value) in sums.iter_mut().zip(&row[columns.clone()]) {
                *sum += value;
            }
        }
    }
}

vectorised! {
    /// `out = (values - mean) * scale`, element by element of one row.
    fn standardise<'a>(out: &'a mut [f32], values: &'a [f32], mean: &'a [f32], scale: &'a [f32]) -> () {
        for (((out, value), mean), scale) in out.iter_mut().zip(values).zip(mean).zip(scale) {
            *out = (value - mean) * scale;
        }
    }
}

vectorised! {
    /// `values = (values - mean) * scale`, element by element of one row.
    fn standardise_in_place<'a>(values: &'a mut [f32], mean: &'a [f32], scale: &'a [f32]) -> () {
        for ((value, mean), scale) in values.iter_mut().zip(mean).zip(scale) {
            *value = (*value - mean) * scale;
        }
    }
}

vectorised! {
    /// The ramps of one standardised row: `(clamp((x - low) * slope, 0, 1) - mean) * scale`.
    fn ramps<'a>(out: &'a mut [f32], standardised: &'a [f32], pieces: &'a Pieces) -> () {
        let mut start = 0;
        for (&x, &count) in standardised.iter().zip(&pieces.counts) {
            let range = start..start + count;
            let ends = pieces.low[range.clone()].iter().zip(&pieces.slope[range.clone()]);
            let moments = pieces.mean[range.clone()].iter().zip(&pieces.scale[range.clone()]);
            for ((out, (low, slope)), (mean, scale)) in out[range].iter_mut().zip(ends).zip(moments) {
                *out = (((x - low) * slope).clamp(0.0, 1.0) - mean) * scale;
            }
            start += count;
        }
    }
}

vectorised! {
    /// Softmax of one row of logits into `out`; returns `log sum exp`, so that `log p_k = z_k - it`.
    fn softmax<'a>(out: &'a mut [f32], logits: &'a [f32]) -> f32 {
        let mut high = f32::NEG_INFINITY;
        for &z in logits {
            high = if z > high || z.is_nan() { z } else { high };
        }
        for (out, z) in out.iter_mut().zip(logits) {
            *out = exp_of_negative(z - high);
        }
        let mut sum = 0.0;
        for value in out.iter() {
            sum += value;
        }
        let inverse = 1.0 / sum;
        for out in out.iter_mut() {
            *out *= inverse;
        }
        high + sum.ln()
    }
}

/// Asks the processor to fetch these values into its nearest cache. They need not be there when this returns.
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks((64 / size_of::<T>()).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, which reads nothing that the program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// The numbers that one Adam step needs for a stretch of parameters.
pub(crate) struct AdamStep {
    pub(crate) learning_rate: f32,
    pub(crate) beta1: f32,
    pub(crate) beta2: f32,
    pub(crate) epsilon: f32,
    /// `1 / (1 - beta1^t)` and `1 / (1 - beta2^t)`.
    pub(crate) correction1: f32,
    pub(crate) correction2: f32,
    /// What the parameter is multiplied with: `1 - learning_rate * decay`.
    pub(crate) shrink: f32,
    /// What the parameter adds to its own gradient: the slope of a Gaussian prior's negative logarithm.
    pub(crate) pull: f32,
}

/// One parameter's Adam step.
#[inline(always)]
fn update(step: &AdamStep, parameter: &mut f32, first: &mut f32, second: &mut f32, gradient: f32) {
    let gradient = parameter.mul_add(step.pull, gradient);
    *first = first.mul_add(step.beta1, (1.0 - step.beta1) * gradient);
    *second = second.mul_add(step.beta2, (1.0 - step.beta2) * gradient * gradient);
    let scale = (*second * step.correction2).sqrt() + step.epsilon;
    *parameter = parameter.mul_add(step.shrink, -step.learning_rate * step.correction1 * *first / scale);
}

vectorised! {
    /// One Adam step on a stretch of parameters whose gradient is the sum of `shards`.
    fn adam<'a>(
        step: &'a AdamStep,
        parameters: &'a mut [f32],
        first: &'a mut [f32],
        second: &'a mut [f32],
        shards: &'a [&'a [f32]],
    ) -> () {
        let n = parameters.len();
        let (first, second) = (&mut first[..n], &mut second[..n]);
        match shards {
            [one] => {
                let one = &one[..n];
                for i in 0..n {
                    update(step, &mut parameters[i], &mut first[i], &mut second[i], one[i]);
                }
            }
            [one, two] => {
                let (one, two) = (&one[..n], &two[..n]);
                for i in 0..n {
                    update(step, &mut parameters[i], &mut first[i], &mut second[i], one[i] + two[i]);
                }
            }
            many => {
                for i in 0..n {
                    let mut gradient = 0.0;
                    for shard in many {
                        gradient += shard[i];
                    }
                    update(step, &mut parameters[i], &mut first[i], &mut second[i], gradient);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_and_softmax_agree_with_the_standard_library() {
        for step in -2000..=2000 {
            let x = step as f32 * 0.01;
            let mut out = [x - 0.5];
            bias_tanh(&mut out, 1, 0..1, &[0.5]);
            let expected = f64::from(out_input(x)).tanh();
            assert!((f64::from(out[0]) - expected).abs() < 2e-7, "{x}: {} {expected}", out[0]);
        }
        let logits = [3.0_f32, -2.0, 0.5, 3.25];
        let mut out = [0.0; 4];
        let log_sum = softmax(&mut out, &logits);
        let expected = logits.iter().map(|&z| f64::from(z).exp()).sum::<f64>();
        assert!((f64::from(log_sum) - expected.ln()).abs() < 1e-6);
        for (p, z) in out.iter().zip(logits) {
            assert!((f64::from(*p) - f64::from(z).exp() / expected).abs() < 1e-7);
        }
        assert!((out.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    /// What the sum of `x - 0.5` and `0.5` is in `f32`.
    fn out_input(x: f32) -> f32 {
        (x - 0.5) + 0.5
    }

    #[test]
    fn reciprocal_is_accurate_over_its_range() {
        for step in 0..=1000 {
            let x = 1.0 + step as f32 * 0.001;
            assert!((f64::from(reciprocal(x)) * f64::from(x) - 1.0).abs() < 2e-7, "{x}");
        }
    }

    #[test]
    fn a_nan_is_not_lost() {
        let mut values = [f32::NAN, 1.0];
        bias_tanh(&mut values, 2, 0..2, &[0.0, 0.0]);
        assert!(values[0].is_nan() && values[1] < 1.0);
        let mut values = [f32::NAN];
        bias_relu(&mut values, 1, 0..1, &[0.0]);
        assert!(values[0].is_nan());
        assert!(softmax(&mut [0.0; 2], &[1.0, f32::NAN]).is_nan());
    }

    #[test]
    fn exp_is_accurate_over_its_range() {
        for step in 0..8600 {
            let x = -step as f32 * 0.01;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp_of_negative(x)) / expected - 1.0).abs() < 3e-7, "{x}");
        }
    }
}
