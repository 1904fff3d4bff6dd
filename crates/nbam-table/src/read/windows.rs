//! Text files in pieces of bounded size that end where a record ends.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, ErrorKind};

/// How many bytes are held at a time; long enough to keep all threads busy between two reads.
pub(super) const WINDOW: usize = 32 << 20;
/// A longer record is taken for a quote that was never closed.
const LONGEST_RECORD: usize = 64 << 20;

/// Where a text comes from; it can be opened more than once.
pub(super) enum Source {
    File { path: PathBuf, is_compressed: bool },
    Spooled(File),
}

impl Source {
    pub(super) fn file(path: &Path, is_compressed: bool) -> Self {
        Self::File { path: path.to_owned(), is_compressed }
    }

    /// Standard input, kept in a temporary file so that it can be read again.
    pub(super) fn standard_input() -> Result<Self, Error> {
        let spool = || {
            let mut file = tempfile::tempfile()?;
            std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
            Ok(file)
        };
        Ok(Self::Spooled(spool().map_err(|error| Error::reading("standard input", error))?))
    }

    pub(super) fn open(&self) -> std::io::Result<Box<dyn Read + '_>> {
        match self {
            Self::File { path, is_compressed: false } => Ok(Box::new(File::open(path)?)),
            Self::File { path, is_compressed: true } => Ok(Box::new(MultiGzDecoder::new(File::open(path)?))),
            Self::Spooled(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(0))?;
                Ok(Box::new(file))
            }
        }
    }

    /// The size of the text in bytes, where it is known before reading.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::File { is_compressed: true, .. } => None,
            Self::File { path, .. } => {
                std::fs::metadata(path).ok().filter(|data| data.is_file()).map(|data| data.len())
            }
            Self::Spooled(file) => file.metadata().ok().map(|metadata| metadata.len()),
        }
    }
}

/// Hands out a text window by window.
pub(super) struct Windows<'a> {
    source: &'a str,
    reader: Box<dyn Read + 'a>,
    /// How many bytes to hold at a time.
    size: usize,
    buffer: Vec<u8>,
    /// How much of the buffer was handed out.
    used: usize,
    is_at_end: bool,
    consumed: u64,
}

impl<'a> Windows<'a> {
    pub(super) fn new(source: &'a str, reader: Box<dyn Read + 'a>, size: usize) -> Self {
        Self { source, reader, size, buffer: Vec::new(), used: 0, is_at_end: false, consumed: 0 }
    }

    /// How many bytes were handed out.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The next bytes; `cut` says where the last complete record of some bytes ends, if any does.
    /// The last window of the text need not end a record.
    pub(super) fn next(&mut self, cut: impl Fn(&[u8]) -> Option<usize>) -> Result<Option<&[u8]>, Error> {
        self.buffer.drain(..self.used);
        self.used = 0;
        let mut wanted = self.size;
        loop {
            self.fill(wanted)?;
            if self.is_at_end {
                self.used = self.buffer.len();
            } else if let Some(end) = cut(&self.buffer).filter(|end| *end > 0) {
                self.used = end;
            } else if self.buffer.len() > LONGEST_RECORD {
                return Err(Error::new(
                    ErrorKind::Format,
                    format!("{}: a record is longer than {} MB", self.source, LONGEST_RECORD >> 20),
                )
                .with_hint("look for a quote that is opened and never closed"));
            } else {
                wanted = self.buffer.len() * 2 + self.size;
                continue;
            }
            self.consumed += self.used as u64;
            return Ok((self.used > 0).then_some(&self.buffer[..self.used]));
        }
    }

    fn fill(&mut self, wanted: usize) -> Result<(), Error> {
        let missing = wanted.saturating_sub(self.buffer.len());
        let read = self.reader.by_ref().take(missing as u64).read_to_end(&mut self.buffer);
        let count = read.map_err(|error| Error::reading(self.source, error))?;
        self.is_at_end |= count < missing;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn windows_end_where_lines_end() {
        let text: Vec<u8> =
            (0..500).flat_map(|row| format!("line {}\n", "x".repeat(row % 40)).into_bytes()).collect();
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&text).expect("a writable file");
        let source = Source::Spooled(file);
        assert_eq!(source.size(), Some(text.len() as u64));
        for size in [1, 7, 64, 10_000, 1 << 20] {
            let mut windows = Windows::new("test", source.open().expect("a file"), size);
            let mut found = Vec::new();
            let cut = |bytes: &[u8]| memchr::memrchr(b'\n', bytes).map(|end| end + 1);
            while let Some(window) = windows.next(cut).expect("a window") {
                assert_eq!(window.last(), Some(&b'\n'));
                found.extend_from_slice(window);
            }
            assert!(found == text, "windows of {size} bytes");
            assert_eq!(windows.consumed(), text.len() as u64);
        }
    }

    #[test]
    fn a_record_without_end_is_refused() {
        let mut windows = Windows::new("test", Box::new(std::io::repeat(b'x')), WINDOW);
        let error = windows.next(|_| None).expect_err("no end");
        assert_eq!(error.to_string(), "test: a record is longer than 64 MB");
    }
}
