//! A table: named columns of equal length, and where they came from.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::notes::{listed, quoted};
use crate::read;

/// How to read a file.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Read only these columns (or arrays); all of them if absent.
    pub columns: Option<Vec<String>>,
    /// Do not read these columns.
    pub exclude: Vec<String>,
    /// Keep these columns as text even if every value looks like a number, a date or a truth value.
    pub text: Vec<String>,
    /// The most bytes the table may take; 80 % of the memory that is free if absent.
    pub memory_limit: Option<u64>,
}

impl ReadOptions {
    /// Whether a column of this name is to be read.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let chosen = self.columns.as_ref().is_none_or(|columns| columns.iter().any(|column| column == name));
        chosen && !self.exclude.iter().any(|column| column == name)
    }

    /// Whether a column must stay text.
    pub(crate) fn keeps_text(&self, name: &str) -> bool {
        self.text.iter().any(|column| column == name)
    }
}

/// Named columns of equal length.
#[derive(Debug, Clone)]
pub struct Table {
    source: String,
    names: Vec<String>,
    /// The position of each name: wide tables are looked up by name again and again.
    index: HashMap<String, usize>,
    columns: Vec<Column>,
    rows: usize,
    /// Names that the file has but that were not read.
    skipped: Vec<String>,
    /// The line of row 0, if every row is one line of the file.
    first_line: Option<usize>,
}

impl Table {
    /// Reads a file by its extension: `.csv`, `.tsv` (also with `.gz`), `.parquet`, `.arrow`,
    /// `.feather`, `.jsonl`, `.ndjson`, `.npz`; `-` is CSV on standard input.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        read::read(path.as_ref(), options)
    }

    /// A table from Arrow record batches, as they come from other programs in memory.
    pub fn from_arrow_batches(
        source_name: impl Into<String>,
        schema: &arrow::datatypes::Schema,
        batches: impl IntoIterator<Item = Result<arrow::array::RecordBatch, arrow::error::ArrowError>>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        read::arrow_columns::from_batches(&source_name.into(), schema, batches, options)
    }

    /// A table from columns in memory; they must be of equal length, with distinct names.
    pub fn from_columns(
        source_name: impl Into<String>,
        columns: Vec<(String, Column)>,
    ) -> Result<Self, Error> {
        let source = source_name.into();
        let (names, columns): (Vec<String>, Vec<Column>) = columns.into_iter().unzip();
        Self::assemble(source, names, columns, Vec::new())
    }

    /// The common end of all readers: the checks that hold for every table.
    pub(crate) fn assemble(
        source: String,
        names: Vec<String>,
        columns: Vec<Column>,
        skipped: Vec<String>,
    ) -> Result<Self, Error> {
        check_names(&source, &names)?;
        let Some(rows) = columns.first().map(Column::rows) else {
            return Err(Error::new(ErrorKind::Empty, format!("{source}: the table has no columns")));
        };
        for (name, column) in names.iter().zip(&columns) {
            if column.rows() != rows {
                return Err(Error::new(
                    ErrorKind::Format,
                    format!(
                        "{source}: column {} has {} rows, but column {} has {rows}",
                        quoted(name),
                        column.rows(),
                        quoted(&names[0]),
                    ),
                ));
            }
        }
        if rows == 0 {
            return Err(Error::new(ErrorKind::Empty, format!("{source}: the table has no rows"))
                .with_hint("give a file with at least one row of data below its header"));
        }
        let index = names.iter().cloned().zip(0..).collect();
        Ok(Self { source, names, index, columns, rows, skipped, first_line: None })
    }

    pub(crate) fn with_first_line(mut self, first_line: Option<usize>) -> Self {
        self.first_line = first_line;
        self
    }

    /// The file's name, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of the columns that were read, in the file's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns with their names, in the file's order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &Column)> {
        self.names.iter().map(String::as_str).zip(&self.columns)
    }

    /// The column of this name, if it was read.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.index.get(name).map(|position| &self.columns[*position])
    }

    /// The column of this name, or an error that lists the closest names.
    pub fn require(&self, name: &str) -> Result<&Column, Error> {
        self.column(name).ok_or_else(|| unknown_column(&self.source, name, self.names.iter()))
    }

    /// Whether the file has a column of this name, read or not.
    pub fn is_known(&self, name: &str) -> bool {
        self.column(name).is_some() || self.skipped.iter().any(|candidate| candidate == name)
    }

    /// `row 5`, or `row 5 (line 7)` where the file has lines.
    pub fn place(&self, row: usize) -> String {
        match self.first_line {
            Some(first) => format!("row {row} (line {})", row + first),
            None => format!("row {row}"),
        }
    }

    /// About how many bytes the columns take.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }
}

/// Refuses a name that occurs twice.
pub(crate) fn check_names(source: &str, names: &[String]) -> Result<(), Error> {
    let mut seen = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name.as_str(), index) {
            return Err(Error::new(
                ErrorKind::DuplicateColumn,
                format!(
                    "{source}: the column name {} occurs twice, as column {} and column {}",
                    quoted(name),
                    first + 1,
                    index + 1
                ),
            )
            .with_hint("rename one of them"));
        }
    }
    Ok(())
}

/// Refuses names in the options that the file does not have.
pub(crate) fn check_options(source: &str, names: &[String], options: &ReadOptions) -> Result<(), Error> {
    let known: HashSet<&String> = names.iter().collect();
    let chosen = options.columns.iter().flatten();
    match chosen.chain(&options.exclude).find(|name| !known.contains(name)) {
        Some(name) => Err(unknown_column(source, name, names.iter())),
        None => Ok(()),
    }
}

/// The error for a name that no column has.
pub(crate) fn unknown_column<'a>(
    source: &str,
    name: &str,
    known: impl ExactSizeIterator<Item = &'a String>,
) -> Error {
    let lowered = name.to_lowercase();
    let mut ranked: Vec<(usize, &str)> =
        known.map(|candidate| (distance(&lowered, &candidate.to_lowercase()), candidate.as_str())).collect();
    let columns = ranked.len();
    // A stable sort keeps the file's order among equally close names.
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked.truncate(5);
    let error =
        Error::new(ErrorKind::UnknownColumn, format!("{source}: there is no column named {}", quoted(name)));
    match ranked.first() {
        None => error,
        Some((nearest, candidate)) if *nearest <= 2.max(lowered.chars().count() / 3) => {
            error.with_hint(format!("did you mean {}? the file has {columns} columns", quoted(candidate)))
        }
        Some(_) => {
            let names = listed(ranked.iter().map(|(_, candidate)| *candidate));
            error.with_hint(format!("the closest of the file's {columns} columns: {names}"))
        }
    }
}

/// The edit distance between two names (insertions, deletions, substitutions); long names are cut.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(64).collect();
    let right: Vec<char> = right.chars().take(64).collect();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    let mut current = vec![0; right.len() + 1];
    for (i, a) in left.iter().enumerate() {
        current[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = previous[j] + usize::from(a != b);
            current[j + 1] = substituted.min(previous[j + 1] + 1).min(current[j] + 1);
        }
        std::mem::swap(&mut previous, &mut current);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
