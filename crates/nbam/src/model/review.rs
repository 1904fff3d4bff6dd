//! Everything that a classifier can say of labelled rows.

use super::classifier::{Classifier, largest};
use super::posterior::Posterior;
use super::rows::check_length;
use crate::Result;
use crate::net::Features;
use crate::train::in_pool;

/// Everything that a classifier can say of labelled rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// The contamination posterior and its evidence.
    pub posterior: Posterior,
    /// The class that the clean predictor prefers, without looking at the label.
    pub predicted: Vec<usize>,
    /// Its probability.
    pub predicted_probability: Vec<f64>,
    /// The most probable true class, the given label considered.
    pub suggested: Vec<usize>,
    /// Its probability.
    pub suggested_probability: Vec<f64>,
}

impl Classifier {
    /// Posterior, prediction and suggestion of each row.
    ///
    /// # Errors
    /// When the rows do not fit the model.
    pub fn review(&self, features: &Features<'_>, labels: &[usize]) -> Result<Review> {
        self.check_rows(features, labels)?;
        let networks = self.networks();
        in_pool(self.params.threads, || {
            let mut choices = vec![Choice::default(); labels.len()];
            self.scoring(features).each_row_into(&networks, &mut choices, 1, |row, outputs, choice| {
                choice[0] = self.choice(outputs, labels[row]);
            });
            Review::new(self.posterior_here(features, labels), &choices)
        })
    }

    /// Posterior, prediction and suggestion of each of the rows that the model was just fitted on. The posterior is [`Self::training`]'s;
    /// where networks left rows out, predictions and suggestions are by those that did not see the row.
    ///
    /// # Errors
    /// When the rows do not fit the model.
    pub fn review_training(&self, features: &Features<'_>, labels: &[usize]) -> Result<Review> {
        let Some(posterior) = &self.training else { return self.review(features, labels) };
        self.check_rows(features, labels)?;
        check_length("rows of the fit", labels.len(), posterior.contamination.len())?;
        let Some(log_p) = &self.left_out else {
            return Ok(Review { posterior: posterior.clone(), ..self.review(features, labels)? });
        };
        let rows = log_p.chunks_exact(self.classes).zip(labels);
        let choices: Vec<Choice> = rows
            .map(|(log_p, &label)| {
                let mut probabilities = vec![0.0; self.classes];
                probabilities.iter_mut().zip(log_p).for_each(|(p, log_p)| *p = f64::from(*log_p).exp());
                let predicted = largest(&probabilities);
                let (mut log_p_wide, mut true_class) = (vec![0.0; self.classes], vec![0.0; self.classes]);
                self.members[0].state.suggest(log_p, label, &mut log_p_wide, &mut true_class);
                Choice { predicted, suggested: largest(&true_class) }
            })
            .collect();
        Ok(Review::new(posterior.clone(), &choices))
    }

    fn choice(&self, outputs: &[&[f32]], label: usize) -> Choice {
        let classes = self.classes;
        let (mut log_p, mut true_class) = (vec![0.0; classes], vec![0.0; classes]);
        let (mut predicted, mut suggested) = (vec![0.0; classes], vec![0.0; classes]);
        self.mean_probabilities(outputs, &mut predicted);
        let opinions = self.opinions() as f64;
        self.each_opinion(outputs, |state, outputs| {
            state.suggest(outputs, label, &mut log_p, &mut true_class);
            for (sum, value) in suggested.iter_mut().zip(&true_class) {
                *sum += value / opinions;
            }
        });
        Choice { predicted: largest(&predicted), suggested: largest(&suggested) }
    }
}

impl Review {
    fn new(posterior: Posterior, choices: &[Choice]) -> Self {
        Self {
            posterior,
            predicted: choices.iter().map(|choice| choice.predicted.0).collect(),
            predicted_probability: choices.iter().map(|choice| choice.predicted.1).collect(),
            suggested: choices.iter().map(|choice| choice.suggested.0).collect(),
            suggested_probability: choices.iter().map(|choice| choice.suggested.1).collect(),
        }
    }
}

/// The preferred classes of one row, with their probabilities.
#[derive(Clone, Default)]
struct Choice {
    predicted: (usize, f64),
    suggested: (usize, f64),
}
