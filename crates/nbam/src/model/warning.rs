//! What a fit has to say about itself: signs that its posterior should not be taken at its word.

use super::borders::Contradicted;
use super::posterior::Posterior;
use crate::density::transition::Transition;
use serde::{Deserialize, Serialize};

/// A warning with a code that does not change between versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind of warning it is; see [`Warning::CODES`].
    pub code: String,
    /// One sentence for a person, with classes by their number; see [`Self::message_with_names`].
    pub message: String,
    /// The classes that it is about.
    pub classes: Vec<usize>,
}

impl Warning {
    /// Every code, in the order of gravity.
    ///
    /// * `no_signal`: the features do not predict the labels, so that any share of wrong ones explains them.
    /// * `posterior_not_trusted`: more than half of the rows look contaminated.
    /// * `branches_possibly_swapped`: two classes seem to have changed names, or one was taken for another.
    /// * `members_disagree`: networks from different starts tell different stories.
    /// * `prior_above_half`: in some class most labels are taken for wrong.
    /// * `unclear_borders`: labels are contradicted mostly where classes are alike; errors and ambiguity look the same there;
    ///   or the features do not tell a class from another.
    /// * `few_rows`: a class has too few rows to be judged.
    pub const CODES: [&'static str; 7] = [
        "no_signal",
        "posterior_not_trusted",
        "branches_possibly_swapped",
        "members_disagree",
        "prior_above_half",
        "unclear_borders",
        "few_rows",
    ];

    fn new(code: usize, classes: &[usize], message: String) -> Self {
        Self { code: Self::CODES[code].into(), message, classes: classes.to_vec() }
    }

    /// Whether it is about the rows themselves, whatever was made of them.
    pub(crate) fn is_of_rows(&self) -> bool {
        self.code == Self::CODES[6]
    }

    /// Left-out labels are no more probable given the features than without them.
    pub(crate) fn no_signal() -> Self {
        let message = "the features do not predict the labels of rows that were left out of a fit better than chance does; then nothing tells \
                       a wrong label from a right one, and neither the share of wrong labels nor the probabilities mean anything";
        Self::new(0, &[], message.into())
    }

    /// Labels are contradicted mostly near the borders, and all such rows were taken for right.
    pub(crate) fn borders_only(Contradicted { near, far, .. }: Contradicted) -> Self {
        let message = format!(
            "labels are contradicted near the borders between classes in {:.0} % of the rows, and away from them in {:.0} %; nothing tells whether \
             labels were mistaken there or the classes overlap, so the labels were taken for right: up to {:.0} % of all may be wrong. \
             The order of the rows does not depend on that",
            100.0 * near,
            100.0 * far,
            50.0 * (near + far)
        );
        Self::new(5, &[], message)
    }

    /// The shares of contradicted labels in the halves near to and far from a border differ much.
    pub(crate) fn borders(Contradicted { near, far, .. }: Contradicted) -> Self {
        let message = format!(
            "labels are contradicted near the borders between classes in {:.0} % of the rows, and away from them in {:.0} %; \
             where the features do not decide, nothing tells a wrong label from a right one, and the probabilities may be too high or too low",
            100.0 * near,
            100.0 * far
        );
        Self::new(5, &[], message)
    }

    /// These classes vanish unless borders may be soft.
    pub(crate) fn overlap(classes: &[usize]) -> Self {
        let names: Vec<String> = classes.iter().map(|class| format!("class {class}")).collect();
        let (all_but_last, last) = names.split_at(names.len().saturating_sub(1));
        let names = match all_but_last {
            [] => last.concat(),
            _ => format!("{} and {}", all_but_last.join(", "), last.concat()),
        };
        let message = format!(
            "the features do not tell {names} from other classes, or most of these labels are wrong; such rows were taken for \
             ambiguous, and the probabilities there may be too low"
        );
        Self::new(5, classes, message)
    }

    /// The sentence with the classes' names in place of their numbers.
    pub fn message_with_names(&self, names: &[String]) -> String {
        let mut classes = self.classes.clone();
        // Higher numbers first: "class 1" is also the beginning of "class 12".
        classes.sort_unstable_by(|a, b| b.cmp(a));
        classes.iter().fold(self.message.clone(), |message, &class| match names.get(class) {
            Some(name) => message.replace(&format!("class {class}"), &format!("class '{name}'")),
            None => message,
        })
    }
}

/// Mean standard deviation of a row's posterior between members, above which they disagree.
const SPREAD_LIMIT: f64 = 0.05;
/// Difference of members' mean posteriors above which they disagree.
const MEANS_LIMIT: f64 = 0.05;
/// A class that has fewer rows in a fit than this share of the rows that carry its label was taken for another.
const VANISHED: f64 = 0.25;
/// Rows of a class below which it cannot be judged.
const ROWS_LIMIT: usize = 10;

/// Warnings that need only the posterior.
pub(crate) fn posterior_warnings(posterior: &Posterior) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mean = posterior.mean();
    if mean > 0.5 {
        warnings.push(Warning::new(
            1,
            &[],
            format!(
                "{:.0} % of the rows look contaminated; when most rows are wrong, the data cannot say which are right",
                100.0 * mean
            ),
        ));
    }
    let means = &posterior.member_means;
    let range =
        means.iter().copied().fold(f64::MIN, f64::max) - means.iter().copied().fold(f64::MAX, f64::min);
    if means.len() > 1 && (posterior.member_spread > SPREAD_LIMIT || range > MEANS_LIMIT) {
        warnings.push(Warning::new(
            3,
            &[],
            format!(
                "networks from {} different starts disagree: they find between {:.1} % and {:.1} % contaminated, \
                 and a row's probability differs by {:.2} on average",
                means.len(),
                100.0 * means.iter().copied().fold(f64::MAX, f64::min),
                100.0 * means.iter().copied().fold(f64::MIN, f64::max),
                posterior.member_spread
            ),
        ));
    }
    warnings
}

/// How many of the labels name each class.
pub(crate) fn label_counts(labels: impl Iterator<Item = usize>, classes: usize) -> Vec<usize> {
    let mut counts = vec![0; classes];
    labels.for_each(|label| counts[label] += 1);
    counts
}

/// The classes of which a fit finds far fewer rows than carry their label, given the share of the rows that it finds in each.
pub(crate) fn vanished(counts: &[usize], shares: &[f64]) -> Vec<usize> {
    let rows = counts.iter().sum::<usize>() as f64;
    let is_missed = |class: &usize| {
        counts[*class] >= ROWS_LIMIT && shares[*class] < VANISHED * counts[*class] as f64 / rows
    };
    (0..counts.len()).filter(is_missed).collect()
}

/// Warnings about classes: given labels, the members' transitions, and the share of the rows that each member finds
/// in every class.
pub(crate) fn class_warnings<'a>(
    labels: &[usize],
    classes: usize,
    transitions: impl Iterator<Item = &'a Transition>,
    shares: &[Vec<f64>],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let counts = label_counts(labels.iter().copied(), classes);
    let transitions: Vec<&Transition> = transitions.collect();
    for from in 0..classes {
        for to in from + 1..classes {
            // Each of the two labels mostly stands for the other class.
            let is_swapped = |transition: &&&Transition| {
                transition.flow(from, to) > 0.5 && transition.flow(to, from) > 0.5
            };
            if transitions.iter().filter(is_swapped).count() > 0 {
                let message = format!(
                    "class {from} and class {to} may have changed names in the fit: most labels of each are taken for the other"
                );
                warnings.push(Warning::new(2, &[from, to], message));
            }
        }
    }
    let vanished: Vec<Vec<usize>> = shares.iter().map(|found| vanished(&counts, found)).collect();
    for class in (0..classes).filter(|class| vanished.iter().any(|classes| classes.contains(class))) {
        let message = format!(
            "class {class} has all but vanished from the fit: nearly every label of class {class} is taken for wrong, and \
             its rows for another class"
        );
        warnings.push(Warning::new(2, &[class], message));
    }
    for class in 0..classes {
        let rates = transitions.iter().map(|transition| transition.rates()[class]);
        let highest = rates.fold(0.0, f64::max);
        if highest > 0.5 {
            warnings.push(Warning::new(
                4,
                &[class],
                format!(
                    "{:.0} % of the rows that really are of class {class} seem to carry another label; above one half this \
                     rests on the model's assumptions more than on the data",
                    100.0 * highest
                ),
            ));
        }
    }
    for (class, count) in counts.iter().enumerate().filter(|(_, count)| **count < ROWS_LIMIT) {
        let message =
            format!("class {class} has {count} rows: too few to tell a wrong label from a rare one");
        warnings.push(Warning::new(6, &[class], message));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named() {
        let swapped =
            Transition::new(vec![0.8, 0.9, 0.1], vec![0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5, 0.0]).unwrap();
        let labels: Vec<usize> = (0..25).map(|row| row % 2).chain([2]).collect();
        let warnings = class_warnings(&labels, 3, [&swapped].into_iter(), &[]);
        let codes: Vec<&str> = warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["branches_possibly_swapped", "prior_above_half", "prior_above_half", "few_rows"]);
        let names = ["cat", "class 1", "dog"].map(String::from);
        let message = warnings[0].message_with_names(&names);
        assert!(message.starts_with("class 'cat' and class 'class 1' may have"), "{message}");
        assert!(warnings[3].message_with_names(&names).starts_with("class 'dog' has 1 rows"));
    }

    #[test]
    fn classes_that_are_not_told_apart_are_listed() {
        let names = ["cat", "dog", "fox"].map(String::from);
        let message = |classes: &[usize]| Warning::overlap(classes).message_with_names(&names);
        assert!(message(&[1]).starts_with("the features do not tell class 'dog' from other classes"));
        assert!(message(&[0, 1, 2]).contains("tell class 'cat', class 'dog' and class 'fox' from other"));
    }

    #[test]
    fn a_class_without_rows_is_missed() {
        let labels: Vec<usize> = (0..100).map(|row| row % 2).collect();
        let codes = |shares: [f64; 2]| {
            let warnings = class_warnings(&labels, 2, [].into_iter(), &[shares.to_vec()]);
            warnings.into_iter().map(|warning| (warning.code, warning.classes)).collect::<Vec<_>>()
        };
        assert_eq!(codes([0.95, 0.05]), [("branches_possibly_swapped".to_string(), vec![1])]);
        assert_eq!(codes([0.8, 0.2]), []);
    }

    #[test]
    fn members_that_disagree_are_heard() {
        let posterior = |means: &[f64]| Posterior {
            contamination: vec![0.1; 10],
            member_means: means.to_vec(),
            ..Posterior::default()
        };
        assert!(posterior_warnings(&posterior(&[0.10, 0.11])).is_empty());
        assert_eq!(posterior_warnings(&posterior(&[0.05, 0.2]))[0].code, "members_disagree");
        let most = Posterior { contamination: vec![0.7; 10], ..Posterior::default() };
        assert_eq!(posterior_warnings(&most)[0].code, "posterior_not_trusted");
    }
}
