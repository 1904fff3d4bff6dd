//! One piece of a CSV file, parsed by one thread straight into typed columns.

use super::csv_fields::{self, End, Field};
use super::dictionary::{TextBuilder, is_exact};

/// How a column is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not at all.
    Skip,
    /// As numbers; words among them are set aside.
    Number,
    /// As text.
    Text,
}

/// The settings that all pieces share.
pub(super) struct Layout {
    pub(super) delimiter: u8,
    /// Numbers have a comma where others have a point.
    pub(super) has_decimal_comma: bool,
    pub(super) modes: Vec<Mode>,
}

/// A column of numbers being read.
#[derive(Default)]
pub(super) struct NumberBuilder {
    pub(super) values: Vec<f64>,
    /// Rows whose value is no number, and the value.
    pub(super) words: Vec<(usize, String)>,
    pub(super) missing: usize,
    /// Whether a whole number was too long to be kept exactly, and whether all numbers were whole.
    pub(super) has_long_integer: bool,
    pub(super) has_fraction: bool,
    /// There are so many words that the column must be read again as text.
    pub(super) is_abandoned: bool,
}

impl NumberBuilder {
    fn push(&mut self, value: f64) {
        self.missing += usize::from(value.is_nan());
        self.has_fraction |= value.fract().abs() > 0.0;
        self.values.push(value);
    }

    fn push_word(&mut self, word: &[u8]) {
        if !self.is_abandoned {
            self.words.push((self.values.len(), String::from_utf8_lossy(word).into_owned()));
            self.abandon_if_wordy();
        }
        self.values.push(f64::NAN);
    }

    /// Words beyond any mistake: keep no more of them.
    fn abandon_if_wordy(&mut self) {
        if self.words.len() > 1_000 && self.words.len() * 50 > self.values.len() {
            self.is_abandoned = true;
            self.words = Vec::new();
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        let offset = self.values.len();
        self.values.extend_from_slice(&other.values);
        self.words.extend(other.words.into_iter().map(|(row, word)| (row + offset, word)));
        self.missing += other.missing;
        self.has_long_integer |= other.has_long_integer;
        self.has_fraction |= other.has_fraction;
        self.is_abandoned |= other.is_abandoned;
        self.abandon_if_wordy();
    }
}

/// A column being read.
pub(super) enum Builder {
    Skip,
    Number(NumberBuilder),
    Text(TextBuilder),
}

impl Builder {
    pub(super) fn new(mode: Mode) -> Self {
        match mode {
            Mode::Skip => Self::Skip,
            Mode::Number => Self::Number(NumberBuilder::default()),
            Mode::Text => Self::Text(TextBuilder::default()),
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Number(mine), Self::Number(more)) => mine.append(more),
            (Self::Text(mine), Self::Text(more)) => mine.append(more),
            _ => {}
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Skip => 0,
            Self::Number(numbers) => numbers.values.len() * 8,
            Self::Text(text) => text.bytes(),
        }
    }
}

/// A fault of a record, by its row in the piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Ragged { fields: usize },
    OpenQuote,
    NotUnicode { column: usize },
}

/// What became of a piece.
pub(super) struct Piece {
    pub(super) builders: Vec<Builder>,
    pub(super) rows: usize,
    /// Whether each row is exactly one line.
    pub(super) is_regular: bool,
    pub(super) fault: Option<Fault>,
}

/// Parses whole records; stops at the first fault, whose row is then `rows`.
pub(super) fn parse(bytes: &[u8], layout: &Layout, most_rows: usize) -> Piece {
    let builders = layout.modes.iter().map(|mode| Builder::new(*mode)).collect();
    let mut piece = Piece { builders, rows: 0, is_regular: true, fault: None };
    let mut position = 0;
    while position < bytes.len() && piece.rows < most_rows {
        let rest = &bytes[position..];
        if rest[0] == b'\n' || rest.starts_with(b"\r\n") || rest == b"\r" {
            position += if rest[0] == b'\n' { 1 } else { 2 };
            piece.is_regular = false;
            continue;
        }
        match parse_record(bytes, position, layout, &mut piece) {
            Ok(next) => position = next,
            Err(fault) => {
                piece.fault = Some(fault);
                break;
            }
        }
        piece.rows += 1;
    }
    piece
}

/// Parses one record; returns where the next one starts.
fn parse_record(bytes: &[u8], start: usize, layout: &Layout, piece: &mut Piece) -> Result<usize, Fault> {
    let mut position = start;
    let mut is_open = true;
    for (column, builder) in piece.builders.iter_mut().enumerate() {
        if !is_open {
            return Err(Fault::Ragged { fields: column });
        }
        if let Builder::Number(numbers) = builder
            && !layout.has_decimal_comma
            && let Some((value, next, end)) = quick_number(bytes, position, layout.delimiter)
        {
            numbers.push(value);
            position = next;
            is_open = end == End::Field;
            continue;
        }
        let field = csv_fields::field(bytes, position, layout.delimiter);
        if !field.is_closed {
            return Err(Fault::OpenQuote);
        }
        position = field.next;
        is_open = field.end == End::Field;
        piece.is_regular &= !field.content.contains(&b'\n');
        store(builder, &field, layout).map_err(|_| Fault::NotUnicode { column })?;
    }
    if !is_open {
        return Ok(position);
    }
    let mut fields = piece.builders.len();
    loop {
        let field = csv_fields::field(bytes, position, layout.delimiter);
        fields += 1;
        position = field.next;
        if field.end != End::Field {
            return Err(Fault::Ragged { fields });
        }
    }
}

/// The common case: a plain number that ends at a delimiter or at the end of its line.
fn quick_number(bytes: &[u8], start: usize, delimiter: u8) -> Option<(f64, usize, End)> {
    let (value, length) = fast_float2::parse_partial::<f64, _>(&bytes[start..]).ok()?;
    // Long whole numbers need a look at their digits.
    if value.abs() >= 9_007_199_254_740_992.0 {
        return None;
    }
    let stop = start + length;
    match bytes.get(stop) {
        None => Some((value, stop, End::Input)),
        Some(byte) if *byte == delimiter => Some((value, stop + 1, End::Field)),
        Some(b'\n') => Some((value, stop + 1, End::Record)),
        Some(b'\r') if bytes.get(stop + 1) == Some(&b'\n') => Some((value, stop + 2, End::Record)),
        Some(_) => None,
    }
}

fn store(builder: &mut Builder, field: &Field<'_>, layout: &Layout) -> Result<(), std::str::Utf8Error> {
    let trimmed = field.content.trim_ascii();
    match builder {
        Builder::Skip => {}
        Builder::Number(numbers) if csv_fields::is_missing(trimmed) => numbers.push(f64::NAN),
        Builder::Number(numbers) => match number(trimmed, layout.has_decimal_comma) {
            Some(value) => {
                let text = std::str::from_utf8(trimmed).unwrap_or_default();
                numbers.has_long_integer |= !is_exact(text, value);
                numbers.push(value);
            }
            None => numbers.push_word(trimmed),
        },
        Builder::Text(text) if csv_fields::is_missing(trimmed) => text.push_missing(),
        Builder::Text(text) => text.push_bytes(&field.content)?,
    }
    Ok(())
}

/// The number that a trimmed field spells.
pub(super) fn number(trimmed: &[u8], has_decimal_comma: bool) -> Option<f64> {
    let unsigned = match trimmed {
        [b'+', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => rest,
        other => other,
    };
    if has_decimal_comma && unsigned.contains(&b',') {
        let pointed: Vec<u8> = unsigned.iter().map(|byte| if *byte == b',' { b'.' } else { *byte }).collect();
        return fast_float2::parse(pointed).ok();
    }
    fast_float2::parse(unsigned).ok()
}
