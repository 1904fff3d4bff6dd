//! The Python package: a virtual environment, the wheel, and its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Outcome, execute, root, say};

/// Set where maturin calls this program instead of cargo: see [`cargo_of_maturin`].
pub(crate) const IS_CARGO: &str = "NBAM_XTASK_IS_CARGO";

/// Builds the package from what is there and runs its tests, in `.venv`.
pub(crate) fn test() -> Outcome {
    let folder = root().join(".venv");
    let python = environment(&folder)?;
    let wheels = target().join("wheels-dev");
    // Only one wheel must be there to be installed.
    let _ = fs::remove_dir_all(&wheels);
    // The development profile: it optimises the engine too, and builds in a fraction of the time.
    execute(
        Command::new(&python)
            .args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--out"])
            .arg(&wheels)
            .env("CARGO", this_program()?)
            .env(IS_CARGO, "1")
            // Where pyproject.toml lies: from the crate's manifest alone maturin packs only the native half.
            .current_dir(root().join("python")),
    )?;
    let wheel = only_file(&wheels)?;
    pip(&python, &["--force-reinstall", "--no-deps"], &wheel)?;
    lonely_wheel(&wheel)?;
    let (settings, package) = (root().join("python/pyproject.toml"), root().join("python/nbam"));
    execute(Command::new(&python).args(["-m", "mypy", "--config-file"]).arg(settings).arg(package))?;
    let tests = root().join("python/tests");
    // From the root, not from python/: there the package lies without its native half.
    execute(
        Command::new(&python)
            .args(["-m", "pytest", "-p", "no:cacheprovider"])
            .arg(tests)
            .env("NBAM_COMMAND", target().join(format!("debug/nbam{}", std::env::consts::EXE_SUFFIX))),
    )
}

/// Cargo as maturin calls it, but for the one call that compiles.
///
/// Maturin would compile the package alone. Cargo then gives its dependencies other features than it gave them for the tests of the
/// whole workspace, and compiles nearly all of them once more: minutes, on two cores. So the library is built as one of the
/// workspace, with the features that tests have (`--examples` asks for these), and with it the command that the tests compare with.
pub(crate) fn cargo_of_maturin(arguments: &[String]) -> ExitCode {
    let mut command = Command::new(env!("CARGO"));
    command.env_remove(IS_CARGO);
    match arguments.split_first() {
        Some((verb, rest)) if verb == "rustc" => {
            command.args(["build", "--workspace", "--bins", "--examples"]).args(rest)
        }
        _ => command.args(arguments),
    };
    match command.status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            say(&format!("cannot run {command:?}: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn this_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot tell where this program is: {error}"))
}

/// The wheel works in a clean environment with nothing but what it asks for: NumPy and scikit-learn.
fn lonely_wheel(wheel: &Path) -> Outcome {
    let folder = target().join("venv-clean");
    let _ = fs::remove_dir_all(&folder);
    execute(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let python = python_of(&folder);
    pip(&python, &[], wheel)?;
    execute(Command::new(&python).arg(root().join("python/tests/readme_example.py")))
}

/// The virtual environment with everything that the tests use, made if it is not there or not up to date.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let python = python_of(folder);
    let requirements = root().join("python/tests/requirements.txt");
    let wanted =
        fs::read_to_string(&requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
    // Written last: an installation that was interrupted is taken up again.
    let stamp = folder.join("installed-requirements.txt");
    if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    say("Installing the packages that the Python tests use (once; PyTorch may bring several GB along) ...");
    execute(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    execute(pip_command(&python).arg("--requirement").arg(&requirements))?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

fn pip(python: &Path, options: &[&str], wheel: &Path) -> Outcome {
    execute(pip_command(python).args(options).arg(wheel))
}

fn pip_command(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--progress-bar", "off"]);
    command
}

fn python_of(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    match files.as_slice() {
        [file] => Ok(file.clone()),
        _ => Err(format!("{} holds {} files, expected one wheel", folder.display(), files.len())),
    }
}
