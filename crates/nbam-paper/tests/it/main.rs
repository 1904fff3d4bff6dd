//! The tables from small fixed results files.

mod table;

use nbam_paper::identify::{EXPERIMENT, Method, Seeds, render};
use nbam_paper::noise::{Noise, NoiseKind};
use nbam_paper::results::{Identity, Measures, Record, read_results};
use nbam_paper::{LABELS_VERSION, VALUES_VERSION};

fn record(data: &str, noise: Noise, method: Method, seed: u64, measures: Measures) -> Record {
    let run = Identity {
        experiment: EXPERIMENT.into(),
        data: data.into(),
        fingerprint: "00".into(),
        noise,
        verified: 0.0,
        seed,
        method: method.name().into(),
        settings: method.settings(!noise.is_for_numbers()).unwrap(),
        version: if noise.is_for_numbers() { VALUES_VERSION } else { LABELS_VERSION },
    };
    Record { run, measures, failure: None }
}

fn labels(accuracy: f64, ap: f64) -> Measures {
    Measures {
        accuracy: Some(accuracy),
        measured_on: Some("test".into()),
        auroc: Some(0.9),
        ap: Some(ap),
        ece: Some(0.02),
        brier: Some(0.01),
        mean_posterior: Some(0.21),
        true_rate: Some(0.2),
        recall: Some(0.8),
        realised_fdr: Some(0.04),
        seconds: 1.5,
        threads: 1,
        ..Measures::default()
    }
}

fn records() -> Vec<Record> {
    let symmetric = Noise::new(NoiseKind::Symmetric, 0.2);
    let wide = Noise::new(NoiseKind::Wide, 0.05);
    let mut records = Vec::new();
    for seed in [1, 2] {
        let shift = 0.02 * (seed - 1) as f64;
        let warned = Measures { warnings: vec!["few_rows".into()], ..labels(0.9 + shift, 0.95) };
        records.push(record("cifar10", symmetric, Method::Default, seed, warned));
        for method in [Method::CrossEntropy, Method::StudentT, Method::Huber, Method::Gce] {
            records.push(record("cifar10", symmetric, method, seed, labels(0.89, 0.96)));
        }
        for method in [Method::Cleanlab, Method::CleanlabMargin] {
            let measures = Measures { accuracy: None, ..labels(0.0, 0.9) };
            records.push(record("cifar10", symmetric, method, seed, measures));
        }
        let values = Measures { accuracy: None, rmse: Some(0.3), ..labels(0.0, 0.99) };
        records.push(record("diabetes", wide, Method::Default, seed, values.clone()));
        if seed == 1 {
            records.push(record(
                "diabetes",
                wide,
                Method::Ransac,
                seed,
                Measures { rmse: Some(0.25), ..values },
            ));
        }
    }
    records
}

const SEEDS: Seeds = Seeds { first: 1, count: Some(2) };

#[test]
fn means_and_goals() {
    insta::assert_snapshot!(render(&records(), SEEDS).unwrap());
}

#[test]
fn the_file_gives_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let lines: Vec<String> =
        records().iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    std::fs::write(&path, lines.concat()).unwrap();
    let read = read_results(&path).unwrap();
    assert_eq!(read, records());
    assert_eq!(render(&read, SEEDS).unwrap(), render(&records(), SEEDS).unwrap());
}

#[test]
fn settings_versions_and_data_never_mix() {
    let plain = render(&records(), SEEDS).unwrap();
    let spoiled = |spoil: &dyn Fn(&mut Identity)| {
        let mut all = records();
        let mut others: Vec<Record> = all
            .iter()
            .cloned()
            .map(|mut record| {
                spoil(&mut record.run);
                record.measures.accuracy = Some(0.1);
                record
            })
            .collect();
        others.append(&mut all);
        render(&others, SEEDS).unwrap()
    };
    let count = records().len();
    let expected = format!("{plain}{count} runs of other settings, versions or data were left out.\n");
    assert_eq!(spoiled(&|run| run.version += 1), expected);
    assert_eq!(spoiled(&|run| run.fingerprint = "01".into()), expected);
    assert_eq!(spoiled(&|run| run.settings = serde_json::json!({"epochs": 3})), expected);
    // A run that was done twice counts once, the later one.
    assert_eq!(spoiled(&|_| {}), plain);
    // Seeds that were not asked for are no fault of anybody's.
    assert_eq!(spoiled(&|run| run.seed += 50), plain);
}
