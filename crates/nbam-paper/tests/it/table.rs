//! The paper's table and figures from a small fixed results file.

use nbam_paper::LABELS_VERSION;
use nbam_paper::figures::draw;
use nbam_paper::noise::{Noise, NoiseKind};
use nbam_paper::results::{ByClass, Identity, Measures, Record};
use nbam_paper::study::{Method, PAPER_VERSION, Setting};
use nbam_paper::table::{EXPERIMENT, Selection, render};

const NOISE: Noise = Noise::new(NoiseKind::Asymmetric, 0.4);
const TWO: Selection = Selection { seeds: 2, first_seed: 1, epochs: None };

/// Heads that found the flips of truck, bird and cat, and not of deer.
fn by_class() -> ByClass {
    let mode = |class: usize| match class {
        9 => 1,
        2 => 0,
        3 => 5,
        _ => 8,
    };
    let row = |class| (0..10).map(|label| if label == mode(class) { 0.91 } else { 0.01 }).collect();
    ByClass {
        prior: (0..10).map(|class| 0.01 * f64::from(class)).collect(),
        anomaly: (0..10).map(row).collect(),
        clean: (0..40).map(|bin| 40 - bin).collect(),
        contaminated: (0..40).collect(),
    }
}

fn record(method: Method, seed: u64, accuracy: f64) -> Record {
    let run = Identity {
        experiment: EXPERIMENT.into(),
        data: "cifar10-lite0".into(),
        fingerprint: "00".into(),
        noise: NOISE,
        verified: 0.0,
        seed,
        method: method.name().into(),
        settings: method.settings(&Setting::PAPER).unwrap(),
        version: if method == Method::Default { LABELS_VERSION } else { PAPER_VERSION },
    };
    let measures = Measures {
        accuracy: Some(accuracy),
        auroc: Some(0.75),
        ap: Some(0.5),
        true_rate: Some(0.16),
        mean_posterior: method.has_posterior().then_some(0.12),
        by_class: method.has_posterior().then(by_class),
        ..Measures::default()
    };
    Record { run, measures, failure: None }
}

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for (seed, shift) in [(1, 0.0), (2, 0.02)] {
        for (method, accuracy) in [
            (Method::CrossEntropy, 0.75),
            (Method::StudentT, 0.76),
            (Method::Huber, 0.77),
            (Method::Gce, 0.80),
            (Method::Nbam, 0.81),
            (Method::Default, 0.885),
        ] {
            records.push(record(method, seed, accuracy + shift));
        }
    }
    records
}

#[test]
fn our_numbers_stand_above_the_papers() {
    let text = render(&records(), TWO).unwrap();
    for line in [
        "| 0.4 | ours | .760 ±.010 | .770 ±.010 | .780 ±.010 | .810 ±.010 | **.820 ±.010** | **.895 ±.010** |",
        "| | paper | .784 ±.006 | .793 ±.007 | .787 ±.012 | .802 ±.007 | **.814 ±.005** |  |",
        "| asymmetric-0.4 | gce | 2 | 0.750 | 0.500 | - | - | - | 0.160 |",
        "| asymmetric-0.4 | nbam | 2 | 0.750 | 0.500 | - | - | 0.120 | 0.160 |",
        "| nbam ahead of the four baselines | asymmetric-0.4 | 0.8200, gce 0.8100 | met |",
        "| default ahead of the paper's methods by 0.07 | asymmetric-0.4 | 0.8950, nbam 0.8200 | met |",
        "| default ahead of the paper's methods by 0.15 | asymmetric-0.5 | - | runs missing |",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(
        text.contains("3 of 4: 9 to 1 (flipped to 1), 2 to 0 (flipped to 0), 3 to 5 (flipped to 5), 4 to 8"),
        "{text}"
    );
    assert!(text.contains("(flipped to 7) | **MISSED** |"), "{text}");
}

#[test]
fn missing_seeds_are_said_and_decide_nothing() {
    let text = render(&records(), Selection { seeds: 3, ..TWO }).unwrap();
    assert!(text.contains("**.820 ±.010** (2 of 3)"), "{text}");
    assert!(text.contains("| 0.8200, gce 0.8100 | runs missing |"), "{text}");
    // One seed has no standard error.
    let one = render(&records()[..6], TWO).unwrap();
    assert!(one.contains("| 0.4 | ours | .750 (1 of 2) |"), "{one}");
}

#[test]
fn other_versions_settings_and_data_are_left_out() {
    let plain = render(&records(), TWO).unwrap();
    let spoiled = |spoil: &dyn Fn(&mut Identity)| {
        let spoil_one = |mut record: Record| {
            spoil(&mut record.run);
            record.measures.accuracy = Some(0.1);
            record
        };
        let mut all: Vec<Record> = records().into_iter().map(spoil_one).collect();
        all.extend(records());
        render(&all, TWO).unwrap()
    };
    let expected = format!("{plain}12 runs of other settings, versions or data were left out.\n");
    assert_eq!(spoiled(&|run| run.version += 1), expected);
    assert_eq!(spoiled(&|run| run.fingerprint = "01".into()), expected);
    assert_eq!(spoiled(&|run| run.settings = serde_json::json!({"epochs": 3})), expected);
    assert_eq!(spoiled(&|_| {}), plain);
    assert_eq!(spoiled(&|run| run.seed += 50), plain);
}

#[test]
fn figures_say_what_they_are_drawn_from() {
    let figures = draw(&records(), Selection { seeds: 3, ..TWO }).unwrap();
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "accuracy",
            "prior-nbam",
            "anomaly-nbam",
            "posterior-nbam",
            "prior-default",
            "anomaly-default",
            "posterior-default"
        ]
    );
    let anomaly = &figures[2];
    assert!(anomaly.caption.contains("2 of 3 seeds"), "{}", anomaly.caption);
    assert!(anomaly.caption.contains("in 3 of 4 flipped classes"), "{}", anomaly.caption);
    assert!(anomaly.svg.contains("automobile") && anomaly.svg.contains(".91*"), "{}", anomaly.svg);
    assert!(figures.iter().all(|figure| !figure.svg.contains("NaN") && !figure.svg.contains("inf")));
    assert_eq!(draw(&[], TWO).unwrap_err().hint(), Some("nbam paper table makes them"));
}
