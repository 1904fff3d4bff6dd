//! Few rows of classes that are hard to tell apart are judged by networks that left them out.

use crate::made::{clusters, normal_points};
use nbam::corrupt::{Corrupted, symmetric};
use nbam::metrics::{average_precision, reliability};
use nbam::{Classification, Classifier, Features, LabelledRows, Model, Params, Silent};

/// The class depends on products of features, and 500 rows are too few to see that clearly. One label in ten is wrong.
fn hard() -> (Vec<f32>, Corrupted<usize>) {
    let (x, y) = normal_points(500, 8, 51, |point, _| {
        usize::from(point[0] * point[1] + point[2] * point[3] + 0.5 * point[4] > 0.0)
    });
    (x, symmetric(&y, 2, 0.2, 52).unwrap())
}

fn params() -> Params<Classification> {
    Classifier::params().hidden(&[64, 64]).members(2)
}

/// One fit to all rows learns every label by heart here, or takes what it could not learn for wrong.
#[test]
fn what_few_rows_leave_open_is_neither_right_nor_wrong() {
    let (x, corrupted) = hard();
    let features = Features::new(&x, 8).unwrap();
    let model = params().fit(&features, &corrupted.targets).unwrap();
    let posterior = model.training().unwrap();
    let found = average_precision(&posterior.contamination, &corrupted.is_contaminated).unwrap();
    let curve = reliability(&posterior.contamination, &corrupted.is_contaminated, 15).unwrap();
    let rate = posterior.contamination.iter().sum::<f64>() / 500.0;
    let error = curve.expected_calibration_error();
    assert_eq!(model.networks().len(), 10);
    assert!(
        found > 0.35 && error < 0.1 && rate > 0.05 && rate < 0.25,
        "AP {found}, ECE {error}, rate {rate}"
    );
}

#[test]
fn classes_that_are_told_apart_need_no_committee() {
    let (x, y) = clusters(600, 6);
    let corrupted = symmetric(&y, 10, 0.2, 7).unwrap();
    let features = Features::new(&x, 12).unwrap();
    assert_eq!(params().fit(&features, &corrupted.targets).unwrap().networks().len(), 2);
}

#[test]
fn a_committee_has_the_same_bits_for_any_threads_and_when_it_is_loaded() {
    let (x, corrupted) = hard();
    let features = Features::new(&x, 8).unwrap();
    let given = &corrupted.targets;
    let fit = |threads: usize| params().threads(threads).fit(&features, given).unwrap();
    let (model, other) = (fit(1), fit(2));
    assert_eq!(model.networks().len(), 10);
    assert_eq!(model.training(), other.training());

    let review = model.review_training(&features, given).unwrap();
    assert_eq!(Some(&review.posterior), model.training());
    // For the rows of the fit, it does not count what networks say that have seen them.
    assert_ne!(review.posterior, model.posterior(&features, given).unwrap());
    for (row, &label) in given.iter().enumerate() {
        let is_right = review.suggested[row] == label;
        assert!(is_right == (review.posterior.contamination[row] < 0.5), "row {row}");
    }

    let new = &Features::new(&x[..80], 8).unwrap();
    let expected = model.posterior(new, &given[..10]).unwrap();
    for row in 0..10 {
        // One evidence for all members: Bayes' rule holds in every row.
        let logit = (expected.prior[row] / (1.0 - expected.prior[row])).ln() + expected.log_anomaly[row];
        let posterior = nbam::switch::sigmoid(logit - expected.log_clean[row]);
        assert!((posterior - expected.contamination[row]).abs() < 1e-9);
        assert!((model.prior(new).unwrap()[row] - expected.prior[row]).abs() < 1e-12);
    }
    let model = Model::Classifier(model);
    let Model::Classifier(copy) = Model::from_bytes(&model.to_bytes().unwrap()).unwrap() else {
        panic!("another kind")
    };
    assert_eq!(copy.posterior(new, &given[..10]).unwrap(), expected);
}

#[test]
fn planted_errors_are_judged_by_a_committee_too() {
    let (x, corrupted) = hard();
    let features = Features::new(&x, 8).unwrap();
    let model = params().fit(&features, &corrupted.targets).unwrap();
    let rows = LabelledRows { features, labels: &corrupted.targets, weights: None, known: None };
    let check = model.check_by_planting(&rows, &Silent).unwrap();
    assert!(check.planted > 0 && check.rows > 20, "{check:?}");
    assert!(check.expected_calibration_error < 0.25, "{check:?}");
}
