//! The same seed gives the same bits: for any number of threads, and after saving and loading.

use crate::made::{clusters, example};
use nbam::{
    Classification, Classifier, ErrorKind, Features, LabelModel, Model, Params, Posterior, Precision, Preset,
    Regressor, ValueAnomaly,
};

fn bits(posterior: &Posterior) -> Vec<u64> {
    let columns = [&posterior.contamination, &posterior.prior, &posterior.log_clean, &posterior.log_anomaly];
    columns.into_iter().flatten().map(|value| value.to_bits()).collect()
}

#[test]
fn threads_do_not_change_a_classifier() {
    let (x, y) = clusters(1500, 1);
    let features = Features::new(&x, 12).unwrap();
    for params in
        [Classifier::params().members(3).epochs(3), Params::<Classification>::preset(Preset::Paper).epochs(3)]
    {
        let fit = |threads: usize| params.clone().threads(threads).seed(5).fit(&features, &y).unwrap();
        let (one, two, three) = (fit(1), fit(2), fit(3));
        assert_eq!(bits(one.training().unwrap()), bits(two.training().unwrap()));
        assert_eq!(
            bits(&one.posterior(&features, &y).unwrap()),
            bits(&three.posterior(&features, &y).unwrap())
        );
        let other = params.clone().seed(6).fit(&features, &y).unwrap();
        assert_ne!(bits(one.training().unwrap()), bits(other.training().unwrap()));
    }
}

#[test]
fn threads_do_not_change_a_regressor() {
    let data = example(900, 1);
    let features = Features::new(&data.x, 1).unwrap();
    let fit =
        |threads: usize| Regressor::params().epochs(4).threads(threads).fit(&features, &data.y).unwrap();
    assert_eq!(bits(fit(1).training().unwrap()), bits(fit(2).training().unwrap()));
}

#[test]
fn half_rows_give_the_bits_of_their_values() {
    let (x, y) = clusters(400, 2);
    let half: Vec<half::f16> = x.iter().map(|&value| half::f16::from_f32(value)).collect();
    let single: Vec<f32> = half.iter().map(|value| value.to_f32()).collect();
    let params = || Classifier::params().members(1).epochs(3);
    let from_half = params().fit(&Features::from_half(&half, 12).unwrap(), &y).unwrap();
    let from_single = params().fit(&Features::new(&single, 12).unwrap(), &y).unwrap();
    assert_eq!(bits(from_half.training().unwrap()), bits(from_single.training().unwrap()));
}

#[test]
fn saved_models_come_back_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let attachment = serde_json::json!({"names": ["a", "b"], "number": 0.1});
    let (x, y) = clusters(600, 3);
    let features = Features::new(&x, 12).unwrap();
    let free = LabelModel::Free { clean: nbam::loss::RobustLoss::gce(0.5).unwrap() };
    let uniform = LabelModel::Uniform { clean: nbam::loss::RobustLoss::CrossEntropy };
    let plain = LabelModel::Plain { loss: nbam::loss::RobustLoss::CrossEntropy };
    let models = [
        Classifier::params(),
        Classifier::params().label_model(free),
        Classifier::params().label_model(uniform),
        Classifier::params().label_model(plain),
    ];
    for (index, params) in models.into_iter().enumerate() {
        let model = params.members(2).epochs(2).fit(&features, &y).unwrap();
        let expected = bits(&model.posterior(&features, &y).unwrap());
        let place = folder.path().join(index.to_string());
        let model = Model::Classifier(model);
        let Model::Classifier(copy) = Model::from_bytes(&model.to_bytes().unwrap()).unwrap() else {
            panic!("another kind")
        };
        assert_eq!(bits(&copy.posterior(&features, &y).unwrap()), expected);
        model.save(&place, &attachment).unwrap();
        let (Model::Classifier(loaded), given_back) = Model::load(&place).unwrap() else {
            panic!("another kind")
        };
        assert_eq!(bits(&loaded.posterior(&features, &y).unwrap()), expected);
        assert_eq!(given_back, attachment);
    }
    let data = example(600, 2);
    let features = Features::new(&data.x, 1).unwrap();
    let anomalies = [
        ValueAnomaly::Mixture { components: 2 },
        ValueAnomaly::StudentT { nu: 3.0 },
        ValueAnomaly::Head,
        ValueAnomaly::Uniform,
    ];
    for (index, anomaly) in anomalies.into_iter().enumerate() {
        let params = Regressor::params().value_anomaly(anomaly).weight_prior(0.1).members(2).epochs(3);
        let model = params.fit(&features, &data.y).unwrap();
        let expected = bits(&model.posterior(&features, &data.y, None).unwrap());
        let place = folder.path().join(format!("values{index}"));
        model.save(&place).unwrap();
        let loaded = Regressor::load(&place).unwrap();
        assert!(
            Classifier::load(&place)
                .unwrap_err()
                .to_string()
                .ends_with("holds a regressor, expected a classifier")
        );
        assert_eq!(bits(&loaded.posterior(&features, &data.y, None).unwrap()), expected);
    }
}

/// Columns that enter in pieces: the same bits for any number of threads, from half precision, and after saving and loading.
#[test]
fn models_in_pieces_have_the_same_bits() {
    let half: Vec<half::f16> =
        (0..4000).map(|at| half::f16::from_f32((at * 7919 % 4001) as f32 / 4001.0)).collect();
    let single: Vec<f32> = half.iter().map(|value| value.to_f32()).collect();
    let y: Vec<usize> = single
        .chunks_exact(2)
        .map(|point| ((4.0 * point[0]) as usize + (4.0 * point[1]) as usize) % 2)
        .collect();
    let (half, single) = (Features::from_half(&half, 2).unwrap(), Features::new(&single, 2).unwrap());
    let params = || Classifier::params().members(1).hidden(&[32, 32]);
    let model = params().threads(1).fit(&single, &y).unwrap();
    assert!(!model.scaler().pieces.is_empty());
    assert_eq!(model.features(), 2);
    let trained = bits(model.training().unwrap());
    assert_eq!(bits(params().threads(3).fit(&half, &y).unwrap().training().unwrap()), trained);

    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let loaded = Classifier::load(folder.path()).unwrap();
    assert_eq!(loaded.scaler(), model.scaler());
    let expected = bits(&model.posterior(&single, &y).unwrap());
    assert_eq!(bits(&loaded.posterior(&single, &y).unwrap()), expected);

    // A description whose ramps are not those of the tensors, and one without any.
    let path = folder.path().join("model.json");
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(json["format"], 2);
    for pieces in [serde_json::json!([1, 2]), serde_json::json!([usize::MAX, 2]), serde_json::json!([])] {
        let mut changed = json.clone();
        changed["pieces"] = pieces;
        std::fs::write(&path, changed.to_string()).unwrap();
        let error = Classifier::load(folder.path()).unwrap_err();
        assert!(error.to_string().contains("the scaler does not fit the network"), "{error}");
    }
}

/// What is computed in bfloat16 has bits of its own where the processor multiplies such numbers, and those of single precision elsewhere. The model that is
/// saved still knows.
#[test]
fn models_in_bfloat16_have_the_same_bits() {
    let (x, y) = clusters(1500, 5);
    let features = Features::new(&x, 12).unwrap();
    let params = || Classifier::params().weight_prior(0.2).members(2).epochs(4);
    let fit =
        |threads: usize| params().precision(Precision::Bfloat16).threads(threads).fit(&features, &y).unwrap();
    let model = fit(1);
    assert_eq!(bits(model.training().unwrap()), bits(fit(3).training().unwrap()));
    let single = params().fit(&features, &y).unwrap();
    let is_rounded = bits(model.training().unwrap()) != bits(single.training().unwrap());
    assert_eq!(is_rounded, Precision::Bfloat16.here() == Precision::Bfloat16);
    // Rounding moves probabilities, and does not change what is learned.
    let apart = |one: &[f64], other: &[f64]| {
        one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum::<f64>() / one.len() as f64
    };
    let contamination = |model: &Classifier| model.contamination(&features, &y).unwrap();
    assert!(apart(&contamination(&model), &contamination(&single)) < 0.01);

    let expected = bits(&model.posterior(&features, &y).unwrap());
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let loaded = Classifier::load(folder.path()).unwrap();
    assert_eq!(bits(&loaded.posterior(&features, &y).unwrap()), expected);
}

#[test]
fn damaged_models_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("model");
    let (x, y) = clusters(100, 4);
    let features = Features::new(&x, 12).unwrap();
    let model = Classifier::params().members(1).hidden(&[8]).epochs(1).fit(&features, &y).unwrap();
    let save = || Model::Classifier(model.clone()).save(&place, &serde_json::Value::Null).unwrap();
    save();
    let json = std::fs::read_to_string(place.join("model.json")).unwrap();
    let tensors = std::fs::read(place.join("model.safetensors")).unwrap();
    let refused = |what: &str| {
        let error = Model::load(&place).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        error.kind()
    };
    std::fs::write(place.join("model.json"), json.replace("\"format\": 1", "\"format\": 9")).unwrap();
    assert_eq!(refused("is of model format 9"), ErrorKind::Model);
    std::fs::write(place.join("model.json"), &json[..json.len() / 2]).unwrap();
    assert_eq!(refused("damaged or was changed"), ErrorKind::Model);
    std::fs::write(place.join("model.json"), json.replace("\"classes\": 10", "\"classes\": 11")).unwrap();
    assert_eq!(refused("damaged or was changed"), ErrorKind::Model);
    save();
    std::fs::write(place.join("model.safetensors"), &tensors[..tensors.len() - 4]).unwrap();
    assert_eq!(refused("not those that were saved"), ErrorKind::Model);
    std::fs::remove_file(place.join("model.safetensors")).unwrap();
    assert_eq!(refused("cannot read"), ErrorKind::Io);
}
