//! NPZ: a ZIP archive of NumPy arrays; arrays that are not compressed are read from a memory map.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use memmap2::Mmap;
use zip::{CompressionMethod, ZipArchive};

use super::guard::damaged;
use super::limits::Limit;
use super::npy::{self, Header};
use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::notes::quoted;
use crate::table::{ReadOptions, Table, check_names, check_options};

pub(super) fn read(source: &str, path: &Path, options: &ReadOptions) -> Result<Table, Error> {
    let failed = |error| Error::reading(source, error);
    let file = File::open(path).map_err(failed)?;
    // SAFETY: the map is read only and private to this function. As with every memory map, a file that
    // another program shortens meanwhile ends this one with a signal; its bytes are never trusted.
    let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
    let mut archive =
        ZipArchive::new(Cursor::new(&map[..])).map_err(|error| damaged(source, "NPZ", &error.to_string()))?;
    let members = list(source, &mut archive)?;
    let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
    check_names(source, &names)?;
    check_options(source, &names, options)?;

    let mut arrays = Vec::new();
    let mut skipped = Vec::new();
    for (name, index) in members {
        if !options.wants(&name) {
            skipped.push(name);
            continue;
        }
        let header = open(source, &name, &mut archive, index)?;
        arrays.push((name, index, header));
    }
    check_shapes(source, &arrays)?;
    let bytes = arrays.iter().fold(0_u64, |sum, (_, _, header)| sum.saturating_add(header.column_bytes()));
    Limit::new(options).check(source, bytes)?;

    let mut names = Vec::with_capacity(arrays.len());
    let mut columns = Vec::with_capacity(arrays.len());
    for (name, index, header) in arrays {
        columns.push(read_array(source, &name, &map, &mut archive, index, &header)?);
        names.push(name);
    }
    Table::assemble(source.to_owned(), names, columns, skipped)
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

fn bad_array(source: &str, name: &str, what: &str) -> Error {
    Error::new(ErrorKind::Format, format!("{source}: array {} {what}", quoted(name)))
}

/// The arrays' names and places in the archive, in the archive's order.
fn list(source: &str, archive: &mut Archive<'_>) -> Result<Vec<(String, usize)>, Error> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let member =
            archive.by_index_raw(index).map_err(|error| damaged(source, "NPZ", &error.to_string()))?;
        if let Some(name) = member.name().strip_suffix(".npy") {
            members.push((name.to_owned(), index));
        }
    }
    if members.is_empty() {
        return Err(Error::new(ErrorKind::Empty, format!("{source}: there are no arrays in the archive"))
            .with_hint("write it with numpy.savez"));
    }
    Ok(members)
}

/// Reads and checks an array's header.
fn open(source: &str, name: &str, archive: &mut Archive<'_>, index: usize) -> Result<Header, Error> {
    let mut member = archive.by_index(index).map_err(|error| damaged(source, "NPZ", &error.to_string()))?;
    let header = npy::read_header(&mut member).map_err(|what| {
        let hint = if what.contains("objects") {
            "save it as numbers or text, for example with array.astype(str)"
        } else {
            "save it as an array of numbers, truth values or text"
        };
        bad_array(source, name, &what).with_hint(hint)
    })?;
    let expected = header.data_bytes().and_then(|bytes| bytes.checked_add(header.length as u64));
    if expected != Some(member.size()) {
        let what = format!("says it has the shape {}, but has another amount of data", header.shape_text());
        return Err(bad_array(source, name, &what).with_hint("the file is damaged; write it again"));
    }
    if !matches!(header.shape.len(), 1 | 2) {
        let what = format!(
            "has the shape {}, but only one value or one list of numbers per row can be read",
            header.shape_text()
        );
        return Err(bad_array(source, name, &what)
            .with_hint("reshape it to (rows,) or (rows, features), or choose other arrays"));
    }
    Ok(header)
}

/// All arrays must have the same number of rows.
fn check_shapes(source: &str, arrays: &[(String, usize, Header)]) -> Result<(), Error> {
    let Some((_, _, first)) = arrays.first() else { return Ok(()) };
    if arrays.iter().all(|(_, _, header)| header.shape[0] == first.shape[0]) {
        return Ok(());
    }
    let shapes: Vec<String> = arrays
        .iter()
        .take(8)
        .map(|(name, _, header)| format!("{} {}", quoted(name), header.shape_text()))
        .collect();
    let more = if arrays.len() > 8 { ", …" } else { "" };
    Err(Error::new(
        ErrorKind::Format,
        format!("{source}: the arrays have different numbers of rows: {}{more}", shapes.join(", ")),
    )
    .with_hint("choose the arrays that belong together, for example --features x_train --target y_train"))
}

fn read_array(
    source: &str,
    name: &str,
    map: &[u8],
    archive: &mut Archive<'_>,
    index: usize,
    header: &Header,
) -> Result<Column, Error> {
    let fault = |what: &str| bad_array(source, name, what).with_hint("save the array again with numpy.savez");
    let mut member = archive.by_index(index).map_err(|error| damaged(source, "NPZ", &error.to_string()))?;
    // The header's size was compared with the member's, so that this is the size of the data.
    let size = (member.size() as usize).saturating_sub(header.length);
    if member.compression() == CompressionMethod::Stored && !member.encrypted() {
        let start = member.data_start().and_then(|start| (start as usize).checked_add(header.length));
        let data = start.and_then(|start| map.get(start..start.checked_add(size)?));
        let data = data.ok_or_else(|| fault("is cut off"))?;
        return npy::column(header, data).map_err(|what| fault(&what));
    }
    npy::read_header(&mut member).map_err(|what| fault(&what))?;
    let mut data = Vec::new();
    // The vector grows with what is really there, whatever the archive promises.
    let read = member.take(size as u64).read_to_end(&mut data);
    if read.is_err() || data.len() != size {
        return Err(fault("is cut off or damaged"));
    }
    npy::column(header, &data).map_err(|what| fault(&what))
}
