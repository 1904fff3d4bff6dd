//! From a trained Burn model to the files of an audit.
//!
//! Run the model over its data set, hand the reviews of the batches in, and get what `nbam audit` writes: `rows.parquet` with the same
//! columns, `summary.json` and `report.html`.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use nbam_burn::NbamClassification;
//! use nbam_burn::score::{RowsFormat, score_classes};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("audit");
//! // Two pictures of a cat, of which one is labelled dog.
//! let device = Device::flex();
//! let nbam = NbamClassification::transition(2, 100, 10, &device);
//! let (features, logits) = (Tensor::zeros([2, 8], &device), Tensor::from_floats([[9.0, 0.0], [9.0, 0.0]], &device));
//! let batches = [nbam.review(features, logits, Tensor::from_ints([0, 1], &device))];
//!
//! let names = ["cat", "dog"].map(String::from);
//! let scores = score_classes("animal", &names, batches, 0.05)?;
//! assert_eq!(scores.decisions.flags.is_flagged, [false, true]);
//! scores.write(&folder, "the animal pictures", RowsFormat::Parquet, false)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use burn::tensor::{Int, Tensor};
use nbam::{Error, ErrorKind};
use nbam_audit::{ClassTargets, FlagRule, Posterior, RunFacts, Scored, Targets, ValueTargets};

pub use nbam_audit::pipeline::{RowsFormat, Scores};

use crate::{ClassReview, Terms, ValueReview};

/// What a classifier says of its rows, batch after batch in the order of the data set. `target` names what was predicted, `classes` are
/// the classes' names, and rows are flagged so that at most the share `fdr` of the flags is expected to be false.
///
/// # Errors
/// When a tensor cannot be read, there are no rows, a number is out of range, or a class has no name.
pub fn score_classes(
    target: &str,
    classes: &[String],
    reviews: impl IntoIterator<Item = ClassReview>,
    fdr: f64,
) -> Result<Scores, nbam_audit::Error> {
    let mut posterior = Posterior::default();
    let mut targets = ClassTargets { classes: classes.to_vec(), ..ClassTargets::default() };
    for review in reviews {
        append(&mut posterior, review.terms)?;
        let (suggested_probability, suggested) = review.true_class.max_dim_with_indices(1);
        targets.given.extend(indices(review.targets)?);
        targets.predicted.extend(indices(review.predicted.argmax(1))?);
        targets.suggested.extend(indices(suggested)?);
        // Single precision may round a sum of probabilities to a little more than one.
        targets.suggested_probability.extend(numbers(suggested_probability.clamp_max(1.0))?);
    }
    finish(target, posterior, Targets::Classification(targets), fdr)
}

/// What a regression says of its rows, batch after batch in the order of the data set; see [`score_classes`].
///
/// # Errors
/// When a tensor cannot be read, there are no rows, or a number is out of range.
pub fn score_values(
    target: &str,
    reviews: impl IntoIterator<Item = ValueReview>,
    fdr: f64,
) -> Result<Scores, nbam_audit::Error> {
    let mut posterior = Posterior::default();
    let mut targets = ValueTargets::default();
    for review in reviews {
        append(&mut posterior, review.terms)?;
        targets.given.extend(numbers(review.targets)?);
        targets.predicted.extend(numbers(review.mean)?);
        targets.predicted_sd.extend(numbers(review.sd)?);
    }
    finish(target, posterior, Targets::Regression(targets), fdr)
}

fn finish(
    target: &str,
    mut posterior: Posterior,
    targets: Targets,
    fdr: f64,
) -> Result<Scores, nbam_audit::Error> {
    let rows = posterior.contamination.len();
    posterior.member_means = vec![posterior.contamination.iter().sum::<f64>() / rows.max(1) as f64];
    let scored = Scored::new(target, posterior, targets)?;
    Scores::new(scored, FlagRule::at(fdr)?, RunFacts::default(), None)
}

fn append(posterior: &mut Posterior, terms: Terms) -> Result<(), nbam_audit::Error> {
    // From the logarithms on in double precision: the columns are to agree with each other.
    let columns = numbers(terms.clean_nll)?.into_iter().zip(numbers(terms.prior_logit)?);
    for ((clean_nll, prior_logit), log_anomaly) in columns.zip(numbers(terms.anomaly_logp)?) {
        posterior.contamination.push(nbam::switch::posterior(clean_nll, prior_logit, log_anomaly));
        posterior.prior.push(nbam::switch::sigmoid(prior_logit));
        posterior.log_clean.push(-clean_nll);
        posterior.log_anomaly.push(log_anomaly);
    }
    Ok(())
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f64>, nbam_audit::Error> {
    tensor.try_into_vec_as::<f64>().map_err(|error| unreadable(&error))
}

fn indices<const D: usize>(tensor: Tensor<D, Int>) -> Result<Vec<usize>, nbam_audit::Error> {
    let indices = tensor.try_into_vec_as::<i64>().map_err(|error| unreadable(&error))?;
    indices
        .into_iter()
        .map(|index| {
            usize::try_from(index).map_err(|_| {
                Error::new(ErrorKind::Label, format!("a label is {index}, expected 0 or more")).into()
            })
        })
        .collect()
}

fn unreadable(error: &dyn std::fmt::Display) -> nbam_audit::Error {
    Error::new(ErrorKind::Value, format!("a batch cannot be read from its device: {error}")).into()
}
