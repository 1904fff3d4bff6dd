//! Each loss against finite differences and the identities that tie it to the others; the loop against the library.

use nbam::density::categorical::log_softmax;
use nbam::loss::RobustLoss;
use nbam::net::Scaler;
use nbam::{Classification, Features, LabelModel, LabelledRows, Params, Preset, Silent};
use proptest::prelude::*;

use super::bootstrap_hard::HardBootstrap;
use super::bootstrap_soft::SoftBootstrap;
use super::confident_learning::Weighted;
use super::early_learning::EarlyLearning;
use super::forward::Forward;
use super::network::{Task, fit};
use super::normalised::Normalised;
use super::row_loss::{Row, RowLoss};
use super::symmetric::{Symmetric, ZERO};

/// Value and gradient of a loss at these logits.
fn at(loss: &mut dyn RowLoss, logits: &[f64], label: usize) -> (f64, Vec<f64>) {
    let high = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = high + logits.iter().map(|z| (z - high).exp()).sum::<f64>().ln();
    let log_p: Vec<f64> = logits.iter().map(|z| z - log_sum).collect();
    let p: Vec<f64> = log_p.iter().map(|log_p| log_p.exp()).collect();
    let mut gradient = vec![f64::NAN; logits.len()];
    let value = loss.row(&Row { index: 0, label, log_p: &log_p, p: &p }, &mut gradient);
    (value, gradient)
}

/// ELR with the target that it has, which counts as given in the gradient.
struct Frozen(EarlyLearning);

impl RowLoss for Frozen {
    fn row(&mut self, row: &Row<'_>, gradient: &mut [f64]) -> f64 {
        self.0.loss(row, gradient)
    }
}

/// A matrix whose rows are distributions, from positive numbers; its logarithm, row after row.
fn log_transition(classes: usize, draws: &[f64]) -> Vec<f64> {
    let rows =
        (0..classes).map(|row| (0..classes).map(move |column| draws[(row * classes + column) % draws.len()]));
    rows.flat_map(|row| {
        let row: Vec<f64> = row.collect();
        let total: f64 = row.iter().sum();
        row.into_iter().map(move |value| (value / total).ln())
    })
    .collect()
}

fn losses(classes: usize, draws: &[f64]) -> Vec<(&'static str, Box<dyn RowLoss>)> {
    let mut early = EarlyLearning::new(3.0, 0.7, 1, classes);
    // Two looks at other logits give the row a target of its own.
    for shift in [0, 1] {
        let logits: Vec<f64> = (0..classes).map(|class| draws[(class + shift) % draws.len()]).collect();
        at(&mut early, &logits, 0);
    }
    let weights = (0..classes).map(|class| draws[class % draws.len()]).collect();
    vec![
        ("gce", Box::new(RobustLoss::PAPER[3])),
        ("forward", Box::new(Forward::new(log_transition(classes, draws), classes))),
        ("bootstrap-soft", Box::new(SoftBootstrap { beta: 0.95 })),
        ("bootstrap-hard", Box::new(HardBootstrap { beta: 0.8 })),
        ("sce", Box::new(Symmetric { alpha: 0.1, beta: 1.0 })),
        ("nce-rce", Box::new(Normalised { alpha: 1.0, beta: 1.0 })),
        ("elr", Box::new(Frozen(early))),
        ("weighted", Box::new(Weighted { weights })),
    ]
}

#[track_caller]
fn assert_same(got: &(f64, Vec<f64>), expected: &(f64, Vec<f64>), name: &str) {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(close(got.0, expected.0), "{name}: {} {}", got.0, expected.0);
    assert!(
        got.1.iter().zip(&expected.1).all(|(a, b)| close(*a, *b)),
        "{name}: {:?} {:?}",
        got.1,
        expected.1
    );
}

proptest! {
    #[test]
    fn gradients_match_finite_differences(
        logits in prop::collection::vec(-6.0..6.0_f64, 2..7),
        draws in prop::collection::vec(0.05..2.0_f64, 37),
        pick in any::<prop::sample::Index>(),
    ) {
        let label = pick.index(logits.len());
        let mut sorted = logits.clone();
        sorted.sort_by(f64::total_cmp);
        let lead = sorted[sorted.len() - 1] - sorted[sorted.len() - 2];
        for (name, mut loss) in losses(logits.len(), &draws) {
            // Where two classes are equally probable, hard bootstrapping jumps from one to the other.
            if name == "bootstrap-hard" && lead < 1e-3 {
                continue;
            }
            let (_, gradient) = at(loss.as_mut(), &logits, label);
            // Adding a number to all logits changes nothing.
            prop_assert!(gradient.iter().sum::<f64>().abs() < 1e-11, "{name}: {gradient:?}");
            for class in 0..logits.len() {
                let step = 1e-5;
                let mut moved = |by: f64| {
                    let mut logits = logits.clone();
                    logits[class] += by;
                    at(loss.as_mut(), &logits, label).0
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                let error = (gradient[class] - difference).abs();
                prop_assert!(error < 1e-7 * difference.abs().max(1.0), "{name}, {class}: {} {difference}", gradient[class]);
            }
        }
    }

    #[test]
    fn every_loss_is_cross_entropy_where_it_should_be(
        logits in prop::collection::vec(-30.0..30.0_f64, 2..7),
        pick in any::<prop::sample::Index>(),
    ) {
        let (classes, label) = (logits.len(), pick.index(logits.len()));
        let expected = at(&mut RobustLoss::CrossEntropy, &logits, label);
        // The library's own cross-entropy is the oracle of ours.
        let mut gradient = vec![0.0; classes];
        let value = nbam::loss::cross_entropy(&logits, label, &mut gradient).unwrap();
        assert_same(&expected, &(value, gradient), "cross-entropy");

        let identity = |class: usize| (0..classes).map(move |other| if other == class { 0.0 } else { f64::NEG_INFINITY });
        let mut forward = Forward::new((0..classes).flat_map(identity).collect(), classes);
        let same: [(&str, &mut dyn RowLoss); 6] = [
            ("forward with T = 1", &mut forward),
            ("soft bootstrapping with beta = 1", &mut SoftBootstrap { beta: 1.0 }),
            ("hard bootstrapping with beta = 1", &mut HardBootstrap { beta: 1.0 }),
            ("SCE with alpha = 1, beta = 0", &mut Symmetric { alpha: 1.0, beta: 0.0 }),
            ("ELR with lambda = 0", &mut EarlyLearning::new(0.0, 0.7, 1, classes)),
            ("weights of 1", &mut Weighted { weights: vec![1.0; classes] }),
        ];
        for (name, loss) in same {
            assert_same(&at(loss, &logits, label), &expected, name);
        }
    }

    #[test]
    fn known_sums_and_limits(logits in prop::collection::vec(-10.0..10.0_f64, 2..7)) {
        let classes = logits.len();
        let over_labels = |loss: &mut dyn RowLoss| -> f64 { (0..classes).map(|label| at(loss, &logits, label).0).sum() };
        // The normalised loss sums to one over the labels, the reverse cross-entropy to -A (K - 1): both are symmetric.
        let normalised = over_labels(&mut Normalised { alpha: 1.0, beta: 0.0 });
        prop_assert!((normalised - 1.0).abs() < 1e-12, "{normalised}");
        let reverse = over_labels(&mut Symmetric { alpha: 0.0, beta: 1.0 });
        prop_assert!((reverse + ZERO.ln() * (classes as f64 - 1.0)).abs() < 1e-9, "{reverse}");
        // Bootstrapping without labels is entropy, or the surprise of the most probable class, whatever the label.
        let soft = at(&mut SoftBootstrap { beta: 0.0 }, &logits, 0);
        assert_same(&soft, &at(&mut SoftBootstrap { beta: 0.0 }, &logits, 1), "entropy");
        prop_assert!(soft.0 >= 0.0 && soft.0 <= (classes as f64).ln() + 1e-12);
        let hard = at(&mut HardBootstrap { beta: 0.0 }, &logits, 0).0;
        let best = (0..classes).map(|label| at(&mut RobustLoss::CrossEntropy, &logits, label).0).fold(f64::INFINITY, f64::min);
        prop_assert!((hard - best).abs() < 1e-12);
        // A channel that forgets the class leaves nothing to learn.
        let uniform = vec![-(classes as f64).ln(); classes * classes];
        let (value, gradient) = at(&mut Forward::new(uniform, classes), &logits, 0);
        prop_assert!((value - (classes as f64).ln()).abs() < 1e-12);
        prop_assert!(gradient.iter().all(|slope| slope.abs() < 1e-12));
    }
}

/// Rows of three clusters, a third of each.
fn clusters() -> (Vec<f32>, Vec<usize>) {
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for row in 0..600 {
        let wobble = |step: usize| ((row * step) % 41) as f32 / 41.0 - 0.5;
        features.extend([[-1.0, 1.0, 0.0][row % 3] + wobble(7), [0.0, 0.0, 1.5][row % 3] + wobble(11)]);
        labels.push(if row % 10 == 0 { (row + 1) % 3 } else { row % 3 });
    }
    (features, labels)
}

#[test]
fn the_loop_trains_the_librarys_network() {
    let (values, labels) = clusters();
    let features = Features::new(&values, 2).unwrap();
    let (epochs, seed) = (5, 3);
    let task = Task {
        features,
        labels: &labels,
        classes: 3,
        test: features,
        epochs,
        seed,
        wrong_share: 0.1,
        monitor: &Silent,
        scaler: Scaler::fit(&features, None, &Task::SCALING).unwrap(),
    };
    for loss in RobustLoss::PAPER {
        let network = fit(&task, &task.all_rows(), epochs, &mut { loss }).unwrap();
        let ours = task.log_probabilities(&network, &features, &task.all_rows());
        let params = Params::<Classification>::preset(Preset::Paper).label_model(LabelModel::Plain { loss });
        let rows = LabelledRows { features, labels: &labels, weights: None, known: None };
        let model =
            params.epochs(epochs).seed(seed).threads(1).check().unwrap().fit_rows(&rows, &Silent).unwrap();
        let theirs = model.predict_proba(&features).unwrap();
        // Only the rounding of softmax and of the sums over a batch differs.
        let largest = ours.iter().zip(&theirs).map(|(a, b)| (a.exp() - b).abs()).fold(0.0, f64::max);
        assert!(largest < 2e-3, "{loss}: {largest}");
    }
}

#[test]
fn known_values() {
    // Probabilities of one quarter and three quarters; the label is the less probable class.
    let logits = [0.0, 3.0_f64.ln()];
    let (own, other, log_zero) = (4.0_f64.ln(), (4.0_f64 / 3.0).ln(), -(1e4_f64.ln()));
    let entropy = 0.25 * own + 0.75 * other;
    // Half of class 1 is labelled 0, all of class 0 is.
    let half = 0.5_f64.ln();
    let cases: [(&str, &mut dyn RowLoss, f64); 7] = [
        ("ce", &mut RobustLoss::CrossEntropy, own),
        (
            "forward",
            &mut Forward::new(vec![0.0, f64::NEG_INFINITY, half, half], 2),
            -(0.25 + 0.75 * 0.5_f64).ln(),
        ),
        ("bootstrap-soft", &mut SoftBootstrap { beta: 0.95 }, 0.95 * own + 0.05 * entropy),
        ("bootstrap-hard", &mut HardBootstrap { beta: 0.8 }, 0.8 * own + 0.2 * other),
        ("sce", &mut Symmetric { alpha: 0.1, beta: 1.0 }, 0.1 * own - 0.75 * log_zero),
        ("nce-rce", &mut Normalised { alpha: 1.0, beta: 1.0 }, own / (own + other) - 0.75 * log_zero),
        // At the first look t = 0.3 p, and <t, p> = 0.3 (1/16 + 9/16).
        ("elr", &mut EarlyLearning::new(3.0, 0.7, 1, 2), own + 3.0 * (1.0 - 0.1875_f64).ln()),
    ];
    for (name, loss, expected) in cases {
        let (value, _) = at(loss, &logits, 0);
        assert!((value - expected).abs() < 1e-12, "{name}: {value} {expected}");
    }
}

#[test]
fn rows_see_what_the_softmax_gives() {
    let logits = [1.5_f32, -0.25, 3.0];
    let mut log_p = [0.0; 3];
    log_softmax(&logits, &mut log_p);
    let wide: Vec<f64> = logits.iter().map(|&z| f64::from(z)).collect();
    let (value, _) = at(&mut RobustLoss::CrossEntropy, &wide, 1);
    assert!((value + log_p[1]).abs() < 1e-14);
}
