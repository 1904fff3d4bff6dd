//! Writing an audit: all of it or nothing.

use std::fs;
use std::path::{Path, PathBuf};

use nbam_table::write_table;

use super::Scores;
use super::audit::{Audit, Clock};
use crate::{Error, ErrorKind, Summary};

/// The file format of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowsFormat {
    /// rows.parquet
    #[default]
    Parquet,
    /// rows.csv
    Csv,
}

impl RowsFormat {
    /// The name of the file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Parquet => "rows.parquet",
            Self::Csv => "rows.csv",
        }
    }
}

/// What is at the place of the output.
enum Place {
    Free,
    Audit,
}

/// Checks that an audit may be written to `folder`, before any work is done for it.
///
/// # Errors
/// `Exists` if something is there that may not be replaced: an audit without `force`, anything else in any case.
pub fn check_output(folder: &Path, force: bool) -> Result<(), Error> {
    place(folder, force).map(drop)
}

fn place(folder: &Path, force: bool) -> Result<Place, Error> {
    let Ok(metadata) = fs::symlink_metadata(folder) else { return Ok(Place::Free) };
    let taken = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Exists, format!("{}: {what}", folder.display())).with_hint(hint))
    };
    if !metadata.is_dir() {
        return taken("is not a folder, so no audit can be written there", "choose another --out");
    }
    let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    let is_audit = || {
        let text = fs::read_to_string(folder.join("summary.json")).ok()?;
        serde_json::from_str::<Summary>(&text).ok()
    };
    match (is_empty, is_audit(), force) {
        (true, ..) => Ok(Place::Free),
        (false, Some(_), true) => Ok(Place::Audit),
        (false, Some(_), false) => {
            taken("there is an audit already", "give --force to replace it, or choose another --out")
        }
        (false, None, _) => taken(
            "the folder is not empty and holds no audit, so it is left alone",
            "choose another --out, or empty the folder yourself",
        ),
    }
}

impl Audit {
    /// Writes rows, summary, report and model into `folder`, and fills in how long that took.
    ///
    /// Everything is written beside the folder first and takes its place at the end, so that nobody ever sees half an
    /// audit. With `force` an audit that is already there is replaced; nothing else ever is.
    ///
    /// # Errors
    /// `Exists` if the place is taken, `Io` or `Render` if a file cannot be written; then nothing has changed.
    pub fn write(&mut self, folder: &Path, format: RowsFormat, force: bool) -> Result<(), Error> {
        let mut clock = Clock::start();
        write_folder(folder, force, |fresh| {
            write_table(&self.rows(), fresh.join(format.file_name()))
                .map_err(|error| Error::writing_table(&error))?;
            write_text(&fresh.join("report.html"), &self.report()?)?;
            self.model.save(&fresh.join("model"))?;
            self.summary.timing.report = clock.lap();
            self.summary.seconds = self.summary.timing.total();
            write_text(&fresh.join("summary.json"), &self.summary.to_json()?)
        })
    }
}

impl Scores {
    /// Writes rows, summary and report into `folder`, all or nothing; an audit without its model. `source` says in words what
    /// was scored.
    ///
    /// # Errors
    /// As [`Audit::write`].
    pub fn write(&self, folder: &Path, source: &str, format: RowsFormat, force: bool) -> Result<(), Error> {
        write_folder(folder, force, |fresh| {
            write_table(&self.rows(), fresh.join(format.file_name()))
                .map_err(|error| Error::writing_table(&error))?;
            write_text(&fresh.join("report.html"), &self.report(source)?)?;
            write_text(&fresh.join("summary.json"), &self.summary.to_json()?)
        })
    }
}

/// Makes a folder of which nobody ever sees half: `fill` writes into an empty one beside it, which takes its place at the end.
/// With `force` an audit that is already there is replaced; nothing else ever is.
///
/// # Errors
/// `Exists` if the place is taken, `Io` if it cannot be made, and whatever `fill` says; then nothing has changed.
fn write_folder(
    folder: &Path,
    force: bool,
    fill: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let place = place(folder, force)?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&parent).map_err(|error| Error::writing(&parent, &error))?;
    let staging = temporary_folder(&parent).map_err(|error| Error::writing(&parent, &error))?;
    let fresh = staging.path().join("audit");
    fs::create_dir(&fresh).map_err(|error| Error::writing(&fresh, &error))?;
    fill(&fresh)?;
    let moved = match place {
        Place::Free => fs::rename(&fresh, folder),
        Place::Audit => replace(&fresh, folder, &staging.path().join("replaced")),
    };
    moved.map_err(|error| Error::writing(folder, &error))
}

/// Puts the old folder aside, and back if the new one cannot take its place.
fn replace(fresh: &Path, folder: &Path, aside: &Path) -> std::io::Result<()> {
    fs::rename(folder, aside)?;
    fs::rename(fresh, folder).inspect_err(|_| {
        // The first error is the one to report; there is no more that can be done about a second.
        let _ = fs::rename(aside, folder);
    })
}

fn temporary_folder(parent: &Path) -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(".nbam-audit-").tempdir_in(parent)
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::writing(path, &error))
}
