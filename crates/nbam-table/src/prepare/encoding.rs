//! How one column becomes numbers.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::column::{BlockColumn, BlockValues, Column, NumericColumn, NumericKind, TextColumn};
use crate::error::{Error, ErrorKind};
use crate::notes::{Note, counted, quoted};
use crate::table::Table;

/// No more levels of a category than this get a column of their own.
const MOST_LEVELS: usize = 50;
/// Up to this many distinct values a text column is never taken for free text.
const FEWEST_TEXTS: usize = 20;

/// How one column becomes numbers; fitted on the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Encoding {
    /// `(x - center) / scale`, a missing x being `fill`; then 1 where x was missing if `indicator`.
    Numeric { unit: Unit, center: f64, scale: f64, fill: f64, value: bool, indicator: bool },
    /// 0 or 1, a missing value being `fill`; then 1 where it was missing if `indicator`.
    Boolean { fill: bool, value: bool, indicator: bool },
    /// One column per level, then `other` for the pooled values, then `missing`.
    Category { levels: Vec<String>, pooled: Vec<String>, missing: bool },
    /// As it is.
    Block { width: usize },
}

impl Encoding {
    /// Whether fitting could have made this; what was read from a file might be anything.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Numeric { center, scale, fill, value, indicator, .. } => {
                let is_finite = center.is_finite() && fill.is_finite() && scale.is_finite();
                is_finite && *scale > 0.0 && (*value || *indicator)
            }
            Self::Boolean { value, indicator, .. } => *value || *indicator,
            Self::Category { levels, pooled, missing } => {
                let distinct: HashSet<&String> = levels.iter().chain(pooled).collect();
                let columns = levels.len() + usize::from(!pooled.is_empty()) + usize::from(*missing);
                distinct.len() == levels.len() + pooled.len() && columns > 1 && levels.len() <= MOST_LEVELS
            }
            Self::Block { width } => *width > 0,
        }
    }
}

/// What a numeric column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Number,
    Day,
    Second,
}

impl Unit {
    pub(crate) fn of(kind: NumericKind) -> Self {
        match kind {
            NumericKind::Integer | NumericKind::Float => Self::Number,
            NumericKind::Date => Self::Day,
            NumericKind::DateTime => Self::Second,
        }
    }
}

impl Unit {
    /// One of them, in words.
    pub(crate) fn one(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Day => "a date",
            Self::Second => "a date with a time",
        }
    }

    /// Many of them, in words.
    pub(crate) fn many(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Day => "dates",
            Self::Second => "dates with times",
        }
    }

    /// Whether a text could be one of them.
    pub(crate) fn is_spelled_by(self, text: &str) -> bool {
        match self {
            Self::Number => text.trim().parse::<f64>().is_ok(),
            Self::Day => calendar::parse_date(text).is_some(),
            Self::Second => calendar::parse_date_time(text).or_else(|| calendar::parse_date(text)).is_some(),
        }
    }
}

/// A column of a table, for the messages.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) table: &'a Table,
    pub(crate) name: &'a str,
}

impl Context<'_> {
    pub(crate) fn fault(&self, message: &str) -> Error {
        Error::new(
            ErrorKind::Value,
            format!("{}: column {} {message}", self.table.source(), quoted(self.name)),
        )
    }

    pub(crate) fn fault_at(&self, row: usize, message: &str) -> Error {
        let (source, place) = (self.table.source(), self.table.place(row));
        Error::new(ErrorKind::Value, format!("{source}: {place}, column {}: {message}", quoted(self.name)))
    }

    pub(crate) fn not_a_number(&self, row: usize, text: &str) -> Error {
        self.fault_at(row, &format!("{} is not a number, as the other values are", quoted(text)))
            .with_hint("correct the value, leave it empty if it is unknown, or exclude the column")
    }
}

/// What fitting found: no encoding if the column says nothing, and the reason as a note.
pub(crate) type Fitted = (Option<Encoding>, Vec<Note>);

/// Fits the encoding of one column.
pub(crate) fn fit(context: Context<'_>, column: &Column) -> Result<Fitted, Error> {
    match column {
        Column::Numeric(numbers) => fit_numeric(context, numbers),
        Column::Boolean(truths) => Ok(fit_boolean(context, &truths.values)),
        Column::Text(text) => fit_category(context, text),
        Column::Block(block) => {
            check_block(context, block)?;
            Ok((Some(Encoding::Block { width: block.width }), Vec::new()))
        }
        Column::Unsupported(unsupported) => Err(context
            .fault(&format!("{}, which cannot be a feature", unsupported.reason))
            .with_hint("exclude it")),
    }
}

fn dropped(context: Context<'_>, code: &'static str, reason: &str) -> Fitted {
    let message = format!("Column {} {reason} and was left out.", quoted(context.name));
    (None, vec![Note::new(code, message)])
}

fn imputed(context: Context<'_>, missing: usize, with: &str) -> Note {
    let rows = context.table.rows();
    let values = counted(missing, "missing value", "missing values");
    Note::new(
        "missing_values",
        format!(
            "Column {} has {values} in {rows} rows; they were filled with {with}, and a column says where.",
            quoted(context.name)
        ),
    )
}

/// The numbers must be numbers, and finite where they are present; counts the missing ones.
pub(crate) fn check_numbers(context: Context<'_>, column: &NumericColumn) -> Result<usize, Error> {
    if let Some((row, text)) = column.not_numbers.first() {
        return Err(context.not_a_number(*row, text));
    }
    let mut missing = 0;
    for (row, value) in column.values.iter().enumerate() {
        if value.is_infinite() {
            return Err(context
                .fault_at(row, &format!("the value is infinite ({value})"))
                .with_hint("correct the value or leave it empty"));
        }
        missing += usize::from(value.is_nan());
    }
    Ok(missing)
}

fn fit_numeric(context: Context<'_>, column: &NumericColumn) -> Result<Fitted, Error> {
    let missing = check_numbers(context, column)?;
    let present = column.values.len() - missing;
    if present == 0 {
        return Ok(dropped(context, "empty_column", "has no values"));
    }
    let known = || column.values.iter().copied().filter(|value| !value.is_nan());
    let first = known().next().unwrap_or_default();
    let is_constant = known().all(|value| value == first);
    if is_constant && missing == 0 {
        return Ok(dropped(context, "constant_column", "has the same value in every row"));
    }
    // Differences from one of the values keep their digits when the offset is large.
    let count = present as f64;
    let center = first + known().map(|value| value - first).sum::<f64>() / count;
    let spread = known().map(|value| (value - center).abs()).fold(0.0, f64::max);
    if !spread.is_finite() || !center.is_finite() {
        return Err(context
            .fault("holds numbers too far apart for a standard deviation")
            .with_hint("rescale it, or exclude it"));
    }
    let scale = if spread == 0.0 {
        1.0
    } else {
        // Squares of numbers up to one neither overflow nor vanish.
        let mean_square = known().map(|value| ((value - center) / spread).powi(2)).sum::<f64>() / count;
        (spread * mean_square.sqrt()).max(f64::MIN_POSITIVE)
    };
    let mut values: Vec<f64> = known().collect();
    let middle = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    let fill = if present % 2 == 1 {
        upper
    } else {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        lower + (upper - lower) / 2.0
    };
    let encoding = Encoding::Numeric {
        unit: Unit::of(column.kind),
        center,
        scale,
        fill,
        value: !is_constant,
        indicator: missing > 0,
    };
    let notes = if missing > 0 { vec![imputed(context, missing, "the median")] } else { Vec::new() };
    Ok((Some(encoding), notes))
}

fn fit_boolean(context: Context<'_>, values: &[Option<bool>]) -> Fitted {
    let truths = values.iter().filter(|value| **value == Some(true)).count();
    let missing = values.iter().filter(|value| value.is_none()).count();
    let present = values.len() - missing;
    if present == 0 {
        return dropped(context, "empty_column", "has no values");
    }
    let is_constant = truths == 0 || truths == present;
    if is_constant && missing == 0 {
        return dropped(context, "constant_column", "has the same value in every row");
    }
    let encoding =
        Encoding::Boolean { fill: truths * 2 >= present, value: !is_constant, indicator: missing > 0 };
    let notes =
        if missing > 0 { vec![imputed(context, missing, "the more frequent value")] } else { Vec::new() };
    (Some(encoding), notes)
}

fn fit_category(context: Context<'_>, column: &TextColumn) -> Result<Fitted, Error> {
    let rows = column.codes.len();
    let mut counts = vec![0_usize; column.values.len()];
    let mut missing = 0;
    for code in &column.codes {
        match counts.get_mut(*code as usize) {
            Some(count) => *count += 1,
            None => missing += 1,
        }
    }
    let mut used: Vec<usize> = (0..counts.len()).filter(|code| counts[*code] > 0).collect();
    if used.is_empty() {
        return Ok(dropped(context, "empty_column", "has no values"));
    }
    let present = rows - missing;
    if used.len() > FEWEST_TEXTS && used.len() * 2 > present {
        return Err(free_text(context, column, used.len(), present));
    }
    if used.len() == 1 && missing == 0 {
        return Ok(dropped(context, "constant_column", "has the same value in every row"));
    }
    // The most frequent first, ties by name, so that the choice does not depend on the rows' order.
    used.sort_by(|a, b| counts[*b].cmp(&counts[*a]).then_with(|| column.values[*a].cmp(&column.values[*b])));
    let fewest = 5.max(rows.div_ceil(1000));
    let kept = used.iter().take(MOST_LEVELS).take_while(|code| counts[**code] >= fewest).count();
    let sorted = |codes: &[usize]| {
        let mut names: Vec<String> = codes.iter().map(|code| column.values[*code].clone()).collect();
        names.sort();
        names
    };
    let (levels, pooled) = (sorted(&used[..kept]), sorted(&used[kept..]));
    if levels.is_empty() && missing == 0 {
        return Ok(dropped(context, "rare_categories", "has only rare categories"));
    }
    let mut notes = Vec::new();
    if !pooled.is_empty() {
        notes.push(Note::new(
            "pooled_categories",
            format!(
                "Column {}: {} with fewer than {fewest} rows, or beyond the {MOST_LEVELS} most frequent, \
                 were pooled into one.",
                quoted(context.name),
                counted(pooled.len(), "category", "categories")
            ),
        ));
    }
    Ok((Some(Encoding::Category { levels, pooled, missing: missing > 0 }), notes))
}

fn free_text(context: Context<'_>, column: &TextColumn, distinct: usize, present: usize) -> Error {
    let is_number = |value: &String| value.trim().parse::<f64>().is_ok();
    let numbers = column.values.iter().filter(|value| is_number(value)).count();
    if numbers * 2 > column.values.len() {
        let odd = |row: &usize| column.get(*row).is_some_and(|value| value.trim().parse::<f64>().is_err());
        if let Some(row) = (0..column.codes.len()).find(odd) {
            return context.not_a_number(row, column.get(row).unwrap_or_default());
        }
    }
    context
        .fault(&format!(
            "has {distinct} distinct texts in {present} rows (for example {}), too many to be categories",
            quoted(column.values.first().map_or("", String::as_str))
        ))
        .with_hint("exclude it, or give it as --id if it names the rows")
}

/// Every number of a block must be finite.
pub(crate) fn check_block(context: Context<'_>, block: &BlockColumn) -> Result<(), Error> {
    // One comparison per number, in parallel: a block can hold the better part of the memory.
    let position = match &block.values {
        BlockValues::F32(values) => values.par_iter().position_first(|value| !value.is_finite()),
        BlockValues::F16(values) => values.par_iter().position_first(|value| !value.is_finite()),
    };
    let Some(position) = position else { return Ok(()) };
    let (row, element) = (position / block.width, position % block.width);
    if (0..block.width).all(|element| block.get(row, element).is_nan()) {
        return Err(context.fault_at(row, "the block of numbers is missing").with_hint("leave the row out"));
    }
    let value = block.get(row, element);
    Err(context
        .fault_at(row, &format!("element {element} is {value}, not a finite number of single precision"))
        .with_hint("correct the value or leave the row out"))
}

/// The position of each known category among the columns of its encoding.
pub(crate) fn category_positions<'a>(levels: &'a [String], pooled: &'a [String]) -> HashMap<&'a str, usize> {
    let kept = levels.iter().map(String::as_str).zip(0..);
    kept.chain(pooled.iter().map(|value| (value.as_str(), levels.len()))).collect()
}
