//! Arrow arrays into columns: the common part of Parquet, Arrow files and data from other programs.

use std::collections::HashMap;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float16Array, Float32Array, Float64Array, Int64Array,
    LargeStringArray, RecordBatch, UInt64Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float16Type, Float32Type, Schema, TimeUnit};
use arrow::error::ArrowError;

use super::blocks::BlockBuilder;
use super::dictionary::TextBuilder;
use super::guard::{damaged, guarded};
use super::limits::Limit;
use crate::column::{
    BlockValues, BooleanColumn, Column, NumericColumn, NumericKind, UnsupportedColumn, format_number,
};
use crate::error::Error;
use crate::table::{ReadOptions, Table, check_names, check_options};

/// The largest magnitude up to which every whole number is a double.
const EXACT: u128 = 1 << 53;

pub(crate) fn from_batches(
    source: &str,
    schema: &Schema,
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    options: &ReadOptions,
) -> Result<Table, Error> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    check_names(source, &names)?;
    check_options(source, &names, options)?;
    let mut columns = ArrowColumns::new(source, schema, options);
    guarded(source, "Arrow", || {
        for batch in batches {
            columns.append(&batch.map_err(|error| damaged(source, "Arrow", &error.to_string()))?)?;
        }
        Ok(())
    })?;
    let skipped = names.into_iter().filter(|name| !options.wants(name)).collect();
    columns.finish(skipped)
}

/// All columns being read from record batches of one schema.
pub(super) struct ArrowColumns<'a> {
    source: &'a str,
    limit: Limit,
    options: &'a ReadOptions,
    columns: Vec<(String, Builder)>,
    /// Where each column is in the batches; `None` if it is not read. Known with the first batch.
    positions: Vec<Option<usize>>,
    rows: usize,
}

impl<'a> ArrowColumns<'a> {
    pub(super) fn new(source: &'a str, schema: &Schema, options: &'a ReadOptions) -> Self {
        let wanted = schema.fields().iter().filter(|field| options.wants(field.name()));
        let columns = wanted.map(|field| (field.name().clone(), Builder::new(field))).collect();
        Self { source, limit: Limit::new(options), options, columns, positions: Vec::new(), rows: 0 }
    }

    /// Appends a batch that holds at least the readable ones of the wanted columns.
    pub(super) fn append(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.positions.is_empty() {
            let schema = batch.schema();
            let found: HashMap<&str, usize> =
                schema.fields().iter().map(|field| field.name().as_str()).zip(0..).collect();
            self.positions = self.columns.iter().map(|(name, _)| found.get(name.as_str()).copied()).collect();
        }
        for ((_, builder), position) in self.columns.iter_mut().zip(&self.positions) {
            if let Some(array) = position.and_then(|position| batch.columns().get(position)) {
                let appended = builder.append(array);
                appended.map_err(|error| damaged(self.source, "Arrow", &error.to_string()))?;
            }
        }
        self.rows += batch.num_rows();
        let held: usize = self.columns.iter().map(|(_, builder)| builder.bytes()).sum();
        self.limit.check(self.source, held as u64)
    }

    pub(super) fn finish(self, skipped: Vec<String>) -> Result<Table, Error> {
        let (rows, options) = (self.rows, self.options);
        let (names, columns) = self
            .columns
            .into_iter()
            .map(|(name, builder)| {
                let column = builder.finish(rows, options.keeps_text(&name));
                (name, column)
            })
            .unzip();
        Table::assemble(self.source.to_owned(), names, columns, skipped)
    }
}

/// Why a column of this type cannot be used, if it cannot; such columns need not be read.
pub(super) fn unsupported(data_type: &DataType) -> Option<String> {
    match Builder::of_type(data_type) {
        Builder::Unsupported(reason) => Some(reason),
        _ => None,
    }
}

enum Builder {
    Numbers {
        values: Vec<f64>,
        kind: Option<NumericKind>,
        per_unit: f64,
    },
    /// Whole numbers that may be too long for a double: ids.
    Integers {
        values: Vec<f64>,
        texts: Option<TextBuilder>,
    },
    Truths(Vec<Option<bool>>),
    Text(TextBuilder),
    Block(BlockBuilder),
    Unsupported(String),
}

impl Builder {
    fn new(field: &Field) -> Self {
        Self::of_type(field.data_type())
    }

    fn of_type(data_type: &DataType) -> Self {
        let numbers = |kind, per_unit| Self::Numbers { values: Vec::new(), kind, per_unit };
        match data_type {
            DataType::Int64 | DataType::UInt64 => Self::Integers { values: Vec::new(), texts: None },
            DataType::Boolean => Self::Truths(Vec::new()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text(TextBuilder::default()),
            DataType::Date32 | DataType::Date64 => numbers(Some(NumericKind::Date), 1.0),
            DataType::Timestamp(unit, _) => {
                let per_second = match unit {
                    TimeUnit::Second => 1.0,
                    TimeUnit::Millisecond => 1e3,
                    TimeUnit::Microsecond => 1e6,
                    TimeUnit::Nanosecond => 1e9,
                };
                numbers(Some(NumericKind::DateTime), per_second)
            }
            DataType::Dictionary(_, values) => match Self::of_type(values) {
                // Lists in dictionaries exist on paper only.
                Self::Block(_) => Self::Unsupported(format!("holds values of type {data_type}")),
                other => other,
            },
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _) => match field.data_type() {
                DataType::Float16 => Self::Block(BlockBuilder::new(true)),
                inner if is_number(inner) => Self::Block(BlockBuilder::new(false)),
                inner => Self::Unsupported(format!("holds lists of {inner}")),
            },
            DataType::Null => numbers(None, 1.0),
            other if is_number(other) => numbers(None, 1.0),
            other => {
                let name: String = other.to_string().chars().take_while(|c| *c != '(').collect();
                Self::Unsupported(format!("holds values of type {name}"))
            }
        }
    }

    fn append(&mut self, array: &ArrayRef) -> Result<(), ArrowError> {
        match self {
            Self::Unsupported(_) => Ok(()),
            Self::Numbers { values, kind, per_unit } => append_numbers(array, values, *kind, *per_unit),
            Self::Integers { values, texts } => append_integers(array, values, texts),
            Self::Truths(values) => {
                let array = cast(array, &DataType::Boolean)?;
                let array: &BooleanArray = array.as_boolean();
                values.extend(array.iter());
                Ok(())
            }
            Self::Text(text) => append_text(array, text),
            Self::Block(block) => append_block(array, block),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.len() * 8,
            Self::Integers { values, texts } => {
                values.len() * 8 + texts.as_ref().map_or(0, TextBuilder::bytes)
            }
            Self::Truths(values) => values.len(),
            Self::Text(text) => text.bytes(),
            Self::Block(block) => block.bytes(),
            Self::Unsupported(_) => 0,
        }
    }

    fn finish(self, rows: usize, keep_text: bool) -> Column {
        let column = match self {
            Self::Numbers { values, kind: Some(kind), .. } => {
                Column::Numeric(NumericColumn { values, kind, not_numbers: Vec::new() })
            }
            Self::Numbers { values, .. } | Self::Integers { values, texts: None } => {
                Column::Numeric(NumericColumn::new(values))
            }
            Self::Integers { texts: Some(texts), .. } => texts.finish(true),
            Self::Truths(values) => Column::Boolean(BooleanColumn { values }),
            Self::Text(text) => text.finish(keep_text),
            Self::Block(block) => block.finish(),
            Self::Unsupported(reason) => Column::Unsupported(UnsupportedColumn { rows, reason }),
        };
        if !keep_text || !matches!(column, Column::Numeric(_) | Column::Boolean(_)) {
            return column;
        }
        let mut texts = TextBuilder::default();
        for row in 0..rows {
            match column.text(row) {
                Some(text) => texts.push(&text),
                None => texts.push_missing(),
            }
        }
        texts.finish(true)
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() && !matches!(data_type, DataType::Interval(_) | DataType::Duration(_))
}

fn append_numbers(
    array: &ArrayRef,
    values: &mut Vec<f64>,
    kind: Option<NumericKind>,
    per_unit: f64,
) -> Result<(), ArrowError> {
    let array = match kind {
        Some(NumericKind::Date) => cast(&cast(array, &DataType::Date32)?, &DataType::Int32)?,
        Some(NumericKind::DateTime) => cast(array, &DataType::Int64)?,
        _ => array.clone(),
    };
    let array = cast(&array, &DataType::Float64)?;
    let array: &Float64Array = array.as_primitive();
    if array.null_count() == 0 && per_unit == 1.0 {
        values.extend_from_slice(array.values());
    } else {
        values.extend(array.iter().map(|value| value.map_or(f64::NAN, |value| value / per_unit)));
    }
    Ok(())
}

fn append_integers(
    array: &ArrayRef,
    values: &mut Vec<f64>,
    texts: &mut Option<TextBuilder>,
) -> Result<(), ArrowError> {
    let plain = match array.data_type() {
        DataType::Dictionary(_, inner) => cast(array, inner)?,
        _ => array.clone(),
    };
    if plain.data_type() == &DataType::UInt64 {
        let array: &UInt64Array = plain.as_primitive();
        array.iter().for_each(|value| push_integer(value.map(i128::from), values, texts));
    } else {
        let array: &Int64Array = plain.as_primitive();
        array.iter().for_each(|value| push_integer(value.map(i128::from), values, texts));
    }
    Ok(())
}

/// Appends a whole number; the first one that is no double turns the column into text.
pub(super) fn push_integer(value: Option<i128>, values: &mut Vec<f64>, texts: &mut Option<TextBuilder>) {
    let is_long = value.is_some_and(|value| value.unsigned_abs() > EXACT);
    if is_long && texts.is_none() {
        let mut earlier = TextBuilder::default();
        for value in values.drain(..) {
            if value.is_nan() { earlier.push_missing() } else { earlier.push(&format_number(value)) }
        }
        *texts = Some(earlier);
    }
    match (texts, value) {
        (None, value) => values.push(value.map_or(f64::NAN, |value| value as f64)),
        (Some(texts), None) => texts.push_missing(),
        (Some(texts), Some(value)) => texts.push(&value.to_string()),
    }
}

fn append_text(array: &ArrayRef, text: &mut TextBuilder) -> Result<(), ArrowError> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let values = cast(dictionary.values(), &DataType::LargeUtf8)?;
        let values: &LargeStringArray = values.as_string();
        let codes = text.codes_of(values.iter());
        let keys = cast(&arrow::array::make_array(dictionary.keys().to_data()), &DataType::Int64)?;
        let keys: &Int64Array = keys.as_primitive();
        for key in keys {
            let code = key.and_then(|key| usize::try_from(key).ok()).and_then(|key| codes.get(key));
            match code {
                Some(code) => text.push_code(*code),
                None => text.push_missing(),
            }
        }
        return Ok(());
    }
    let array = cast(array, &DataType::LargeUtf8)?;
    let array: &LargeStringArray = array.as_string();
    for value in array {
        match value {
            Some(value) => text.push(value),
            None => text.push_missing(),
        }
    }
    Ok(())
}

/// The numbers of a list array without gaps, if they are of a precision that is kept as it is.
fn whole_block(array: &ArrayRef) -> Option<(usize, BlockValues)> {
    let lists = array.as_fixed_size_list_opt()?;
    let values = lists.values();
    if lists.null_count() > 0 || values.null_count() > 0 {
        return None;
    }
    let width = usize::try_from(lists.value_length()).ok()?;
    // There may be more values than rows need; the first row's always come first.
    let count = lists.len().checked_mul(width).filter(|count| *count <= values.len())?;
    let values = values.slice(0, count);
    let values = match values.data_type() {
        DataType::Float32 => BlockValues::F32(values.as_primitive::<Float32Type>().values().clone()),
        DataType::Float16 => BlockValues::F16(values.as_primitive::<Float16Type>().values().clone()),
        _ => return None,
    };
    Some((width, values))
}

fn append_block(array: &ArrayRef, block: &mut BlockBuilder) -> Result<(), ArrowError> {
    let whole = whole_block(array);
    if whole.is_some_and(|(width, values)| block.share(width, array.len(), values)) {
        return Ok(());
    }
    let mut push = |row: Option<ArrayRef>| -> Result<(), ArrowError> {
        match row {
            None => block.push_missing(),
            Some(row) if row.data_type() == &DataType::Float16 && row.null_count() == 0 => {
                let row: &Float16Array = row.as_primitive();
                block.push_f16(row.values());
            }
            Some(row) => {
                let row = cast(&row, &DataType::Float32)?;
                let row: &Float32Array = row.as_primitive();
                if row.null_count() == 0 {
                    block.push_f32(row.len(), row.values().iter().copied());
                } else {
                    block.push_f32(row.len(), row.iter().map(|value| value.unwrap_or(f32::NAN)));
                }
            }
        }
        Ok(())
    };
    match array.data_type() {
        DataType::FixedSizeList(..) => array.as_fixed_size_list().iter().try_for_each(&mut push),
        DataType::LargeList(_) => array.as_list::<i64>().iter().try_for_each(&mut push),
        DataType::List(_) => array.as_list::<i32>().iter().try_for_each(&mut push),
        DataType::ListView(field) => {
            let array = cast(array, &DataType::List(field.clone()))?;
            array.as_list::<i32>().iter().try_for_each(&mut push)
        }
        DataType::LargeListView(field) => {
            let array = cast(array, &DataType::LargeList(field.clone()))?;
            array.as_list::<i64>().iter().try_for_each(&mut push)
        }
        other => Err(ArrowError::CastError(format!("{other} is not a list"))),
    }
}
