//! Which class turned into which.

use std::collections::HashMap;

use crate::ClassTargets;

/// The moves that the flagged labels are suspected of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transitions {
    /// Pairs of classes, most rows first; pairs without a row are left out.
    pub pairs: Vec<Transition>,
    /// Flagged rows whose given label is still the single most probable one: suspicious, but nothing better is known.
    pub undirected: usize,
}

/// Flagged rows whose true class is probably `from` while their label says `to`: the direction in which the
/// corruption moved them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// The class that is suggested.
    pub from: usize,
    /// The class that was given.
    pub to: usize,
    /// The number of flagged rows.
    pub rows: usize,
    /// How many of them are expected to be truly `from`: the sum of their suggested probabilities.
    pub expected: f64,
}

pub(super) fn count(targets: &ClassTargets, is_flagged: &[bool]) -> Transitions {
    let mut pairs: HashMap<(usize, usize), (usize, f64)> = HashMap::new();
    let mut undirected = 0;
    for row in (0..is_flagged.len()).filter(|&row| is_flagged[row]) {
        let pair = (targets.suggested[row], targets.given[row]);
        if pair.0 == pair.1 {
            undirected += 1;
            continue;
        }
        let cell = pairs.entry(pair).or_default();
        cell.0 += 1;
        cell.1 += targets.suggested_probability[row];
    }
    let mut pairs: Vec<Transition> = pairs
        .into_iter()
        .map(|((from, to), (rows, expected))| Transition { from, to, rows, expected })
        .collect();
    pairs.sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.rows), pair.from, pair.to));
    Transitions { pairs, undirected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_flagged_rows_from_suggested_to_given() {
        let targets = ClassTargets {
            classes: vec!["a".into(), "b".into(), "c".into()],
            given: vec![1, 1, 2, 0, 1],
            predicted: vec![0; 5],
            suggested: vec![0, 0, 0, 0, 0],
            suggested_probability: vec![0.9, 0.8, 0.7, 0.6, 0.5],
        };
        let transitions = count(&targets, &[true, true, true, true, false]);
        let pair = |from, to, rows| (from, to, rows);
        let found: Vec<_> = transitions.pairs.iter().map(|t| pair(t.from, t.to, t.rows)).collect();
        assert_eq!(found, [pair(0, 1, 2), pair(0, 2, 1)]);
        assert!((transitions.pairs[0].expected - 1.7).abs() < 1e-12);
        assert_eq!(transitions.undirected, 1);
    }
}
