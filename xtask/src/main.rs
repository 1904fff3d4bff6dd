//! The checks of this repository, as one command: `cargo xtask test`.
//!
//! Every step installs what it needs on a fresh machine, prints what it runs, and stops the rest when it fails.

mod python;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

type Outcome = Result<(), String>;
/// A name and what it runs.
type Step = (&'static str, fn() -> Outcome);

const USAGE: &str = "usage: cargo xtask test [--only NAME]

steps: format, lint, documents, browser, rust, bench, python
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if std::env::var_os(python::IS_CARGO).is_some() {
        return python::cargo_of_maturin(&arguments);
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let only = match words.as_slice() {
        ["test"] => None,
        ["test", "--only", name] => Some(*name),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match run(only) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&format!("xtask: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the steps in order; `only` picks one by name.
fn run(only: Option<&str>) -> Outcome {
    let steps: [Step; 7] = [
        ("format", || cargo(&["fmt", "--all", "--check"])),
        ("lint", || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
        ("documents", documents),
        ("browser", install_browser),
        ("rust", rust_tests),
        ("bench", || execute(Command::new("python3").args(["-m", "unittest", "discover", "bench"]))),
        ("python", python::test),
    ];
    if let Some(name) = only.filter(|name| steps.iter().all(|step| step.0 != *name)) {
        return Err(format!("there is no step '{name}'\n{USAGE}"));
    }
    let is_wanted = |step: &&Step| only.is_none_or(|name| name == step.0);
    for (name, step) in steps.iter().filter(is_wanted) {
        let start = Instant::now();
        say(&format!("== {name}"));
        step()?;
        say(&format!("== {name}: {:.0} s", start.elapsed().as_secs_f64()));
    }
    Ok(())
}

fn documents() -> Outcome {
    let mut command = Command::new(env!("CARGO"));
    execute(command.args(["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn rust_tests() -> Outcome {
    cargo(&["test", "--workspace"])
}

/// The report is tested in a real browser: Debian's chromium with its driver.
fn install_browser() -> Outcome {
    if is_on_path("chromedriver") && is_on_path("chromium") {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        execute(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-qq"])?;
    apt(&[
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
        "chromium",
        "chromium-driver",
        "fonts-dejavu-core",
    ])
    .map_err(|error| format!("{error}; install chromium and chromium-driver by hand and run this again"))
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn cargo(arguments: &[&str]) -> Outcome {
    execute(Command::new(env!("CARGO")).args(arguments))
}

/// Runs a command in the root of the repository, with its output shown as it comes.
fn execute(command: &mut Command) -> Outcome {
    say(&format!("$ {command:?}"));
    if command.get_current_dir().is_none() {
        command.current_dir(root());
    }
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed with {status}")) }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

#[expect(clippy::print_stderr, reason = "the one place where this program speaks")]
fn say(text: &str) {
    eprintln!("{text}");
}
