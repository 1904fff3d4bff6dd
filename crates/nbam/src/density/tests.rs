use super::transition::Transition;
use super::*;
use crate::switch::Known;
use proptest::prelude::*;
use statrs::distribution::{Continuous as _, Normal, StudentsT};

fn difference(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let step = 1e-5;
    (f(x + step) - f(x - step)) / (2.0 * step)
}

/// Integrates `exp(log_density)` over the line, with `y = tan(angle)`.
fn integral(log_density: impl Fn(f64) -> f64) -> f64 {
    let steps = 200_000;
    let width = std::f64::consts::PI / f64::from(steps);
    (0..steps)
        .map(|step| {
            let angle = -std::f64::consts::FRAC_PI_2 + (f64::from(step) + 0.5) * width;
            log_density(angle.tan()).exp() / angle.cos().powi(2) * width
        })
        .sum()
}

fn channel(seed: &[f64]) -> Transition {
    let k = 4;
    let mut destinations = vec![0.0; k * k];
    for from in 0..k {
        let mut total = 0.0;
        for to in 0..k {
            if to != from {
                destinations[from * k + to] = seed[(from * k + to) % seed.len()].abs() + 0.01;
                total += destinations[from * k + to];
            }
        }
        destinations[from * k..(from + 1) * k].iter_mut().for_each(|value| *value /= total);
    }
    let rates = (0..k).map(|k| 0.02 + 0.9 * seed[k].abs().fract()).collect();
    Transition::new(rates, destinations).unwrap()
}

proptest! {
    #[test]
    fn gaussian_agrees_with_statrs(y in -5.0..5.0_f64, m in -3.0..3.0_f64, s in -2.0..2.0_f64, e in 0.0..2.0_f64) {
        let row = gaussian::log_density(y, m, s, e);
        let oracle = Normal::new(m, (s.exp().powi(2) + e * e).sqrt()).unwrap();
        prop_assert!((row.log_density - oracle.ln_pdf(y)).abs() < 1e-9);
        prop_assert!((row.d_mean - difference(|m| gaussian::log_density(y, m, s, e).log_density, m)).abs() < 1e-4 * (1.0 + row.d_mean.abs()));
        prop_assert!((row.d_log_sd - difference(|s| gaussian::log_density(y, m, s, e).log_density, s)).abs() < 1e-4 * (1.0 + row.d_log_sd.abs()));
    }

    #[test]
    fn student_t_agrees_with_statrs(y in -9.0..9.0_f64, m in -3.0..3.0_f64, s in -2.0..2.0_f64, nu in 0.5..30.0_f64) {
        let density = student_t::StudentT::new(nu).unwrap();
        let row = density.log_density(y, m, s);
        let oracle = StudentsT::new(m, s.exp(), nu).unwrap();
        prop_assert!((row.log_density - oracle.ln_pdf(y)).abs() < 1e-8);
        prop_assert!((row.d_mean - difference(|m| density.log_density(y, m, s).log_density, m)).abs() < 1e-5 * (1.0 + row.d_mean.abs()));
        prop_assert!((row.d_log_sd - difference(|s| density.log_density(y, m, s).log_density, s)).abs() < 1e-5 * (1.0 + row.d_log_sd.abs()));
    }

    #[test]
    fn mixture_gradient_is_its_derivative(y in -4.0..4.0_f64, values in proptest::collection::vec(-1.5..1.5_f64, 9)) {
        let value = |v: &[f64]| mixture::log_density(y, &v[..3], &v[3..6], &v[6..], &mut [0.0; 3], &mut [0.0; 3], &mut [0.0; 3]);
        let mut gradient = [0.0; 9];
        let (weights, rest) = gradient.split_at_mut(3);
        let (means, sds) = rest.split_at_mut(3);
        mixture::log_density(y, &values[..3], &values[3..6], &values[6..], weights, means, sds);
        for index in 0..9 {
            let moved = |x: f64| { let mut v = values.clone(); v[index] = x; value(&v) };
            let expected = difference(moved, values[index]);
            prop_assert!((gradient[index] - expected).abs() < 1e-4 * (1.0 + expected.abs()));
        }
    }

    #[test]
    fn transition_is_a_mixture_of_normalised_branches(
        logits in proptest::collection::vec(-6.0..6.0_f32, 4), seed in proptest::collection::vec(0.0..1.0_f64, 16),
        guessed in prop_oneof![Just(0.0), 0.0..0.99_f64], has_rivals: bool,
    ) {
        let channel = channel(&seed).with_guesses(guessed).unwrap();
        let channel = if has_rivals { channel.between_rivals() } else { channel };
        let mut log_p = [0.0; 4];
        categorical::log_softmax(&logits, &mut log_p);
        let (mut clean, mut anomaly, mut marginal) = (0.0, 0.0, 0.0);
        for y in 0..4 {
            let row = channel.evidence(&log_p, y);
            clean += row.log_clean.exp();
            anomaly += row.log_anomaly.exp();
            marginal += (-row.row(Known::Unknown).loss).exp();
            // The contamination by its definition, in linear space.
            let flow: f64 = (0..4).map(|k| log_p[k].exp() * channel.flow(k, y)).sum();
            let stays = |k: usize| log_p[k].exp() * (1.0 - channel.rates()[k]);
            let rest: f64 = (0..4).map(stays).sum();
            // A guess is right if the class, drawn anew, is the one that was guessed.
            // Between rivals, classes other than the most probable one count half.
            let rival = (0..4).filter(|&k| k != y).max_by(|&a, &b| stays(a).total_cmp(&stays(b)));
            let weight = |k: usize| if has_rivals && Some(k) != rival { 0.5 } else { 1.0 };
            let guess = |k: usize| weight(k) * guessed * stays(y) / rest * stays(k);
            let wrong = flow + (0..4).filter(|&k| k != y).map(guess).sum::<f64>();
            let r = row.posterior();
            let total = flow + stays(y);
            prop_assert!((r - wrong / total).abs() < 1e-9);
            prop_assert!(((-row.row(Known::Unknown).loss).exp() - total).abs() < 1e-9);
            let mut classes = [0.0; 4];
            channel.true_class(&log_p, y, &mut classes);
            prop_assert!((classes.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let k = (y + 1) % 4;
            prop_assert!((classes[k] - (log_p[k].exp() * channel.flow(k, y) + guess(k)) / total).abs() < 1e-9);
            // Training sees the channel alone, and reports the same evidence.
            let p: Vec<f32> = log_p.iter().map(|p| p.exp() as f32).collect();
            let (trained, evidence) = channel.train_row(&p, log_p[y], y, Known::Unknown, &mut [0.0; 4], &mut [0.0; 4]);
            prop_assert!((trained.posterior - flow / total).abs() < 1e-5);
            prop_assert!((evidence.posterior() - r).abs() < 1e-5);
        }
        prop_assert!((clean - 1.0).abs() < 1e-9 && (anomaly - 1.0).abs() < 1e-9 && (marginal - 1.0).abs() < 1e-9);
    }

    #[test]
    fn transition_gradient_is_its_derivative(
        logits in proptest::collection::vec(-4.0..4.0_f32, 4), seed in proptest::collection::vec(0.0..1.0_f64, 16), y in 0_usize..4,
    ) {
        let channel = channel(&seed);
        for known in [Known::Unknown, Known::Clean, Known::Contaminated] {
            let loss = |logits: &[f32]| {
                let mut log_p = [0.0; 4];
                categorical::log_softmax(logits, &mut log_p);
                let row = channel.evidence(&log_p, y);
                row.row(known).loss
            };
            let mut log_p = [0.0; 4];
            categorical::log_softmax(&logits, &mut log_p);
            let p: Vec<f32> = log_p.iter().map(|p| p.exp() as f32).collect();
            let mut gradient = [0.0; 4];
            let (row, _) = channel.train_row(&p, log_p[y], y, known, &mut [0.0; 4], &mut gradient);
            prop_assert!((row.loss - loss(&logits)).abs() < 1e-5 * (1.0 + row.loss));
            for k in 0..4 {
                let at = |shift: f32| { let mut moved = logits.clone(); moved[k] += shift; loss(&moved) };
                let expected = (at(0.01) - at(-0.01)) / 0.02;
                prop_assert!((f64::from(gradient[k]) - expected).abs() < 1e-3, "{known:?} {k}: {} {expected}", gradient[k]);
            }
        }
    }
}

#[test]
fn densities_integrate_to_one() {
    assert!((integral(|y| gaussian::log_density(y, 0.7, -0.4, 0.3).log_density) - 1.0).abs() < 1e-6);
    let t = student_t::StudentT::new(2.5).unwrap();
    assert!((integral(|y| t.log_density(y, -1.0, 0.5).log_density) - 1.0).abs() < 1e-6);
    let zero = || [0.0; 2];
    let two = |y: f64| {
        mixture::log_density(
            y,
            &[0.3, -1.0],
            &[-2.0, 1.0],
            &[0.1, -0.7],
            &mut zero(),
            &mut zero(),
            &mut zero(),
        )
    };
    assert!((integral(two) - 1.0).abs() < 1e-6);
    let classes = [0.4_f32, -2.0, 88.0, 3.0];
    let mut log_p = [0.0; 4];
    categorical::log_softmax(&classes, &mut log_p);
    assert!((log_p.iter().map(|p| p.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((10.0 * uniform::log_density(10.0).exp() - 1.0).abs() < 1e-12);
}

#[test]
fn an_unlikely_label_stays_finite() {
    // Logits far apart: in linear space the flow of the label would be zero.
    let mut log_p = [0.0; 3];
    categorical::log_softmax(&[2000.0, 0.0, -2000.0], &mut log_p);
    let channel = Transition::uniform(3, 0.2, 0.02);
    for y in 0..3 {
        let row = channel.evidence(&log_p, y);
        assert!(row.log_clean.is_finite() && row.logit_prior.is_finite() && row.log_anomaly.is_finite());
        let mut classes = [0.0; 3];
        assert!(
            channel.true_class(&log_p, y, &mut classes).is_finite() && classes.iter().all(|p| p.is_finite())
        );
    }
    assert!(Transition::new(vec![0.1, 0.2], vec![0.0, 1.0, 0.5, 0.5]).is_err());
    assert!(channel.with_guesses(1.0).is_err());
    assert!(student_t::StudentT::new(-1.0).is_err());
}
