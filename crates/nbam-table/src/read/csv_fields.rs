//! Fields and records of CSV: quotes, delimiters, line ends.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memrchr};

/// What comes after a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Another field.
    Field,
    /// The next record.
    Record,
    /// Nothing: the bytes are at their end.
    Input,
}

/// One field.
#[derive(Debug)]
pub(super) struct Field<'a> {
    /// The content without quotes.
    pub(super) content: Cow<'a, [u8]>,
    /// Where the next field or record starts.
    pub(super) next: usize,
    pub(super) end: End,
    /// False if a quote was opened and never closed.
    pub(super) is_closed: bool,
}

/// Reads the field that starts at `start`.
pub(super) fn field(bytes: &[u8], start: usize, delimiter: u8) -> Field<'_> {
    if bytes.get(start) == Some(&b'"') {
        return quoted_field(bytes, start, delimiter);
    }
    let (stop, next, end) = rest_of_field(bytes, start, delimiter);
    Field { content: Cow::Borrowed(&bytes[start..stop]), next, end, is_closed: true }
}

/// From some place inside a field without quotes: its end, the start of what follows, and what that is.
fn rest_of_field(bytes: &[u8], start: usize, delimiter: u8) -> (usize, usize, End) {
    match memchr2(delimiter, b'\n', &bytes[start..]) {
        None => {
            let is_carriage_return = bytes.len() > start && bytes.last() == Some(&b'\r');
            (bytes.len() - usize::from(is_carriage_return), bytes.len(), End::Input)
        }
        Some(length) => {
            let stop = start + length;
            if bytes[stop] == delimiter {
                return (stop, stop + 1, End::Field);
            }
            let is_carriage_return = stop > start && bytes[stop - 1] == b'\r';
            (stop - usize::from(is_carriage_return), stop + 1, End::Record)
        }
    }
}

fn quoted_field(bytes: &[u8], start: usize, delimiter: u8) -> Field<'_> {
    let mut position = start + 1;
    let mut content: Cow<'_, [u8]> = Cow::Borrowed(&[]);
    loop {
        let Some(length) = memchr(b'"', &bytes[position..]) else {
            append(&mut content, &bytes[position..]);
            return Field { content, next: bytes.len(), end: End::Input, is_closed: false };
        };
        let quote = position + length;
        append(&mut content, &bytes[position..quote]);
        position = quote + 1;
        if bytes.get(position) == Some(&b'"') {
            append(&mut content, b"\"");
            position += 1;
            continue;
        }
        // Whatever follows the closing quote belongs to the field, as in other readers.
        let (stop, next, end) = rest_of_field(bytes, position, delimiter);
        append(&mut content, &bytes[position..stop]);
        return Field { content, next, end, is_closed: true };
    }
}

fn append<'a>(content: &mut Cow<'a, [u8]>, more: &'a [u8]) {
    if content.is_empty() {
        *content = Cow::Borrowed(more);
    } else if !more.is_empty() {
        content.to_mut().extend_from_slice(more);
    }
}

/// Where the record that starts at `start` ends, if it ends in these bytes.
pub(super) fn record_end(bytes: &[u8], start: usize, delimiter: u8) -> Option<usize> {
    let newline = start + memchr(b'\n', &bytes[start..])?;
    if memchr(b'"', &bytes[start..newline]).is_none() {
        return Some(newline + 1);
    }
    let mut position = start;
    loop {
        let field = field(bytes, position, delimiter);
        position = field.next;
        match field.end {
            End::Field => {}
            End::Record => return Some(position),
            End::Input => return None,
        }
    }
}

/// Where the last complete record of a window ends.
pub(super) fn last_record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    if memchr(b'"', bytes).is_none() {
        return memrchr(b'\n', bytes).map(|newline| newline + 1);
    }
    let mut end = None;
    let mut position = 0;
    while let Some(next) = record_end(bytes, position, delimiter) {
        end = Some(next);
        position = next;
    }
    end
}

/// Cuts a window into about `count` pieces that end where records end.
pub(super) fn split(bytes: &[u8], count: usize, delimiter: u8) -> Vec<&[u8]> {
    let target = bytes.len().div_ceil(count.max(1)).max(1 << 16);
    let has_quotes = memchr(b'"', bytes).is_some();
    let mut pieces = Vec::with_capacity(count);
    let mut start = 0;
    let mut position = 0;
    while start < bytes.len() {
        let wanted = start.saturating_add(target);
        let end = if wanted >= bytes.len() {
            bytes.len()
        } else if has_quotes {
            while position < wanted {
                position = record_end(bytes, position, delimiter).unwrap_or(bytes.len());
            }
            position
        } else {
            memchr(b'\n', &bytes[wanted..]).map_or(bytes.len(), |newline| wanted + newline + 1)
        };
        pieces.push(&bytes[start..end]);
        start = end;
        position = end;
    }
    pieces
}

/// Whether a field means that there is no value.
pub(super) fn is_missing(text: &[u8]) -> bool {
    match text.len() {
        0 => true,
        2 => text == b"NA",
        3 => text.eq_ignore_ascii_case(b"nan") || text == b"N/A" || text == b"n/a",
        4 => text.eq_ignore_ascii_case(b"null") || text == b"#N/A",
        _ => false,
    }
}

/// The delimiter of a header: whichever of comma, semicolon and tab separates the most fields.
pub(super) fn sniff_delimiter(header: &[u8]) -> u8 {
    let mut counts = [0_usize; 3];
    let mut is_quoted = false;
    for byte in header {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => counts[0] += 1,
            b';' if !is_quoted => counts[1] += 1,
            b'\t' if !is_quoted => counts[2] += 1,
            _ => {}
        }
    }
    let [commas, semicolons, tabs] = counts;
    if tabs > commas && tabs >= semicolons {
        b'\t'
    } else if semicolons > commas {
        b';'
    } else {
        b','
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Vec<(String, End)> {
        let mut found = Vec::new();
        let mut position = 0;
        loop {
            let field = field(bytes, position, b',');
            found.push((String::from_utf8_lossy(&field.content).into_owned(), field.end));
            position = field.next;
            if field.end == End::Input || position == bytes.len() {
                return found;
            }
        }
    }

    #[test]
    fn quotes_and_line_ends() {
        let found = fields(b"a,\"b,\"\"c\"\"\nd\",e\r\nf\"g,\"h\"i");
        let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["a", "b,\"c\"\nd", "e", "f\"g", "hi"]);
        assert_eq!(found[2].1, End::Record);
        assert_eq!(found[4].1, End::Input);
    }

    #[test]
    fn records_end_outside_quotes() {
        let bytes = b"a,\"x\ny\"\nb,c\nd";
        assert_eq!(record_end(bytes, 0, b','), Some(8));
        assert_eq!(last_record_end(bytes, b','), Some(12));
        assert_eq!(record_end(b"a,\"x\ny", 0, b','), None);
    }

    #[test]
    fn pieces_make_up_the_window() {
        let mut bytes = Vec::new();
        for row in 0..20_000 {
            bytes.extend_from_slice(format!("{row},\"a\nb\",{}\n", row * 7).as_bytes());
        }
        let pieces = split(&bytes, 4, b',');
        assert!(pieces.len() > 1);
        assert_eq!(pieces.concat(), bytes);
        assert!(pieces.iter().all(|piece| last_record_end(piece, b',') == Some(piece.len())));
    }

    #[test]
    fn delimiters() {
        assert_eq!(sniff_delimiter(b"a;b;c"), b';');
        assert_eq!(sniff_delimiter(b"a\tb"), b'\t');
        assert_eq!(sniff_delimiter(b"\"a;b;c\",d"), b',');
        assert_eq!(sniff_delimiter(b"a"), b',');
    }
}
