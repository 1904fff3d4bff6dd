//! A results file: JSON lines, appended one by one as runs end.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::record::Record;
use crate::error::{Error, Result};

/// Reads all records. A last line that was torn by the end of a process is left out; a file that is not there holds
/// none.
///
/// # Errors
/// When the file cannot be read, or a line other than a torn last one is no record.
pub fn read_results(path: &Path) -> Result<Vec<Record>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(parse(path, &bytes)?.0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::reading(path, &error)),
    }
}

/// The records, and how many bytes of the file hold them: what follows is torn.
fn parse(path: &Path, bytes: &[u8]) -> Result<(Vec<Record>, usize)> {
    let mut records = Vec::new();
    let mut whole = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let has_end = line.ends_with(b"\n");
        if line.trim_ascii().is_empty() {
            whole += if has_end { line.len() } else { 0 };
            continue;
        }
        match serde_json::from_slice(line) {
            // Without its end a line may be the beginning of a longer one, whatever it looks like.
            _ if !has_end => break,
            Ok(record) => records.push(record),
            Err(error) => {
                return Err(Error::input(format!(
                    "{}: line {} is not a record of a run: {error}",
                    path.display(),
                    index + 1
                ))
                .with_hint("mend or delete the line; the run will be repeated"));
            }
        }
        whole += line.len();
    }
    Ok((records, whole))
}

/// A results file that this process alone appends runs to.
#[derive(Debug)]
pub struct ResultsFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl ResultsFile {
    /// Opens or makes the file, cuts a torn last line off, and returns the records that are there.
    ///
    /// # Errors
    /// When another process is appending to it, or it cannot be read or written.
    pub fn open(path: &Path) -> Result<(Self, Vec<Record>)> {
        let failed = |error: std::io::Error| Error::writing(path, &error);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::input(format!(
                    "{}: another process is adding runs to this file",
                    path.display()
                ))
                .with_hint("wait for it, or give another --results"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| Error::reading(path, &error))?;
        let (records, whole) = parse(path, &bytes)?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok((Self { path: path.to_owned(), file: Mutex::new(file) }, records))
    }

    /// Appends a record; when this returns it is on the disk.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&self, record: &Record) -> Result<()> {
        let failed = |error: std::io::Error| Error::writing(&self.path, &error);
        let mut line = serde_json::to_vec(record)
            .map_err(|error| Error::input(format!("a run cannot be written as JSON: {error}")))?;
        line.push(b'\n');
        // A thread that panicked has left the file as it was or with a torn line, which is cut off later.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // One call, so that a line is torn only by the end of the machine or of the process in the middle of it.
        file.write_all(&line).map_err(failed)?;
        file.sync_data().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::identity;
    use super::*;
    use crate::results::{Identity, Measures};

    fn record(seed: u64) -> Record {
        Record { run: Identity { seed, ..identity() }, measures: Measures::default(), failure: None }
    }

    #[test]
    fn a_torn_last_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/results.jsonl");
        let (file, records) = ResultsFile::open(&path).unwrap();
        assert!(records.is_empty());
        file.append(&record(1)).unwrap();
        file.append(&record(2)).unwrap();
        drop(file);
        let whole = std::fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        // Torn at any byte of the second line, even one before its end, only the first is left.
        for length in first..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read_results(&path).unwrap(), [record(1)], "{length}");
            let (file, records) = ResultsFile::open(&path).unwrap();
            assert_eq!(records, [record(1)], "{length}");
            file.append(&record(2)).unwrap();
            drop(file);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{length}");
        }
    }

    #[test]
    fn a_damaged_line_before_the_last_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let line = serde_json::to_string(&record(1)).unwrap();
        std::fs::write(&path, format!("{line}\n{{\"run\"\n{line}\n")).unwrap();
        let error = read_results(&path).unwrap_err();
        assert!(error.to_string().contains("line 2 is not a record of a run"), "{error}");
    }

    #[test]
    fn only_one_process_appends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let (held, _) = ResultsFile::open(&path).unwrap();
        let error = ResultsFile::open(&path).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        drop(held);
        ResultsFile::open(&path).unwrap();
    }
}
