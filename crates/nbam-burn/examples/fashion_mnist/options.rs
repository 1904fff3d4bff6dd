//! The command line.

use std::path::PathBuf;

/// Where Debian's package `dataset-fashion-mnist` puts the files.
const DEBIAN: &str = "/usr/share/datasets/fashion-mnist";

/// What the example was asked for.
pub(crate) struct Options {
    /// Training images at most.
    pub(crate) rows: usize,
    /// Passes over them.
    pub(crate) epochs: usize,
    /// Where all random numbers come from.
    pub(crate) seed: u64,
    /// The folder of the IDX files.
    pub(crate) data: PathBuf,
    /// Where the audit is written, if anywhere.
    pub(crate) out: Option<PathBuf>,
}

impl Options {
    /// Reads `--name value` pairs. Without `--data`, takes Debian's files, or the small subset that is shipped.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let subset = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fashion_mnist/subset"));
        let debian = PathBuf::from(DEBIAN);
        let data = if debian.is_dir() { debian } else { subset };
        let mut options = Self { rows: 20_000, epochs: 12, seed: 0, data, out: None };
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let value =
                arguments.next().ok_or_else(|| format!("{name} has no value, expected one after it"))?;
            let number = || value.parse::<usize>().ok().filter(|&number| number > 0);
            let expected = || format!("{name} is '{value}', expected a whole number above 0");
            match name.as_str() {
                "--rows" => options.rows = number().ok_or_else(expected)?,
                "--epochs" => options.epochs = number().ok_or_else(expected)?,
                "--seed" => options.seed = value.parse().map_err(|_| expected())?,
                "--data" => options.data = value.into(),
                "--out" => options.out = Some(value.into()),
                _ => {
                    return Err(format!(
                        "there is no option {name}; give --rows, --epochs, --seed, --data or --out"
                    ));
                }
            }
        }
        Ok(options)
    }
}
