use super::{check_classes, check_labels, check_rate, check_rows};
use crate::Result;
use crate::error::{Error, ErrorKind};

/// How far a row of probabilities may be from summing to one: room for a softmax in single precision.
const SUM_TOLERANCE: f64 = 1e-3;

/// Noise near the decision boundary, ready for [`input_dependent`](super::input_dependent).
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryRates {
    /// The probability that each row's label is wrong.
    pub rates: Vec<f64>,
    /// The label it then gets: the most probable class other than its own.
    pub destinations: Vec<usize>,
}

/// Rates that grow towards the decision boundary, as people's mistakes do: where the two most probable
/// classes are close, labels are wrong most often, and they are confused with the runner-up.
///
/// `probabilities` holds one row of `classes` class probabilities for each label, from any model of the clean
/// data. With the margin `m = p_(1) - p_(2)` between the two largest of a row,
///
/// ```text
/// rate_i = min(1, c (1 - m_i))        c such that the mean of the rates is mean_rate
/// ```
///
/// The destination is the runner-up, or the favourite where the row's own label is not the favourite, so that
/// a row that is hit is contaminated and `mean_rate` is the expected share of contaminated rows. Equal
/// probabilities rank the lower class first.
///
/// ```
/// use nbam::corrupt::{Destination, boundary_rates, input_dependent};
///
/// let labels = [0, 1, 0];
/// let probabilities = [0.5, 0.5, 0.0, 0.05, 0.9, 0.05, 0.6, 0.1, 0.3];
/// let noise = boundary_rates(&probabilities, &labels, 3, 0.2)?;
/// assert!(noise.rates[0] > noise.rates[2] && noise.rates[2] > noise.rates[1]);
/// assert_eq!(noise.destinations, [1, 0, 2]);
/// let corrupted = input_dependent(&labels, 3, &noise.rates, Destination::Labels(&noise.destinations), 7)?;
/// assert_eq!(corrupted.is_contaminated, corrupted.is_drawn);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When there are not `classes` probabilities that sum to one for each label, a label is out of range, or so
/// many rows are certain that `mean_rate` cannot be reached.
pub fn boundary_rates<T: Copy + Into<f64>>(
    probabilities: &[T],
    labels: &[usize],
    classes: usize,
    mean_rate: f64,
) -> Result<BoundaryRates> {
    check_classes(classes)?;
    check_rows(labels.len())?;
    check_labels("label", labels, classes)?;
    check_rate("the mean rate", mean_rate)?;
    if Some(probabilities.len()) != labels.len().checked_mul(classes) {
        return Err(Error::new(
            ErrorKind::Shape,
            format!(
                "there are {} probabilities, expected {} rows of {classes} classes",
                probabilities.len(),
                labels.len()
            ),
        ));
    }
    let mut closeness = Vec::with_capacity(labels.len());
    let mut destinations = Vec::with_capacity(labels.len());
    for (row, (probabilities, &label)) in probabilities.chunks_exact(classes).zip(labels).enumerate() {
        check_distribution(row, probabilities)?;
        let favourite = most_probable(probabilities, None);
        let runner_up = most_probable(probabilities, Some(favourite));
        closeness.push(1.0 - (probabilities[favourite].into() - probabilities[runner_up].into()));
        destinations.push(if label == favourite { runner_up } else { favourite });
    }
    Ok(BoundaryRates { rates: scale_to_mean(&closeness, mean_rate)?, destinations })
}

fn check_distribution<T: Copy + Into<f64>>(row: usize, probabilities: &[T]) -> Result<()> {
    let mut sum = 0.0;
    for (class, &probability) in probabilities.iter().enumerate() {
        let probability = probability.into();
        if !(0.0..=1.0).contains(&probability) {
            return Err(Error::new(
                ErrorKind::Value,
                format!(
                    "the probability of class {class} in row {row} is {probability}, expected between 0 and 1"
                ),
            ));
        }
        sum += probability;
    }
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(Error::new(
            ErrorKind::Value,
            format!("the probabilities of row {row} sum to {sum}, expected 1"),
        ));
    }
    Ok(())
}

/// The class of greatest probability, the lowest of equals, leaving one out if asked.
fn most_probable<T: Copy + Into<f64>>(probabilities: &[T], except: Option<usize>) -> usize {
    let mut best: Option<(usize, f64)> = None;
    for (class, &probability) in probabilities.iter().enumerate() {
        let probability = probability.into();
        if Some(class) != except && best.is_none_or(|(_, highest)| probability > highest) {
            best = Some((class, probability));
        }
    }
    best.map_or(0, |(class, _)| class)
}

/// `min(1, c w)` for each weight, with `c` such that the mean is `mean_rate`.
fn scale_to_mean(weights: &[f64], mean_rate: f64) -> Result<Vec<f64>> {
    let rows = weights.len() as f64;
    let mut ascending: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 0.0).collect();
    ascending.sort_unstable_by(f64::total_cmp);
    let total = mean_rate * rows;
    if total > ascending.len() as f64 + 1e-9 * rows {
        return Err(Error::new(
            ErrorKind::Parameter,
            format!(
                "a mean rate of {mean_rate} cannot be reached: only {} of {} rows have a margin below 1",
                ascending.len(),
                weights.len()
            ),
        )
        .with_hint("use a smaller rate, or probabilities that are less certain"));
    }
    // Suppose all but the m smallest weights reach 1. The m then share what is left of the total, which is
    // consistent if none of them exceeds 1; the largest consistent m is the solution. No m is consistent only
    // by rounding, when every row is at 1.
    let mut scale = f64::INFINITY;
    let mut sum = 0.0;
    for (index, &weight) in ascending.iter().enumerate() {
        sum += weight;
        let left = total - (ascending.len() - index - 1) as f64;
        if left >= 0.0 && left * weight <= sum {
            scale = left / sum;
        }
    }
    // Zero weights apart: infinity times zero is not a rate.
    Ok(weights.iter().map(|&weight| if weight > 0.0 { (scale * weight).min(1.0) } else { 0.0 }).collect())
}
