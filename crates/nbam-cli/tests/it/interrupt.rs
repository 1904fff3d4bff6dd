//! Ctrl-C during a fit leaves nothing behind.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, Run, animals};

#[test]
fn ctrl_c_leaves_no_half_written_output() {
    let place = Place::with("animals.csv", animals(3000));
    let audit = ["audit", "animals.csv", "--target", "kind", "--exclude", "truth,key", "--epochs", "1000000"];
    let child = place.command(&audit).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Time for the fit to begin; interrupted before that, the command ends the same way.
    std::thread::sleep(Duration::from_millis(1500));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let start = Instant::now();
    let run = Run::of(child.wait_with_output().unwrap());
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stderr.ends_with("error: stopped before the end; nothing was written\n"), "{run}");
    assert_eq!(place.names(), ["animals.csv"]);
}
