//! CSV: the shortest numbers that read back the same, quotes only where needed.

use std::io::{Result, Write};

use rayon::prelude::*;

use super::cells::{Cell, Cells};
use crate::column::format_number;

/// Rows that one thread formats at a time.
const ROWS_PER_TASK: usize = 2_048;
/// Tasks between two writes: bounds the memory.
const TASKS_PER_WRITE: usize = 16;

pub(super) fn write(
    named: &[(String, Cells<'_>)],
    rows: usize,
    delimiter: u8,
    writer: &mut (impl Write + ?Sized),
) -> Result<()> {
    let mut header = Vec::new();
    for (index, (name, _)) in named.iter().enumerate() {
        if index > 0 {
            header.push(delimiter);
        }
        push_text(&mut header, name, delimiter, named.len() == 1);
    }
    header.push(b'\n');
    writer.write_all(&header)?;
    let format = |task: usize| {
        let mut out = Vec::with_capacity(ROWS_PER_TASK * named.len() * 10);
        for row in task * ROWS_PER_TASK..rows.min((task + 1) * ROWS_PER_TASK) {
            for (index, (_, cells)) in named.iter().enumerate() {
                if index > 0 {
                    out.push(delimiter);
                }
                push_cell(&mut out, &cells.get(row), row, delimiter, named.len() == 1);
            }
            out.push(b'\n');
        }
        out
    };
    let tasks = rows.div_ceil(ROWS_PER_TASK);
    for first in (0..tasks).step_by(TASKS_PER_WRITE) {
        let last = tasks.min(first + TASKS_PER_WRITE);
        let formatted: Vec<Vec<u8>> = (first..last).into_par_iter().map(format).collect();
        formatted.iter().try_for_each(|bytes| writer.write_all(bytes))?;
    }
    writer.flush()
}

fn push_cell(out: &mut Vec<u8>, cell: &Cell<'_>, row: usize, delimiter: u8, is_only: bool) {
    // Writing to a vector cannot fail.
    let _: Result<()> = match cell {
        // A lone missing value would be a blank line, which readers skip.
        Cell::Missing if is_only => out.write_all(b"\"\""),
        Cell::Missing => Ok(()),
        Cell::Number(number) => out.write_all(format_number(*number).as_bytes()),
        Cell::Single(number) => write!(out, "{number}"),
        Cell::Signed(number) => write!(out, "{number}"),
        Cell::Unsigned(number) => write!(out, "{number}"),
        Cell::Truth(truth) => write!(out, "{truth}"),
        Cell::Text(text) => {
            push_text(out, text, delimiter, is_only);
            Ok(())
        }
        Cell::Made(text) => {
            push_text(out, text, delimiter, is_only);
            Ok(())
        }
        Cell::Block(block) => {
            let numbers: Vec<String> =
                (0..block.width).map(|element| block.get(row, element).to_string()).collect();
            push_text(out, &format!("[{}]", numbers.join(",")), delimiter, is_only);
            Ok(())
        }
    };
}

fn push_text(out: &mut Vec<u8>, text: &str, delimiter: u8, is_only: bool) {
    let bytes = text.as_bytes();
    let needs_quotes = bytes.iter().any(|byte| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r'))
        || bytes.first().is_some_and(u8::is_ascii_whitespace)
        || bytes.last().is_some_and(u8::is_ascii_whitespace)
        || (is_only && bytes.is_empty());
    if !needs_quotes {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for byte in bytes {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}
