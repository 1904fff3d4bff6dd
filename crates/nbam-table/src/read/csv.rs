//! CSV: read in windows, each window parsed by all threads.

use rayon::prelude::*;

use super::csv_fields::{self, End};
use super::csv_pieces::{self, Builder, Fault, Layout, Mode, NumberBuilder, Piece};
use super::dictionary::mostly_numbers;
use super::limits::Limit;
use super::windows::{Source, WINDOW, Windows};
use crate::column::{Column, NumericColumn};
use crate::error::{Error, ErrorKind};
use crate::notes::{counted, quoted};
use crate::table::{ReadOptions, Table, check_names, check_options};

/// Rows that decide how a column is parsed at first.
const SAMPLE_ROWS: usize = 1_000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) fn read(
    name: &str,
    source: &Source,
    delimiter: Option<u8>,
    options: &ReadOptions,
) -> Result<Table, Error> {
    Reader::new(name, source, delimiter, options, WINDOW).read()
}

fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())]
}

fn must_be_read_as_text(builder: &Builder) -> bool {
    let Builder::Number(numbers) = builder else { return false };
    let words = numbers.words.len();
    let found = numbers.values.len() - numbers.missing - words;
    numbers.is_abandoned
        || (numbers.has_long_integer && !numbers.has_fraction)
        || (words > 0 && !mostly_numbers(found, words))
}

struct Reader<'a> {
    name: &'a str,
    source: &'a Source,
    delimiter: Option<u8>,
    options: &'a ReadOptions,
    limit: Limit,
    names: Vec<String>,
    /// Bytes per window.
    window: usize,
    is_regular: bool,
}

impl<'a> Reader<'a> {
    fn new(
        name: &'a str,
        source: &'a Source,
        delimiter: Option<u8>,
        options: &'a ReadOptions,
        window: usize,
    ) -> Self {
        let limit = Limit::new(options);
        Self { name, source, delimiter, options, limit, names: Vec::new(), window, is_regular: true }
    }

    fn read(mut self) -> Result<Table, Error> {
        let mut builders = self.pass(None)?;
        // A column that looked like numbers in its first rows and is not gets a second look.
        let again: Vec<bool> = builders.iter().map(must_be_read_as_text).collect();
        if again.contains(&true) {
            let second = self.pass(Some(&again))?;
            for ((first, second), again) in builders.iter_mut().zip(second).zip(&again) {
                if *again {
                    *first = second;
                }
            }
        }
        self.finish(builders)
    }

    /// Reads the whole file; `text_only` names the columns to read as text, and no others.
    fn pass(&mut self, text_only: Option<&[bool]>) -> Result<Vec<Builder>, Error> {
        let input = self.source.open().map_err(|error| Error::reading(self.name, error))?;
        let mut windows = Windows::new(self.name, input, self.window);
        let mut layout = Layout { delimiter: b',', has_decimal_comma: false, modes: Vec::new() };
        let mut builders: Vec<Builder> = Vec::new();
        let mut rows = 0;
        let mut is_first = true;
        loop {
            let known = (!is_first).then_some(layout.delimiter).or(self.delimiter);
            let cut = |bytes: &[u8]| {
                let delimiter = known.unwrap_or_else(|| csv_fields::sniff_delimiter(first_line(bytes)));
                csv_fields::last_record_end(bytes, delimiter)
            };
            let Some(mut window) = windows.next(cut)? else { break };
            if is_first {
                is_first = false;
                let header_end = self.read_header(window, &mut layout)?;
                window = &window[header_end..];
                self.choose_modes(window, &mut layout, text_only);
                builders = layout.modes.iter().map(|mode| Builder::new(*mode)).collect();
            }
            let window_rows = self.read_window(window, &layout, rows, &mut builders)?;
            let is_first_data = rows == 0;
            rows += window_rows;
            let held: usize = builders.iter().map(Builder::bytes).sum();
            self.limit.check(self.name, held as u64)?;
            if is_first_data && rows > 0 {
                self.plan(windows.consumed(), held, rows, &mut builders)?;
            }
        }
        if is_first {
            return Err(Error::new(ErrorKind::Empty, format!("{}: the file is empty", self.name))
                .with_hint("give a file with data"));
        }
        Ok(builders)
    }

    /// Names, delimiter; returns where the data starts.
    fn read_header(&mut self, window: &[u8], layout: &mut Layout) -> Result<usize, Error> {
        if window.starts_with(b"\xff\xfe") || window.starts_with(b"\xfe\xff") {
            return Err(Error::new(ErrorKind::Format, format!("{}: is encoded in UTF-16", self.name))
                .with_hint("save it as UTF-8"));
        }
        let mut start = if window.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        while matches!(window.get(start), Some(b'\r' | b'\n')) {
            start += 1;
            self.is_regular = false;
        }
        let sniffed = csv_fields::sniff_delimiter(first_line(&window[start..]));
        layout.delimiter = self.delimiter.unwrap_or(sniffed);
        let mut names = Vec::new();
        let mut position = start;
        loop {
            let field = csv_fields::field(window, position, layout.delimiter);
            if !field.is_closed {
                return Err(self.fault_in_header("a quote is opened and never closed"));
            }
            let Ok(name) = std::str::from_utf8(&field.content) else {
                return Err(self
                    .fault_in_header("a name is not UTF-8 text")
                    .with_hint("save the file as UTF-8"));
            };
            self.is_regular &= !name.contains('\n');
            let name = name.trim();
            names.push(if name.is_empty() {
                format!("unnamed_{}", names.len() + 1)
            } else {
                name.to_owned()
            });
            position = field.next;
            if field.end != End::Field {
                break;
            }
        }
        check_names(self.name, &names)?;
        check_options(self.name, &names, self.options)?;
        self.names = names;
        Ok(position)
    }

    fn fault_in_header(&self, what: &str) -> Error {
        Error::new(ErrorKind::Format, format!("{}: in the header, {what}", self.name))
    }

    /// Looks at the first rows to tell numbers from text.
    fn choose_modes(&self, window: &[u8], layout: &mut Layout, text_only: Option<&[bool]>) {
        let wanted = |index: usize| match text_only {
            Some(columns) => columns[index],
            None => self.options.wants(&self.names[index]),
        };
        let as_text = |index: usize| if wanted(index) { Mode::Text } else { Mode::Skip };
        layout.modes = (0..self.names.len()).map(as_text).collect();
        if text_only.is_some() {
            return;
        }
        let sample = csv_pieces::parse(window, layout, SAMPLE_ROWS);
        let texts: Vec<Option<Column>> = sample
            .builders
            .into_iter()
            .map(|builder| match builder {
                Builder::Text(text) => Some(text.finish(true)),
                _ => None,
            })
            .collect();
        // A comma inside a field means a decimal point only if it is not the delimiter.
        let commas = |column: &Column| match column {
            Column::Text(text) => {
                let spelled = |value: &&String| {
                    value.contains(',') && csv_pieces::number(value.trim().as_bytes(), true).is_some()
                };
                text.values.iter().filter(spelled).count() * 2 > text.values.len()
            }
            _ => false,
        };
        layout.has_decimal_comma = layout.delimiter != b',' && texts.iter().flatten().any(commas);
        for (index, column) in texts.iter().enumerate() {
            if let Some(Column::Text(text)) = column
                && !self.options.keeps_text(&self.names[index])
            {
                let is_number = |code: &&u32| {
                    let value = text.values.get(**code as usize).map(|value| value.trim().as_bytes());
                    value.is_some_and(|value| csv_pieces::number(value, layout.has_decimal_comma).is_some())
                };
                let present = text.codes.iter().filter(|code| (**code as usize) < text.values.len()).count();
                let numbers = text.codes.iter().filter(is_number).count();
                if numbers * 2 >= present {
                    layout.modes[index] = Mode::Number;
                }
            }
        }
    }

    /// Parses one window into the builders; returns how many rows it had.
    fn read_window(
        &mut self,
        window: &[u8],
        layout: &Layout,
        first_row: usize,
        builders: &mut [Builder],
    ) -> Result<usize, Error> {
        let pieces = csv_fields::split(window, rayon::current_num_threads() * 2, layout.delimiter);
        let parsed: Vec<Piece> =
            pieces.into_par_iter().map(|bytes| csv_pieces::parse(bytes, layout, usize::MAX)).collect();
        let mut rows = 0;
        let mut by_column: Vec<Vec<Builder>> = builders.iter().map(|_| Vec::new()).collect();
        for piece in parsed {
            self.is_regular &= piece.is_regular;
            rows += piece.rows;
            if let Some(fault) = piece.fault {
                return Err(self.fault_at(first_row + rows, &fault, layout.modes.len()));
            }
            by_column.iter_mut().zip(piece.builders).for_each(|(column, builder)| column.push(builder));
        }
        builders.par_iter_mut().zip(by_column).for_each(|(builder, more)| {
            more.into_iter().for_each(|more| builder.append(more));
        });
        Ok(rows)
    }

    fn fault_at(&self, row: usize, fault: &Fault, columns: usize) -> Error {
        let place =
            if self.is_regular { format!("row {row} (line {})", row + 2) } else { format!("row {row}") };
        let (what, hint) = match fault {
            Fault::Ragged { fields } => (
                format!(
                    "there are {}, but the header names {}",
                    counted(*fields, "field", "fields"),
                    counted(columns, "column", "columns")
                ),
                "add or remove fields, or quote a field that contains the delimiter",
            ),
            Fault::OpenQuote => ("a quote is opened and never closed".to_owned(), "close it"),
            Fault::NotUnicode { column } => (
                format!("the value of column {} is not UTF-8 text", quoted(&self.names[*column])),
                "save the file as UTF-8",
            ),
        };
        Error::new(ErrorKind::Format, format!("{}: {place}: {what}", self.name)).with_hint(hint)
    }

    /// With the first window's rows known, the whole file's memory can be foreseen and reserved.
    fn plan(&self, consumed: u64, held: usize, rows: usize, builders: &mut [Builder]) -> Result<(), Error> {
        let Some(size) = self.source.size().filter(|size| *size > consumed) else { return Ok(()) };
        let share = size as f64 / consumed as f64;
        self.limit.check(self.name, (held as f64 * share) as u64)?;
        let more = (rows as f64 * (share * 1.02 - 1.0)) as usize;
        for builder in builders {
            if let Builder::Number(numbers) = builder {
                // Pages that stay unused are never backed by memory.
                numbers.values.reserve_exact(more);
            }
        }
        Ok(())
    }

    fn finish(self, builders: Vec<Builder>) -> Result<Table, Error> {
        let mut names = Vec::new();
        let mut skipped = Vec::new();
        let mut columns = Vec::new();
        for (name, builder) in self.names.into_iter().zip(builders) {
            let column = match builder {
                Builder::Skip => {
                    skipped.push(name);
                    continue;
                }
                Builder::Number(numbers) => finish_numbers(numbers),
                Builder::Text(text) => text.finish(self.options.keeps_text(&name)),
            };
            names.push(name);
            columns.push(column);
        }
        let table = Table::assemble(self.name.to_owned(), names, columns, skipped)?;
        Ok(table.with_first_line(self.is_regular.then_some(2)))
    }
}

fn finish_numbers(mut numbers: NumberBuilder) -> Column {
    numbers.values.shrink_to_fit();
    let mut column = NumericColumn::new(numbers.values);
    column.not_numbers = numbers.words;
    Column::Numeric(column)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// However the file is cut into windows, the table is the same.
    #[test]
    fn windows_do_not_show() {
        let mut text = String::from("row;text;x\n");
        for row in 0..3_000 {
            let word = if row % 3 == 0 { "\"a;\nb\"".to_owned() } else { format!("w{}", row % 50) };
            text.push_str(&format!(
                "{row};{word};{}\n",
                if row == 2_500 { "odd".to_owned() } else { row.to_string() }
            ));
        }
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(text.as_bytes()).expect("a writable file");
        let source = Source::Spooled(file);
        let options = ReadOptions::default();
        let read = |window| Reader::new("test", &source, None, &options, window).read().expect("a table");
        let whole = read(WINDOW);
        assert_eq!(whole.rows(), 3_000);
        for window in [100, 1_000, 20_000] {
            let table = read(window);
            for name in ["row", "text", "x"] {
                let texts = |table: &Table| -> Vec<Option<String>> {
                    (0..3_000).map(|row| table.column(name).expect("a column").text(row)).collect()
                };
                assert!(texts(&table) == texts(&whole), "windows of {window} bytes, column {name}");
            }
        }
        assert_eq!(whole.column("x").expect("a column").text(2_500).as_deref(), Some("odd"));
    }
}
