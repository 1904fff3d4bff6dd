//! A folder with made data, and the command running in it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder of its own for each test.
pub(crate) struct Place {
    folder: TempDir,
}

/// What a run of the command left.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A place with one file.
    pub(crate) fn with(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.write(name, contents);
        place
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Everything in the folder, hidden names included, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, ready to run in this folder without colour and with room for 100 columns.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nbam"));
        command.current_dir(self.folder.path()).args(arguments);
        command.env("NO_COLOR", "1").env_remove("COLUMNS").stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// A run that must succeed.
    pub(crate) fn run_well(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// A run that must be refused with exit code 2, without data, and without leaving anything behind.
    pub(crate) fn refusal(&self, arguments: &[&str]) -> String {
        let before = self.names();
        let run = self.run(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout, "", "{run}");
        assert_eq!(self.names(), before, "{run}");
        run.stderr
    }
}

impl Run {
    pub(crate) fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        write!(formatter, "exit code: {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// The rows of a CSV text, cell by cell, without its header. No cell of these tests holds a comma.
pub(crate) fn cells(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

/// The named column of a CSV text.
pub(crate) fn column<'a>(csv: &'a str, name: &str) -> Vec<&'a str> {
    let header = csv.lines().next().unwrap_or_default();
    let index = header.split(',').position(|column| column == name);
    let index = index.unwrap_or_else(|| panic!("no column {name} in {header}"));
    cells(csv).into_iter().map(|row| row[index]).collect()
}

/// Three well separated clusters in three features with their names, and every third `ant` labelled `bee`.
///
/// Columns: key, x, y, colour, kind, truth.
pub(crate) fn animals(rows: usize) -> String {
    let names = ["ant", "bee", "cat"];
    let mut text = "key,x,y,colour,kind,truth\n".to_owned();
    for row in 0..rows {
        let class = row % 3;
        let wobble = |step: usize| ((row * step) % 41) as f64 / 41.0 - 0.5;
        let (x, y) = ([-4.0, 4.0, 0.0][class] + wobble(7), [0.0, 0.0, 6.0][class] + wobble(11));
        let is_wrong = class == 0 && (row / 3) % 3 == 1;
        let label = if is_wrong { "bee" } else { names[class] };
        let colour = ["red", "green"][(row / 3) % 2];
        text += &format!("k{row},{x:.4},{y:.4},{colour},{label},{}\n", names[class]);
    }
    text
}

/// A line with small noise, and every tenth value replaced by -50. Columns: x, y.
pub(crate) fn line(rows: usize) -> String {
    let mut text = "x,y\n".to_owned();
    for row in 0..rows {
        let x = row as f64 / rows as f64 * 4.0;
        let noise = ((row * 17) % 29) as f64 / 290.0 - 0.05;
        let y = if row % 10 == 4 { -50.0 } else { 3.0 * x + 1.0 + noise };
        text += &format!("{x:.5},{y:.5}\n");
    }
    text
}

/// Options that make a fit of a few rows short.
pub(crate) const SHORT: [&str; 4] = ["--epochs", "120", "--members", "2"];

/// Puts arguments together.
pub(crate) fn arguments<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}
