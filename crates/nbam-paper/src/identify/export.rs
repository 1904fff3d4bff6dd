//! Rows and out-of-sample probabilities for methods that are not ours, with the records that they are to fill.

use std::path::{Path, PathBuf};

use nbam_table::{Column, OutputColumn, OutputValues, Table, write_changed};
use serde::Serialize;

use super::run::Prepared;
use crate::data::{Matrix, Targets, Test};
use crate::error::{Error, Result};
use crate::results::Identity;

/// What lies beside the arrays: the runs that a script is to do.
#[derive(Debug, Serialize)]
struct Order<'a> {
    /// `labels` or `values`.
    kind: &'static str,
    /// The arrays' files.
    arrays: Vec<String>,
    /// The runs, to be written back with their measures.
    runs: &'a [Identity],
}

/// The name of a cell and seed's files, without extension. It holds the key of the first run, so that changed settings
/// never take old arrays for theirs.
fn stem(runs: &[Identity]) -> Option<String> {
    let first = runs.first()?;
    let key = first.key();
    Some(format!("{}_{}_{}", first.cell().replace('/', "_"), first.seed, key.get(..8).unwrap_or(&key)))
}

/// Whether the files are there. The order is written last.
pub(super) fn is_there(folder: &Path, runs: &[Identity]) -> bool {
    stem(runs).is_none_or(|stem| folder.join(format!("{stem}.json")).is_file())
}

/// Writes arrays and order.
pub(super) fn write(
    folder: &Path,
    runs: &[Identity],
    prepared: &Prepared,
    probabilities: Option<&Matrix>,
) -> Result<()> {
    let Some(stem) = stem(runs) else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    let mut arrays = Vec::new();
    let mut save = |part: &str, block: (&str, Column), columns: Vec<OutputColumn>| -> Result<()> {
        let name = format!("{stem}{part}.npz");
        let table = Table::from_columns(name.clone(), vec![(block.0.to_owned(), block.1)])?;
        write_changed(&table, &columns, folder.join(&name))?;
        arrays.push(name);
        Ok(())
    };
    let is_wrong = OutputColumn::new("is_wrong", OutputValues::Bool(prepared.is_wrong.clone()));
    let kind = match (&prepared.given, &prepared.sample.test, probabilities) {
        (Targets::Labels { labels, .. }, _, Some(probabilities)) => {
            let given = OutputValues::U64(labels.iter().map(|&label| label as u64).collect());
            let columns = vec![OutputColumn::new("given", given), is_wrong];
            save("", ("probabilities", probabilities.to_column()), columns)?;
            "labels"
        }
        (Targets::Values(values), Test::Rows(test, Targets::Values(truth)), _) => {
            let given = OutputColumn::new("y", OutputValues::F64(values.clone()));
            save("-train", ("x", prepared.sample.features.to_column()), vec![given, is_wrong])?;
            let truth = OutputColumn::new("y", OutputValues::F64(truth.clone()));
            save("-test", ("x", test.to_column()), vec![truth])?;
            "values"
        }
        _ => return Ok(()),
    };
    let order = Order { kind, arrays, runs };
    write_order(&folder.join(format!("{stem}.json")), &order)
}

/// Written beside its place and renamed, so that an order that is there is whole.
fn write_order(path: &PathBuf, order: &Order<'_>) -> Result<()> {
    let text = serde_json::to_vec_pretty(order)
        .map_err(|error| Error::input(format!("{}: the order is no JSON: {error}", path.display())))?;
    let part = path.with_extension("json.part");
    std::fs::write(&part, text).map_err(|error| Error::writing(&part, &error))?;
    std::fs::rename(&part, path).map_err(|error| Error::writing(path, &error))
}
