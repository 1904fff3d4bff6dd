//! A folder of data sets, each an `.npz` file.

use std::path::{Path, PathBuf};

use nbam_table::{Column, NumericColumn, ReadOptions, Table};

use super::fingerprint::Fingerprint;
use super::matrix::Matrix;
use crate::error::{Error, Result};

/// Targets of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Classes, numbered from 0.
    Labels {
        /// The class of each row.
        labels: Vec<usize>,
        /// How many classes there are.
        classes: usize,
    },
    /// Numbers.
    Values(Vec<f64>),
}

/// One data set: the arrays `x_train` and `y_train` of a file, with `x_test` and `y_test` if it has them.
///
/// The targets are taken for classes if they are the whole numbers 0 to K - 1 without gaps, and for quantities if
/// not.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The file's name without its extension.
    pub name: String,
    /// Changes when any number of any array does.
    pub fingerprint: String,
    /// Features of the training rows.
    pub features: Matrix,
    /// True targets of the training rows.
    pub targets: Targets,
    /// Features and targets of the test rows.
    pub test: Option<(Matrix, Targets)>,
}

impl DataSet {
    /// Whether the targets are classes.
    pub fn is_classification(&self) -> bool {
        matches!(self.targets, Targets::Labels { .. })
    }
}

impl Targets {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Labels { labels, .. } => labels.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Classes if they can be, with `classes` of them if that is known already; numbers otherwise.
    fn new(values: &[f64], classes: Option<usize>) -> Self {
        const MOST_CLASSES: f64 = 4096.0;
        let is_class = |value: &f64| value.fract() == 0.0 && (0.0..MOST_CLASSES).contains(value);
        if values.iter().all(is_class) {
            let labels: Vec<usize> = values.iter().map(|&value| value as usize).collect();
            let count = labels.iter().max().map_or(0, |highest| highest + 1);
            let mut is_there = vec![false; count];
            labels.iter().for_each(|&label| is_there[label] = true);
            match classes {
                // Test rows need not hold every class.
                Some(classes) if count <= classes => return Self::Labels { labels, classes },
                None if count > 1 && is_there.iter().all(|is_there| *is_there) => {
                    return Self::Labels { labels, classes: count };
                }
                _ => {}
            }
        }
        Self::Values(values.to_vec())
    }
}

/// Reads every `.npz` file of a folder, in the order of their names.
///
/// # Errors
/// When the folder or a file of it cannot be read, or there is none.
pub fn read_folder(folder: &Path) -> Result<Vec<DataSet>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::reading(folder, &error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Error::reading(folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "npz") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(Error::input(format!("{}: there are no .npz files in this folder", folder.display()))
            .with_hint("python3 bench/datasets.py makes them"));
    }
    paths.sort();
    paths.iter().map(|path| read_set(path)).collect()
}

/// Features and targets of rows, before it is known whether the targets are classes.
pub(super) type Part = (Matrix, Vec<f64>);

/// Reads one data set from an `.npz` file.
///
/// # Errors
/// When the file cannot be read, an array is missing, or the arrays do not fit together.
pub fn read_set(path: &Path) -> Result<DataSet> {
    let mut fingerprint = Fingerprint::default();
    let (train, features, values) = read_part(path, "train", &mut fingerprint)?;
    let test = if train.is_known("x_test") && train.is_known("y_test") {
        let (_, test_features, test_values) = read_part(path, "test", &mut fingerprint)?;
        Some((test_features, test_values))
    } else {
        None
    };
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    assemble(path, name, fingerprint, (features, values), test)
}

/// Puts the parts of a data set together: the same features, and targets of the same kind.
pub(super) fn assemble(
    path: &Path,
    name: String,
    fingerprint: Fingerprint,
    (features, values): Part,
    test: Option<Part>,
) -> Result<DataSet> {
    let targets = Targets::new(&values, None);
    let test = match test {
        Some((test_features, test_values)) => {
            if test_features.columns() != features.columns() {
                return Err(Error::input(format!(
                    "{}: the test rows have {} features, expected {} as in training",
                    path.display(),
                    test_features.columns(),
                    features.columns()
                )));
            }
            let test_targets = match &targets {
                Targets::Labels { classes, .. } => Targets::new(&test_values, Some(*classes)),
                Targets::Values(_) => Targets::Values(test_values),
            };
            if matches!(targets, Targets::Labels { .. }) != matches!(test_targets, Targets::Labels { .. }) {
                return Err(Error::input(format!(
                    "{}: y_test holds classes that y_train does not have",
                    path.display()
                )));
            }
            Some((test_features, test_targets))
        }
        None => None,
    };
    Ok(DataSet { name, fingerprint: fingerprint.finish(), features, targets, test })
}

/// The features and targets of a part, `train` or `test`.
fn read_part(path: &Path, part: &str, fingerprint: &mut Fingerprint) -> Result<(Table, Matrix, Vec<f64>)> {
    let names = [format!("x_{part}"), format!("y_{part}")];
    let options = ReadOptions { columns: Some(names.to_vec()), ..ReadOptions::default() };
    let table = Table::read(PathBuf::from(path), &options)?;
    let unusable = |name: &str, column: &Column| {
        Error::input(format!(
            "{}: array '{name}' holds {}, expected numbers",
            path.display(),
            column.description()
        ))
    };
    let column = table.require(&names[0])?;
    let features = Matrix::from_column(column).ok_or_else(|| unusable(&names[0], column))?;
    fingerprint.add(&names[0], column);
    let column = table.require(&names[1])?;
    let Column::Numeric(NumericColumn { values, not_numbers, .. }) = column else {
        return Err(unusable(&names[1], column));
    };
    if let Some(row) = values.iter().position(|value| !value.is_finite()).filter(|_| not_numbers.is_empty()) {
        return Err(Error::input(format!(
            "{}: row {row} of array '{}' is {}, expected a finite number",
            path.display(),
            names[1],
            values[row]
        )));
    }
    fingerprint.add(&names[1], column);
    let values = values.clone();
    features.features()?.check().map_err(|error| Error::from(error).of_run(&path.display().to_string()))?;
    Ok((table, features, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_without_gaps_are_classes() {
        let classes = |values: &[f64]| match Targets::new(values, None) {
            Targets::Labels { classes, .. } => Some(classes),
            Targets::Values(_) => None,
        };
        assert_eq!(classes(&[0.0, 2.0, 1.0]), Some(3));
        for quantities in [&[1.0, 2.0][..], &[0.0, 2.0], &[0.0, 0.5, 1.0], &[-1.0, 0.0], &[0.0, 0.0]] {
            assert_eq!(classes(quantities), None, "{quantities:?}");
        }
        assert!(matches!(Targets::new(&[1.0], Some(3)), Targets::Labels { classes: 3, .. }));
        assert!(matches!(Targets::new(&[3.0], Some(3)), Targets::Values(_)));
    }
}
