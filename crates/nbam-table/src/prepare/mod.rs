//! From columns to a design matrix: fitted on the training rows, saved with the model, applied to
//! new rows.

mod apply;
mod design;
mod encoding;

pub use design::{Conflicts, Design, DesignValues, conflicting_duplicates};

use std::collections::HashSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::column::Column;
use crate::error::{Error, ErrorKind};
use crate::notes::{Note, quoted};
use crate::roles::Roles;
use crate::table::Table;
use encoding::{Context, Encoding};

/// The most features that [`Preparation::describe`] lists.
const MOST_DESCRIBED: usize = 40;

/// How each feature becomes numbers.
///
/// A number becomes `(x - mean) / standard deviation`, computed in double precision so that large
/// offsets such as timestamps keep their digits, with missing values filled by the median and marked
/// in a 0/1 column. Truth values become 0 and 1. Categories become one 0/1 column each; rare ones
/// share one. Blocks stay as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Preparation {
    features: Vec<Feature>,
}

/// The form in a file, not yet checked: files can be edited and damaged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    features: Vec<Feature>,
}

impl TryFrom<Saved> for Preparation {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let mut names = HashSet::new();
        for feature in &saved.features {
            if !names.insert(&feature.name) {
                return Err(format!("the feature {} occurs twice", quoted(&feature.name)));
            }
            if !feature.encoding.is_sound() {
                return Err(format!("the preparation of the feature {} is damaged", quoted(&feature.name)));
            }
        }
        if names.is_empty() {
            return Err("the preparation has no features".to_owned());
        }
        Ok(Self { features: saved.features })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Feature {
    name: String,
    encoding: Encoding,
}

impl Feature {
    /// How many columns of the design the feature takes.
    fn width(&self) -> usize {
        match &self.encoding {
            Encoding::Numeric { value, indicator, .. } | Encoding::Boolean { value, indicator, .. } => {
                usize::from(*value) + usize::from(*indicator)
            }
            Encoding::Category { levels, pooled, missing } => {
                levels.len() + usize::from(!pooled.is_empty()) + usize::from(*missing)
            }
            Encoding::Block { width } => *width,
        }
    }

    /// The names of these columns.
    fn names(&self) -> Vec<String> {
        let name = &self.name;
        match &self.encoding {
            Encoding::Numeric { value, indicator, .. } | Encoding::Boolean { value, indicator, .. } => {
                let value = value.then(|| name.clone());
                value.into_iter().chain(indicator.then(|| format!("{name} is missing"))).collect()
            }
            Encoding::Category { levels, pooled, missing } => {
                let levels = levels.iter().map(|level| format!("{name}={level}"));
                let other = (!pooled.is_empty()).then(|| format!("{name} is rare"));
                levels.chain(other).chain(missing.then(|| format!("{name} is missing"))).collect()
            }
            Encoding::Block { width } => (0..*width).map(|element| format!("{name}[{element}]")).collect(),
        }
    }
}

impl Preparation {
    /// Fits the preparation on the features of a table.
    pub fn fit(table: &Table, roles: &Roles) -> Result<(Self, Vec<Note>), Error> {
        let names = roles.resolve(table)?;
        let fit = |name: &String| encoding::fit(Context { table, name }, table.require(name)?);
        // Collected in order, so that the first faulty column is reported whatever the threads do.
        let fitted: Vec<Result<encoding::Fitted, Error>> = names.par_iter().map(fit).collect();
        let mut features = Vec::new();
        let mut notes = Vec::new();
        for (name, fitted) in names.into_iter().zip(fitted) {
            let (encoding, remarks) = fitted?;
            notes.extend(remarks);
            features.extend(encoding.map(|encoding| Feature { name, encoding }));
        }
        if features.is_empty() {
            return Err(Error::new(
                ErrorKind::Empty,
                format!("{}: every feature is constant or empty", table.source()),
            )
            .with_hint("give columns that differ between rows"));
        }
        Ok((Self { features }, notes))
    }

    /// The names of the columns that new rows must have.
    pub fn feature_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.features.iter().map(|feature| feature.name.as_str())
    }

    /// The features that are categories: new files must be read with them as text
    /// ([`ReadOptions::text`](crate::ReadOptions)), lest a few rows of them look like numbers.
    pub fn text_features(&self) -> Vec<String> {
        let is_text = |feature: &&Feature| matches!(feature.encoding, Encoding::Category { .. });
        self.features.iter().filter(is_text).map(|feature| feature.name.clone()).collect()
    }

    /// How many columns the design has.
    pub fn columns(&self) -> usize {
        self.features.iter().map(Feature::width).sum()
    }

    /// The name of each column of the design.
    pub fn column_names(&self) -> Vec<String> {
        self.features.iter().flat_map(Feature::names).collect()
    }

    /// One id per column of the design; the columns of a block share theirs.
    pub fn scale_groups(&self) -> Vec<u32> {
        let mut groups = Vec::with_capacity(self.columns());
        let mut next = 0;
        for feature in &self.features {
            let is_block = matches!(feature.encoding, Encoding::Block { .. });
            for element in 0..feature.width() {
                next += u32::from(!is_block || element == 0);
                groups.push(next - 1);
            }
        }
        groups
    }

    /// The design matrix of a table's rows.
    pub fn apply(&self, table: &Table) -> Result<Design, Error> {
        apply::apply(self, table)
    }

    /// The raw values of a row's features, for people; at most 40 of them.
    pub fn describe(&self, table: &Table, row: usize) -> Vec<(String, String)> {
        let described = self.features.iter().take(MOST_DESCRIBED).filter_map(|feature| {
            let column: &Column = table.column(&feature.name)?;
            Some((feature.name.clone(), column.text(row).unwrap_or_else(|| "missing".to_owned())))
        });
        described.collect()
    }
}
