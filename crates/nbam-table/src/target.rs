//! The target: classes or numbers, and what is wrong with it.

use std::collections::HashMap;

use crate::column::{Column, NumericColumn, NumericKind, format_number};
use crate::error::{Error, ErrorKind};
use crate::notes::{Note, Task, counted, listed, quoted};
use crate::table::Table;

/// Whole-number targets with at most this many distinct values are taken for classes.
const MOST_NUMERIC_CLASSES: usize = 20;
/// More classes than this are taken for a mistake.
const MOST_CLASSES: usize = 5_000;
/// Up to this many distinct values a target is never taken for an id.
const FEWEST_IDS: usize = 20;

/// The values to learn and to doubt.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One class per row.
    Classification {
        /// The distinct labels, in numeric order if all are numbers, else sorted as text.
        classes: Vec<String>,
        /// The class of each row, an index into `classes`.
        codes: Vec<usize>,
    },
    /// One number per row.
    Regression {
        /// The number of each row; all finite.
        values: Vec<f64>,
    },
}

impl Target {
    /// Extracts and checks the target column.
    pub fn extract(table: &Table, name: &str, task: Task) -> Result<(Self, Vec<Note>), Error> {
        let column = table.require(name)?;
        let context = Context { table, name, column };
        let mut notes = Vec::new();
        let task = match task {
            Task::Auto => context.assume(&mut notes)?,
            given => given,
        };
        let target = if task == Task::Regression {
            Self::Regression { values: context.numbers(true)? }
        } else {
            context.classes(&mut notes)?
        };
        Ok((target, notes))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Classification { codes, .. } => codes.len(),
            Self::Regression { values } => values.len(),
        }
    }
}

/// The classes of new rows, as indices into the classes a model was trained with.
pub fn known_classes(table: &Table, name: &str, classes: &[String]) -> Result<Vec<usize>, Error> {
    let context = Context { table, name, column: table.require(name)? };
    let (labels, codes) = context.labels()?;
    let index: HashMap<&str, usize> = classes.iter().map(String::as_str).zip(0..).collect();
    let known: Vec<Option<usize>> = labels.iter().map(|label| index.get(label.as_str()).copied()).collect();
    let of_row = |(row, code): (usize, usize)| {
        known[code].ok_or_else(|| {
            Error::new(
                ErrorKind::Target,
                format!(
                    "{}: {}, column {}: the model knows no class {}",
                    table.source(),
                    table.place(row),
                    quoted(name),
                    quoted(&labels[code])
                ),
            )
            .with_hint(format!("its classes are {}", listed(classes.iter().map(String::as_str))))
        })
    };
    codes.into_iter().enumerate().map(of_row).collect()
}

/// The numeric target of new rows; unlike [`Target::extract`] it may be constant.
pub fn known_values(table: &Table, name: &str) -> Result<Vec<f64>, Error> {
    Context { table, name, column: table.require(name)? }.numbers(false)
}

struct Context<'a> {
    table: &'a Table,
    name: &'a str,
    column: &'a Column,
}

impl Context<'_> {
    fn fault(&self, message: String) -> Error {
        Error::new(ErrorKind::Target, format!("{}: {message}", self.table.source()))
    }

    fn fault_at(&self, row: usize, message: &str) -> Error {
        self.fault(format!("{}, column {}: {message}", self.table.place(row), quoted(self.name)))
    }

    fn missing(&self, row: usize) -> Error {
        self.fault_at(row, "the target is missing")
            .with_hint("fill it in or leave the row out; rows without a target can be predicted later")
    }

    fn unusable(&self) -> Error {
        self.fault(format!(
            "the target column {} holds {}, not one value per row",
            quoted(self.name),
            self.column.description()
        ))
        .with_hint("choose a column of labels or numbers")
    }

    /// The task when the user did not say.
    fn assume(&self, notes: &mut Vec<Note>) -> Result<Task, Error> {
        let numbers = match self.column {
            Column::Text(_) | Column::Boolean(_) => return Ok(Task::Classification),
            Column::Block(_) | Column::Unsupported(_) => return Err(self.unusable()),
            Column::Numeric(numbers) => numbers,
        };
        let Some(distinct) = few_distinct(&numbers.values) else {
            return Ok(Task::Regression);
        };
        let is_class_like = distinct <= 3 || distinct * 5 <= self.table.rows();
        let name = quoted(self.name);
        if numbers.kind == NumericKind::Integer && is_class_like {
            notes.push(Note::new(
                "assumed_classification",
                format!(
                    "The target {name} holds whole numbers with {}, so they were taken for classes; \
                     give --task regression if they are quantities.",
                    counted(distinct, "distinct value", "distinct values")
                ),
            ));
            Ok(Task::Classification)
        } else {
            notes.push(Note::new(
                "assumed_regression",
                format!(
                    "The target {name} holds numbers with only {}, which were taken for quantities; \
                     give --task classification if they are classes.",
                    counted(distinct, "distinct value", "distinct values")
                ),
            ));
            Ok(Task::Regression)
        }
    }

    /// The finite numbers of a regression target.
    fn numbers(&self, must_vary: bool) -> Result<Vec<f64>, Error> {
        let numbers = match self.column {
            Column::Numeric(numbers) => numbers,
            Column::Text(_) | Column::Boolean(_) => {
                let is_number = |row: &usize| {
                    self.column.text(*row).is_none_or(|text| text.trim().parse::<f64>().is_ok())
                };
                let row = (0..self.table.rows()).find(|row| !is_number(row)).unwrap_or(0);
                return Err(self.not_a_number(row));
            }
            Column::Block(_) | Column::Unsupported(_) => return Err(self.unusable()),
        };
        if let Some((row, _)) = numbers.not_numbers.first() {
            return Err(self.not_a_number(*row));
        }
        if let Some(row) = numbers.values.iter().position(|value| !value.is_finite()) {
            return Err(if numbers.values[row].is_nan() {
                self.missing(row)
            } else {
                self.fault_at(row, "the target is infinite")
                    .with_hint("correct the value or leave the row out")
            });
        }
        let first = numbers.values[0];
        if must_vary && numbers.values.iter().all(|value| *value == first) {
            return Err(self
                .fault(format!(
                    "every row of the target column {} has the same value {}",
                    quoted(self.name),
                    quoted(&format_number(first))
                ))
                .with_hint("there is nothing to learn from a constant target; choose another column"));
        }
        Ok(numbers.values.clone())
    }

    fn not_a_number(&self, row: usize) -> Error {
        match self.column.text(row) {
            None => self.missing(row),
            Some(text) => self
                .fault_at(row, &format!("the target {} is not a number", quoted(&text)))
                .with_hint("correct the value, or give --task classification if the target names classes"),
        }
    }

    /// Distinct labels in order of appearance, and the label of each row.
    fn labels(&self) -> Result<(Vec<String>, Vec<usize>), Error> {
        match self.column {
            Column::Text(text) => {
                if let Some(row) = (0..text.codes.len()).find(|row| text.get(*row).is_none()) {
                    return Err(self.missing(row));
                }
                // Values of rows that were left out of the table would be classes without rows.
                let mut index = vec![usize::MAX; text.values.len()];
                let mut labels = Vec::new();
                let codes = text.codes.iter().map(|code| {
                    let entry = &mut index[*code as usize];
                    if *entry == usize::MAX {
                        *entry = labels.len();
                        labels.push(text.values[*code as usize].clone());
                    }
                    *entry
                });
                let codes = codes.collect();
                Ok((labels, codes))
            }
            Column::Boolean(truths) => {
                let mut codes = Vec::with_capacity(truths.values.len());
                for (row, value) in truths.values.iter().enumerate() {
                    codes.push(usize::from(value.ok_or_else(|| self.missing(row))?));
                }
                let labels = vec!["false".to_owned(), "true".to_owned()];
                let is_used = |code: usize| codes.contains(&code);
                Ok(match (is_used(0), is_used(1)) {
                    (true, true) => (labels, codes),
                    (used, _) => (vec![(!used).to_string()], vec![0; codes.len()]),
                })
            }
            Column::Numeric(numbers) => self.numeric_labels(numbers),
            Column::Block(_) | Column::Unsupported(_) => Err(self.unusable()),
        }
    }

    fn numeric_labels(&self, numbers: &NumericColumn) -> Result<(Vec<String>, Vec<usize>), Error> {
        let mut labels = Vec::new();
        let mut by_number: HashMap<u64, usize> = HashMap::new();
        let mut by_text: HashMap<String, usize> = HashMap::new();
        let mut codes = Vec::with_capacity(numbers.values.len());
        for (row, value) in numbers.values.iter().enumerate() {
            if value.is_infinite() {
                return Err(self
                    .fault_at(row, "the target is infinite")
                    .with_hint("correct the value or leave the row out"));
            }
            // Adding zero makes one class of 0 and -0.
            let entry = if value.is_nan() { None } else { by_number.get(&(value + 0.0).to_bits()) };
            let code = match entry {
                Some(code) => *code,
                None => {
                    let text = self.column.text(row).ok_or_else(|| self.missing(row))?;
                    let next = labels.len();
                    let code = *by_text.entry(text.clone()).or_insert(next);
                    if code == next {
                        labels.push(text);
                    }
                    if !value.is_nan() {
                        by_number.insert((value + 0.0).to_bits(), code);
                    }
                    code
                }
            };
            codes.push(code);
        }
        Ok((labels, codes))
    }

    fn classes(&self, notes: &mut Vec<Note>) -> Result<Target, Error> {
        let (labels, codes) = self.labels()?;
        let rows = codes.len();
        let name = quoted(self.name);
        if labels.len() > MOST_CLASSES || (labels.len() > FEWEST_IDS && labels.len() * 2 > rows) {
            let example = quoted(&labels[0]);
            return Err(self
                .fault(format!(
                    "the target column {name} has {} distinct values in {rows} rows (for example {example}), \
                     too many to be classes",
                    labels.len()
                ))
                .with_hint(match self.column {
                    Column::Numeric(_) => "give --task regression if it is a quantity; is it an id?",
                    _ => "is it an id or free text? choose a column of labels that repeat",
                }));
        }
        if labels.len() == 1 {
            return Err(self
                .fault(format!(
                    "every row of the target column {name} has the same value {}",
                    quoted(&labels[0])
                ))
                .with_hint("there is nothing to learn from a constant target; choose another column"));
        }
        let mut counts = vec![0_usize; labels.len()];
        codes.iter().for_each(|code| counts[*code] += 1);
        if let Some(row) = codes.iter().position(|code| counts[*code] == 1) {
            let hint = "correct the label, leave the row out, or merge the class with another";
            let label = quoted(&labels[codes[row]]);
            return Err(self.fault_at(row, &format!("the class {label} has only this row")).with_hint(hint));
        }
        notes.extend(self.look_alikes(&labels, &counts));
        let order = natural_order(&labels);
        let mut position = vec![0; labels.len()];
        order.iter().enumerate().for_each(|(new, old)| position[*old] = new);
        let classes = order.iter().map(|old| labels[*old].clone()).collect();
        let codes = codes.into_iter().map(|code| position[code]).collect();
        Ok(Target::Classification { classes, codes })
    }

    /// Labels that differ by case or surrounding blanks only.
    fn look_alikes(&self, labels: &[String], counts: &[usize]) -> Vec<Note> {
        let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, label) in labels.iter().enumerate() {
            let folded = label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            groups.entry(folded).or_default().push(index);
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|group| group.len() > 1).collect();
        groups.sort();
        let note = |group: &Vec<usize>| {
            let members: Vec<String> = group
                .iter()
                .map(|index| {
                    format!("{} ({})", quoted(&labels[*index]), counted(counts[*index], "row", "rows"))
                })
                .collect();
            Note::new(
                "similar_labels",
                format!(
                    "The labels {} of the target {} differ only by case or blanks and were kept apart; \
                     merge them if they mean the same.",
                    members.join(" and "),
                    quoted(self.name)
                ),
            )
        };
        groups.iter().map(note).collect()
    }
}

/// How many distinct present values there are, if no more than [`MOST_NUMERIC_CLASSES`].
fn few_distinct(values: &[f64]) -> Option<usize> {
    let mut seen: Vec<f64> = Vec::new();
    for value in values.iter().filter(|value| !value.is_nan()) {
        if !seen.contains(value) {
            if seen.len() == MOST_NUMERIC_CLASSES {
                return None;
            }
            seen.push(*value);
        }
    }
    Some(seen.len())
}

/// The order of the labels: by number if all are numbers, else as text.
fn natural_order(labels: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let numbers: Option<Vec<f64>> =
        labels.iter().map(|label| label.parse::<f64>().ok().filter(|number| !number.is_nan())).collect();
    match numbers {
        Some(numbers) => order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b])),
        None => order.sort_by(|a, b| labels[*a].cmp(&labels[*b])),
    }
    order
}
