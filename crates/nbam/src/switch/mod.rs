//! The kernel: a mixture of two explanations of a row, with its hidden switch marginalised.
//!
//! For one row, let `l = -log p(y|x)` be the clean negative log-likelihood, `g` the prior logit
//! (`pi = sigmoid(g)`) and `a = log q(y|x)` the anomaly log-likelihood. Then
//!
//! ```text
//! loss       L = -log[(1 - pi) p + pi q] = -logaddexp(log sigmoid(-g) - l, log sigmoid(g) + a)
//! posterior  r = sigmoid(g + l + a)
//! gradient   dL/dl = 1 - r      dL/da = -r      dL/dg = pi - r
//! ```
//!
//! The three gradients are the whole coupling to any framework: whoever has `l`, `g` and `a` can use the
//! loss. Nothing here knows of networks, files or classes.
//!
//! ```
//! let row = nbam::switch::row(2.0_f64, -1.0, -0.5, nbam::switch::Known::Unknown);
//! assert!((row.posterior - 1.0 / (1.0 + f64::exp(-0.5))).abs() < 1e-15);
//! ```

mod classical;

pub use classical::{Classical, Rate};

use num_traits::Float;

/// What is known of a row's switch before training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known {
    /// Nothing: the switch is marginalised.
    #[default]
    Unknown,
    /// The target was checked and is right: `r = 0`.
    Clean,
    /// The target was checked and is wrong: `r = 1`.
    Contaminated,
}

/// The loss of one row, its posterior and its gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<T> {
    /// `L`, the negative log marginal likelihood.
    pub loss: T,
    /// `r`, the probability that the row is contaminated.
    pub posterior: T,
    /// `dL/dl = 1 - r`.
    pub d_clean: T,
    /// `dL/dg = pi - r`.
    pub d_prior: T,
    /// `dL/da = -r`.
    pub d_anomaly: T,
}

/// What a model says of one row: the three numbers that its posterior is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// `log p(y|x)` of the clean branch.
    pub log_clean: f64,
    /// `logit pi(x)`.
    pub logit_prior: f64,
    /// `log q(y|x)` of the anomaly branch.
    pub log_anomaly: f64,
}

impl Evidence {
    /// The probability that the row is contaminated.
    pub fn posterior(&self) -> f64 {
        posterior(-self.log_clean, self.logit_prior, self.log_anomaly)
    }

    /// Loss, posterior and gradient of the row.
    pub fn row(&self, known: Known) -> Row<f64> {
        row(-self.log_clean, self.logit_prior, self.log_anomaly, known)
    }
}

/// `sigmoid(x) = 1 / (1 + exp(-x))`, with full relative accuracy in both tails.
pub fn sigmoid<T: Float>(x: T) -> T {
    if x >= T::zero() {
        T::one() / (T::one() + (-x).exp())
    } else {
        let e = x.exp();
        e / (T::one() + e)
    }
}

/// `log sigmoid(x) = -log(1 + exp(-x))`, finite for every finite `x`.
pub fn log_sigmoid<T: Float>(x: T) -> T {
    if x >= T::zero() { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// `logit(p) = log p - log(1 - p)`.
pub fn logit<T: Float>(p: T) -> T {
    p.ln() - (-p).ln_1p()
}

/// `log(exp(x) + exp(y))`.
pub fn log_add_exp<T: Float>(x: T, y: T) -> T {
    let (high, low) = if x >= y { (x, y) } else { (y, x) };
    if high.is_infinite() { high } else { high + (low - high).exp().ln_1p() }
}

/// `log[(1 - pi) + pi exp(t)]` for `t <= 0`: what the mixture loses against its better branch.
///
/// Written with `expm1` where the sum is near one, so that a small loss keeps its relative accuracy.
fn log_share<T: Float>(g: T, t: T) -> T {
    let missing = sigmoid(g) * -t.exp_m1();
    if missing < T::from(0.5).unwrap_or_else(T::one) {
        (-missing).ln_1p()
    } else {
        log_add_exp(log_sigmoid(-g), log_sigmoid(g) + t)
    }
}

/// The loss `L` of one row.
pub fn loss<T: Float>(l: T, g: T, a: T) -> T {
    // Factor the likelier branch out: the rest is a number in (0, 1] whose logarithm is safe.
    let t = l + a;
    if t <= T::zero() { l - log_share(g, t) } else { -a - log_share(-g, -t) }
}

/// The posterior `r = sigmoid(g + l + a)` of one row.
pub fn posterior<T: Float>(l: T, g: T, a: T) -> T {
    sigmoid(g + (l + a))
}

/// The Occam cost of routing a row through the anomaly branch, `-log pi - log q`.
///
/// It is the neural analogue of the classical `-log omega + log Delta`: because `q` is normalised, a
/// diffuse `q` cannot be cheap everywhere, and flagging everything never pays.
pub fn occam_cost<T: Float>(g: T, a: T) -> T {
    -log_sigmoid(g) - a
}

/// Loss, posterior and gradient of one row.
///
/// A row whose switch is known has its posterior fixed at 0 or 1; the gradients keep their form.
pub fn row<T: Float>(l: T, g: T, a: T, known: Known) -> Row<T> {
    let (zero, one) = (T::zero(), T::one());
    match known {
        Known::Unknown => {
            let t = l + a;
            let odds = g + t;
            // pi - r, written as a product so that it keeps its relative accuracy where pi and r agree.
            let d_prior = if t <= zero {
                sigmoid(g) * sigmoid(-odds) * -t.exp_m1()
            } else {
                sigmoid(-g) * sigmoid(odds) * (-t).exp_m1()
            };
            Row {
                loss: loss(l, g, a),
                posterior: sigmoid(odds),
                d_clean: sigmoid(-odds),
                d_prior,
                d_anomaly: -sigmoid(odds),
            }
        }
        Known::Clean => Row {
            loss: l - log_sigmoid(-g),
            posterior: zero,
            d_clean: one,
            d_prior: sigmoid(g),
            d_anomaly: zero,
        },
        Known::Contaminated => Row {
            loss: occam_cost(g, a),
            posterior: one,
            d_clean: zero,
            d_prior: -sigmoid(-g),
            d_anomaly: -one,
        },
    }
}

/// [`row`] for slices: writes one [`Row`] for each element.
///
/// # Errors
/// When the slices differ in length.
pub fn rows<T: Float>(l: &[T], g: &[T], a: &[T]) -> crate::Result<Vec<Row<T>>> {
    same_length("g", l.len(), g.len())?;
    same_length("a", l.len(), a.len())?;
    Ok(l.iter().zip(g).zip(a).map(|((&l, &g), &a)| row(l, g, a, Known::Unknown)).collect())
}

/// [`posterior`] for slices.
///
/// # Errors
/// When the slices differ in length.
pub fn posteriors<T: Float>(l: &[T], g: &[T], a: &[T]) -> crate::Result<Vec<T>> {
    same_length("g", l.len(), g.len())?;
    same_length("a", l.len(), a.len())?;
    Ok(l.iter().zip(g).zip(a).map(|((&l, &g), &a)| posterior(l, g, a)).collect())
}

fn same_length(name: &str, expected: usize, got: usize) -> crate::Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(crate::Error::new(
        crate::ErrorKind::Shape,
        format!("{name} has {got} elements, expected {expected}: one for each row"),
    ))
}

#[cfg(test)]
mod tests;
