use num_traits::Float;

use crate::Result;
use crate::error::{Error, ErrorKind};

/// The cross-entropy `l = logsumexp(z) - z_y` of one row with `logits` z and class `target` y; writes its
/// gradient with respect to the logits, `softmax(z)_k - [k = y]`, into `gradient`.
///
/// Both stay accurate when the row fits almost perfectly: `l` keeps its digits down to the smallest
/// probability of another class, and the target's gradient is minus the sum of the others rather than `p -
/// 1`.
///
/// ```
/// use nbam::loss::cross_entropy;
///
/// let mut gradient = [0.0_f64; 2];
/// let l = cross_entropy(&[0.0, 50.0], 1, &mut gradient)?;
/// assert!((l - (-50.0_f64).exp()).abs() < 1e-36);
/// # Ok::<(), nbam::Error>(())
/// ```
///
/// # Errors
/// When the lengths differ, there is no class `target`, or a logit is not finite.
pub fn cross_entropy<T: Float>(logits: &[T], target: usize, gradient: &mut [T]) -> Result<T> {
    check_row(logits, target, gradient.len())?;
    let largest = logits.iter().copied().fold(T::neg_infinity(), T::max);

    // Weights relative to the largest logit: none overflows, and one of them is 1.
    let mut others = T::zero();
    for (class, (weight, &logit)) in gradient.iter_mut().zip(logits).enumerate() {
        *weight = (logit - largest).exp();
        if class != target {
            others = others + *weight;
        }
    }
    let own = gradient[target];
    let total = own + others;
    for weight in gradient.iter_mut() {
        *weight = *weight / total;
    }
    gradient[target] = -others / total;

    // If the target leads, own = 1 and l = ln(1 + others); otherwise total >= 1 and l is a sum of positive
    // terms.
    let lead = largest - logits[target];
    Ok(if lead == T::zero() { others.ln_1p() } else { lead + total.ln() })
}

fn check_row<T: Float>(logits: &[T], target: usize, gradient_length: usize) -> Result<()> {
    let classes = logits.len();
    if gradient_length != classes {
        return Err(Error::new(
            ErrorKind::Shape,
            format!("the gradient buffer has {gradient_length} places, expected {classes}, one per logit"),
        ));
    }
    if target >= classes {
        return Err(Error::new(
            ErrorKind::Label,
            format!("the class {target} is out of range: there are {classes} logits, numbered from 0"),
        ));
    }
    match logits.iter().position(|logit| !logit.is_finite()) {
        Some(class) => Err(Error::new(ErrorKind::Value, format!("the logit of class {class} is not finite"))),
        None => Ok(()),
    }
}
