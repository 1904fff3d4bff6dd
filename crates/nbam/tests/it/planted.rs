//! Planted errors are found, and their probabilities mean what they say.

use crate::made::clusters;
use nbam::corrupt::symmetric;
use nbam::{Classifier, ErrorKind, Features, LabelledRows, MeasuredRows, Regressor, Silent};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

#[test]
fn planted_labels_are_found() {
    let (x, y) = clusters(3000, 21);
    let labels = symmetric(&y, 10, 0.2, 22).unwrap().targets;
    let features = Features::new(&x, 12).unwrap();
    let rows = LabelledRows { features, labels: &labels, weights: None, known: None };
    let params = Classifier::params().members(1).hidden(&[64]).epochs(60).seed(23);
    let model = params.check().unwrap().fit_rows(&rows, &Silent).unwrap();
    let check = model.check_by_planting(&rows, &Silent).unwrap();
    // The prior is 0.18 for every row, so about 18 % of some 2,400 clean rows are planted.
    assert!((300..600).contains(&check.planted), "{} planted", check.planted);
    assert!(check.rows > 2000, "{} rows", check.rows);
    assert!(check.found as f64 > 0.8 * check.planted as f64, "{} of {}", check.found, check.planted);
    assert!(check.false_alarms < check.rows / 50, "{} false alarms", check.false_alarms);
    assert!(check.average_precision > 0.95, "{}", check.average_precision);
    assert!(check.expected_calibration_error < 0.05, "{}", check.expected_calibration_error);
    assert_eq!(check.reliability.bins.iter().map(|bin| bin.rows).sum::<usize>(), check.rows);
}

#[test]
fn planted_values_are_found() {
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let x: Vec<f32> = (0..2000).map(|_| random.random_range(-2.0..2.0)).collect();
    let normal = |random: &mut ChaCha8Rng, sd: f64| sd * random.sample::<f64, _>(StandardNormal);
    let clean: Vec<f64> = x.iter().map(|&x| (2.0 * f64::from(x)).sin() + normal(&mut random, 0.1)).collect();
    let given: Vec<f64> =
        clean.iter().map(|&y| if random.random_bool(0.15) { normal(&mut random, 3.0) } else { y }).collect();
    let features = Features::new(&x, 1).unwrap();
    let rows = MeasuredRows { features, values: &given, errors: None, weights: None, known: None };
    let params = Regressor::params().members(1).hidden(&[32]).weight_prior(0.1).epochs(300).seed(32);
    let model = params.check().unwrap().fit_rows(&rows, &Silent).unwrap();
    let check = model.check_by_planting(&rows, &Silent).unwrap();
    assert!((100..500).contains(&check.planted), "{} planted", check.planted);
    // One planted value in twelve falls within the clean noise, where nobody can see it.
    assert!(check.found as f64 > 0.75 * check.planted as f64, "{} of {}", check.found, check.planted);
    assert!(check.expected_calibration_error < 0.05, "{}", check.expected_calibration_error);
}

#[test]
fn planting_needs_the_rows_of_the_fit() {
    let (x, y) = clusters(200, 1);
    let features = Features::new(&x, 12).unwrap();
    let model = Classifier::params().members(1).hidden(&[8]).epochs(2).fit(&features, &y).unwrap();
    let (other, labels) = clusters(100, 2);
    let rows = LabelledRows {
        features: Features::new(&other, 12).unwrap(),
        labels: &labels,
        weights: None,
        known: None,
    };
    let error = model.check_by_planting(&rows, &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
}
