//! The kernel against values from 50-digit arithmetic: `golden/make_switch.py` makes them, and every other implementation of the
//! kernel is tested against the same file.

use crate::golden_rows::{GoldenRow, golden};
use nbam::switch::{Known, Row, row};

/// Each output with its exact value; the loss and `dL/dg` are differences, so their error is relative to what is subtracted.
fn outputs(expected: &GoldenRow, got: Row<f64>) -> [(&'static str, f64, f64, f64); 5] {
    let size = expected.l.abs().max(expected.g.abs()).max(expected.a.abs());
    [
        ("loss", got.loss, expected.loss, size * f64::EPSILON),
        ("posterior", got.posterior, expected.posterior, 0.0),
        ("d_clean", got.d_clean, expected.d_clean, 0.0),
        ("d_prior", got.d_prior, expected.d_prior, 0.0),
        ("d_anomaly", got.d_anomaly, expected.d_anomaly, 0.0),
    ]
}

#[test]
fn double_precision_is_exact_to_a_few_units_in_the_last_place() {
    let rows = golden();
    assert!(rows.len() > 100);
    for expected in &rows {
        let (l, g, a) = (expected.l, expected.g, expected.a);
        // The sum g + l + a is rounded once; the exponential turns that into a relative error of its own size.
        let condition = 4.0 + 2.0 * (g.abs() + l.abs() + a.abs());
        for (name, got, exact, slack) in outputs(expected, row(l, g, a, Known::Unknown)) {
            let limit = condition * f64::EPSILON * exact.abs() + slack + f64::MIN_POSITIVE;
            assert!((got - exact).abs() <= limit, "{name} at ({l}, {g}, {a}): {got:e}, exactly {exact:e}");
        }
    }
}

#[test]
fn single_precision_starts_from_the_same_points() {
    for expected in &golden() {
        let (l, g, a) = (expected.l as f32, expected.g as f32, expected.a as f32);
        assert_eq!((f64::from(l), f64::from(g), f64::from(a)), (expected.l, expected.g, expected.a));
        let got = row(l, g, a, Known::Unknown);
        let got = Row {
            loss: f64::from(got.loss),
            posterior: f64::from(got.posterior),
            d_clean: f64::from(got.d_clean),
            d_prior: f64::from(got.d_prior),
            d_anomaly: f64::from(got.d_anomaly),
        };
        let epsilon = f64::from(f32::EPSILON);
        let condition = 4.0 + 2.0 * (expected.g.abs() + expected.l.abs() + expected.a.abs());
        for (name, got, exact, slack) in outputs(expected, got) {
            let slack = slack / f64::EPSILON * epsilon + f64::from(f32::MIN_POSITIVE);
            let limit = condition * epsilon * exact.abs() + slack;
            assert!((got - exact).abs() <= limit, "{name} at ({l}, {g}, {a}): {got:e}, exactly {exact:e}");
        }
    }
}
