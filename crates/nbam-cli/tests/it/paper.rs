//! `nbam paper identify`: a tiny experiment from data to table, stopped and continued.

use std::io::Write as _;

use crate::support::Place;

/// Three clusters with labels 0 to 2, as an NPZ file; `first` is added to the first feature of the first row.
fn clusters(first: f32) -> Vec<u8> {
    let rows = 90;
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let class = row % 3;
        let wobble = |step: usize| ((row * step) % 41) as f32 / 41.0 - 0.5;
        features.extend([[-4.0, 4.0, 0.0][class] + wobble(7), [0.0, 0.0, 6.0][class] + wobble(11)]);
        labels.push(class as u8);
    }
    features[0] += first;
    let bytes: Vec<u8> = features.iter().flat_map(|value: &f32| value.to_le_bytes()).collect();
    npz(&[("x_train", "<f4", "(90, 2)", bytes), ("y_train", "|u1", "(90,)", labels)])
}

pub(crate) fn npz(arrays: &[(&str, &str, &str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, kind, shape, data) in arrays {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        archive.write_all(data).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("sets")).unwrap();
    place.write("sets/made.npz", clusters(0.0));
    place
}

const IDENTIFY: [&str; 8] =
    ["paper", "identify", "--data", "sets", "--only", "made/symmetric*", "--first-seed", "1"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&IDENTIFY[..], &["--seeds", "2"], more].concat()
}

fn with_one_seed<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&IDENTIFY[..], &["--seeds", "1"], more].concat()
}

const RESULTS: &str = "results/identify.jsonl";

#[test]
fn a_torn_run_is_done_again_and_the_others_are_kept() {
    let place = place();
    let first = place.run_well(&with(&["--methods", "ce,gce"]));
    assert!(first.stderr.contains("4 of 4"), "{first}");
    assert!(first.stdout.contains("| symmetric-0.2 | ce | 2 | 1.000 |"), "{first}");
    assert!(first.stdout.contains("runs missing"), "{first}");

    // Killed while the last line was written.
    let text = place.read(RESULTS);
    place.write(RESULTS, &text[..text.len() - 40]);
    let torn: Vec<&str> = text.lines().take(3).collect();
    let list = place.run_well(&with(&["--methods", "ce,gce", "--list"]));
    assert!(list.stdout.lines().last().unwrap().split_whitespace().eq(["all", "3", "1", "4"]), "{list}");
    let second = place.run_well(&with(&["--methods", "ce,gce"]));
    assert!(second.stderr.contains("1 of 1"), "{second}");
    let mended = place.read(RESULTS);
    assert_eq!(mended.lines().count(), 4);
    assert!(torn.iter().all(|line| mended.lines().any(|other| other == *line)));
    // The same means again. Times differ, and so does nothing else.
    let without_times = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.rsplit_once("| ").map_or(line, |(start, _)| start).to_owned()).collect()
    };
    assert_eq!(without_times(&second.stdout), without_times(&first.stdout));
    assert!(place.run_well(&with(&["--methods", "ce,gce"])).stderr.is_empty());
}

#[test]
fn changed_settings_and_data_are_left_out_of_the_table() {
    let place = place();
    place.run_well(&with_one_seed(&["--methods", "ce"]));
    let text = place.read(RESULTS);
    let changed =
        text.replace("\"batch_size\":512", "\"batch_size\":256").replace("\"seed\":1,", "\"seed\":2,");
    assert_ne!(changed, text);
    place.write(RESULTS, format!("{changed}{text}"));
    let table = place.run_well(&["paper", "identify", "--table", "--seeds", "2", "--first-seed", "1"]);
    assert!(table.stdout.contains("| symmetric-0.2 | ce | 1 of 2 |"), "{table}");
    assert!(table.stdout.contains("1 runs of other settings, versions or data were left out."), "{table}");
    // Other data under the same name is another run.
    place.write("sets/made.npz", clusters(0.25));
    let list = place.run_well(&with(&["--methods", "ce", "--list"]));
    assert!(list.stdout.lines().last().unwrap().split_whitespace().eq(["all", "0", "2", "4"]), "{list}");
}

#[test]
fn exported_rows_come_with_their_orders() {
    let place = place();
    place.run_well(&with_one_seed(&["--methods", "oos", "--export", "peers"]));
    let names: Vec<String> = std::fs::read_dir(place.path("peers"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let order = names.iter().find(|name| name.ends_with(".json")).unwrap();
    let order: serde_json::Value = serde_json::from_str(&place.read(&format!("peers/{order}"))).unwrap();
    assert_eq!(order["runs"][0]["method"], "cleanlab");
    let arrays = order["arrays"][0].as_str().unwrap();
    assert!(names.iter().any(|name| name == arrays));
    // Without its files the run is not done.
    std::fs::remove_dir_all(place.path("peers")).unwrap();
    let list = place.run_well(&with_one_seed(&["--methods", "oos", "--export", "peers", "--list"]));
    assert!(list.stdout.lines().last().unwrap().split_whitespace().eq(["all", "0", "1", "2"]), "{list}");
}

#[test]
fn faults_are_named() {
    let place = place();
    let refusal = place.refusal(&["paper", "identify", "--data", "sets", "--methods", "magic"]);
    assert!(refusal.contains("there is no method named 'magic'"), "{refusal}");
    let refusal = place.refusal(&["paper", "identify", "--data", "sets", "--only", "mnist"]);
    assert!(refusal.contains("no cell fits --only mnist"), "{refusal}");
    let refusal = place.refusal(&["paper", "identify", "--data", "nowhere"]);
    assert!(refusal.contains("nowhere: cannot be read"), "{refusal}");
    let refusal = place.refusal(&["paper", "identify"]);
    assert!(refusal.contains("--data"), "{refusal}");
}
