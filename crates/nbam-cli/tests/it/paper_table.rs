//! `nbam paper table`, `figures` and `sensitivity` on a made set: killed, continued, printed and drawn.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::paper::npz;
use crate::support::Place;

/// Ten clusters of 40 rows on a circle, and 10 rows of each for the test.
fn circle() -> Vec<u8> {
    let part = |rows: usize| {
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let angle = (row % 10) as f32 * std::f32::consts::TAU / 10.0;
            let wobble = |step: usize| ((row * step) % 41) as f32 / 41.0 - 0.5;
            features.extend([6.0 * angle.cos() + wobble(7), 6.0 * angle.sin() + wobble(11)]);
            labels.push((row % 10) as u8);
        }
        (features.into_iter().flat_map(|value: f32| value.to_le_bytes()).collect::<Vec<u8>>(), labels)
    };
    let ((x, y), (x_test, y_test)) = (part(400), part(100));
    npz(&[
        ("x_train", "<f4", "(400, 2)", x),
        ("y_train", "|u1", "(400,)", y),
        ("x_test", "<f4", "(100, 2)", x_test),
        ("y_test", "|u1", "(100,)", y_test),
    ])
}

const RESULTS: &str = "results/table.jsonl";

fn table<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["paper", "table", "--data", "circle.npz"], more].concat()
}

/// The last line of `--list`: done and missing.
fn state(place: &Place, more: &[&str]) -> (usize, usize) {
    let run = place.run_well(&table(&[more, &["--list"]].concat()));
    let last: Vec<String> =
        run.stdout.lines().last().unwrap().split_whitespace().map(str::to_owned).collect();
    (last[1].parse().unwrap(), last[2].parse().unwrap())
}

#[test]
fn a_killed_table_loses_only_the_runs_in_flight() {
    let place = Place::with("circle.npz", circle());
    let part = ["--methods", "ce,nbam", "--epochs", "40", "--seeds", "2", "--threads", "2"];
    let mut child = place.command(&table(&part)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let path = place.path(RESULTS);
    let lines = || std::fs::read_to_string(&path).map_or(0, |text| text.matches('\n').count());
    let start = Instant::now();
    while lines() < 5 {
        assert!(start.elapsed() < Duration::from_secs(120), "no five runs in two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL: nothing can be put in order first.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success(), "it ended before it was killed");
    let before = place.read(RESULTS);
    let whole: Vec<&str> = before.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    assert!(whole.len() >= 5 && whole.len() < 48, "{}", whole.len());
    assert_eq!(state(&place, &part), (whole.len(), 48 - whole.len()));

    let second = place.run_well(&table(&part));
    let left = 48 - whole.len();
    assert!(second.stderr.contains(&format!("{left} of {left}")), "{second}");
    let after = place.read(RESULTS);
    assert!(after.starts_with(&whole.concat()) && after.lines().count() == 48);
    assert_eq!(state(&place, &part), (48, 0));
    // All cells of the first seed come before any of the second, but for the two that run beside each other.
    let seeds: Vec<bool> = after.lines().map(|line| line.contains("\"seed\":102,")).collect();
    assert!(seeds[..22].iter().all(|is_second| !is_second) && seeds[26..].iter().all(|is_second| *is_second));

    // Other settings are other runs.
    assert_eq!(state(&place, &["--methods", "ce", "--epochs", "41", "--seeds", "2"]), (0, 24));
    let printed = place.run_well(&["paper", "table", "--print", "--epochs", "40", "--seeds", "2"]);
    assert_eq!(printed.stdout, second.stdout);
    assert!(printed.stdout.contains("| asymmetric-0.4 | nbam | 2 |"), "{printed}");
    let fewer = place.run_well(&["paper", "table", "--print", "--epochs", "40"]);
    assert!(fewer.stdout.contains("(2 of 5)"), "{fewer}");

    // And the figures, with no training.
    let figures = place.run_well(&["paper", "figures", "--epochs", "40", "--seeds", "2", "--out", "drawn"]);
    assert!(figures.stderr.contains("drawn/figures.html"), "{figures}");
    for name in ["accuracy", "prior-nbam", "anomaly-nbam", "posterior-nbam"] {
        let picture = place.read(&format!("drawn/{name}.svg"));
        assert!(
            picture.starts_with("<svg") && !picture.contains("NaN") && !picture.contains("inf"),
            "{name}"
        );
    }
    assert_eq!(place.read("drawn/figures.html").matches("<figure").count(), 4);
}

#[test]
fn one_cell_makes_a_table_and_figures() {
    let place = Place::with("circle.npz", circle());
    let part = ["--only", "asymmetric-0.4", "--epochs", "30", "--seeds", "1"];
    let run = place.run_well(&table(&part));
    assert!(run.stderr.contains("6 of 6"), "{run}");
    assert!(!run.stdout.contains("test accuracy, symmetric"), "{run}");
    assert!(run.stdout.contains("| 0.4 | ours | "), "{run}");
    // The paper's numbers are of CIFAR-10.
    assert!(!run.stdout.contains("| paper |"), "{run}");
    let figures = place.run_well(&["paper", "figures", "--epochs", "30", "--seeds", "1"]);
    assert!(figures.stderr.contains("prior-default"), "{figures}");
    assert!(place.read("results/figures/posterior-nbam.svg").contains("no runs yet"));
    assert!(place.read("results/figures/accuracy.svg").contains("no runs yet"));
}

#[test]
fn a_sweep_goes_along_its_axes() {
    let place = Place::with("circle.npz", circle());
    let part = ["--axes", "batch,epochs", "--rates", "0.2,0.6", "--seeds", "1", "--epochs", "8"];
    let sweep = [&["paper", "sensitivity", "--data", "circle.npz"], &part[..]].concat();
    let run = place.run_well(&sweep);
    // Seven settings, two rates, five methods.
    assert!(run.stderr.contains("70 of 70"), "{run}");
    for row in ["| 128 | 0.2 |", "| 1024 | 0.6 |", "| 2 | 0.2 |", "| 16 | 0.6 |"] {
        assert!(run.stdout.contains(row), "{row}: {run}");
    }
    assert!(
        run.stdout.contains("The rate from which nbam is ahead of ce, student-t and huber, by batch: 128:"),
        "{run}"
    );
    assert!(place.run_well(&sweep).stderr.is_empty());
    let printed = place.run_well(&[&["paper", "sensitivity", "--print"], &part[..]].concat());
    assert_eq!(printed.stdout, run.stdout);
}

#[test]
fn faults_are_named() {
    let place = Place::with("circle.npz", circle());
    let refusal = place.refusal(&table(&["--methods", "magic"]));
    assert!(refusal.contains("the methods are ce, student-t, huber, gce, nbam, default"), "{refusal}");
    let refusal = place.refusal(&table(&["--only", "pairs"]));
    assert!(refusal.contains("no cell fits --only pairs"), "{refusal}");
    let refusal = place.refusal(&["paper", "table"]);
    assert!(refusal.contains("--data"), "{refusal}");
    let refusal = place.refusal(&["paper", "table", "--data", "."]);
    assert!(refusal.contains("holds neither data_batch_1.bin"), "{refusal}");
    let refusal = place.refusal(&["paper", "figures"]);
    assert!(refusal.contains("no runs of the present settings"), "{refusal}");
    let refusal = place.refusal(&["paper", "sensitivity", "--data", "circle.npz", "--axes", "depth"]);
    assert!(refusal.contains("give learning-rate, width, epochs or batch"), "{refusal}");
}

#[test]
fn the_example_is_fitted_judged_and_drawn() {
    let place = Place::new();
    let run =
        place.run_well(&["paper", "synthetic", "--steps", "400", "--batch", "128", "--out", "figure.svg"]);
    assert_eq!(run.stdout.matches("| met |").count() + run.stdout.matches("**MISSED**").count(), 4, "{run}");
    assert!(place.read("figure.svg").starts_with("<svg"));
    let json =
        place.run_well(&["paper", "synthetic", "--steps", "400", "--batch", "128", "--json", "--quiet"]);
    let summary: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let ceiling = summary["expected_best_accuracy"].as_f64().unwrap();
    let accuracy = summary["posterior_accuracy"].as_f64().unwrap();
    // A fiftieth of the steps need not find much, but nothing beats the ceiling by more than chance.
    assert!(accuracy > 0.7 && accuracy < ceiling + 0.003, "{json}");
    assert_eq!(summary["goals"].as_array().unwrap().len(), 4);
}
