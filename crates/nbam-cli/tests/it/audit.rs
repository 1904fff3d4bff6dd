//! `nbam audit`: files, words, gates.

use std::io::Read as _;
use std::process::Stdio;

use insta::assert_snapshot;
use nbam::Precision;
use serde_json::Value;

use crate::support::{Place, SHORT, animals, arguments, cells, column, line};

const AUDIT: [&str; 8] = ["audit", "animals.csv", "--target", "kind", "--exclude", "truth", "--id", "key"];

fn summary(place: &Place, folder: &str) -> Value {
    serde_json::from_str(&place.read(&format!("{folder}/summary.json"))).unwrap()
}

#[test]
fn an_audit_writes_four_things_and_says_what_to_do() {
    let place = Place::with("animals.csv", animals(300));
    let run = place.run_well(&arguments(&[&AUDIT, &SHORT]));
    // The numbers are the method's affair, and slow machines say how far they are.
    let filters = vec![
        (r"(?m)^(training:|trial fits,) .*\n", ""),
        (r"(?s)About 1.*? alarms?\.", "[HEADLINE]"),
        (r"(?m) +[0-9]+ █", "  [ROWS] █"),
    ];
    insta::with_settings!({ filters => filters }, {
        assert_snapshot!(run, @r"
        exit code: 0
        --- stdout
        --- stderr
        [HEADLINE]

        most frequent suspicions (probably → labelled as):
          ant → bee  [ROWS] ████████████████████████

          nbam-audit/report.html   start here: open it in a browser
          nbam-audit/rows.parquet  every row with its probability and suggestion
          nbam-audit/summary.json  the numbers, for programs
          nbam-audit/model         score new rows: nbam score FILE --model nbam-audit

        next: check the flagged rows, most suspicious first. Put what you find in a column (true = right,
              false = wrong, empty = not checked) and audit again with --verified to make use of it.
        ");
    });
    assert_eq!(place.names(), ["animals.csv", "nbam-audit"]);
    for file in ["rows.parquet", "report.html", "summary.json", "model/model.safetensors", "model/model.json"]
    {
        assert!(place.path("nbam-audit").join(file).is_file(), "{file}");
    }
    let summary = summary(&place, "nbam-audit");
    assert_eq!(summary["rows"], 300);
    assert_eq!(summary["transitions"][0]["from"], "ant");
    assert_eq!(summary["transitions"][0]["to"], "bee");
    assert_eq!(summary["settings"]["exclude"][0], "truth");
    assert!(summary["seconds"].as_f64().unwrap() >= summary["timing"]["fit"].as_f64().unwrap());
}

#[test]
fn the_rows_are_those_of_the_contract_and_the_flags_are_right() {
    let place = Place::with("animals.csv", animals(300));
    place.run_well(&arguments(&[&AUDIT, &SHORT, &["--rows", "csv"]]));
    let rows = place.read("nbam-audit/rows.csv");
    assert_eq!(
        rows.lines().next().unwrap(),
        "row,id,given_label,contamination,prior,log_clean,log_anomaly,is_flagged,predicted_label,suggested_label,\
         suggested_probability"
    );
    let input = animals(300);
    let (given, truth) = (column(&input, "kind"), column(&input, "truth"));
    let (flagged, suggested) = (column(&rows, "is_flagged"), column(&rows, "suggested_label"));
    assert_eq!(column(&rows, "id"), column(&input, "key"));
    assert_eq!(column(&rows, "given_label"), given);
    assert_eq!(column(&rows, "predicted_label"), truth);
    let is_flagged = |row: &usize| flagged[*row] == "true";
    let (wrong, right): (Vec<usize>, Vec<usize>) = (0..300).partition(|&row| given[row] != truth[row]);
    assert!(wrong.iter().all(is_flagged), "a wrong label was not flagged");
    assert!(wrong.iter().all(|&row| suggested[row] == "ant"));
    // Up to one flag in twenty may be false, and a row without a flag has no suggestion.
    assert!(right.iter().filter(|row| is_flagged(row)).count() <= wrong.len() / 19);
    assert!((0..300).filter(|row| !is_flagged(row)).all(|row| suggested[row].is_empty()));
}

#[test]
fn both_formats_hold_the_same_rows() {
    let place = Place::with("animals.csv", animals(120));
    place.run_well(&arguments(&[&AUDIT, &SHORT, &["--rows", "csv", "--out", "text"]]));
    place.run_well(&arguments(&[&AUDIT, &SHORT, &["--rows", "parquet", "--out", "binary"]]));
    let table = nbam_table::Table::read(place.path("binary/rows.parquet"), &Default::default()).unwrap();
    let csv = place.read("text/rows.csv");
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(table.names(), names);
    for (row, cells) in cells(&csv).into_iter().enumerate() {
        for (name, cell) in names.iter().zip(cells) {
            let stored = table.column(name).unwrap().text(row).unwrap_or_default();
            assert_eq!(stored, cell, "row {row}, column {name}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_rows_for_any_number_of_threads() {
    let place = Place::with("animals.csv", animals(120));
    let rows = |threads: &str, out: &str| {
        place.run_well(&arguments(&[&AUDIT, &SHORT, &["--rows", "csv", "--threads", threads, "--out", out]]));
        place.read(&format!("{out}/rows.csv"))
    };
    assert_eq!(rows("1", "one"), rows("2", "two"));
}

/// Where the processor does not multiply such numbers, the bits are those of single precision and a note says so.
#[test]
fn bfloat16_is_used_where_the_processor_has_it() {
    let place = Place::with("animals.csv", animals(300));
    let csv = ["--rows", "csv", "--out"];
    place.run_well(&arguments(&[&AUDIT, &SHORT, &csv, &["single"]]));
    let run = place.run_well(&arguments(&[&AUDIT, &SHORT, &csv, &["rounded", "--precision", "bfloat16"]]));
    let has_bfloat16 = Precision::Bfloat16.here() == Precision::Bfloat16;
    let (single, rounded) = (place.read("single/rows.csv"), place.read("rounded/rows.csv"));
    assert_eq!(single != rounded, has_bfloat16);
    assert_eq!(run.stderr.contains("note: This processor"), !has_bfloat16, "{run}");
    assert_eq!(summary(&place, "rounded")["settings"]["precision"], "bfloat16");
    assert_eq!(column(&single, "is_flagged"), column(&rounded, "is_flagged"));
}

#[test]
fn json_is_the_summary_and_quiet_says_nothing() {
    let place = Place::with("animals.csv", animals(120));
    let run = place.run_well(&arguments(&[&AUDIT, &SHORT, &["--json", "--quiet"]]));
    assert_eq!(run.stderr, "");
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(printed, summary(&place, "nbam-audit"));
}

#[test]
fn a_gate_exits_with_three_after_everything_is_written() {
    let place = Place::with("animals.csv", animals(120));
    let run = place.run(&arguments(&[&AUDIT, &SHORT, &["--max-rate", "0.01"]]));
    assert_eq!(run.code, Some(3), "{run}");
    let gate = run.stderr.lines().find(|line| line.starts_with("gate:")).unwrap();
    assert!(gate.ends_with("exceeds --max-rate 0.01"), "{gate}");
    assert!(place.path("nbam-audit/summary.json").is_file());
    let run = place.run(&arguments(&[&AUDIT, &SHORT, &["--max-rate", "0.5", "--force"]]));
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_regression_finds_the_sentinels() {
    let place = Place::with("line.csv", line(200));
    let run = place.run_well(&arguments(&[&["audit", "line.csv", "--target", "y", "--rows", "csv"], &SHORT]));
    assert!(run.stderr.contains("of the 200 values look wrong"), "{run}");
    let rows = place.read("nbam-audit/rows.csv");
    assert_eq!(
        rows.lines().next().unwrap(),
        "row,given_value,contamination,prior,log_clean,log_anomaly,is_flagged,predicted_value,predicted_sd"
    );
    let flagged = column(&rows, "is_flagged");
    assert!((0..200).filter(|row| row % 10 == 4).all(|row| flagged[row] == "true"));
    let false_flags = (0..200).filter(|row| row % 10 != 4 && flagged[*row] == "true").count();
    assert!(false_flags <= 2, "{false_flags}");
}

#[test]
fn verified_rows_are_certain() {
    let mut input = String::new();
    for (index, line) in animals(120).lines().enumerate() {
        // Row 3 is wrong and known to be so, row 0 is known to be right.
        let known = match index {
            0 => "known",
            1 => "yes",
            4 => "no",
            _ => "",
        };
        input += &format!("{line},{known}\n");
    }
    let place = Place::with("animals.csv", &input);
    place.run_well(&arguments(&[&AUDIT, &SHORT, &["--verified", "known", "--rows", "csv"]]));
    let rows = place.read("nbam-audit/rows.csv");
    let contamination = column(&rows, "contamination");
    assert_eq!((contamination[0], contamination[3]), ("0", "1"));
}

#[test]
fn an_existing_audit_is_replaced_only_by_force() {
    let place = Place::with("animals.csv", animals(120));
    place.run_well(&arguments(&[&AUDIT, &SHORT]));
    place.write("nbam-audit/model/stray.txt", "old");
    assert_snapshot!(place.refusal(&arguments(&[&AUDIT, &SHORT])), @r"
    error: nbam-audit: there is an audit already
    hint: give --force to replace it, or choose another --out
    ");
    place.run_well(&arguments(&[&AUDIT, &SHORT, &["--force"]]));
    assert!(!place.path("nbam-audit/model/stray.txt").exists());
    assert_eq!(place.names(), ["animals.csv", "nbam-audit"]);
}

#[test]
fn what_is_no_audit_is_never_replaced() {
    let place = Place::with("animals.csv", animals(120));
    std::fs::create_dir(place.path("photos")).unwrap();
    place.write("photos/summary.json", "{\"mine\": true}");
    let run = |out| place.refusal(&arguments(&[&AUDIT, &SHORT, &["--force", "--out", out]]));
    assert_snapshot!(run("photos"), @r"
    error: photos: the folder is not empty and holds no audit, so it is left alone
    hint: choose another --out, or empty the folder yourself
    ");
    assert_snapshot!(run("animals.csv"), @r"
    error: animals.csv: is not a folder, so no audit can be written there
    hint: choose another --out
    ");
    assert_eq!(place.read("photos/summary.json"), "{\"mine\": true}");
}

#[test]
fn standard_input_is_csv() {
    let place = Place::with("animals.csv", animals(120));
    let from_file = arguments(&[&AUDIT, &SHORT, &["--rows", "csv", "--out", "file"]]);
    place.run_well(&from_file);
    let from_pipe = arguments(&[&["audit", "-"], &AUDIT[2..], &SHORT, &["--rows", "csv", "--out", "pipe"]]);
    let input = std::fs::File::open(place.path("animals.csv")).unwrap();
    let status = place.command(&from_pipe).stdin(input).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    assert_eq!(place.read("file/rows.csv"), place.read("pipe/rows.csv"));
}

#[test]
fn byte_order_marks_semicolons_crlf_and_odd_names_are_read() {
    let text =
        animals(300).replace(',', ";").replace('\n', "\r\n").replace(";kind;", ";\"Art, \"\"süß\"\"\";");
    let text = text.replace(";bee;", ";Biene 🐝;");
    let place = Place::with("Tiere.csv", format!("\u{feff}{text}"));
    let target = "Art, \"süß\"";
    let audit =
        ["audit", "Tiere.csv", "--target", target, "--exclude", "truth,key", "--rows", "csv", "--quiet"];
    place.run_well(&arguments(&[&audit, &SHORT]));
    let summary = summary(&place, "nbam-audit");
    assert_eq!(summary["target"], target);
    assert_eq!(summary["transitions"][0]["to"], "Biene 🐝");
}

#[test]
fn assumptions_and_doubts_are_said() {
    // A target of three whole numbers, a constant column, and the same features with two labels.
    let mut text = "x,same,y\n".to_owned();
    for row in 0..90 {
        text += &format!("{},7,{}\n", row % 3 * 5 + row / 45, row % 3 + 1);
    }
    text += "0,7,3\n";
    let place = Place::with("numbers.csv", &text);
    let run = place.run_well(&arguments(&[&["audit", "numbers.csv", "--target", "y"], &SHORT]));
    let lines = run.stderr.lines().filter(|line| !line.starts_with("training:"));
    let notes: Vec<&str> =
        lines.take_while(|line| line.starts_with("note:") || line.starts_with(' ')).collect();
    assert_snapshot!(notes.join("\n"), @r"
    note: The target 'y' holds whole numbers with 3 distinct values, so they were taken for classes;
          give --task regression if they are quantities.
    note: Column 'same' has the same value in every row and was left out.
    ");
    assert!(summary(&place, "nbam-audit")["duplicates_in_conflict"].as_u64().unwrap() >= 1);
}

#[test]
fn labels_that_look_alike_are_a_warning() {
    let place =
        Place::with("animals.csv", animals(120).replace("k3,", "q3,").replacen(",cat,cat", ",Cat ,cat", 3));
    place.run_well(&arguments(&[&AUDIT, &SHORT]));
    let warning = &summary(&place, "nbam-audit")["warnings"][0];
    assert_eq!(warning["code"], "similar_labels");
    assert_snapshot!(warning["message"].as_str().unwrap(), @"The labels 'Cat ' (3 rows) and 'cat' (37 rows) of the target 'kind' differ only by case or blanks and were kept apart; merge them if they mean the same.");
}

/// Whoever reads the output may have seen enough: `nbam ... | head`.
#[test]
fn a_broken_pipe_is_success() {
    let place = Place::with("animals.csv", animals(3000));
    place.run_well(&[
        "audit",
        "animals.csv",
        "--target",
        "kind",
        "--exclude",
        "truth,key",
        "--epochs",
        "2",
        "-q",
    ]);
    let score = ["score", "animals.csv", "--model", "nbam-audit", "--quiet"];
    let mut child = place.command(&score).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut first).unwrap();
    drop(output);
    let run = crate::support::Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn every_verb_explains_itself() {
    let place = Place::new();
    for verb in ["audit", "score", "predict", "corrupt", "paper", "demo", "bench"] {
        let run = place.run_well(&[verb, "--help"]);
        assert!(run.stdout.contains(&format!("Usage: nbam {verb}")), "{run}");
    }
    assert_snapshot!(place.run_well(&["--help"]).stdout, @r"
    Finds the wrong targets in a data set, and trains a model that they do not fool

    Usage: nbam [OPTIONS] <COMMAND>

    Commands:
      audit    Find the wrong targets of a file: how many, which rows, why, and what they should be
      score    Give the probability that the target is wrong for each row of a new file, by the model of
               an audit
      predict  Predict the target of each row of a new file, by the model of an audit
      corrupt  Make some targets of a clean file wrong on purpose, and keep the truth in added columns
      demo     Fit and draw the paper's one-dimensional example in a few seconds
      paper    Run the project's experiments, and print their tables
      bench    Measure the speed of training and scoring on this machine
      help     Print this message or the help of the given subcommand(s)

    Options:
      -q, --quiet        Say nothing but errors
          --threads <N>  Threads to use; all cores if not given. The result does not depend on it
      -h, --help         Print help
      -V, --version      Print version

    Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 3 the rate exceeds --max-rate.
    ");
}

#[test]
fn the_demo_comes_close_to_the_best_that_is_possible() {
    let picture = Place::new().run_well(&["demo", "--quiet"]).stdout;
    assert!(picture.contains('━') && picture.contains('×') && !picture.contains('\u{1b}'), "{picture}");
    let line = picture.lines().find(|line| line.contains("posterior on the right side")).unwrap();
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let &[learned, best] = numbers.as_slice() else { panic!("{line}") };
    assert!(learned > best - 0.01 && learned <= 1.0, "{line}");
}
