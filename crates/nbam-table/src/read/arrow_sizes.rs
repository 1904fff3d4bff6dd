//! The sizes that an Arrow file declares, compared with what is there.
//!
//! The library allocates what a message says it needs before it reads it, so that a few wrong bytes
//! could ask for all memory. Here every message's header is read first.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use arrow::ipc::reader::read_footer_length;
use arrow::ipc::{RecordBatch, root_as_footer, root_as_message};

/// Marks the start of a message since format version 0.15.
const CONTINUATION: u32 = u32::MAX;

/// What the messages of a file will take in memory.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Sizes {
    /// Bytes of the largest message, decompressed.
    pub(super) largest: u64,
    /// Bytes of all of them.
    pub(super) total: u64,
}

/// Sizes of a file with a footer; the error is the reason why it is damaged.
pub(super) fn of_file(file: &mut File, size: u64) -> Result<Sizes, String> {
    let outside = || "a part of it lies outside the file".to_owned();
    let mut trailer = [0; 10];
    let trailer_start = size.checked_sub(10).ok_or_else(outside)?;
    read_at(file, trailer_start, &mut trailer)?;
    let footer_length = read_footer_length(trailer).map_err(|error| error.to_string())?;
    let footer_start = trailer_start.checked_sub(footer_length as u64).ok_or_else(outside)?;
    let mut bytes = vec![0; footer_length];
    read_at(file, footer_start, &mut bytes)?;
    let footer = root_as_footer(&bytes).map_err(|_| "its footer is damaged".to_owned())?;
    let mut sizes = Sizes::default();
    for block in footer.dictionaries().iter().flatten().chain(footer.recordBatches().iter().flatten()) {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let ends = parts.into_iter().try_fold(0_u64, |end, part| end.checked_add(u64::try_from(part).ok()?));
        if ends.is_none_or(|end| end > size) {
            return Err(outside());
        }
        let start = block.offset() as u64;
        // The footer says where the body starts, and is believed even if the message disagrees.
        let body_start = start + block.metaDataLength() as u64;
        add_message(file, start, Some(body_start), size, &mut sizes)?;
    }
    Ok(sizes)
}

/// Sizes of a stream of messages.
pub(super) fn of_stream(file: &mut File, size: u64) -> Result<Sizes, String> {
    let mut sizes = Sizes::default();
    let mut position = 0;
    while position < size {
        match add_message(file, position, None, size, &mut sizes)? {
            Some(next) => position = next,
            None => break,
        }
    }
    Ok(sizes)
}

/// Adds the message at a position; returns where the next one starts, or `None` at the stream's end.
fn add_message(
    file: &mut File,
    position: u64,
    body_start: Option<u64>,
    size: u64,
    sizes: &mut Sizes,
) -> Result<Option<u64>, String> {
    let cut_off = || "it ends before its data".to_owned();
    let mut word = [0; 4];
    read_at(file, position, &mut word)?;
    let mut start = position + 4;
    if u32::from_le_bytes(word) == CONTINUATION {
        read_at(file, start, &mut word)?;
        start += 4;
    }
    let length = u32::from_le_bytes(word);
    if length == 0 {
        return Ok(None);
    }
    let header_end = start + u64::from(length);
    let body_start = body_start.unwrap_or(header_end);
    if header_end > size || body_start > size {
        return Err(cut_off());
    }
    let mut header = vec![0; length as usize];
    read_at(file, start, &mut header)?;
    let message = root_as_message(&header).map_err(|_| "a message of it is damaged".to_owned())?;
    let body = u64::try_from(message.bodyLength()).map_err(|_| "a message has a negative size".to_owned())?;
    let next = body_start.checked_add(body).filter(|end| *end <= size).ok_or_else(cut_off)?;
    let dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
    if let Some(batch) = message.header_as_record_batch().or(dictionary) {
        let rows = u64::try_from(batch.length()).map_err(|_| "a batch has a negative size".to_owned())?;
        let bytes = decompressed(file, &batch, body_start, body)?;
        // Columns without values have no data, but take memory all the same.
        sizes.largest = sizes.largest.max(bytes).max(rows.saturating_mul(8));
        sizes.total = sizes.total.saturating_add(bytes);
    }
    Ok(Some(next))
}

/// Bytes of a batch's buffers once they are decompressed.
fn decompressed(file: &mut File, batch: &RecordBatch<'_>, start: u64, body: u64) -> Result<u64, String> {
    if batch.compression().is_none() {
        return Ok(body);
    }
    let mut bytes = 0_u64;
    for buffer in batch.buffers().iter().flatten() {
        let offset = u64::try_from(buffer.offset()).ok().filter(|offset| *offset <= body);
        let Some(offset) = offset else { return Err("a buffer lies outside its message".to_owned()) };
        if buffer.length() >= 8 {
            let mut prefix = [0; 8];
            read_at(file, start + offset, &mut prefix)?;
            // A negative number says that the buffer is not compressed.
            let declared = i64::from_le_bytes(prefix).max(buffer.length());
            bytes = bytes.saturating_add(declared as u64);
        }
    }
    Ok(bytes)
}

fn read_at(file: &mut File, position: u64, bytes: &mut [u8]) -> Result<(), String> {
    let read = file.seek(SeekFrom::Start(position)).and_then(|_| file.read_exact(bytes));
    read.map_err(|_| "it ends before its data".to_owned())
}
