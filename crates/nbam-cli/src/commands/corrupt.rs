//! `nbam corrupt`: a file with known mistakes.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use nbam::corrupt::{self, Corrupted, GrossError, PairFlip};
use nbam_table::{Column, OutputColumn, OutputValues, ReadOptions, Table, Target, Task, write_changed};

use crate::arguments::share;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("protocol").required(true).args(["symmetric", "flip", "shift", "sentinel", "unit"]))]
pub(crate) struct CorruptArguments {
    /// The clean file, in any format that an audit reads; - is CSV on standard input
    input: PathBuf,
    /// The column to corrupt
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Replace each label with this probability by one drawn from all classes, the true one included
    #[arg(long, value_name = "ETA", value_parser = share)]
    symmetric: Option<f64>,
    /// Turn labels FROM into TO with this probability; may be given several times
    #[arg(long, value_name = "FROM=TO:ETA")]
    flip: Vec<String>,
    /// Add AMOUNT to a number with probability RATE; 4sd is four standard deviations of the column
    #[arg(long, value_name = "AMOUNT:RATE", allow_hyphen_values = true)]
    shift: Option<String>,
    /// Replace a number by VALUE with probability RATE, as -999 for a missing one
    #[arg(long, value_name = "VALUE:RATE", allow_hyphen_values = true)]
    sentinel: Option<String>,
    /// Multiply a number by FACTOR with probability RATE, as 1000 for a mistaken unit
    #[arg(long, value_name = "FACTOR:RATE", allow_hyphen_values = true)]
    unit: Option<String>,
    /// The file to write: .csv, .tsv, .parquet, .jsonl or .npz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Where all random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub(crate) fn run(arguments: &CorruptArguments, printer: &Printer) -> Result<Outcome, Failure> {
    check_paths(arguments)?;
    let gross_error = gross_error(arguments)?;
    let is_label = gross_error.is_none();
    // Labels are to come back as they are written.
    let text = if is_label { vec![arguments.target.clone()] } else { Vec::new() };
    let table = Table::read(&arguments.input, &ReadOptions { text, ..ReadOptions::default() })?;
    let truth_name = format!("{}_true", arguments.target);
    for name in [truth_name.as_str(), "is_contaminated"] {
        if table.column(name).is_some() {
            return Err(Failure::bad_input(
                format!("{}: there is a column '{name}' already, where the truth would go", table.source()),
                "rename that column, or start from the file without it",
            ));
        }
    }
    let column = table.require(&arguments.target)?;
    let (truth, observed, is_contaminated, rate) = if let Some((error, rate)) = gross_error {
        let values = nbam_table::known_values(&table, &arguments.target).map_err(|error| {
            Failure::from(error).with_hint("correct the value, or corrupt labels by --symmetric or --flip")
        })?;
        let corrupted = corrupt::values(&values, rate, error, arguments.seed)?;
        let rate = corrupted.rate();
        (OutputValues::F64(values), OutputValues::F64(corrupted.targets), corrupted.is_contaminated, rate)
    } else {
        let (target, _) = Target::extract(&table, &arguments.target, Task::Classification)?;
        let Target::Classification { classes, codes } = target else {
            return Err(Failure::failed("the target was not read as classes"));
        };
        let corrupted = corrupt_labels(arguments, &table, &classes, &codes)?;
        let rate = corrupted.rate();
        (
            label_values(column, &classes, &codes, &codes),
            label_values(column, &classes, &codes, &corrupted.targets),
            corrupted.is_contaminated,
            rate,
        )
    };
    let wrong = is_contaminated.iter().filter(|is_contaminated| **is_contaminated).count();
    let changes = [
        OutputColumn::new(arguments.target.as_str(), observed),
        OutputColumn::new(truth_name.as_str(), truth),
        OutputColumn::new("is_contaminated", OutputValues::Bool(is_contaminated)),
    ];
    interrupt::while_writing(|| write_changed(&table, &changes, &arguments.out).map_err(Failure::writing))?;
    let rows = table.rows();
    printer.line(format_args!(
        "{wrong} of {rows} targets are now wrong ({:.1} %): {}",
        100.0 * rate,
        arguments.out.display()
    ));
    printer.remark("next", &format!("audit it without the truth: --exclude '{truth_name},is_contaminated'"));
    Ok(Outcome::Done)
}

/// The clean file must survive.
fn check_paths(arguments: &CorruptArguments) -> Result<(), Failure> {
    let same = match (arguments.input.canonicalize(), arguments.out.canonicalize()) {
        (Ok(input), Ok(out)) => input == out,
        _ => false,
    };
    if same {
        return Err(Failure::bad_input(
            format!("{}: the corrupted file would replace the clean one", arguments.out.display()),
            "give another --out",
        ));
    }
    Ok(())
}

fn corrupt_labels(
    arguments: &CorruptArguments,
    table: &Table,
    classes: &[String],
    codes: &[usize],
) -> Result<Corrupted<usize>, Failure> {
    if let Some(rate) = arguments.symmetric {
        return Ok(corrupt::symmetric(codes, classes.len(), rate, arguments.seed)?);
    }
    let flips = arguments.flip.iter().map(|text| parse_flip(text, classes, table.source()));
    let flips = flips.collect::<Result<Vec<PairFlip>, Failure>>()?;
    Ok(corrupt::pair_flips(codes, classes.len(), &flips, arguments.seed)?)
}

/// Class names may hold `=` and `:`, so the rate is what follows the last colon, and the names are those that exist.
fn parse_flip(text: &str, classes: &[String], source: &str) -> Result<PairFlip, Failure> {
    let (names, rate) = split_rate("--flip", text, "FROM=TO:ETA")?;
    let class = |name: &str| classes.iter().position(|class| class == name);
    let mut splits = names.match_indices('=').map(|(place, _)| (&names[..place], &names[place + 1..]));
    let found =
        splits.clone().find_map(|(from, to)| Some(PairFlip { from: class(from)?, to: class(to)?, rate }));
    found.ok_or_else(|| {
        let Some((from, to)) = splits.next() else {
            return Failure::bad_input(
                format!("--flip '{text}' is not of the form FROM=TO:ETA"),
                "as in --flip cat=dog:0.4",
            );
        };
        let unknown = if class(from).is_none() { from } else { to };
        let known: Vec<String> = classes.iter().take(10).map(|class| format!("'{class}'")).collect();
        Failure::bad_input(
            format!("{source}: --flip '{text}' names '{unknown}', which is no class of the target"),
            format!("its classes are {}{}", known.join(", "), if classes.len() > 10 { ", ..." } else { "" }),
        )
    })
}

/// The number after the last colon, a probability, and what stands before it.
fn split_rate<'a>(option: &str, text: &'a str, form: &str) -> Result<(&'a str, f64), Failure> {
    let malformed = || {
        Failure::bad_input(
            format!("{option} '{text}' is not of the form {form}"),
            "the last part is a probability between 0 and 1",
        )
    };
    let (rest, rate) = text.rsplit_once(':').ok_or_else(malformed)?;
    Ok((rest, share(rate).map_err(|_| malformed())?))
}

/// What is to happen to numbers, and how often; nothing where labels are to be corrupted.
fn gross_error(arguments: &CorruptArguments) -> Result<Option<(GrossError, f64)>, Failure> {
    let number = |option: &str, text: &str, form: &str| -> Result<(f64, f64), Failure> {
        let (amount, rate) = split_rate(option, text, form)?;
        let amount = amount.parse::<f64>().ok().filter(|amount| amount.is_finite()).ok_or_else(|| {
            Failure::bad_input(
                format!("{option} '{text}' is not of the form {form}"),
                "the first part is a number",
            )
        })?;
        Ok((amount, rate))
    };
    if let Some(text) = &arguments.sentinel {
        let (value, rate) = number("--sentinel", text, "VALUE:RATE")?;
        return Ok(Some((GrossError::Sentinel { value }, rate)));
    }
    if let Some(text) = &arguments.unit {
        let (factor, rate) = number("--unit", text, "FACTOR:RATE")?;
        return Ok(Some((GrossError::Unit { factor }, rate)));
    }
    let Some(text) = &arguments.shift else { return Ok(None) };
    let plain = text.replacen("sd:", ":", 1);
    let (amount, rate) = number("--shift", &plain, "AMOUNT:RATE")?;
    let error = if plain == *text {
        GrossError::Shift { offset: amount }
    } else {
        GrossError::ShiftInSd { multiple: amount }
    };
    Ok(Some((error, rate)))
}

/// Labels as the column's own kind of value, so that a column of numbers stays one.
fn label_values(column: &Column, classes: &[String], given: &[usize], codes: &[usize]) -> OutputValues {
    let mut examples = vec![0; classes.len()];
    given.iter().enumerate().for_each(|(row, &code)| examples[code] = row);
    match column {
        Column::Numeric(numbers) if numbers.not_numbers.is_empty() => {
            let values: Vec<f64> = codes.iter().map(|&code| numbers.values[examples[code]]).collect();
            if values.iter().all(|value| value.fract() == 0.0 && value.abs() < 9e15) {
                OutputValues::I64(values.into_iter().map(|value| value as i64).collect())
            } else {
                OutputValues::F64(values)
            }
        }
        Column::Boolean(truths) => {
            OutputValues::OptionalBool(codes.iter().map(|&code| truths.values[examples[code]]).collect())
        }
        _ => OutputValues::Category {
            codes: codes.iter().map(|&code| code as u32).collect(),
            values: classes.to_vec(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<String> {
        ["a", "b", "a=b", "c:d"].map(str::to_owned).to_vec()
    }

    #[test]
    fn names_with_signs_in_them_are_found() {
        let flip = |text| parse_flip(text, &classes(), "x.csv").map(|flip| (flip.from, flip.to, flip.rate));
        assert_eq!(flip("a=b:0.5").unwrap(), (0, 1, 0.5));
        assert_eq!(flip("a=b=b:0.5").unwrap(), (2, 1, 0.5));
        assert_eq!(flip("c:d=a:0.25").unwrap(), (3, 0, 0.25));
    }

    #[test]
    fn faulty_flips_say_what_is_wrong() {
        let message = |text| parse_flip(text, &classes(), "x.csv").unwrap_err().message().to_owned();
        assert_eq!(message("a=e:0.5"), "x.csv: --flip 'a=e:0.5' names 'e', which is no class of the target");
        assert_eq!(message("a=b"), "--flip 'a=b' is not of the form FROM=TO:ETA");
        assert_eq!(message("a:0.5"), "--flip 'a:0.5' is not of the form FROM=TO:ETA");
        assert_eq!(message("a=b:1.5"), "--flip 'a=b:1.5' is not of the form FROM=TO:ETA");
    }
}
