//! The loss against the kernel's values from 50-digit arithmetic, in `golden/switch.json`.

use burn::nn::loss::Reduction;
use burn::tensor::{Device, FloatDType, Tensor, TensorData};
use nbam_burn::{NbamLoss, NbamLossConfig};

use crate::golden_rows::{GoldenRow, golden};
use crate::{training_device, values};

/// What the loss gives for some rows.
struct Got {
    loss: Vec<f32>,
    posterior: Vec<f32>,
    d_clean: Vec<f32>,
    d_prior: Vec<f32>,
    d_anomaly: Vec<f32>,
}

fn column(values: Vec<f32>, device: &Device) -> Tensor<1> {
    Tensor::from_data(TensorData::from(values.as_slice()), device).require_grad()
}

fn loss() -> NbamLoss {
    NbamLossConfig::new().init(&training_device())
}

fn compute(rows: &[(f32, f32, f32)]) -> Got {
    let device = training_device();
    let l = column(rows.iter().map(|row| row.0).collect(), &device);
    let g = column(rows.iter().map(|row| row.1).collect(), &device);
    let a = column(rows.iter().map(|row| row.2).collect(), &device);
    let posterior = loss().posterior(l.clone(), g.clone(), a.clone());
    let losses = loss().forward_no_reduction(l.clone(), g.clone(), a.clone());
    let gradients = losses.clone().sum().backward();
    let gradient = |term: &Tensor<1>| values(term.grad(&gradients).unwrap());
    Got {
        loss: values(losses),
        posterior: values(posterior),
        d_clean: gradient(&l),
        d_prior: gradient(&g),
        d_anomaly: gradient(&a),
    }
}

/// 1e-5 relative, whatever cancels on the way; what is below the smallest normal number may vanish. The kernel, where it is the
/// oracle, has a rounding of its own in double precision.
fn assert_row(row: usize, expected: GoldenRow, got: &Got) {
    let GoldenRow { l, g, a, .. } = expected;
    for (name, got, exact, oracle) in [
        ("loss", got.loss[row], expected.loss, f64::EPSILON * (l.abs() + a.abs())),
        ("posterior", got.posterior[row], expected.posterior, 0.0),
        ("d_clean", got.d_clean[row], expected.d_clean, 0.0),
        ("d_prior", got.d_prior[row], expected.d_prior, 0.0),
        ("d_anomaly", got.d_anomaly[row], expected.d_anomaly, 0.0),
    ] {
        let limit = 1e-5 * exact.abs() + f64::from(f32::MIN_POSITIVE).max(oracle);
        assert!(
            (f64::from(got) - exact).abs() <= limit,
            "{name} at ({l}, {g}, {a}): {got:e}, exactly {exact:e}"
        );
    }
}

#[test]
fn loss_posterior_and_gradients_are_the_golden_ones() {
    let rows = golden();
    assert!(rows.len() > 100);
    let inputs: Vec<_> = rows.iter().map(|row| (row.l as f32, row.g as f32, row.a as f32)).collect();
    let got = compute(&inputs);
    for (row, expected) in rows.iter().enumerate() {
        assert_row(row, *expected, &got);
    }
}

#[test]
fn the_whole_range_agrees_with_the_kernel_and_is_never_nan() {
    let mut inputs = Vec::new();
    for g in [-100.0, -30.0, -2.0, -0.1, 0.0, 1e-3, 5.0, 100.0] {
        for l in [-1e4, -3.0, 0.0, 1e-6, 0.1, 2.5, 87.0, 90.0, 1_000.1, 1e4] {
            for a in [-1e4, -1_000.3, -90.0, -2.3, -1e-6, 0.0, 1.5, 1e4] {
                inputs.push((l, g, a));
            }
        }
    }
    let got = compute(&inputs);
    for (row, &(l, g, a)) in inputs.iter().enumerate() {
        let (l, g, a) = (f64::from(l), f64::from(g), f64::from(a));
        let exact = nbam::switch::row(l, g, a, nbam::switch::Known::Unknown);
        let expected = GoldenRow {
            l,
            g,
            a,
            loss: exact.loss,
            posterior: exact.posterior,
            d_clean: exact.d_clean,
            d_prior: exact.d_prior,
            d_anomaly: exact.d_anomaly,
        };
        assert_row(row, expected, &got);
    }
}

#[test]
fn an_impossible_branch_is_certain_and_has_finite_gradients() {
    let got = compute(&[(f32::INFINITY, -3.0, -1.0), (1.0, -3.0, f32::NEG_INFINITY)]);
    assert_eq!(got.posterior, [1.0, 0.0]);
    assert_eq!((got.d_clean[0], got.d_anomaly[1]), (0.0, 0.0));
    let all = [&got.loss, &got.d_clean, &got.d_prior, &got.d_anomaly];
    assert!(all.iter().all(|column| column.iter().all(|value| value.is_finite())));
}

#[test]
fn reductions() {
    let device = training_device();
    let terms = |values: [[f32; 3]; 2]| Tensor::<2>::from_floats(values, &device);
    let l = terms([[1.0, 2.0, 3.0], [0.5, 0.1, 9.0]]);
    let g = terms([[-2.0, 0.0, 1.0], [-2.0, -5.0, -1.0]]);
    let a = terms([[-1.0, -2.0, -1.5], [-3.0, -0.5, -2.0]]);
    let reduced = |reduction| values(loss().forward(l.clone(), g.clone(), a.clone(), reduction))[0];
    let each = values(loss().forward_no_reduction(l.clone(), g.clone(), a.clone()));
    let sum: f32 = each.iter().sum();
    for (got, expected) in [
        (reduced(Reduction::Sum), sum),
        (reduced(Reduction::Mean), sum / 6.0),
        (reduced(Reduction::Auto), sum / 6.0),
        (reduced(Reduction::BatchMean), sum / 2.0),
    ] {
        assert!((got - expected).abs() < 1e-5, "{got}, expected {expected}");
    }
}

#[test]
fn a_constant_prior_broadcasts_and_receives_the_sum_of_the_gradients() {
    let device = training_device();
    let l = column(vec![0.1, 2.0, 7.0], &device);
    let a = column(vec![-2.0, -1.0, -0.5], &device);
    let g = column(vec![-2.0], &device);
    let posterior = values(loss().posterior(l.clone(), g.clone(), a.clone()));
    let gradients = loss().forward(l, g.clone(), a, Reduction::Sum).backward();
    let prior = nbam::switch::sigmoid(-2.0_f32);
    let expected: f32 = posterior.iter().map(|posterior| prior - posterior).sum();
    assert!((values(g.grad(&gradients).unwrap())[0] - expected).abs() < 1e-6);
}

#[test]
fn half_precision_is_computed_in_single() {
    let device = Device::flex();
    let half = |value: f32| Tensor::<1>::from_floats([value], &device).cast(FloatDType::BF16);
    let got = loss().forward_no_reduction(half(9.0), half(-4.0), half(-2.0));
    assert_eq!(got.dtype(), FloatDType::F32.into());
    assert!((values(got)[0] - nbam::switch::loss(9.0_f32, -4.0, -2.0)).abs() < 1e-5);
}
