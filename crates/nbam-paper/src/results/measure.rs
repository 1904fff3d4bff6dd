//! From a posterior and the truth to the numbers of a record.

use nbam::metrics::{
    FlagCounts, accuracy, auroc, average_precision, brier, expected_calibration_error,
    root_mean_squared_error,
};
use nbam_audit::{ClassTargets, Decisions, FlagRule, Posterior, Scored, Targets, decide};
use serde::{Deserialize, Serialize};

use super::by_class::ByClass;
use crate::error::Result;
use crate::noise::mean_and_sd;

/// The promised share of false flags.
const FDR: f64 = 0.05;

/// What a run measured. A number is absent where it has no meaning: ranking rows of which none is wrong, or the
/// accuracy of a method that predicts nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    /// Share of right predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Root mean squared error over the standard deviation of the true test targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// What accuracy or error was measured on: `test` rows, or the `training` rows against their true targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_on: Option<String>,
    /// Area under the ROC curve of the bad-row score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auroc: Option<f64>,
    /// Average precision of the bad-row score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ap: Option<f64>,
    /// Expected calibration error of the posterior in 15 bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
    /// Brier score of the posterior.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
    /// Mean posterior: the estimated rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_posterior: Option<f64>,
    /// The 95 % interval of the rate, as the audit reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_interval: Option<(f64, f64)>,
    /// Share of rows that are wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub true_rate: Option<f64>,
    /// Share of rows that are flagged at a promised FDR of 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flagged: Option<f64>,
    /// Share of the wrong rows that are flagged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
    /// Share of the flagged rows that are right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realised_fdr: Option<f64>,
    /// What a posterior's heads and histograms look like by true class, where figures are drawn of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_class: Option<ByClass>,
    /// Codes of the fit's warnings.
    pub warnings: Vec<String>,
    /// Seconds of the fit.
    pub seconds: f64,
    /// Threads of the fit.
    pub threads: usize,
}

/// What a score that is no probability tells: only its ranking.
///
/// # Errors
/// When a score is not a number or the lengths differ.
pub fn measure_scores(scores: &[f64], is_wrong: &[bool]) -> Result<Measures> {
    let wrong = is_wrong.iter().filter(|is_wrong| **is_wrong).count();
    let has_both = wrong > 0 && wrong < is_wrong.len();
    Ok(Measures {
        auroc: has_both.then(|| auroc(scores, is_wrong)).transpose()?,
        ap: has_both.then(|| average_precision(scores, is_wrong)).transpose()?,
        true_rate: Some(wrong as f64 / is_wrong.len().max(1) as f64),
        ..Measures::default()
    })
}

/// What a posterior tells: its ranking, its calibration, its rate, and the flags that an audit would set.
fn measure_posterior(posterior: &[f64], member_means: &[f64], is_wrong: &[bool]) -> Result<Measures> {
    let decisions = decisions(posterior, member_means)?;
    let counts = FlagCounts::new(&decisions.flags.is_flagged, is_wrong)?;
    let rate = decisions.rate.estimate;
    Ok(Measures {
        ece: Some(expected_calibration_error(posterior, is_wrong)?),
        brier: Some(brier(posterior, is_wrong)?),
        mean_posterior: Some(rate.mean),
        rate_interval: Some((rate.low, rate.high)),
        flagged: Some(decisions.flags.count as f64 / posterior.len() as f64),
        recall: counts.recall(),
        realised_fdr: (decisions.flags.count > 0).then(|| counts.false_discovery_rate()),
        ..measure_scores(posterior, is_wrong)?
    })
}

/// The decisions of an audit, which depend on the posterior alone.
fn decisions(posterior: &[f64], member_means: &[f64]) -> Result<Decisions> {
    let rows = posterior.len();
    let columns = Posterior {
        contamination: posterior.to_vec(),
        prior: vec![0.5; rows],
        log_clean: vec![0.0; rows],
        log_anomaly: vec![0.0; rows],
        member_means: member_means.to_vec(),
    };
    let nothing = ClassTargets {
        classes: vec!["any".to_owned()],
        given: vec![0; rows],
        predicted: vec![0; rows],
        suggested: vec![0; rows],
        suggested_probability: vec![1.0; rows],
    };
    let scored = Scored::new("target", columns, Targets::Classification(nothing))?;
    Ok(decide(&scored, FlagRule::at(FDR)?))
}

/// The posterior of a fit, against the truth; rows whose switch the fit was told do not count.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The probability that each row is wrong.
    pub posterior: &'a [f64],
    /// The mean posterior of each member.
    pub member_means: &'a [f64],
    /// Whether each row is wrong.
    pub is_wrong: &'a [bool],
    /// Whether the fit was told; empty if it was told nothing.
    pub is_told: &'a [bool],
}

impl Judged<'_> {
    fn measure(&self) -> Result<Measures> {
        if self.is_told.is_empty() {
            return measure_posterior(self.posterior, self.member_means, self.is_wrong);
        }
        let rows = (0..self.posterior.len()).filter(|&row| !self.is_told[row]);
        let (posterior, is_wrong): (Vec<f64>, Vec<bool>) =
            rows.map(|row| (self.posterior[row], self.is_wrong[row])).unzip();
        measure_posterior(&posterior, self.member_means, &is_wrong)
    }
}

/// The measures of a classification: the posterior, and predictions against true classes.
///
/// # Errors
/// When the lengths differ or a posterior is no probability.
pub fn measure_labels(judged: &Judged<'_>, predicted: &[usize], truth: &[usize]) -> Result<Measures> {
    Ok(Measures { accuracy: Some(accuracy(predicted, truth)?), ..judged.measure()? })
}

/// The measures of a regression: the posterior, and predictions against true values, in units of their spread.
///
/// # Errors
/// When the lengths differ or a posterior is no probability.
pub fn measure_values(judged: &Judged<'_>, predicted: &[f64], truth: &[f64]) -> Result<Measures> {
    Ok(Measures { rmse: Some(relative_error(predicted, truth)?), ..judged.measure()? })
}

/// Root mean squared error over the standard deviation of the truth.
pub(crate) fn relative_error(predicted: &[f64], truth: &[f64]) -> Result<f64> {
    Ok(root_mean_squared_error(predicted, truth)? / mean_and_sd(truth).1.max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_set_has_no_ranking() {
        let judged = Judged {
            posterior: &[0.01, 0.02],
            member_means: &[0.015],
            is_wrong: &[false, false],
            is_told: &[],
        };
        let measures = measure_labels(&judged, &[0, 1], &[0, 0]).unwrap();
        assert_eq!((measures.ap, measures.recall, measures.realised_fdr), (None, None, None));
        assert_eq!((measures.accuracy, measures.true_rate), (Some(0.5), Some(0.0)));
        assert!((measures.mean_posterior.unwrap() - 0.015).abs() < 1e-12);
    }

    #[test]
    fn rows_that_were_told_do_not_count() {
        let judged = Judged {
            posterior: &[1.0, 0.9, 0.2, 0.0],
            member_means: &[],
            is_wrong: &[true, false, true, false],
            is_told: &[true, false, false, true],
        };
        let measures = judged.measure().unwrap();
        // Of the two rows that count, the right one is ranked first.
        assert_eq!((measures.ap, measures.auroc), (Some(0.5), Some(0.0)));
        assert_eq!(measures.true_rate, Some(0.5));
    }

    #[test]
    fn errors_are_in_units_of_the_spread() {
        let truth = [0.0, 20.0, 0.0, 20.0];
        assert_eq!(relative_error(&[10.0; 4], &truth).unwrap(), 1.0);
    }
}
