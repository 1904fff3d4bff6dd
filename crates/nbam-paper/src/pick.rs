//! Which cells of an experiment `--only` picks.

use crate::error::{Error, Result};

/// The cells whose names fit one of the patterns; all if there is no pattern.
///
/// # Errors
/// When no cell is left.
pub(crate) fn picked<C>(cells: Vec<C>, patterns: &[String], name: impl Fn(&C) -> String) -> Result<Vec<C>> {
    if patterns.is_empty() {
        return Ok(cells);
    }
    let example = cells.first().map(&name).unwrap_or_default();
    let is_picked = |cell: &C| patterns.iter().any(|pattern| fits(pattern, &name(cell)));
    let cells: Vec<C> = cells.into_iter().filter(is_picked).collect();
    if cells.is_empty() {
        return Err(Error::input(format!("no cell fits --only {}", patterns.join(",")))
            .with_hint(format!("cells are named like {example}")));
    }
    Ok(cells)
}

/// Whether a name fits a pattern: `*` stands for anything; a pattern without one fits every name that holds it.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name.contains(pattern) };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let Some(end) = parts.pop() else { return true };
    for part in parts {
        match left.find(part) {
            Some(place) => left = &left[place + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_pick_cells() {
        let name = "cifar10/asymmetric-0.4";
        for pattern in ["cifar10", "asym", "0.4", "cifar10/asym*", "*-0.4", "cifar*metric*", "*", ""] {
            assert!(fits(pattern, name), "{pattern}");
        }
        for pattern in ["digits", "symmetric*", "cifar10/*-0.5", "*metric-0.4*5"] {
            assert!(!fits(pattern, name), "{pattern}");
        }
    }
}
