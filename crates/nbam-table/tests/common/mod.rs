//! What the integration tests share.

#![allow(dead_code, reason = "each test file uses its own part")]

use nbam_table::{Error, ReadOptions, Table};

/// A folder that is removed at the end of the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// The path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a writable folder");
        path
    }

    /// Writes a file and reads it as a table.
    pub(crate) fn table(&self, name: &str, content: impl AsRef<[u8]>) -> Table {
        self.read(name, content, &ReadOptions::default()).expect("a good table")
    }

    pub(crate) fn read(
        &self,
        name: &str,
        content: impl AsRef<[u8]>,
        options: &ReadOptions,
    ) -> Result<Table, Error> {
        Table::read(self.file(name, content), options)
    }

    /// The message and the hint of the error that reading a file gives.
    pub(crate) fn fault(&self, name: &str, content: impl AsRef<[u8]>) -> (String, String) {
        let error = self.read(name, content, &ReadOptions::default()).expect_err("a bad table");
        self.words(&error)
    }

    /// The message and the hint of an error, without the folder's path.
    pub(crate) fn words(&self, error: &Error) -> (String, String) {
        let folder = format!("{}/", self.0.path().display());
        let clean = |text: &str| text.replace(&folder, "");
        (clean(&error.to_string()), clean(error.hint().unwrap_or_default()))
    }
}

/// The message and hint as one value to compare with.
pub(crate) fn said(message: &str, hint: &str) -> (String, String) {
    (message.to_owned(), hint.to_owned())
}

/// The texts of a column.
pub(crate) fn texts(table: &Table, name: &str) -> Vec<String> {
    let column = table.column(name).expect("a column");
    (0..table.rows()).map(|row| column.text(row).unwrap_or_else(|| "-".to_owned())).collect()
}
