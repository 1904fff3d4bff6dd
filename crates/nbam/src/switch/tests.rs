use super::*;
use proptest::prelude::*;

/// The textbook formula in linear space: the oracle where nothing under- or overflows.
fn naive(l: f64, g: f64, a: f64) -> (f64, f64) {
    let (pi, rest) = (1.0 / (1.0 + (-g).exp()), 1.0 / (1.0 + g.exp()));
    let (clean, anomaly) = (rest * (-l).exp(), pi * a.exp());
    (-(clean + anomaly).ln(), anomaly / (clean + anomaly))
}

fn difference(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let step = 1e-5;
    (f(x + step) - f(x - step)) / (2.0 * step)
}

proptest! {
    #[test]
    fn agrees_with_the_textbook(l in -20.0..20.0_f64, g in -20.0..20.0_f64, a in -20.0..20.0_f64) {
        let (loss, posterior) = naive(l, g, a);
        let row = row(l, g, a, Known::Unknown);
        prop_assert!((row.loss - loss).abs() < 1e-9 * (1.0 + loss.abs()));
        prop_assert!((row.posterior - posterior).abs() < 1e-9);
    }

    #[test]
    fn gradient_is_the_derivative(l in -10.0..10.0_f64, g in -10.0..10.0_f64, a in -10.0..10.0_f64) {
        for known in [Known::Unknown, Known::Clean, Known::Contaminated] {
            let at = row(l, g, a, known);
            prop_assert!((at.d_clean - difference(|l| row(l, g, a, known).loss, l)).abs() < 1e-7);
            prop_assert!((at.d_prior - difference(|g| row(l, g, a, known).loss, g)).abs() < 1e-7);
            prop_assert!((at.d_anomaly - difference(|a| row(l, g, a, known).loss, a)).abs() < 1e-7);
        }
    }

    #[test]
    fn identities_hold(l in -50.0..50.0_f64, g in -50.0..50.0_f64, a in -50.0..50.0_f64) {
        let at = row(l, g, a, Known::Unknown);
        prop_assert!((at.d_clean - at.d_anomaly - 1.0).abs() < 1e-12);
        prop_assert!((at.d_prior - (sigmoid(g) - at.posterior)).abs() < 1e-12);
        // Swapping the branches leaves the loss and mirrors the posterior: the objective alone
        // does not say which branch is clean.
        let swapped = row(-a, -g, -l, Known::Unknown);
        prop_assert!((at.loss - swapped.loss).abs() < 1e-9 * (1.0 + at.loss.abs()));
        prop_assert!((at.posterior - (1.0 - swapped.posterior)).abs() < 1e-12);
        // The mixture is never better than its better branch and never worse than either weighted one.
        prop_assert!(at.loss >= l.min(-a) - 1e-9);
        prop_assert!(at.loss <= occam_cost(g, a) + 1e-9);
        prop_assert!(at.loss <= l - log_sigmoid(-g) + 1e-9);
    }

    #[test]
    fn never_nan_in_the_whole_range(l in -1e6..1e6_f64, g in -1e4..1e4_f64, a in -1e6..1e6_f64) {
        let wide = row(l, g, a, Known::Unknown);
        let narrow = row(l as f32, g as f32, a as f32, Known::Unknown);
        for value in [wide.loss, wide.posterior, wide.d_clean, wide.d_prior, wide.d_anomaly] {
            prop_assert!(value.is_finite());
        }
        for value in [narrow.loss, narrow.posterior, narrow.d_clean, narrow.d_prior, narrow.d_anomaly] {
            prop_assert!(value.is_finite());
        }
        prop_assert!((0.0..=1.0).contains(&wide.posterior) && (0.0..=1.0).contains(&narrow.posterior));
        // Far from the switching point the loss is that of one branch, exactly.
        let expected = (log_sigmoid(-g) - l).max(log_sigmoid(g) + a);
        prop_assert!((wide.loss + expected).abs() <= 0.7 + 1e-9 * expected.abs());
        prop_assert!((f64::from(narrow.loss) - wide.loss).abs() <= 1e-5 * wide.loss.abs() + 0.3);
    }

    #[test]
    fn classical_form_is_the_kernel(log_l in -50.0..5.0_f64, omega in 0.001..0.999_f64, delta in 0.1..1e4_f64) {
        let model = Classical::new(Rate::One(omega), Rate::PerRow(vec![delta])).unwrap();
        let marginal = (log_l.exp() * (1.0 - omega) + omega / delta).ln();
        prop_assert!((model.log_marginal(&[log_l]).unwrap()[0] - marginal).abs() < 1e-9);
        let posterior = (omega / delta) / (log_l.exp() * (1.0 - omega) + omega / delta);
        prop_assert!((model.posterior(&[log_l]).unwrap()[0] - posterior).abs() < 1e-9);
        prop_assert_eq!(model.is_clean(&[log_l]).unwrap()[0], log_l + delta.ln() > logit(omega));
        let dominant = (log_l + (1.0 - omega).ln()).max(omega.ln() - delta.ln());
        prop_assert!((model.log_dominant(&[log_l]).unwrap()[0] - dominant).abs() < 1e-9);
        prop_assert!((model.weight(&[log_l]).unwrap()[0] - (1.0 - posterior)).abs() < 1e-9);
    }
}

#[test]
fn extremes_are_exact() {
    for g in [-1e4, -100.0, 0.0, 100.0, 1e4] {
        for l in [-1e6, 0.0, 1e6] {
            for a in [-1e6, 0.0, 1e6] {
                let at = row(l, g, a, Known::Unknown);
                let expected = -log_add_exp(log_sigmoid(-g) - l, log_sigmoid(g) + a);
                assert!(
                    (at.loss - expected).abs() <= 1e-9 * expected.abs(),
                    "{l} {g} {a}: {} {expected}",
                    at.loss
                );
                assert!(at.posterior >= 0.0 && at.posterior <= 1.0);
            }
        }
    }
    // An impossible clean branch is certain contamination, not NaN.
    assert_eq!(row(f64::INFINITY, -3.0, -1.0, Known::Unknown).posterior, 1.0);
    assert_eq!(row(1.0, -3.0, f64::NEG_INFINITY, Known::Unknown).posterior, 0.0);
    assert_eq!(row(0.0, 0.3, 0.0, Known::Unknown).loss, 0.0);
}

#[test]
fn small_losses_keep_their_relative_accuracy() {
    // pi = sigmoid(-30), p = 1, q = exp(-5): L = pi (1 - exp(-5)) to first order.
    let expected = sigmoid(-30.0_f64) * (1.0 - (-5.0_f64).exp());
    assert!((loss(0.0, -30.0, -5.0) / expected - 1.0).abs() < 1e-9);
    assert!((f64::from(loss(0.0_f32, -30.0, -5.0)) / expected - 1.0).abs() < 1e-5);
}

#[test]
fn slices_and_bad_input() {
    assert_eq!(rows(&[1.0, 2.0], &[0.0, 0.0], &[-1.0, -1.0]).unwrap().len(), 2);
    let error = posteriors(&[1.0], &[0.0, 1.0], &[1.0]).unwrap_err();
    assert_eq!(error.to_string(), "g has 2 elements, expected 1: one for each row");
    let error = Classical::new(Rate::PerRow(vec![0.1, 1.5]), Rate::One(2.0)).unwrap_err();
    assert_eq!(error.to_string(), "omega of row 1 is 1.5, expected a probability strictly between 0 and 1");
    let model = Classical::new(Rate::One(0.1), Rate::One(2.0)).unwrap();
    assert!(model.posterior(&[0.0, f64::NAN]).is_err());
}
