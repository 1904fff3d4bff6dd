//! Methods by their names, as options and tables spell them.

use crate::error::{Error, Result};

/// The one of this name.
///
/// # Errors
/// When there is none, listing those that there are.
pub(crate) fn method_named<M: Copy>(names: &[(M, &str)], name: &str) -> Result<M> {
    let found = names.iter().find(|(_, candidate)| *candidate == name).map(|(method, _)| *method);
    found.ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        Error::input(format!("there is no method named '{name}'"))
            .with_hint(format!("the methods are {}", names.join(", ")))
    })
}
