//! Which column plays which part.

use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::notes::quoted;
use crate::table::{Table, unknown_column};

/// The parts that a user gives to columns, by name.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// The column whose values are in doubt.
    pub target: Option<String>,
    /// The features; if absent, every column without another role.
    pub features: Option<Vec<String>>,
    /// Columns that are not features.
    pub exclude: Vec<String>,
    /// A column that names each row.
    pub id: Option<String>,
    /// The known standard error of each numeric target.
    pub error: Option<String>,
    /// The weight of each row.
    pub weight: Option<String>,
    /// What is known of each row: true = clean, false = contaminated, missing = unknown.
    pub verified: Option<String>,
    /// A column of image paths, for the report.
    pub image: Option<String>,
}

impl Roles {
    /// The columns with a role other than feature.
    fn side_columns(&self) -> impl Iterator<Item = (&'static str, &String)> {
        [
            ("target", &self.target),
            ("id", &self.id),
            ("error", &self.error),
            ("weight", &self.weight),
            ("verified", &self.verified),
            ("image", &self.image),
        ]
        .into_iter()
        .filter_map(|(role, name)| name.as_ref().map(|name| (role, name)))
    }

    /// The columns to read for these roles: all (`None`) unless the features were named.
    ///
    /// This is what [`ReadOptions::columns`](crate::ReadOptions) wants.
    pub fn needed_columns(&self) -> Option<Vec<String>> {
        let features = self.features.as_ref()?;
        let mut needed = features.clone();
        for (_, name) in self.side_columns() {
            if !needed.contains(name) {
                needed.push(name.clone());
            }
        }
        Some(needed)
    }

    /// Checks every name against the table and returns the features in order.
    pub fn resolve(&self, table: &Table) -> Result<Vec<String>, Error> {
        for (_, name) in self.side_columns() {
            table.require(name)?;
        }
        for name in &self.exclude {
            if !table.is_known(name) {
                return Err(unknown_column(table.source(), name, table.names().iter()));
            }
        }
        let features: Vec<String> = match &self.features {
            Some(names) => {
                for (index, name) in names.iter().enumerate() {
                    table.require(name)?;
                    if names[..index].contains(name) {
                        return Err(self.conflict(table, name, "is listed twice among the features"));
                    }
                    if let Some((role, _)) = self.side_columns().find(|(_, side)| *side == name) {
                        return Err(self.conflict(
                            table,
                            name,
                            &format!("is listed among the features and is the {role} column too"),
                        ));
                    }
                    if self.exclude.contains(name) {
                        return Err(self.conflict(
                            table,
                            name,
                            "is listed among the features and among the excluded columns",
                        ));
                    }
                }
                names.clone()
            }
            None => {
                let is_side = |name: &String| self.side_columns().any(|(_, side)| side == name);
                let free = table.names().iter().filter(|name| !is_side(name) && !self.exclude.contains(name));
                free.cloned().collect()
            }
        };
        if features.is_empty() {
            return Err(Error::new(
                ErrorKind::Empty,
                format!("{}: no column is left to be a feature", table.source()),
            )
            .with_hint("exclude fewer columns, or name the features"));
        }
        Ok(features)
    }

    fn conflict(&self, table: &Table, name: &str, what: &str) -> Error {
        Error::new(ErrorKind::DuplicateColumn, format!("{}: column {} {what}", table.source(), quoted(name)))
            .with_hint("give each column one role")
    }
}

/// The weights of a column: finite numbers that are zero or more, not all zero.
pub fn weights(table: &Table, name: &str) -> Result<Vec<f64>, Error> {
    let values = side_numbers(table, name, "weight", "zero or more", |value| value >= 0.0)?;
    if values.iter().all(|value| *value == 0.0) {
        return Err(Error::new(
            ErrorKind::Value,
            format!("{}: every weight in column {} is zero", table.source(), quoted(name)),
        )
        .with_hint("give at least one row a weight above zero"));
    }
    Ok(values)
}

/// The standard errors of a column: finite numbers above zero.
pub fn standard_errors(table: &Table, name: &str) -> Result<Vec<f64>, Error> {
    side_numbers(table, name, "standard error", "above zero", |value| value > 0.0)
}

fn side_numbers(
    table: &Table,
    name: &str,
    role: &str,
    range: &str,
    is_valid: impl Fn(f64) -> bool,
) -> Result<Vec<f64>, Error> {
    let column = table.require(name)?;
    let hint =
        format!("every {role} must be a finite number {range}; correct the value or leave the row out");
    let fault = |row: usize| {
        let value = column.text(row).map_or("missing".to_owned(), |text| quoted(&text));
        Error::new(
            ErrorKind::Value,
            format!(
                "{}: {}, column {}: the {role} is {value}",
                table.source(),
                table.place(row),
                quoted(name)
            ),
        )
        .with_hint(hint.clone())
    };
    match column {
        Column::Numeric(numbers) => {
            match numbers.values.iter().position(|value| !value.is_finite() || !is_valid(*value)) {
                Some(row) => Err(fault(row)),
                None => Ok(numbers.values.clone()),
            }
        }
        Column::Text(_) | Column::Boolean(_) => {
            let is_number = |row: usize| {
                let number = column.text(row).and_then(|text| text.trim().parse::<f64>().ok());
                number.is_some_and(|value| value.is_finite() && is_valid(value))
            };
            Err(fault((0..table.rows()).find(|row| !is_number(*row)).unwrap_or(0)))
        }
        Column::Block(_) | Column::Unsupported(_) => Err(Error::new(
            ErrorKind::Value,
            format!(
                "{}: column {} holds {}, not one {role} per row",
                table.source(),
                quoted(name),
                column.description()
            ),
        )
        .with_hint(hint)),
    }
}

/// What is known of each row: true/false, yes/no, 1/0 in any case, or missing.
pub fn verified(table: &Table, name: &str) -> Result<Vec<Option<bool>>, Error> {
    let column = table.require(name)?;
    let fault = |row: usize| {
        let value = column.text(row).unwrap_or_default();
        Error::new(
            ErrorKind::Value,
            format!(
                "{}: {}, column {}: {} is neither true nor false",
                table.source(),
                table.place(row),
                quoted(name),
                quoted(&value)
            ),
        )
        .with_hint("write true for rows known to be clean, false for contaminated ones, nothing for the rest")
    };
    match column {
        Column::Boolean(truths) => Ok(truths.values.clone()),
        Column::Numeric(numbers) => {
            if let Some((row, _)) = numbers.not_numbers.first() {
                return Err(fault(*row));
            }
            let read = |(row, value): (usize, &f64)| match *value {
                1.0 => Ok(Some(true)),
                0.0 => Ok(Some(false)),
                value if value.is_nan() => Ok(None),
                _ => Err(fault(row)),
            };
            numbers.values.iter().enumerate().map(read).collect()
        }
        Column::Text(text) => (0..table.rows())
            .map(|row| match text.get(row).map(|value| value.trim().to_lowercase()).as_deref() {
                None | Some("") => Ok(None),
                Some("true" | "yes" | "t" | "y" | "1") => Ok(Some(true)),
                Some("false" | "no" | "f" | "n" | "0") => Ok(Some(false)),
                Some(_) => Err(fault(row)),
            })
            .collect(),
        Column::Block(_) | Column::Unsupported(_) => Err(fault(0)),
    }
}

/// The text of each row of a column (an id, an image path); missing values are empty.
pub fn texts(table: &Table, name: &str) -> Result<Vec<String>, Error> {
    let column = table.require(name)?;
    Ok((0..table.rows()).map(|row| column.text(row).unwrap_or_default()).collect())
}
