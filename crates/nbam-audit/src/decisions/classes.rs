//! The prior and the posterior, class by class.

use crate::{ClassTargets, Posterior};

/// What is known about one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassRate {
    /// The class.
    pub class: usize,
    /// Rows that are predicted to be of this class, whatever their label says.
    pub predicted_rows: usize,
    /// Their mean prior: how often a row that really is of this class gets a wrong label. Nothing without such rows.
    pub mean_prior: Option<f64>,
    /// Rows that carry this class as their label.
    pub given_rows: usize,
    /// Their mean contamination: how often this label is wrong where it appears. Nothing without such rows.
    pub mean_contamination: Option<f64>,
    /// How many of the rows that carry this label are flagged.
    pub flagged: usize,
}

pub(super) fn by_class(targets: &ClassTargets, posterior: &Posterior, is_flagged: &[bool]) -> Vec<ClassRate> {
    let count = targets.classes.len();
    let mut predicted = vec![(0usize, 0.0); count];
    let mut given = vec![(0usize, 0.0, 0usize); count];
    for row in 0..is_flagged.len() {
        let cell = &mut predicted[targets.predicted[row]];
        cell.0 += 1;
        cell.1 += posterior.prior[row];
        let cell = &mut given[targets.given[row]];
        cell.0 += 1;
        cell.1 += posterior.contamination[row];
        cell.2 += usize::from(is_flagged[row]);
    }
    let mean = |sum: f64, rows: usize| (rows > 0).then(|| sum / rows as f64);
    (0..count)
        .map(|class| ClassRate {
            class,
            predicted_rows: predicted[class].0,
            mean_prior: mean(predicted[class].1, predicted[class].0),
            given_rows: given[class].0,
            mean_contamination: mean(given[class].1, given[class].0),
            flagged: given[class].2,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_go_by_the_prediction_and_posteriors_by_the_label() {
        let targets = ClassTargets {
            classes: vec!["a".into(), "b".into(), "unseen".into()],
            given: vec![0, 1, 1],
            predicted: vec![0, 0, 1],
            suggested: vec![0, 0, 1],
            suggested_probability: vec![1.0; 3],
        };
        let posterior = Posterior {
            contamination: vec![0.0, 0.8, 0.2],
            prior: vec![0.1, 0.3, 0.5],
            ..Posterior::default()
        };
        let rates = by_class(&targets, &posterior, &[false, true, false]);
        assert_eq!((rates[0].predicted_rows, rates[0].mean_prior), (2, Some(0.2)));
        assert_eq!((rates[1].given_rows, rates[1].mean_contamination, rates[1].flagged), (2, Some(0.5), 1));
        assert_eq!((rates[2].mean_prior, rates[2].mean_contamination), (None, None));
    }
}
