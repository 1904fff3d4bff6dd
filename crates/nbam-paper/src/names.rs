//! Methods by their names, as options and tables spell them.

use crate::error::{Error, Result};

/// Gives an enum of methods its names, from a table of all of them in the order of the experiment's tables.
macro_rules! named {
    ($method:ty, $names:expr) => {
        impl $method {
            /// All methods, in the order of the tables.
            pub fn all() -> impl Iterator<Item = Self> {
                $names.iter().map(|(method, _)| *method)
            }

            /// The method's name.
            pub fn name(self) -> &'static str {
                $names.iter().find(|(method, _)| *method == self).map_or("", |(_, name)| name)
            }

            /// The method of this name.
            ///
            /// # Errors
            /// When there is none, listing those that there are.
            pub fn parse(name: &str) -> $crate::Result<Self> {
                $crate::names::method_named(&$names, name)
            }
        }
    };
}
pub(crate) use named;

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
