//! Distinct texts and the codes of the rows.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::calendar;
use crate::column::{BooleanColumn, Column, MISSING_CODE, NumericColumn, NumericKind, TextColumn};

/// At least this many values must be present before a few words among numbers count as mistakes.
const FEWEST_NUMBERS: usize = 100;

/// A text column being read: each distinct text is kept once.
#[derive(Default)]
pub(crate) struct TextBuilder {
    values: Vec<String>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    codes: Vec<u32>,
    text_bytes: usize,
}

impl TextBuilder {
    /// The code of a text, if it is known.
    fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.index.find(hash, |code| self.values[*code as usize].as_bytes() == text).copied()
    }

    fn insert(&mut self, text: String) -> u32 {
        let hash = self.hasher.hash_one(text.as_bytes());
        let code = self.values.len() as u32;
        self.text_bytes += text.len() + 24;
        self.values.push(text);
        let (values, hasher) = (&self.values, &self.hasher);
        self.index.insert_unique(hash, code, |code| hasher.hash_one(values[*code as usize].as_bytes()));
        code
    }

    pub(crate) fn push_missing(&mut self) {
        self.codes.push(MISSING_CODE);
    }

    pub(crate) fn push(&mut self, text: &str) {
        let code = self.find(text.as_bytes()).unwrap_or_else(|| self.insert(text.to_owned()));
        self.codes.push(code);
    }

    /// Appends a text of unknown encoding; fails if it is not UTF-8.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), std::str::Utf8Error> {
        let code = match self.find(bytes) {
            Some(code) => code,
            None => self.insert(std::str::from_utf8(bytes)?.to_owned()),
        };
        self.codes.push(code);
        Ok(())
    }

    /// Appends the rows of another builder.
    pub(crate) fn append(&mut self, other: Self) {
        let map: Vec<u32> = other
            .values
            .into_iter()
            .map(|text| self.find(text.as_bytes()).unwrap_or_else(|| self.insert(text)))
            .collect();
        let translate = |code: u32| map.get(code as usize).copied().unwrap_or(MISSING_CODE);
        self.codes.extend(other.codes.into_iter().map(translate));
    }

    /// The code in this builder of each text of a list; `None` stays missing.
    pub(crate) fn codes_of<'a>(&mut self, texts: impl Iterator<Item = Option<&'a str>>) -> Vec<u32> {
        let mut code_of =
            |text: &str| self.find(text.as_bytes()).unwrap_or_else(|| self.insert(text.to_owned()));
        texts.map(|text| text.map_or(MISSING_CODE, &mut code_of)).collect()
    }

    pub(crate) fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// About how many bytes are held.
    pub(crate) fn bytes(&self) -> usize {
        self.codes.len() * 4 + self.text_bytes
    }

    /// The column: text, or what all its texts turn out to be unless it must stay text.
    pub(crate) fn finish(mut self, keep_text: bool) -> Column {
        self.codes.shrink_to_fit();
        let column = TextColumn { codes: self.codes, values: self.values };
        if keep_text { Column::Text(column) } else { recognise(column) }
    }
}

/// Texts that are all truth values, dates, times or (nearly all) numbers become such a column.
fn recognise(column: TextColumn) -> Column {
    if column.values.is_empty() {
        return Column::Numeric(NumericColumn::new(vec![f64::NAN; column.codes.len()]));
    }
    let truth = |text: &String| match text.as_str() {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    };
    if let Some(truths) = column.values.iter().map(truth).collect::<Option<Vec<bool>>>() {
        let values = column.codes.iter().map(|code| truths.get(*code as usize).copied()).collect();
        return Column::Boolean(BooleanColumn { values });
    }
    let numeric = |meanings: Vec<f64>, kind: NumericKind| {
        let value = |code: &u32| meanings.get(*code as usize).copied().unwrap_or(f64::NAN);
        let values = column.codes.iter().map(value).collect();
        Column::Numeric(NumericColumn { values, kind, not_numbers: Vec::new() })
    };
    let day = |text: &String| calendar::parse_date(text);
    if let Some(days) = column.values.iter().map(day).collect::<Option<Vec<f64>>>() {
        return numeric(days, NumericKind::Date);
    }
    let second = |text: &String| {
        calendar::parse_date_time(text).or_else(|| calendar::parse_date(text).map(|days| days * 86_400.0))
    };
    if let Some(seconds) = column.values.iter().map(second).collect::<Option<Vec<f64>>>() {
        return numeric(seconds, NumericKind::DateTime);
    }
    nearly_numeric(&column).unwrap_or(Column::Text(column))
}

/// A column of numbers with at most one word in a hundred.
fn nearly_numeric(column: &TextColumn) -> Option<Column> {
    let number = |text: &String| text.trim().parse::<f64>().ok().filter(|value| is_exact(text, *value));
    let numbers: Vec<Option<f64>> = column.values.iter().map(number).collect();
    let is_number = |code: &&u32| numbers.get(**code as usize).is_some_and(Option::is_some);
    let present = column.codes.iter().filter(|code| **code != MISSING_CODE).count();
    let numeric = column.codes.iter().filter(is_number).count();
    if !mostly_numbers(numeric, present - numeric) {
        return None;
    }
    let value = |code: &u32| numbers.get(*code as usize).copied().flatten().unwrap_or(f64::NAN);
    let mut found = NumericColumn::new(column.codes.iter().map(value).collect());
    for (row, code) in column.codes.iter().enumerate() {
        if numbers.get(*code as usize) == Some(&None) {
            found.not_numbers.push((row, column.values[*code as usize].clone()));
        }
    }
    Some(Column::Numeric(found))
}

/// Whether so many numbers and so many words are a numeric column with mistakes.
pub(crate) fn mostly_numbers(numbers: usize, words: usize) -> bool {
    numbers + words >= FEWEST_NUMBERS && words * 100 <= numbers + words
}

/// Whether a number keeps all digits of its text; long whole numbers (ids) do not.
pub(crate) fn is_exact(text: &str, value: f64) -> bool {
    value.abs() < 9_007_199_254_740_992.0
        || !text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b'+')
}
