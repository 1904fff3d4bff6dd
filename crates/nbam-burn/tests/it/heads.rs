//! Where the heads start, and what they compute, against oracles that share no code with them.

use burn::module::Module;
use burn::nn::LinearConfig;
use burn::tensor::{Device, Distribution, Int, Tensor};
use nbam::density::transition::Transition;
use nbam_burn::{
    CategoricalAnomalyHeadConfig, GaussianAnomalyHeadConfig, NbamClassification, NbamRegression,
    PriorHeadConfig, TransitionAnomalyHeadConfig, clean_output, gaussian_nll, weight_prior,
};

use crate::{assert_close, training_device, values};

fn features(rows: usize, width: usize) -> Tensor<2> {
    Tensor::random([rows, width], Distribution::Normal(0.0, 1.0), &training_device())
}

fn labels(rows: usize, classes: usize) -> Tensor<1, Int> {
    let labels: Vec<i32> = (0..rows).map(|row| ((row * 7 + row / 3) % classes) as i32).collect();
    Tensor::from_ints(labels.as_slice(), &training_device())
}

#[test]
fn the_heads_start_identified() {
    let device = training_device();
    for hidden in [None, Some(16)] {
        let prior = PriorHeadConfig::new(8).with_hidden(hidden).init(&device);
        assert_eq!(values(prior.forward(features(5, 8))), [-2.0; 5]);
    }
    let anomaly = CategoricalAnomalyHeadConfig::new(8, 6).init(&device);
    assert_close(&values(anomaly.forward(features(5, 8), labels(5, 6))), &[-6.0_f32.ln(); 5], 1e-6, 0.0);
    // Half of the labels are drawn at random from all classes, the right one included.
    let transition = TransitionAnomalyHeadConfig::new(5, 100, 10).init(&device);
    assert_close(&values(transition.rates.value()), &[0.4; 5], 1e-6, 0.0);
    let clean = clean_output(8, 4, &device);
    assert_eq!(values(clean.forward(features(3, 8))), [0.0; 12]);
    // A wrong value comes from further away than the targets spread, in the targets' own units.
    let anomaly = GaussianAnomalyHeadConfig::new().with_centre(100.0).with_spread(10.0).init(&device);
    let targets = Tensor::from_floats([100.0, 120.0], &device);
    let sd = 10.0 * 0.75_f32.exp();
    let density = |distance: f32| -0.5 * (distance / sd).powi(2) - sd.ln() - 0.5 * std::f32::consts::TAU.ln();
    assert_close(
        &values(anomaly.forward(features(2, 8), targets)),
        &[density(0.0), density(20.0)],
        1e-5,
        0.0,
    );
}

/// A head with a channel that is not its first: it has learned from some batches.
fn learned_head(classes: usize) -> nbam_burn::TransitionAnomalyHead {
    let head = TransitionAnomalyHeadConfig::new(classes, 64, 40).init(&training_device());
    for _ in 0..25 {
        head.forward(features(32, classes).mul_scalar(2.0), labels(32, classes));
    }
    head
}

#[test]
fn the_transition_is_the_label_channel() {
    for classes in [2, 5] {
        let head = learned_head(classes);
        let (logits, targets) = (features(30, classes).mul_scalar(3.0), labels(30, classes));
        let (terms, true_class) = head.review(logits.clone(), targets.clone());
        let channel = channel(&head);
        let logits = values(logits);
        let targets: Vec<i64> = targets.try_into_vec_as().unwrap();
        let (clean, prior, anomaly) = (
            values(terms.clean_nll.clone()),
            values(terms.prior_logit.clone()),
            values(terms.anomaly_logp.clone()),
        );
        let (posterior, true_class) = (values(terms.posterior()), values(true_class));
        for row in 0..30 {
            let logits: Vec<f64> =
                logits[row * classes..(row + 1) * classes].iter().map(|&z| f64::from(z)).collect();
            let log_sum = logits.iter().map(|z| z.exp()).sum::<f64>().ln();
            let log_p: Vec<f64> = logits.iter().map(|z| z - log_sum).collect();
            let expected = channel.evidence(&log_p, targets[row] as usize);
            let mut classes_expected = vec![0.0; classes];
            let posterior_expected = channel.true_class(&log_p, targets[row] as usize, &mut classes_expected);
            let got = [clean[row], prior[row], anomaly[row], posterior[row]];
            let expected =
                [-expected.log_clean, expected.logit_prior, expected.log_anomaly, posterior_expected]
                    .map(|x| x as f32);
            assert_close(&got, &expected, 1e-5, 3e-6);
            let classes_expected: Vec<f32> = classes_expected.iter().map(|&p| p as f32).collect();
            assert_close(&true_class[row * classes..(row + 1) * classes], &classes_expected, 1e-4, 1e-6);
        }
    }
}

fn channel(head: &nbam_burn::TransitionAnomalyHead) -> Transition {
    let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
    Transition::new(wide(values(head.rates.value_sync())), wide(values(head.destinations.value_sync())))
        .unwrap()
}

#[test]
fn the_channel_learns_only_in_training() {
    let head = learned_head(4);
    let before = values(head.rates.value_sync());
    let (logits, targets) = (features(16, 4), labels(16, 4));
    let valid = head.valid();
    let output = valid.forward(logits.clone().without_autodiff(), targets.clone().without_autodiff());
    assert_eq!(values(output.sharpness), [0.0]);
    assert_eq!(values(valid.rates.value_sync()), before);
    head.clone().freeze().forward(logits.clone(), targets.clone());
    assert_eq!(values(head.rates.value_sync()), before);
    head.forward(logits, targets);
    assert_ne!(values(head.rates.value_sync()), before);
}

#[test]
fn the_channel_is_saved_in_records() {
    let head = learned_head(4).valid();
    let bytes = head.clone().into_record().into_bytes().unwrap();
    let record = burn::store::ModuleRecord::from_bytes(bytes).unwrap();
    let fresh = TransitionAnomalyHeadConfig::new(4, 64, 40).init(&Device::flex());
    let loaded = fresh.load_record(record);
    let (logits, targets) = (features(9, 4).without_autodiff(), labels(9, 4).without_autodiff());
    let posterior = |head: &nbam_burn::TransitionAnomalyHead| {
        values(head.review(logits.clone(), targets.clone()).0.posterior())
    };
    assert_eq!(posterior(&loaded), posterior(&head));
}

#[test]
fn extreme_logits_give_finite_terms_and_gradients() {
    let device = training_device();
    let head = TransitionAnomalyHeadConfig::new(3, 10, 10).init(&device);
    let logits =
        Tensor::<2>::from_floats([[1e4, 0.0, -1e4], [-300.0, 300.0, 0.0], [0.0; 3]], &device).require_grad();
    let nbam = NbamClassification::from(head);
    let output =
        nbam.classification_loss(features(3, 2), logits.clone(), Tensor::from_ints([2, 0, 1], &device));
    let gradient = values(logits.grad(&output.loss.backward()).unwrap());
    assert!(gradient.iter().all(|value| value.is_finite()), "{gradient:?}");
    assert!(values(output.terms.posterior()).iter().all(|r| (0.0..=1.0).contains(r)));
    assert!(values(output.loss)[0].is_finite());
}

#[test]
fn free_heads_suggest_another_class_only_where_the_label_is_wrong() {
    let device = Device::flex();
    let nbam = NbamClassification::free(2, 3, &device);
    let logits = Tensor::from_floats([[9.0, 0.0, 1.0], [9.0, 0.0, 1.0]], &device);
    let review = nbam.review(Tensor::zeros([2, 2], &device), logits, Tensor::from_ints([0, 1], &device));
    let true_class = values(review.true_class);
    let posterior = values(review.terms.posterior());
    assert_close(&[true_class[0], true_class[4]], &[1.0 - posterior[0], 1.0 - posterior[1]], 1e-4, 1e-6);
    assert!(true_class[0] > 0.9 && true_class[3] > 0.9);
    assert_close(&[true_class[..3].iter().sum(), true_class[3..].iter().sum()], &[1.0, 1.0], 1e-5, 0.0);
}

#[test]
fn a_regression_is_a_mixture_of_two_gaussians() {
    let device = Device::flex();
    let heads = NbamRegression::new(2, 5.0, 2.0, &device);
    let column = |values: [f32; 2]| Tensor::<1>::from_floats(values, &device);
    let (mean, log_sd, targets) = (column([5.0, 4.0]), column([-0.7, 0.2]), column([5.1, 19.0]));
    let zeros = Tensor::zeros([2, 2], &device);
    let output = heads.regression_loss(zeros, mean.clone(), log_sd.clone(), targets.clone());
    let normal = |y: f64, mean: f64, sd: f64| {
        (-0.5 * ((y - mean) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt())
    };
    let pi = 1.0 / (1.0 + 2.0_f64.exp());
    let wrong_sd = 2.0 * 0.75_f64.exp();
    let row = |y: f64, mean: f64, log_sd: f64| {
        let (clean, wrong) = ((1.0 - pi) * normal(y, mean, log_sd.exp()), pi * normal(y, 5.0, wrong_sd));
        (-(clean + wrong).ln(), wrong / (clean + wrong))
    };
    let (first, second) = (row(5.1, 5.0, -0.7), row(19.0, 4.0, 0.2));
    assert_close(&values(output.loss), &[((first.0 + second.0) / 2.0) as f32], 1e-5, 0.0);
    assert_close(&values(output.terms.posterior()), &[first.1 as f32, second.1 as f32], 1e-4, 0.0);
    assert_close(
        &values(gaussian_nll(mean, log_sd, targets))[..1],
        &[-normal(5.1, 5.0, (-0.7_f64).exp()).ln() as f32],
        1e-5,
        0.0,
    );
}

#[test]
fn the_weight_prior_counts_weights_by_their_inputs_and_nothing_else() {
    let device = training_device();
    let layer = LinearConfig::new(3, 2).init(&device);
    let squares: f32 = values(layer.weight.val()).iter().map(|w| w * w).sum();
    let energy = weight_prior(&layer, 0.4, 10);
    assert_close(&values(energy.clone()), &[0.5 * 0.4 / 10.0 * 3.0 * squares], 1e-5, 0.0);
    let gradient = values(layer.weight.val().grad(&energy.backward()).unwrap());
    let expected: Vec<f32> = values(layer.weight.val()).iter().map(|w| 0.4 * 3.0 / 10.0 * w).collect();
    assert_close(&gradient, &expected, 1e-5, 0.0);
    // The channel is no weight.
    assert_eq!(values(weight_prior(&learned_head(3), 1.0, 10)), [0.0]);
}
