//! The paper's architecture goes to `nbam::Classifier` and back without a change.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use nbam::{Classification, Classifier, Features, Params, Preset};
use nbam_burn::{NbamClassification, PaperNetwork, PaperNetworkConfig};

use crate::{assert_close, values};

const ROWS: usize = 40;

fn data() -> (Vec<f32>, Vec<usize>) {
    let x = (0..ROWS * 3).map(|i| ((i * i) % 17) as f32 * 0.3 + (i % 3) as f32 * 10.0).collect();
    (x, (0..ROWS).map(|row| (row * row) % 17 % 4).collect())
}

fn assert_same_outputs(network: &PaperNetwork, classifier: &Classifier) {
    let device = Device::flex();
    let (x, y) = data();
    let features = Features::new(&x, 3).unwrap();
    let review = classifier.review(&features, &y).unwrap();
    let labels: Vec<i32> = y.iter().map(|&label| label as i32).collect();
    let (last, logits) = network.forward(Tensor::from_data(TensorData::new(x.clone(), [ROWS, 3]), &device));
    let heads = NbamClassification::Free(network.heads.clone());
    let got = heads.review(last, logits, Tensor::from_ints(labels.as_slice(), &device));
    let narrow = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    assert_close(&values(got.predicted), &narrow(&classifier.predict_proba(&features).unwrap()), 1e-5, 1e-6);
    assert_close(&values(got.terms.posterior()), &narrow(&review.posterior.contamination), 1e-5, 1e-6);
    assert_close(&values(got.terms.prior()), &narrow(&review.posterior.prior), 1e-5, 1e-6);
    assert_close(&values(-got.terms.clean_nll), &narrow(&review.posterior.log_clean), 1e-4, 1e-5);
    assert_close(&values(got.terms.anomaly_logp), &narrow(&review.posterior.log_anomaly), 1e-4, 1e-5);
    let suggested: Vec<i64> = got.true_class.argmax(1).try_into_vec_as().unwrap();
    assert_eq!(suggested, review.suggested.iter().map(|&class| class as i64).collect::<Vec<_>>());
}

#[test]
fn a_fitted_classifier_becomes_a_network_with_equal_outputs_and_comes_back() {
    let (x, y) = data();
    let features = Features::new(&x, 3).unwrap();
    let classifier = Params::<Classification>::preset(Preset::Paper)
        .hidden(&[12, 9])
        .epochs(60)
        .fit(&features, &y)
        .unwrap();
    let network = PaperNetwork::from_classifier(&classifier, &Device::flex()).unwrap();
    assert_same_outputs(&network, &classifier);
    let back = network.to_classifier().unwrap();
    assert_eq!(back.networks()[0].parameters(), classifier.networks()[0].parameters());
    assert_eq!(back.scaler(), classifier.scaler());
}

/// Draws every parameter anew, so that no head is where it starts.
struct Shaken;

impl burn::module::ModuleMapper for Shaken {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| tensor.random_like(Distribution::Normal(0.0, 0.3)))
    }
}

#[test]
fn a_network_of_burn_becomes_a_classifier_that_saves_and_loads() {
    let network = PaperNetworkConfig::new(3, 4).with_hidden(vec![7]).init(&Device::flex()).map(&mut Shaken);
    let classifier = network.to_classifier().unwrap();
    assert_same_outputs(&network, &classifier);
    let folder = tempfile::tempdir().unwrap();
    classifier.save(folder.path()).unwrap();
    assert_same_outputs(&network, &Classifier::load(folder.path()).unwrap());
}

#[test]
fn a_network_is_saved_in_records() {
    let device = Device::flex();
    let config = PaperNetworkConfig::new(3, 4).with_hidden(vec![7]);
    let network = config.init(&device).map(&mut Shaken);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.bpk");
    network.clone().save_file(&path).unwrap();
    let loaded = config.init(&device).load_file(&path);
    assert_same_outputs(&loaded, &network.to_classifier().unwrap());
    assert_eq!(trained(&loaded), trained(&network));
}

/// How many parameters a training would change.
fn trained(network: &PaperNetwork) -> usize {
    struct Count(usize);
    impl ModuleVisitor for Count {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0 += usize::from(param.val().autodiff().is_require_grad());
        }
    }
    let mut count = Count(0);
    network.clone().train().visit(&mut count);
    assert_eq!(count.0, 2 * (1 + 1 + 1 + 2), "weights and biases, and not the standardisation");
    count.0
}

#[test]
fn other_classifiers_are_refused() {
    let (x, y) = data();
    let features = Features::new(&x, 3).unwrap();
    let refused = |params: Params<Classification>, expected: &str| {
        let classifier = params.hidden(&[4]).epochs(1).fit(&features, &y).unwrap();
        let error = PaperNetwork::from_classifier(&classifier, &Device::flex()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    refused(Classifier::params(), "expected the paper's free heads");
    refused(Params::<Classification>::preset(Preset::Paper).members(2), "has 2 members, expected one");
    refused(Params::<Classification>::preset(Preset::Paper).activation(nbam::Activation::Relu), "not tanh");
    let mut network = PaperNetworkConfig::new(3, 4).init(&Device::flex());
    network.heads.prior.hidden = None;
    assert!(network.to_classifier().unwrap_err().to_string().contains("expected one of 128 units"));
}
