//! Each loss against finite differences, known values and its limits.

use proptest::prelude::*;

use super::*;
use crate::switch::{self, Known, Row};

fn losses() -> [RobustLoss; 8] {
    let [ce, student_t, huber, gce] = RobustLoss::PAPER;
    [
        ce,
        student_t,
        huber,
        gce,
        RobustLoss::student_t(0.4).unwrap(),
        RobustLoss::huber(2.5).unwrap(),
        RobustLoss::gce(0.05).unwrap(),
        RobustLoss::gce(1.0).unwrap(),
    ]
}

fn central_difference(function: impl Fn(f64) -> f64, at: f64) -> f64 {
    let step = 1e-5 * at.abs().max(1.0);
    (function(at + step) - function(at - step)) / (2.0 * step)
}

fn marginal(loss: &RobustLoss, l: f64, g: f64, a: f64) -> Row<f64> {
    composed(loss, l, g, a, Known::Unknown)
}

#[track_caller]
fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "got {got}, expected {expected}");
}

#[test]
fn known_values() {
    let [ce, student_t, huber, gce] = RobustLoss::PAPER;
    assert_eq!((ce.value(1.5), ce.derivative(1.5)), (1.5, 1.0));
    // 2 ln(1 + 9/3) = 4 ln 2 and 4 * 3 / (3 + 9) = 1.
    assert_close(student_t.value(3.0), 4.0 * 2.0_f64.ln(), 1e-15);
    assert_close(student_t.derivative(3.0), 1.0, 1e-15);
    // Either side of sqrt(nu), where the formula changes hands.
    assert_close(student_t.value(1.0), 2.0 * (4.0_f64 / 3.0).ln(), 1e-15);
    assert_close(student_t.derivative(1.0), 1.0, 1e-15);
    assert_eq!((huber.value(0.5), huber.derivative(0.5)), (0.125, 0.5));
    assert_eq!((huber.value(1.0), huber.derivative(1.0)), (0.5, 1.0));
    assert_eq!((huber.value(4.0), huber.derivative(4.0)), (3.5, 1.0));
    // p = 1/4: (1 - 0.25^0.7) / 0.7.
    assert_close(gce.value(4.0_f64.ln()), (1.0 - 0.25_f64.powf(0.7)) / 0.7, 1e-15);
    assert_close(gce.derivative(4.0_f64.ln()), 0.25_f64.powf(0.7), 1e-15);
}

#[test]
fn student_t_is_the_negative_log_density_up_to_a_constant() {
    use statrs::distribution::{Continuous, StudentsT};
    for nu in [0.4, 3.0, 30.0] {
        let oracle = StudentsT::new(0.0, 1.0, nu).unwrap();
        let loss = RobustLoss::student_t(nu).unwrap();
        for l in [0.01, 0.7, 2.0, 15.0, 400.0] {
            assert_close(loss.value(l), oracle.ln_pdf(0.0) - oracle.ln_pdf(l), 1e-9);
        }
    }
}

#[test]
fn a_perfect_row_costs_nothing() {
    for loss in losses() {
        assert_eq!(loss.value(0.0_f64), 0.0, "{loss}");
        assert_eq!(loss.value(0.0_f32), 0.0, "{loss}");
    }
    // Small l keeps its digits: 1 - exp(-q l) would give 0 here.
    assert_close(RobustLoss::gce(0.7).unwrap().value(1e-20) * 1e20, 1.0, 1e-12);
}

#[test]
fn hopeless_rows_stay_finite_or_infinite_but_never_nan() {
    for loss in losses() {
        for l in [1e6_f32, 1e30, f32::MAX, f32::INFINITY] {
            assert!(!loss.value(l).is_nan(), "{loss} at {l}");
            assert!(loss.derivative(l).is_finite() && loss.derivative(l) >= 0.0, "{loss} at {l}");
        }
    }
    let [ce, student_t, huber, gce] = RobustLoss::PAPER;
    assert_eq!(ce.value(f64::INFINITY), f64::INFINITY);
    assert_eq!((student_t.value(f64::INFINITY), student_t.derivative(f64::INFINITY)), (f64::INFINITY, 0.0));
    assert_eq!((huber.value(f64::INFINITY), huber.derivative(f64::INFINITY)), (f64::INFINITY, 1.0));
    assert_close(gce.value(f64::INFINITY), 1.0 / 0.7, 1e-15);
    assert_eq!(gce.derivative(f64::INFINITY), 0.0);
    // l^2 overflows in single precision, the loss does not: 2 ln(1e60 / 3).
    assert_close(f64::from(student_t.value(1e30_f32)), 2.0 * (1e60_f64 / 3.0).ln(), 1e-6);
}

#[test]
fn nan_is_not_hidden() {
    for loss in losses() {
        assert!(loss.value(f64::NAN).is_nan(), "{loss}");
        if loss != RobustLoss::CrossEntropy {
            assert!(loss.derivative(f64::NAN).is_nan(), "{loss}");
        }
    }
}

#[test]
fn names_parse_and_display_round_trips() {
    for (name, loss) in ["ce", "student-t", "huber", "gce"].into_iter().zip(RobustLoss::PAPER) {
        assert_eq!(name.parse::<RobustLoss>().unwrap(), loss);
        assert_eq!(loss.name(), name);
    }
    for loss in losses() {
        assert_eq!(loss.to_string().parse::<RobustLoss>().unwrap(), loss);
    }
}

#[test]
fn bad_names_and_parameters_are_errors() {
    for text in [
        "",
        "mse",
        "GCE",
        "gce:",
        "gce:x",
        "gce:0",
        "gce:1.1",
        "gce:nan",
        "ce:1",
        "huber:-1",
        "student-t:inf",
    ] {
        let error = text.parse::<RobustLoss>().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Parameter), "{text}: {error}");
    }
    // Positive, but zero in single precision.
    assert!(RobustLoss::student_t(1e-300).is_err());
}

#[test]
fn bad_rows_are_errors() {
    let loss = RobustLoss::CrossEntropy;
    let kind = |logits: &[f64], target, places| loss.row(logits, target, &mut vec![0.0; places]).unwrap_err();
    assert!(matches!(kind(&[1.0, 2.0], 2, 2).kind(), ErrorKind::Label));
    assert!(matches!(kind(&[], 0, 0).kind(), ErrorKind::Label));
    assert!(matches!(kind(&[1.0, 2.0], 0, 3).kind(), ErrorKind::Shape));
    assert!(matches!(kind(&[1.0, f64::NAN], 0, 2).kind(), ErrorKind::Value));
    assert!(matches!(kind(&[f64::INFINITY, 0.0], 0, 2).kind(), ErrorKind::Value));
}

#[test]
fn cross_entropy_of_extreme_logits() {
    let mut gradient = [0.0_f32; 3];
    let l = cross_entropy(&[1e4_f32, -1e4, 0.0], 1, &mut gradient).unwrap();
    assert_eq!((l, gradient), (2e4, [1.0, -1.0, 0.0]));
    let l = cross_entropy(&[0.0_f32, 0.0, 30.0], 2, &mut gradient).unwrap();
    // Two others of exp(-30) each; one minus the rounded probability would be 0.
    assert_close(f64::from(l) * 30.0_f64.exp(), 2.0, 1e-6);
    assert_close(f64::from(gradient[2]) * 30.0_f64.exp(), -2.0, 1e-6);
}

#[test]
fn gce_in_the_switch_is_bounded_as_documented() {
    let gce = RobustLoss::PAPER[3];
    let row = marginal(&gce, 1e6, (0.1_f64 / 0.9).ln(), -(10.0_f64.ln()));
    assert!((row.posterior - 0.044).abs() < 5e-4, "got {}", row.posterior);
}

#[test]
fn student_t_and_huber_follow_the_likelihood_as_documented() {
    let [_, student_t, huber, _] = RobustLoss::PAPER;
    for step in 0..=500 {
        let l = f64::from(step) / 100.0;
        assert!((student_t.value(l) - l).abs() < 0.6, "l = {l}");
        assert!((0.0..=0.5 + 1e-12).contains(&(l - huber.value(l))), "l = {l}");
    }
}

#[test]
fn a_known_switch_stays_fixed() {
    for loss in losses() {
        let clean = composed(&loss, 2.0, 0.3, -1.0, Known::Clean);
        assert_eq!((clean.posterior, clean.d_clean), (0.0, loss.derivative(2.0)));
        let wrong = composed(&loss, 2.0, 0.3, -1.0, Known::Contaminated);
        assert_eq!((wrong.posterior, wrong.d_clean), (1.0, 0.0));
    }
}

#[test]
fn a_hopeless_row_has_a_usable_gradient() {
    for loss in losses() {
        for l in [1e6_f32, f32::INFINITY] {
            let row = composed(&loss, l, -3.0, -2.0, Known::Unknown);
            assert!(
                [row.d_clean, row.d_prior, row.d_anomaly].iter().all(|slope| slope.is_finite()),
                "{loss} at {l}"
            );
            assert!((0.0..=1.0).contains(&row.posterior), "{loss} at {l}");
        }
    }
}

proptest! {
    #[test]
    fn derivatives_match_finite_differences(l in 1e-3..60.0_f64) {
        for loss in losses() {
            // Huber's slope has a corner, where a difference across it means nothing.
            if let RobustLoss::Huber(huber) = loss && (l - huber.delta()).abs() < 1e-2 {
                continue;
            }
            assert_close(loss.derivative(l), central_difference(|l| loss.value(l), l), 1e-8);
        }
    }

    #[test]
    fn losses_grow_with_l_and_stay_under_their_bounds(l in 0.0..1e3_f64, more in 1e-6..1e3_f64) {
        for loss in losses() {
            // GCE saturates, hence not strictly.
            prop_assert!(loss.value(l + more) >= loss.value(l), "{loss}");
            prop_assert!(loss.derivative(l) >= 0.0);
            match loss {
                RobustLoss::CrossEntropy => {}
                RobustLoss::StudentT(t) => {
                    let peak = (t.nu() + 1.0) / (2.0 * t.nu().sqrt());
                    prop_assert!(loss.derivative(l) <= peak * (1.0 + 1e-12));
                }
                RobustLoss::Huber(huber) => prop_assert!(loss.derivative(l) <= huber.delta()),
                RobustLoss::Gce(gce) => {
                    prop_assert!(loss.value(l) <= 1.0 / gce.q() && loss.value(l) <= l);
                }
            }
        }
    }

    #[test]
    fn gce_bridges_cross_entropy_and_absolute_error(l in 0.0..30.0_f64) {
        let nearly_ce = RobustLoss::gce(1e-9).unwrap();
        assert_close(nearly_ce.value(l), l, 1e-7);
        assert_close(nearly_ce.derivative(l), 1.0, 1e-7);
        assert_close(RobustLoss::gce(1.0).unwrap().value(l), 1.0 - (-l).exp(), 1e-14);
    }

    #[test]
    fn single_precision_follows_double(l in 0.0..200.0_f32) {
        for loss in losses() {
            assert_close(f64::from(loss.value(l)), loss.value(f64::from(l)), 1e-5);
            assert_close(f64::from(loss.derivative(l)), loss.derivative(f64::from(l)), 1e-5);
        }
    }

    #[test]
    fn row_gradients_match_finite_differences(
        logits in prop::collection::vec(-6.0..6.0_f64, 2..7),
        pick in any::<prop::sample::Index>(),
    ) {
        let target = pick.index(logits.len());
        let mut gradient = vec![0.0; logits.len()];
        let mut scratch = gradient.clone();
        for loss in losses() {
            let l = cross_entropy(&logits, target, &mut scratch).unwrap();
            if let RobustLoss::Huber(huber) = loss && (l - huber.delta()).abs() < 1e-2 {
                continue;
            }
            let value = loss.row(&logits, target, &mut gradient).unwrap();
            assert_close(value, loss.value(l), 1e-14);
            prop_assert!(gradient.iter().sum::<f64>().abs() < 1e-13);
            for class in 0..logits.len() {
                let moved = |logit: f64| {
                    let mut logits = logits.clone();
                    logits[class] = logit;
                    loss.row(&logits, target, &mut vec![0.0; logits.len()]).unwrap()
                };
                assert_close(gradient[class], central_difference(moved, logits[class]), 1e-7);
            }
        }
    }

    #[test]
    fn cross_entropy_is_minus_the_log_probability(
        logits in prop::collection::vec(-20.0..20.0_f64, 1..9),
        pick in any::<prop::sample::Index>(),
    ) {
        let target = pick.index(logits.len());
        let l = cross_entropy(&logits, target, &mut vec![0.0; logits.len()]).unwrap();
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        prop_assert!(l >= 0.0);
        assert_close(l, -(logits[target].exp() / total).ln(), 1e-12);
    }

    #[test]
    fn composed_gradients_match_finite_differences(
        l in 0.01..15.0_f64, g in -8.0..8.0_f64, a in -8.0..1.0_f64,
    ) {
        for loss in losses() {
            if let RobustLoss::Huber(huber) = loss && (l - huber.delta()).abs() < 1e-2 {
                continue;
            }
            let row = marginal(&loss, l, g, a);
            assert_close(row.d_clean, central_difference(|l| marginal(&loss, l, g, a).loss, l), 1e-7);
            assert_close(row.d_prior, central_difference(|g| marginal(&loss, l, g, a).loss, g), 1e-7);
            assert_close(row.d_anomaly, central_difference(|a| marginal(&loss, l, g, a).loss, a), 1e-7);
        }
    }

    #[test]
    fn cross_entropy_composed_is_the_switch(l in 0.0..1e3_f64, g in -50.0..50.0_f64, a in -50.0..5.0_f64) {
        let row = marginal(&RobustLoss::CrossEntropy, l, g, a);
        prop_assert_eq!(row, switch::row(l, g, a, Known::Unknown));
    }
}
