//! The method finds what was put in.

use crate::made::{clusters, exact_posterior, example, normal_points, prior, rings, signal};
use nbam::corrupt::{
    Destination, GrossError, PairFlip, boundary_rates, input_dependent, pair_flips, symmetric, values,
};
use nbam::loss::RobustLoss;
use nbam::metrics::{accuracy, auroc, average_precision, expected_calibration_error};
use nbam::switch::Known;
use nbam::{
    Classification, Classifier, Features, LabelModel, LabelledRows, Model, Params, Preset, Regression,
    Regressor, Silent, TransitionPrior,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

fn share_right(posterior: &[f64], truth: &[bool]) -> f64 {
    let right = posterior.iter().zip(truth).filter(|(posterior, truth)| (**posterior > 0.5) == **truth);
    right.count() as f64 / truth.len() as f64
}

/// Signal, prior and posterior of the one-dimensional example under a fitted model, against the truth.
fn check_example(model: &Regressor, accuracy: f64, signal_error: f64) {
    let test = example(200_000, 99);
    let features = Features::new(&test.x, 1).unwrap();
    let contamination = model.contamination(&features, &test.y).unwrap();
    let found = share_right(&contamination, &test.is_contaminated);
    let exact: Vec<f64> =
        test.x.iter().zip(&test.y).map(|(&x, &y)| exact_posterior(f64::from(x), y)).collect();
    let ceiling = share_right(&exact, &test.is_contaminated);
    assert!((ceiling - 0.9668).abs() < 0.002, "the data is not the example: {ceiling}");
    assert!(found > accuracy, "posterior accuracy {found}, ceiling {ceiling}");

    let grid: Vec<f32> = (0..=600).map(|i| -3.0 + i as f32 * 0.01).collect();
    let features = Features::new(&grid, 1).unwrap();
    let mean = model.predict(&features).unwrap().mean;
    let signals: Vec<f64> = grid.iter().map(|&x| signal(f64::from(x))).collect();
    let error = nbam::metrics::root_mean_squared_error(&mean, &signals).unwrap();
    assert!(error < signal_error, "signal is off by {error}");
    let priors = model.prior(&features).unwrap();
    let off = priors.iter().zip(&grid).map(|(p, &x)| (p - prior(f64::from(x))).abs()).sum::<f64>() / 601.0;
    assert!(off < 0.03, "prior is off by {off}");
}

#[test]
fn one_dimensional_example_at_the_papers_settings() {
    let data = example(20_000, 1);
    let features = Features::new(&data.x, 1).unwrap();
    let params = Params::<Regression>::preset(Preset::Paper).epochs(150).schedule(nbam::Schedule::Cosine);
    check_example(&params.fit(&features, &data.y).unwrap(), 0.963, 0.05);
}

#[test]
fn one_dimensional_example_by_default() {
    let data = example(20_000, 2);
    let features = Features::new(&data.x, 1).unwrap();
    // Three quarters of the targets are wrong at the right end; the default's noise may widen there instead.
    let params = Regressor::params().members(1).weight_prior(0.1).epochs(150);
    check_example(&params.fit(&features, &data.y).unwrap(), 0.95, 0.2);
}

const PAIRS: [(usize, usize); 4] = [(9, 1), (2, 0), (3, 5), (4, 7)];

/// Fits on pair flips at rate 0.4 and returns the posterior's AUROC and the accuracy on clean rows.
fn fit_pair_flips(params: Params<Classification>) -> (f64, f64, Classifier) {
    let (x, y) = clusters(6000, 3);
    let flips = PAIRS.map(|(from, to)| PairFlip { from, to, rate: 0.4 });
    let corrupted = pair_flips(&y, 10, &flips, 4).unwrap();
    let features = Features::new(&x, 12).unwrap();
    let model = params.fit(&features, &corrupted.targets).unwrap();
    let posterior = &model.training().unwrap().contamination;
    let area = auroc(posterior, &corrupted.is_contaminated).unwrap();
    let (test, truth) = clusters(4000, 5);
    let predicted = model.predict(&Features::new(&test, 12).unwrap()).unwrap();
    (area, accuracy(&predicted, &truth).unwrap(), model)
}

/// On a model whose branches have swapped, the posterior ranks clean rows above wrong ones for the flipped classes, and
/// the clean predictor prefers the flips: both numbers collapse, while the loss looks fine.
#[test]
fn branches_do_not_swap_by_default() {
    let (area, right, model) = fit_pair_flips(Classifier::params().members(1));
    assert!(area > 0.97, "AUROC {area}");
    assert!(right > 0.95, "accuracy {right}");
    let transition = model.transitions().next().unwrap();
    for (from, to) in PAIRS {
        assert!(
            (transition.flow(from, to) - 0.4).abs() < 0.1,
            "{from} -> {to}: {}",
            transition.flow(from, to)
        );
    }
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
}

/// A share of guesses is a belief about labels, not about the network: it changes no weight, and makes every label as much
/// more suspicious as it is unlikely for a clean one.
#[test]
fn guesses_are_added_to_the_posterior_and_change_nothing_else() {
    let x: Vec<f32> = (0..600).map(|row| row as f32 / 100.0 - 3.0).collect();
    // Labels that grow less certain towards the border at zero.
    let y: Vec<usize> =
        (0..600).map(|row| usize::from(x[row] + ((row * 7 % 10) as f32 - 4.5) / 6.0 > 0.0)).collect();
    let features = Features::new(&x, 1).unwrap();
    let fit = |guessed: f64| {
        let model = LabelModel::Transition(TransitionPrior { guessed, ..TransitionPrior::default() });
        Classifier::params()
            .members(1)
            .epochs(20)
            .weight_prior(0.1)
            .label_model(model)
            .fit(&features, &y)
            .unwrap()
    };
    let usual = TransitionPrior::default().guessed;
    assert!(usual > 0.0);
    let (without, with) = (fit(0.0), fit(usual));
    assert_eq!(without.predict_proba(&features).unwrap(), with.predict_proba(&features).unwrap());
    let (before, after) = (without.posterior(&features, &y).unwrap(), with.posterior(&features, &y).unwrap());
    for row in 0..600 {
        let (certain, unlikely) = (1.0 - before.contamination[row], 1.0 - before.log_clean[row].exp());
        let expected = before.contamination[row] + certain * usual * unlikely;
        assert!(
            (after.contamination[row] - expected).abs() < 1e-9,
            "row {row}: {}",
            after.contamination[row]
        );
    }
    let averaged = |model: &Classifier| model.training().unwrap().contamination.iter().sum::<f64>();
    assert!(averaged(&with) > averaged(&without));
}

#[test]
fn branches_do_not_swap_at_the_papers_settings() {
    let (area, right, _) = fit_pair_flips(Params::<Classification>::preset(Preset::Paper).epochs(15));
    assert!(area > 0.85, "AUROC {area}");
    let plain = LabelModel::Plain { loss: RobustLoss::CrossEntropy };
    let (_, baseline, _) =
        fit_pair_flips(Params::<Classification>::preset(Preset::Paper).epochs(15).label_model(plain));
    assert!(right > baseline, "accuracy {right}, cross-entropy {baseline}");
}

#[test]
fn posterior_is_calibrated_and_clean_data_stays_clean() {
    let (x, y) = clusters(6000, 6);
    let features = Features::new(&x, 12).unwrap();
    let corrupted = symmetric(&y, 10, 0.4, 7).unwrap();
    let model = Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &corrupted.targets).unwrap();
    let posterior = &model.training().unwrap().contamination;
    let truth = &corrupted.is_contaminated;
    assert!(average_precision(posterior, truth).unwrap() > 0.97);
    assert!(expected_calibration_error(posterior, truth).unwrap() < 0.05);
    let clean = Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &y).unwrap();
    let mean = clean.training().unwrap().contamination.iter().sum::<f64>() / 6000.0;
    assert!(mean < 0.03, "{mean} of clean rows");
    assert!(clean.warnings().is_empty());
}

/// A predictor may take a few flips for ambiguity before the sharpness prior is felt; their rate must not stay at zero.
#[test]
fn a_few_flips_in_easy_data_are_found() {
    let (x, y) = clusters(2400, 21);
    let rows: Vec<usize> = (0..2400).filter(|&row| y[row] < 3).take(240).collect();
    let x: Vec<f32> = rows.iter().flat_map(|&row| x[row * 12..(row + 1) * 12].to_vec()).collect();
    let y: Vec<usize> = rows.iter().map(|&row| y[row]).collect();
    let features = Features::new(&x, 12).unwrap();
    for seed in 0..3 {
        let corrupted = pair_flips(&y, 3, &[PairFlip { from: 0, to: 1, rate: 0.125 }], seed).unwrap();
        let model = Classifier::params()
            .hidden(&[64, 64])
            .members(1)
            .seed(seed)
            .fit(&features, &corrupted.targets)
            .unwrap();
        let posterior = &model.training().unwrap().contamination;
        let precision = average_precision(posterior, &corrupted.is_contaminated).unwrap();
        let share = posterior.iter().sum::<f64>() / 240.0 / corrupted.rate();
        assert!(precision > 0.9 && share > 0.3, "seed {seed}: AP {precision}, {share} of the rate");
    }
}

#[test]
fn verified_rows_keep_their_switch_and_weights_count() {
    let (x, y) = clusters(2000, 8);
    let features = Features::new(&x, 12).unwrap();
    let corrupted = symmetric(&y, 10, 0.3, 9).unwrap();
    let known: Vec<Known> = (0..2000)
        .map(|row| match (row % 4, corrupted.is_contaminated[row]) {
            (0, true) => Known::Contaminated,
            (0, false) => Known::Clean,
            _ => Known::Unknown,
        })
        .collect();
    let rows = LabelledRows { features, labels: &corrupted.targets, weights: None, known: Some(&known) };
    let params = || Classifier::params().members(1).epochs(60).weight_prior(0.16).check().unwrap();
    let model = params().fit_rows(&rows, &Silent).unwrap();
    let contamination = &model.training().unwrap().contamination;
    for (row, known) in known.iter().enumerate() {
        match known {
            Known::Unknown => {}
            Known::Clean => assert_eq!(contamination[row], 0.0),
            Known::Contaminated => assert_eq!(contamination[row], 1.0),
        }
    }
    // Rows without weight teach nothing: with the wrong labels weighted out, nothing looks wrong any more.
    let weights: Vec<f64> =
        corrupted.is_contaminated.iter().map(|bad| if *bad { 0.0 } else { 1.0 }).collect();
    let rows = LabelledRows { weights: Some(&weights), known: None, ..rows };
    let model = params().fit_rows(&rows, &Silent).unwrap();
    let rate = model.transitions().next().unwrap().rates().iter().sum::<f64>() / 10.0;
    assert!(rate < 0.05, "rate {rate}");
}

/// A network that is held as usual sees nothing but a line, and no line tells two rings apart. Left-out rows find a better strength if
/// there are enough of them; with few, one of the classes vanishes from the fit, which is a sign as well.
#[test]
fn one_class_around_the_other_is_seen() {
    for (rows, seed) in [(1200, 31), (400, 33)] {
        let (x, y) = rings(rows, seed);
        let features = Features::new(&x, 2).unwrap();
        let corrupted = symmetric(&y, 2, 0.3, 32).unwrap();
        let model =
            Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &corrupted.targets).unwrap();
        let right = accuracy(&model.predict(&features).unwrap(), &y).unwrap();
        let found =
            average_precision(&model.training().unwrap().contamination, &corrupted.is_contaminated).unwrap();
        assert!(right > 0.95 && found > 0.93, "{rows} rows: accuracy {right}, AP {found}");
    }
}

/// Shells around each other in five dimensions take long to learn. Until then everything looks like noise, from which nothing is learned.
#[test]
fn a_pattern_that_is_hard_to_learn_is_not_taken_for_noise() {
    let shell = |point: &[f32]| point.iter().map(|value| value * value).sum::<f32>();
    let (x, y) = normal_points(1500, 5, 41, |point, _| match shell(point) {
        square if square < 3.36 => 0,
        square if square < 5.73 => 1,
        _ => 2,
    });
    let features = Features::new(&x, 5).unwrap();
    let corrupted = symmetric(&y, 3, 0.2, 42).unwrap();
    let model = Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &corrupted.targets).unwrap();
    let found =
        average_precision(&model.training().unwrap().contamination, &corrupted.is_contaminated).unwrap();
    assert!(found > 0.85, "AP {found}");
}

/// The fields of a board of four by four, in turn of two classes: borders that turn often leave no trace in a network that sees each number once, and
/// all labels look random. A forest finds them; so must the default.
#[test]
fn a_board_is_seen() {
    let mut random = ChaCha8Rng::seed_from_u64(45);
    let x: Vec<f32> = (0..6000).map(|_| random.random()).collect();
    let field = |point: &[f32]| point.iter().map(|value| (4.0 * value) as usize).sum::<usize>() % 2;
    let y: Vec<usize> = x.chunks_exact(2).map(field).collect();
    let features = Features::new(&x, 2).unwrap();
    let corrupted = symmetric(&y, 2, 0.2, 46).unwrap();
    let model = Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &corrupted.targets).unwrap();
    let right = accuracy(&model.predict(&features).unwrap(), &y).unwrap();
    let found =
        average_precision(&model.training().unwrap().contamination, &corrupted.is_contaminated).unwrap();
    assert!(right > 0.95 && found > 0.9, "accuracy {right}, AP {found}");
}

/// A product of waves of many turns, which is noise to a network that learns slow functions only.
#[test]
fn waves_are_learned() {
    let mut random = ChaCha8Rng::seed_from_u64(47);
    let x: Vec<f32> = (0..7500).map(|_| random.random_range(-1.0..1.0)).collect();
    let wave = |point: &[f32]| f64::from((8.0 * point[0]).sin() * (5.0 * point[1]).cos() + point[2].powi(2));
    let truth: Vec<f64> = x.chunks_exact(3).map(wave).collect();
    let measured: Vec<f64> = truth.iter().map(|value| value + random.random_range(-0.1..0.1)).collect();
    let features = Features::new(&x, 3).unwrap();
    let corrupted = values(&measured, 0.1, GrossError::ShiftInSd { multiple: 3.0 }, 48).unwrap();
    let model = Regressor::params().members(1).fit(&features, &corrupted.targets).unwrap();
    let mean = model.predict(&features).unwrap().mean;
    let error = nbam::metrics::root_mean_squared_error(&mean, &truth).unwrap();
    let found =
        average_precision(&model.training().unwrap().contamination, &corrupted.is_contaminated).unwrap();
    assert!(error < 0.1 && found > 0.95, "off by {error}, AP {found}");
}

/// One row in five lies on the wrong side of the border, and no label is wrong: a model that is certain of its classes would
/// call all of these wrong.
#[test]
fn classes_that_overlap_are_not_wrong_labels() {
    let (x, y) = normal_points(5000, 4, 43, |point, random| {
        usize::from(random.random::<f32>() < 1.0 / (1.0 + (-2.3 * point[0]).exp()))
    });
    let features = Features::new(&x, 4).unwrap();
    let model = Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &y).unwrap();
    let contamination = &model.training().unwrap().contamination;
    let rate = contamination.iter().sum::<f64>() / 5000.0;
    let codes: Vec<&str> = model.warnings().iter().map(|warning| warning.code.as_str()).collect();
    assert!(rate < 0.08 && codes == ["unclear_borders"], "rate {rate}, {codes:?}");
}

/// Labels that were mistaken where classes are alike: how many there are cannot be told from classes that overlap, but which are the most suspicious
/// can. The labels of three classes depend on the direction of a point.
#[test]
fn errors_near_borders_come_first_though_nothing_is_said_of_their_share() {
    let scores = |point: &[f32]| [point[0], point[1] - 0.3 * point[2], -point[0] - point[1]];
    let (x, y) = normal_points(3000, 4, 49, |point, _| {
        let scores = scores(point);
        (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
    });
    let probabilities: Vec<f64> = x
        .chunks_exact(4)
        .flat_map(|point| {
            let odds = scores(point).map(|score| f64::from(2.0 * score).exp());
            odds.map(|value| value / odds.iter().sum::<f64>())
        })
        .collect();
    let noise = boundary_rates(&probabilities, &y, 3, 0.15).unwrap();
    let corrupted =
        input_dependent(&y, 3, &noise.rates, Destination::Labels(&noise.destinations), 50).unwrap();
    let features = Features::new(&x, 4).unwrap();
    let model = Classifier::params().hidden(&[64, 64]).members(1).fit(&features, &corrupted.targets).unwrap();
    let contamination = &model.training().unwrap().contamination;
    let found = average_precision(contamination, &corrupted.is_contaminated).unwrap();
    let right = accuracy(&model.predict(&features).unwrap(), &y).unwrap();
    let rate = contamination.iter().sum::<f64>() / 3000.0;
    let codes: Vec<&str> = model.warnings().iter().map(|warning| warning.code.as_str()).collect();
    assert!(found > 0.93 && right > 0.95 && rate < 0.02, "AP {found}, accuracy {right}, rate {rate}");
    assert_eq!(codes, ["unclear_borders"]);
    // What its guesses are is kept with the model, in a format that says so.
    let bytes = Model::Classifier(model.clone()).to_bytes().unwrap();
    assert!(bytes.description.contains("\"format\": 3"));
    let Model::Classifier(loaded) = Model::from_bytes(&bytes).unwrap() else { panic!("a classifier") };
    let posterior = |model: &Classifier| model.contamination(&features, &corrupted.targets).unwrap();
    assert_eq!(posterior(&loaded), posterior(&model));
}

/// Where features say nothing about the labels, any share of wrong ones explains them: that share must not be reported without a word. With
/// labels that features do tell, a tenth of them wrong, there is nothing to say.
#[test]
fn features_without_a_signal_are_warned_of() {
    let codes = |class: fn(&[f32], &mut ChaCha8Rng) -> usize| {
        let (x, y) = normal_points(2000, 4, 44, class);
        let features = Features::new(&x, 4).unwrap();
        let model = Classifier::params().hidden(&[32]).epochs(40).members(1).fit(&features, &y).unwrap();
        model.warnings().iter().map(|warning| warning.code.clone()).collect::<Vec<_>>()
    };
    let blind = codes(|_, random| usize::from(random.random::<f32>() < 0.5));
    assert_eq!(blind, ["no_signal"]);
    let seeing = codes(|point, random| usize::from((point[0] > 0.0) == (random.random::<f32>() < 0.9)));
    assert!(!seeing.contains(&"no_signal".into()), "{seeing:?}");
}

/// A plain loss has no branch for a wrong label, so that a row known to be wrong must not be learned from.
#[test]
fn a_plain_loss_does_not_learn_rows_known_to_be_wrong() {
    let (x, y) = clusters(600, 8);
    let features = Features::new(&x, 12).unwrap();
    // Two of three labels of the first class are the second's, and known to be wrong.
    let flipped = |row: usize| !row.is_multiple_of(30) && y[row] == 0;
    let labels: Vec<usize> = (0..600).map(|row| if flipped(row) { 1 } else { y[row] }).collect();
    let known: Vec<Known> =
        (0..600).map(|row| if flipped(row) { Known::Contaminated } else { Known::Unknown }).collect();
    let plain = LabelModel::Plain { loss: RobustLoss::CrossEntropy };
    let right = |known: Option<&[Known]>| {
        let rows = LabelledRows { features, labels: &labels, weights: None, known };
        let params = Classifier::params().label_model(plain);
        let params = params.members(1).epochs(60).weight_prior(0.1).check().unwrap();
        accuracy(&params.fit_rows(&rows, &Silent).unwrap().predict(&features).unwrap(), &y).unwrap()
    };
    let (misled, told) = (right(None), right(Some(&known)));
    assert!(told > 0.95 && misled < 0.92, "misled {misled}, told {told}");
}

/// Nine in ten labels of one class are wrong: hopeless without help, and few verified rows are help enough.
#[test]
fn verified_rows_teach_more_than_their_number() {
    let (x, y) = clusters(4000, 22);
    let features = Features::new(&x, 12).unwrap();
    let corrupted = pair_flips(&y, 10, &[PairFlip { from: 2, to: 0, rate: 0.9 }], 23).unwrap();
    let known: Vec<Known> = (0..4000)
        .map(|row| match (row % 10 == 2 && row % 100 < 10, corrupted.is_contaminated[row]) {
            (false, _) => Known::Unknown,
            (true, true) => Known::Contaminated,
            (true, false) => Known::Clean,
        })
        .collect();
    let right = |known: Option<&[Known]>| {
        let rows = LabelledRows { features, labels: &corrupted.targets, weights: None, known };
        let params = Classifier::params().members(1).weight_prior(0.18).check().unwrap();
        let model = params.fit_rows(&rows, &Silent).unwrap();
        accuracy(&model.predict(&features).unwrap(), &y).unwrap()
    };
    let (alone, helped) = (right(None), right(Some(&known)));
    assert!(helped > 0.95 && helped >= alone, "alone {alone}, helped {helped}");
}

#[test]
fn gross_errors_of_any_size_are_found() {
    let data = example(3000, 11);
    let features = Features::new(&data.x, 1).unwrap();
    let clean: Vec<f64> =
        data.x.iter().map(|&x| 1e4 + 300.0 * signal(f64::from(x)) + f64::from(x.fract()) * 20.0).collect();
    for error in [
        GrossError::Sentinel { value: -999.0 },
        GrossError::Unit { factor: 1000.0 },
        GrossError::ShiftInSd { multiple: 5.0 },
    ] {
        let corrupted = values(&clean, 0.1, error, 12).unwrap();
        let params = Regressor::params().members(1).weight_prior(0.1).epochs(150);
        let model = params.fit(&features, &corrupted.targets).unwrap();
        let posterior = model.training().unwrap();
        let precision = average_precision(&posterior.contamination, &corrupted.is_contaminated).unwrap();
        assert!(precision > 0.99, "{error:?}: {precision}");
        let mean = posterior.contamination.iter().sum::<f64>() / 3000.0;
        assert!((mean - corrupted.rate()).abs() < 0.02, "{error:?}: {mean}");
    }
}

/// A small network starts from a random function, which may contradict all labels: believing it would rename the classes.
#[test]
fn classes_keep_their_names_whatever_the_start() {
    let x: Vec<f32> = (0..400)
        .map(|i| (if (i / 2) % 2 == 0 { -1.0 } else { 1.0 }) + ((i * 37) % 11) as f32 / 11.0 - 0.5)
        .collect();
    let y: Vec<usize> = (0..200).map(|row| row % 2).collect();
    let features = Features::new(&x, 2).unwrap();
    for seed in 0..12 {
        let params = Classifier::params().members(1).hidden(&[16]).weight_prior(0.1).epochs(300).seed(seed);
        let model = params.fit(&features, &y).unwrap();
        let right = accuracy(&model.predict(&features).unwrap(), &y).unwrap();
        assert!(right > 0.95, "seed {seed}: accuracy {right}");
    }
}

/// For both label models with an anomaly of their own, and averaged over members: a distribution, and for one member the one
/// that the posterior is made of.
#[test]
fn the_anomaly_is_a_distribution_over_labels() {
    let (x, labels) = clusters(300, 5);
    let features = Features::new(&x, 12).unwrap();
    let given = symmetric(&labels, 10, 0.3, 1).unwrap().targets;
    for preset in [Preset::Default, Preset::Paper] {
        for members in [1, 2] {
            let params =
                Params::<Classification>::preset(preset).hidden(&[16, 16]).epochs(10).members(members);
            let model = params.weight_prior(0.1).fit(&features, &given).unwrap();
            let anomaly = model.anomaly(&features).unwrap();
            assert_eq!(anomaly.len(), 300 * 10);
            assert!(anomaly.chunks_exact(10).all(|q| (q.iter().sum::<f64>() - 1.0).abs() < 1e-6));
            if members == 1 {
                let log_anomaly = model.posterior(&features, &given).unwrap().log_anomaly;
                let same = |row: usize| (anomaly[row * 10 + given[row]].ln() - log_anomaly[row]).abs() < 1e-9;
                assert!((0..300).all(same), "{preset:?}");
            }
        }
    }
}
