//! Bad input is refused with a sentence, never with a panic or a model that predicts NaN.

use nbam::switch::Known;
use nbam::{
    Classifier, ErrorKind, Features, LabelModel, LabelledRows, MeasuredRows, Regressor, Silent,
    TransitionPrior, ValueAnomaly,
};

fn message<T>(result: nbam::Result<T>) -> (ErrorKind, String) {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => (error.kind(), error.to_string()),
    }
}

#[test]
fn features_and_labels() {
    let values = [0.0_f32, 1.0, 2.0, 3.0];
    let x = Features::new(&values, 1).unwrap();
    let fit = |y: &[usize]| message(Classifier::params().epochs(1).fit(&x, y));
    assert_eq!(
        fit(&[0, 1]),
        (ErrorKind::Shape, "got 2 labels, expected 4: one for each row of the features".into())
    );
    assert_eq!(
        fit(&[1, 1, 1, 1]),
        (ErrorKind::Label, "every row has label 1, expected two classes or more".into())
    );
    assert_eq!(fit(&[0, 1, 0, 99_999]).0, ErrorKind::Label);
    let bad = [0.0_f32, f32::INFINITY, 2.0, 3.0];
    let refused = message(Classifier::params().fit(&Features::new(&bad, 2).unwrap(), &[0, 1]));
    assert_eq!(refused, (ErrorKind::Value, "feature 1 of row 0 is inf, expected a finite number".into()));
    let none = message(Classifier::params().fit(&Features::new(&[], 2).unwrap(), &[]));
    assert_eq!(none, (ErrorKind::Shape, "the features have no rows, expected at least one".into()));
    assert_eq!(message(Features::new(&values, 0)).0, ErrorKind::Shape);

    let rows = LabelledRows {
        features: x,
        labels: &[0, 1, 0, 1],
        weights: Some(&[1.0, -1.0, 1.0, 1.0]),
        known: None,
    };
    let checked = Classifier::params().epochs(1).check().unwrap();
    let refused = message(checked.fit_rows(&rows, &Silent));
    assert_eq!(
        refused,
        (ErrorKind::Value, "the weight of row 1 is -1, expected a finite number of at least 0".into())
    );
    let rows = LabelledRows { weights: Some(&[0.0; 4]), ..rows };
    assert_eq!(message(checked.fit_rows(&rows, &Silent)).1, "every weight is 0, expected at least one above");
    let rows = LabelledRows { weights: None, known: Some(&[Known::Clean]), ..rows };
    assert_eq!(message(checked.fit_rows(&rows, &Silent)).0, ErrorKind::Shape);

    let model = Classifier::params().epochs(1).members(1).fit(&x, &[0, 1, 0, 1]).unwrap();
    let wide = Features::new(&values, 2).unwrap();
    assert_eq!(message(model.predict(&wide)).1, "the rows have 2 features, expected 1: as in training");
    assert_eq!(
        message(model.contamination(&x, &[0, 1, 2, 0])).1,
        "the label of row 2 is 2, expected below 2"
    );
}

#[test]
fn values() {
    let features = [0.0_f32, 1.0, 2.0, 3.0];
    let x = Features::new(&features, 1).unwrap();
    let fit = |y: &[f64]| message(Regressor::params().epochs(1).fit(&x, y));
    let nan = fit(&[0.0, f64::NAN, 1.0, 2.0]);
    assert_eq!(nan, (ErrorKind::Value, "the target of row 1 is NaN, expected a finite number".into()));
    assert_eq!(fit(&[2.5; 4]).1, "every target is 2.5, expected at least two values");
    assert_eq!(fit(&[1.0]).0, ErrorKind::Shape);
    let rows = MeasuredRows {
        features: x,
        values: &[0.0, 1.0, 2.0, 3.0],
        errors: Some(&[0.1, 0.1, -0.1, 0.1]),
        weights: None,
        known: None,
    };
    let refused = message(Regressor::params().check().unwrap().fit_rows(&rows, &Silent));
    assert_eq!(refused.1, "the error of row 2 is -0.1, expected a finite number of at least 0");
}

#[test]
fn parameters() {
    let refused = |params: nbam::Params<nbam::Classification>| message(params.check());
    assert_eq!(
        refused(Classifier::params().epochs(0)),
        (ErrorKind::Parameter, "epochs is 0, expected 1 to 1,000,000".into())
    );
    assert_eq!(refused(Classifier::params().batch_size(0)).1, "batch_size is 0, expected at least 1");
    assert_eq!(refused(Classifier::params().members(0)).1, "members is 0, expected 1 to 1,000");
    assert_eq!(
        refused(Classifier::params().learning_rate(f64::NAN)).1,
        "learning_rate is NaN, expected a positive number"
    );
    assert_eq!(refused(Classifier::params().weight_decay(1e9)).0, ErrorKind::Parameter);
    assert_eq!(refused(Classifier::params().weight_prior(-1.0)).1, "weight_prior is -1, expected 0 or more");
    assert_eq!(refused(Classifier::params().threads(1025)).1, "threads is 1025, expected 0 to 1,024");
    assert_eq!(refused(Classifier::params().averaged_share(1.5)).1, "averaged_share is 1.5, expected 0 to 1");
    assert_eq!(refused(Classifier::params().hidden(&[4, 0])).0, ErrorKind::Parameter);
    let prior = TransitionPrior { initial_share: 1.0, ..TransitionPrior::default() };
    assert_eq!(
        refused(Classifier::params().label_model(LabelModel::Transition(prior))).0,
        ErrorKind::Parameter
    );
    let nothing = ValueAnomaly::Mixture { components: 0 };
    assert_eq!(message(Regressor::params().value_anomaly(nothing).check()).0, ErrorKind::Parameter);
}

#[test]
fn a_fit_that_diverges_ends_with_an_error() {
    let features: Vec<f32> = (0..200).map(|i| (i % 17) as f32).collect();
    let x = Features::new(&features, 2).unwrap();
    let y: Vec<usize> = (0..100).map(|i| i % 2).collect();
    let (kind, text) = message(Classifier::params().learning_rate(1e38).epochs(20).fit(&x, &y));
    assert_eq!(kind, ErrorKind::Diverged);
    assert!(text.starts_with("the loss stopped being finite"), "{text}");
}
