//! What an audit is told.

use nbam::{Params, Precision, Preset, Scaling};
use nbam_table::{Design, ReadOptions, Roles, Task};
use serde_json::{Value, json};

use crate::{Error, ErrorKind};

/// The settings of an audit.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// Which column plays which part; the target is required.
    pub roles: Roles,
    /// Whether the target names classes or is a number.
    pub task: Task,
    /// The method's settings, by name.
    pub preset: Preset,
    /// The highest expected share of false flags.
    pub fdr: f64,
    /// How many networks are trained; the preset's number if absent.
    pub members: Option<usize>,
    /// How often each network sees the rows; the preset's choice if absent.
    pub epochs: Option<usize>,
    /// In which precision matrix products are computed.
    pub precision: Precision,
    /// Whether a row's posterior may be averaged over the last epochs. Without averaging and with one member, the audit's
    /// posterior is that of the saved model, bit by bit.
    pub is_averaged: bool,
    /// Whether known errors are planted and the model fitted once more, to see whether its probabilities can be believed.
    pub check: bool,
    /// Where all random numbers come from.
    pub seed: u64,
    /// How many threads are used; 0 for all. The result does not depend on it.
    pub threads: usize,
    /// The most bytes that the table may take in memory; 80 % of what is free if absent.
    pub memory_limit: Option<u64>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            roles: Roles::default(),
            task: Task::Auto,
            preset: Preset::Default,
            fdr: 0.05,
            members: None,
            epochs: None,
            precision: Precision::Single,
            is_averaged: true,
            check: false,
            seed: 0,
            threads: 0,
            memory_limit: None,
        }
    }
}

impl AuditOptions {
    /// The name of the target column.
    pub(super) fn target(&self) -> Result<&str, Error> {
        self.roles.target.as_deref().ok_or_else(|| {
            Error::new(ErrorKind::Input, "no target column was named")
                .with_hint("name the column whose values are in doubt")
        })
    }

    /// How the file is to be read for these settings.
    pub fn read_options(&self) -> ReadOptions {
        // Labels stay as they are written: 01 is not 1.
        let is_class = self.task == Task::Classification;
        let text = self.roles.id.iter().chain(self.roles.image.iter());
        let text = text.chain(self.roles.target.iter().filter(|_| is_class));
        ReadOptions {
            columns: self.roles.needed_columns(),
            exclude: match &self.roles.features {
                Some(_) => Vec::new(),
                None => self.roles.exclude.clone(),
            },
            text: text.cloned().collect(),
            memory_limit: self.memory_limit,
        }
    }

    /// The method's parameters for these settings and this design.
    pub(super) fn apply<T>(&self, mut params: Params<T>, design: &Design) -> Params<T> {
        if let Some(members) = self.members {
            params = params.members(members);
        }
        if let Some(epochs) = self.epochs {
            params = params.epochs(epochs);
        }
        if !self.is_averaged {
            params = params.averaged_share(0.0);
        }
        params = params.precision(self.precision);
        params.seed(self.seed).threads(self.threads).scaling(scaling(&design.scale_groups))
    }

    /// The settings for the summary: enough to repeat the run.
    pub(super) fn to_json(&self, source: &str, method: Value) -> Value {
        let roles = &self.roles;
        json!({
            "source": source,
            "target": roles.target,
            "features": roles.features,
            "exclude": roles.exclude,
            "id": roles.id,
            "error": roles.error,
            "weight": roles.weight,
            "verified": roles.verified,
            "image": roles.image,
            "task": self.task,
            "preset": self.preset,
            "fdr": self.fdr,
            "members": self.members,
            "epochs": self.epochs,
            "precision": self.precision,
            "average": self.is_averaged,
            "check": self.check,
            "method": without_groups(method),
        })
    }
}

/// One number per column, but one for all columns of a block.
fn scaling(groups: &[u32]) -> Scaling {
    let last = groups.last().copied().unwrap_or_default() as usize;
    if last == 0 && groups.len() > 1 {
        Scaling::Common
    } else if last + 1 == groups.len() {
        Scaling::Columns
    } else {
        Scaling::Groups(groups.to_vec())
    }
}

/// A list of one number per column says nothing to a reader, and follows from the data.
fn without_groups(mut method: Value) -> Value {
    if let Some(scaling) = method.get_mut("scaling").filter(|scaling| scaling.is_object()) {
        *scaling = json!("groups");
    }
    method
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_share_their_scale() {
        assert_eq!(scaling(&[0, 1, 2]), Scaling::Columns);
        assert_eq!(scaling(&[0]), Scaling::Columns);
        assert_eq!(scaling(&[0, 0, 0]), Scaling::Common);
        assert_eq!(scaling(&[0, 1, 1]), Scaling::Groups(vec![0, 1, 1]));
    }

    #[test]
    fn excluded_columns_are_not_read() {
        let roles = Roles { exclude: vec!["truth".into()], ..Roles::default() };
        let options = AuditOptions { roles, ..AuditOptions::default() };
        assert_eq!(options.read_options().exclude, ["truth"]);
        assert_eq!(options.read_options().columns, None);
    }
}
