//! JSON lines: one object per line.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::blocks::BlockBuilder;
use super::dictionary::{TextBuilder, mostly_numbers};
use super::limits::Limit;
use super::windows::{Source, WINDOW, Windows};
use crate::column::{BooleanColumn, Column, NumericColumn, UnsupportedColumn, format_number};
use crate::error::{Error, ErrorKind};
use crate::notes::quoted;
use crate::table::{ReadOptions, Table, check_options};

/// The most distinct keys; more mean that values were used as keys.
const MOST_COLUMNS: usize = 100_000;

pub(super) fn read(name: &str, source: &Source, options: &ReadOptions) -> Result<Table, Error> {
    let input = source.open().map_err(|error| Error::reading(name, error))?;
    let mut windows = Windows::new(name, input, WINDOW);
    let mut columns = Columns { names: Vec::new(), index: HashMap::new(), builders: Vec::new(), rows: 0 };
    let limit = Limit::new(options);
    let mut first_line = 1;
    let mut is_regular = true;
    let cut = |bytes: &[u8]| memchr::memrchr(b'\n', bytes).map(|newline| newline + 1);
    while let Some(window) = windows.next(cut)? {
        let window = window.strip_prefix(b"\xef\xbb\xbf").filter(|_| first_line == 1).unwrap_or(window);
        let window = window.strip_suffix(b"\n").unwrap_or(window);
        let lines: Vec<&[u8]> = window.split(|byte| *byte == b'\n').collect();
        // A few lines at a time, so that their parsed form stays small beside the columns.
        for group in lines.chunks(4_096) {
            let parsed: Vec<Result<Option<Row>, String>> =
                group.par_iter().map(|line| parse_line(line)).collect();
            for (offset, row) in parsed.into_iter().enumerate() {
                match row {
                    Ok(Some(row)) => columns.push(name, row, options)?,
                    Ok(None) => is_regular = false,
                    Err(reason) => return Err(bad_line(name, columns.rows, first_line + offset, &reason)),
                }
            }
            first_line += group.len();
            limit.check(name, columns.bytes() as u64)?;
        }
    }
    check_options(name, &columns.names, options)?;
    let mut names = Vec::new();
    let mut skipped = Vec::new();
    let mut finished = Vec::new();
    for (column, builder) in columns.names.into_iter().zip(columns.builders) {
        match builder {
            None => skipped.push(column),
            Some(mut builder) => {
                builder.pad(columns.rows);
                finished.push(builder.finish(options.keeps_text(&column)));
                names.push(column);
            }
        }
    }
    if columns.rows == 0 {
        return Err(Error::new(ErrorKind::Empty, format!("{name}: the table has no rows"))
            .with_hint("give a file with at least one JSON object per row"));
    }
    let table = Table::assemble(name.to_owned(), names, finished, skipped)?;
    Ok(table.with_first_line(is_regular.then_some(1)))
}

/// The keys and values of an object in the order of the line.
struct Row(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;
        impl<'de> Visitor<'de> for RowVisitor {
            type Value = Row;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut row = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    row.push(entry);
                }
                Ok(Row(row))
            }
        }
        deserializer.deserialize_map(RowVisitor)
    }
}

/// The object of a line, or nothing if the line is blank.
fn parse_line(line: &[u8]) -> Result<Option<Row>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(row) => Ok(Some(row)),
        Err(error) if error.is_data() => Err("the line is not a JSON object".to_owned()),
        Err(error) => {
            let text = error.to_string();
            let reason = text.split(" at line").next().unwrap_or_default();
            Err(format!("the line is not valid JSON ({reason} at character {})", error.column()))
        }
    }
}

fn bad_line(name: &str, row: usize, line: usize, reason: &str) -> Error {
    Error::new(ErrorKind::Format, format!("{name}: row {row} (line {line}): {reason}"))
        .with_hint("write one JSON object per line, for example {\"age\": 41, \"label\": \"yes\"}")
}

struct Columns {
    names: Vec<String>,
    index: HashMap<String, usize>,
    /// `None` for columns that are not wanted.
    builders: Vec<Option<Builder>>,
    rows: usize,
}

impl Columns {
    fn push(&mut self, source: &str, row: Row, options: &ReadOptions) -> Result<(), Error> {
        for (key, value) in row.0 {
            let position = match self.index.get(&key) {
                Some(position) => *position,
                None => {
                    if self.names.len() == MOST_COLUMNS {
                        return Err(Error::new(
                            ErrorKind::Format,
                            format!("{source}: there are more than {MOST_COLUMNS} distinct keys"),
                        )
                        .with_hint("use the same keys in every line"));
                    }
                    self.builders.push(options.wants(&key).then(Builder::default));
                    self.names.push(key.clone());
                    self.index.insert(key, self.names.len() - 1);
                    self.names.len() - 1
                }
            };
            if let Some(builder) = &mut self.builders[position] {
                if builder.rows > self.rows {
                    let message = format!(
                        "{source}: row {}: the key {} occurs twice",
                        self.rows,
                        quoted(&self.names[position])
                    );
                    return Err(
                        Error::new(ErrorKind::DuplicateColumn, message).with_hint("rename one of them")
                    );
                }
                builder.pad(self.rows);
                builder.push(value);
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.builders.iter().flatten().map(Builder::bytes).sum()
    }
}

/// A column whose kind shows as its values come.
#[derive(Default)]
struct Builder {
    rows: usize,
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    /// Only missing values so far.
    #[default]
    Unknown,
    Truths(Vec<Option<bool>>),
    /// Numbers, and the rows that hold something else.
    Numbers {
        values: Vec<f64>,
        words: Vec<(usize, String)>,
    },
    Text(TextBuilder),
    Block(BlockBuilder),
    Unsupported(String),
}

impl Builder {
    /// Appends missing values up to this row.
    fn pad(&mut self, rows: usize) {
        while self.rows < rows {
            self.push(Value::Null);
        }
    }

    fn push(&mut self, value: Value) {
        let row = self.rows;
        self.rows += 1;
        if let Kind::Unknown = self.kind {
            self.kind = Kind::starting_with(&value, row);
        }
        match (&mut self.kind, value) {
            (Kind::Unknown | Kind::Unsupported(_), _) => {}
            (Kind::Truths(values), Value::Bool(truth)) => values.push(Some(truth)),
            (Kind::Truths(values), Value::Null) => values.push(None),
            (Kind::Block(block), Value::Array(numbers)) => push_list(block, &numbers),
            (Kind::Block(block), Value::Null) => block.push_missing(),
            (Kind::Numbers { values, words }, value) => match exact_number(&value) {
                Some(number) => values.push(number),
                None => {
                    if let Some(text) = scalar_text(&value) {
                        words.push((row, text));
                    }
                    values.push(f64::NAN);
                }
            },
            (Kind::Text(text), value) => match scalar_text(&value) {
                Some(value) => text.push(&value),
                None => text.push_missing(),
            },
            (Kind::Block(block), _) => {
                block.push_missing();
                block.give_up("holds lists in some rows and single values in others".to_owned());
            }
            (Kind::Truths(values), value) => {
                let mut text = TextBuilder::default();
                for truth in values.drain(..) {
                    push_optional(&mut text, truth.map(|truth| truth.to_string()));
                }
                push_optional(&mut text, scalar_text(&value));
                self.kind = Kind::Text(text);
            }
        }
        self.settle();
    }

    /// Numbers among which too many words occur become text.
    fn settle(&mut self) {
        if let Kind::Numbers { values, words } = &mut self.kind
            && words.len() > 1_000
            && words.len() * 50 > values.len()
        {
            self.kind = Kind::Text(numbers_as_text(std::mem::take(values), std::mem::take(words)));
        }
    }

    fn bytes(&self) -> usize {
        match &self.kind {
            Kind::Unknown | Kind::Unsupported(_) => 0,
            Kind::Truths(values) => values.len(),
            Kind::Numbers { values, .. } => values.len() * 8,
            Kind::Text(text) => text.bytes(),
            Kind::Block(block) => block.bytes(),
        }
    }

    fn finish(self, keep_text: bool) -> Column {
        let rows = self.rows;
        match self.kind {
            Kind::Unknown => Column::Numeric(NumericColumn::new(vec![f64::NAN; rows])),
            Kind::Truths(values) if keep_text => {
                let mut text = TextBuilder::default();
                values
                    .into_iter()
                    .for_each(|truth| push_optional(&mut text, truth.map(|truth| truth.to_string())));
                text.finish(true)
            }
            Kind::Truths(values) => Column::Boolean(BooleanColumn { values }),
            Kind::Numbers { values, words } => {
                let missing = values.iter().filter(|value| value.is_nan()).count();
                let is_numeric = words.is_empty() || mostly_numbers(values.len() - missing, words.len());
                if keep_text || !is_numeric {
                    return numbers_as_text(values, words).finish(true);
                }
                let mut column = NumericColumn::new(values);
                column.not_numbers = words;
                Column::Numeric(column)
            }
            Kind::Text(text) => text.finish(keep_text),
            Kind::Block(block) => block.finish(),
            Kind::Unsupported(reason) => Column::Unsupported(UnsupportedColumn { rows, reason }),
        }
    }
}

impl Kind {
    /// The kind that a first value suggests, with the rows before it missing.
    fn starting_with(value: &Value, row: usize) -> Self {
        match value {
            Value::Null => Self::Unknown,
            Value::Bool(_) => Self::Truths(vec![None; row]),
            Value::Number(_) => Self::Numbers { values: vec![f64::NAN; row], words: Vec::new() },
            Value::String(_) => {
                let mut text = TextBuilder::default();
                (0..row).for_each(|_| text.push_missing());
                Self::Text(text)
            }
            Value::Array(_) => {
                let mut block = BlockBuilder::new(false);
                (0..row).for_each(|_| block.push_missing());
                Self::Block(block)
            }
            Value::Object(_) => Self::Unsupported("holds nested objects".to_owned()),
        }
    }
}

fn push_optional(text: &mut TextBuilder, value: Option<String>) {
    match value {
        Some(value) => text.push(&value),
        None => text.push_missing(),
    }
}

fn numbers_as_text(values: Vec<f64>, words: Vec<(usize, String)>) -> TextBuilder {
    let mut words = words.into_iter().peekable();
    let mut text = TextBuilder::default();
    for (row, value) in values.into_iter().enumerate() {
        let word = words.next_if(|(word_row, _)| *word_row == row).map(|(_, word)| word);
        push_optional(&mut text, word.or_else(|| (!value.is_nan()).then(|| format_number(value))));
    }
    text
}

/// The number, unless it is a whole number too long for a double.
fn exact_number(value: &Value) -> Option<f64> {
    let number = value.as_f64()?;
    let is_integer = value.is_i64() || value.is_u64();
    (!is_integer || number.abs() < 9_007_199_254_740_992.0).then_some(number)
}

/// The text of a single value; nothing for null and empty text.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn push_list(block: &mut BlockBuilder, numbers: &[Value]) {
    match numbers.iter().find(|value| !value.is_number() && !value.is_null()) {
        None => {
            let number = |value: &Value| value.as_f64().map_or(f32::NAN, |value| value as f32);
            block.push_f32(numbers.len(), numbers.iter().map(number));
        }
        Some(_) => {
            block.push_missing();
            block.give_up("holds lists of something else than numbers".to_owned());
        }
    }
}
