//! Class transition: a contaminated label is drawn from the class that the row really has.
//!
//! The row's true class is `k` with probability `p(k|x)`. With probability `rho_k` its label is contaminated and
//! drawn from `T[k, .]`, a distribution over the other classes; otherwise the label is `k`:
//!
//! ```text
//! P(y|x) = p_y (1 - rho_y) + sum_k p_k rho_k T[k, y]
//! prior          pi(x)  = sum_k p_k rho_k
//! clean branch   p(y|x, clean)  = p_y (1 - rho_y) / (1 - pi)
//! anomaly        q(y|x) = sum_k p_k rho_k T[k, y] / pi
//! ```
//!
//! The anomaly is tied to the clean predictor: it cannot become a second predictor, and that is what keeps
//! the two branches from changing places.

use crate::switch::{Evidence, Known, Row, logit};
use serde::{Deserialize, Serialize};

/// The label channel: a rate and a distribution over the other classes for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Transition {
    classes: usize,
    /// `rho_k`.
    rates: Vec<f64>,
    /// `T[k, y]`, row-major, zero on the diagonal, rows sum to one.
    destinations: Vec<f64>,
}

impl Transition {
    /// A channel in which every class is contaminated at the same rate, equally to all others.
    pub(crate) fn uniform(classes: usize, rate: f64) -> Self {
        let other = 1.0 / (classes as f64 - 1.0);
        let cell = |index: usize| if index / classes == index % classes { 0.0 } else { other };
        Self { classes, rates: vec![rate; classes], destinations: (0..classes * classes).map(cell).collect() }
    }

    /// A channel with these rates in (0, 1) and destinations (row-major, zero diagonal, rows summing to one).
    ///
    /// # Errors
    /// When a size or a value is not as said.
    pub fn new(rates: Vec<f64>, destinations: Vec<f64>) -> crate::Result<Self> {
        let classes = rates.len();
        let fault = |message: String| Err(crate::Error::new(crate::ErrorKind::Value, message));
        if destinations.len() != classes * classes || classes < 2 {
            return fault(format!(
                "{} destinations for {classes} classes, expected {classes} x {classes} and at least two classes",
                destinations.len()
            ));
        }
        if let Some(class) = rates.iter().position(|rate| !(*rate > 0.0 && *rate < 1.0)) {
            return fault(format!("the rate of class {class} is {}, expected between 0 and 1", rates[class]));
        }
        for (class, row) in destinations.chunks_exact(classes).enumerate() {
            let total: f64 = row.iter().sum();
            if row[class] != 0.0
                || row.iter().any(|value| *value < 0.0 || value.is_nan())
                || (total - 1.0).abs() > 1e-6
            {
                return fault(format!(
                    "the destinations of class {class} sum to {total}, expected 1 with a zero for the class itself"
                ));
            }
        }
        Ok(Self { classes, rates, destinations })
    }

    /// A channel whose values are known to be right, because they were just estimated.
    pub(crate) fn trusted(rates: Vec<f64>, destinations: Vec<f64>) -> Self {
        Self { classes: rates.len(), rates, destinations }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// `rho`, the rate of each class.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// `T`, row-major.
    pub fn destinations(&self) -> &[f64] {
        &self.destinations
    }

    /// `P(label = y | true class = k)` of the contaminated branch, `rho_k T[k, y]`.
    pub fn flow(&self, from: usize, to: usize) -> f64 {
        self.rates[from] * self.destinations[from * self.classes + to]
    }

    /// Prior, clean and anomaly log-likelihood of label `y`, from `log p(.|x)`: everything in log space.
    ///
    /// # Panics
    /// When there is no class `y`, or `log_p` is longer than the classes.
    pub fn evidence(&self, log_p: &[f64], y: usize) -> Evidence {
        let mut log_flow = LogSum::default();
        let mut log_prior = LogSum::default();
        let mut log_rest = LogSum::default();
        for (k, &log_p) in log_p.iter().enumerate() {
            log_prior.add(log_p + self.rates[k].ln());
            log_rest.add(log_p + (-self.rates[k]).ln_1p());
            let flow = self.flow(k, y);
            if flow > 0.0 {
                log_flow.add(log_p + flow.ln());
            }
        }
        let (log_prior, log_rest) = (log_prior.value(), log_rest.value());
        Evidence {
            log_clean: log_p[y] + (-self.rates[y]).ln_1p() - log_rest,
            logit_prior: log_prior - log_rest,
            log_anomaly: log_flow.value() - log_prior,
        }
    }

    /// The probability of each true class given the label, `s_k = (1 - r) [k = y] + r w_k` with
    /// `w_k` proportional to `p_k rho_k T[k, y]`; into `out`. Returns the posterior `r`.
    ///
    /// # Panics
    /// As [`Self::evidence`].
    pub fn true_class(&self, log_p: &[f64], y: usize, out: &mut [f64]) -> f64 {
        let evidence = self.evidence(log_p, y);
        let posterior = evidence.posterior();
        // Divide by the sum in log space: a flow may be far below the smallest number that exp can give.
        let log_flow = |k: usize| log_p[k] + self.flow(k, y).ln();
        let high = (0..self.classes).map(log_flow).fold(f64::NEG_INFINITY, f64::max);
        if high == f64::NEG_INFINITY {
            // No class can turn into this label: it is what it says.
            out.iter_mut().enumerate().for_each(|(k, out)| *out = f64::from(u8::from(k == y)));
            return posterior;
        }
        let total: f64 = (0..self.classes).map(|k| (log_flow(k) - high).exp()).sum();
        for (k, out) in out.iter_mut().enumerate() {
            let stay = if k == y { 1.0 - posterior } else { 0.0 };
            *out = stay + posterior * (log_flow(k) - high).exp() / total;
        }
        posterior
    }

    /// The training form: from the probabilities `p` (single precision) and `log p_y`, the kernel's row and the
    /// gradient by the logits, `p_k - s_k`, into `d_logits`; the responsibilities `r w_k` go to `moved`.
    pub(crate) fn train_row(
        &self,
        p: &[f32],
        log_p_y: f64,
        y: usize,
        known: Known,
        moved: &mut [f64],
        d_logits: &mut [f32],
    ) -> (Row<f64>, Evidence) {
        let (mut prior, mut rest, mut flow) = (0.0, 0.0, 0.0);
        for (k, &p) in p.iter().enumerate() {
            let p = f64::from(p);
            let contaminated = p * self.rates[k];
            prior += contaminated;
            rest += p - contaminated;
            moved[k] = contaminated * self.destinations[k * self.classes + y];
            flow += moved[k];
        }
        let evidence = Evidence {
            log_clean: log_p_y + (-self.rates[y]).ln_1p() - rest.ln(),
            logit_prior: logit(prior / (prior + rest)),
            log_anomaly: flow.ln() - prior.ln(),
        };
        let row = evidence.row(known);
        let share = if flow > 0.0 { row.posterior / flow } else { 0.0 };
        for (k, d_logit) in d_logits.iter_mut().enumerate() {
            moved[k] *= share;
            let stay = if k == y { 1.0 - row.posterior } else { 0.0 };
            *d_logit = (f64::from(p[k]) - stay - moved[k]) as f32;
        }
        (row, evidence)
    }
}

/// A transition as it is saved; checked when it is read.
#[derive(Serialize, Deserialize)]
struct Saved {
    rates: Vec<f64>,
    destinations: Vec<f64>,
}

impl TryFrom<Saved> for Transition {
    type Error = crate::Error;

    fn try_from(saved: Saved) -> crate::Result<Self> {
        Self::new(saved.rates, saved.destinations)
    }
}

impl From<Transition> for Saved {
    fn from(transition: Transition) -> Self {
        Self { rates: transition.rates, destinations: transition.destinations }
    }
}

/// A running `log sum exp`.
struct LogSum {
    high: f64,
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        Self { high: f64::NEG_INFINITY, sum: 0.0 }
    }
}

impl LogSum {
    fn add(&mut self, value: f64) {
        if value == f64::NEG_INFINITY {
            return;
        }
        if value <= self.high {
            self.sum += (value - self.high).exp();
        } else {
            self.sum = self.sum * (self.high - value).exp() + 1.0;
            self.high = value;
        }
    }

    fn value(&self) -> f64 {
        self.high + self.sum.ln()
    }
}
