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
//!
//! # Guesses
//! Where classes overlap, whoever gave the label may have guessed. Of the labels that the channel left alone, a share `lambda` was drawn
//! from the clean branch `c(.|x)` without a look at the true class, which is itself a draw from `c`. Such a label is wrong with probability `1 - c_y`:
//!
//! ```text
//! P(wrong, y|x) = pi q(y|x) + (1 - pi) lambda c_y (1 - c_y)
//! P(right, y|x) = (1 - pi) c_y (1 - lambda (1 - c_y))
//! ```
//!
//! The two sum to the same `P(y|x)` for every `lambda`. No data can tell how much was guessed: `lambda` is a belief, has no part in training, and
//! only decides how suspicious a label is that the clean branch finds possible but unlikely.
//!
//! Where nothing but borders is known to be unclear, guesses may be taken to lie *between rivals*: the label and the most probable other class `r`. A guess is then wrong
//! with probability `w_y` in place of `1 - c_y`; what belongs to neither of the two speaks half for the label and half against it:
//!
//! ```text
//! w_y = c_r + (1 - c_y - c_r) / 2 = (1 - c_y + c_r) / 2
//! ```
//!
//! With two classes the two forms are the same.

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
    /// `lambda`.
    guessed: f64,
    /// Whether guesses lie between the label and the most probable other class.
    has_rivals: bool,
}

impl Transition {
    /// A channel in which every class is contaminated at the same rate, equally to all others, with this share of guesses.
    pub(crate) fn uniform(classes: usize, rate: f64, guessed: f64) -> Self {
        let other = 1.0 / (classes as f64 - 1.0);
        let cell = |index: usize| if index / classes == index % classes { 0.0 } else { other };
        let destinations = (0..classes * classes).map(cell).collect();
        Self::trusted(vec![rate; classes], destinations, guessed)
    }

    /// A channel with these rates in (0, 1) and destinations (row-major, zero diagonal, rows summing to one), and no guesses.
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
        Ok(Self::trusted(rates, destinations, 0.0))
    }

    /// The same channel where this share of the labels that it leaves alone, in [0, 1), are guesses.
    ///
    /// # Errors
    /// When the share is not in [0, 1).
    pub fn with_guesses(self, share: f64) -> crate::Result<Self> {
        if !(0.0..1.0).contains(&share) {
            let message = format!("the share of guessed labels is {share}, expected at least 0 and below 1");
            return Err(crate::Error::new(crate::ErrorKind::Value, message));
        }
        Ok(Self { guessed: share, ..self })
    }

    /// The same channel whose guesses lie between the label and the most probable other class.
    pub fn between_rivals(self) -> Self {
        Self { has_rivals: true, ..self }
    }

    /// The same channel without guesses: what training sees.
    pub(crate) fn without_guesses(self) -> Self {
        Self { guessed: 0.0, ..self }
    }

    /// A channel whose values are known to be right, because they were just estimated.
    pub(crate) fn trusted(rates: Vec<f64>, destinations: Vec<f64>, guessed: f64) -> Self {
        Self { classes: rates.len(), rates, destinations, guessed, has_rivals: false }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// `rho`, the rate of each class.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// `lambda`, the share of guesses among the labels that the channel leaves alone.
    pub fn guessed(&self) -> f64 {
        self.guessed
    }

    /// Whether guesses lie between the label and the most probable other class.
    pub fn has_rivals(&self) -> bool {
        self.has_rivals
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
        let channel = Evidence {
            log_clean: log_p[y] + (-self.rates[y]).ln_1p() - log_rest,
            logit_prior: log_prior - log_rest,
            log_anomaly: log_flow.value() - log_prior,
        };
        let clean = |k: usize| (log_p[k] + (-self.rates[k]).ln_1p() - log_rest).exp();
        let ambiguity = (0..log_p.len()).map(|k| clean(k) * (1.0 - clean(k))).sum::<f64>();
        let mut rivals = Rivals::default();
        if self.has_rivals {
            (0..log_p.len()).for_each(|k| rivals.add(clean(k), k == y));
        }
        self.with_guesses_in(channel, ambiguity, &rivals)
    }

    /// The channel's own evidence of a label, and what guesses add to it.
    ///
    /// `ambiguity` is `sum_k c_k (1 - c_k)`: how often a guess at this row goes wrong. Between rivals it is `sum_k c_k w_k`.
    fn with_guesses_in(&self, channel: Evidence, mut ambiguity: f64, rivals: &Rivals) -> Evidence {
        if self.has_rivals {
            ambiguity = 0.5 * (ambiguity + rivals.ambiguity());
        }
        let wrong_guesses = self.guessed * ambiguity;
        if wrong_guesses <= 0.0 {
            return channel;
        }
        let Evidence { log_clean, logit_prior, log_anomaly } = channel;
        let mut wrong = -log_clean.min(0.0).exp_m1();
        if self.has_rivals {
            wrong = 0.5 * (wrong + rivals.of_label);
        }
        // Everything relative to 1 - pi: odds instead of probabilities.
        let (mut log_wrong, mut log_wrong_y) = (LogSum::default(), LogSum::default());
        log_wrong.add(logit_prior);
        log_wrong.add(wrong_guesses.ln());
        log_wrong_y.add(logit_prior + log_anomaly);
        log_wrong_y.add(log_clean + (self.guessed * wrong).ln());
        let log_right = (-wrong_guesses).ln_1p();
        Evidence {
            log_clean: log_clean + (-self.guessed * wrong).ln_1p() - log_right,
            logit_prior: log_wrong.value() - log_right,
            log_anomaly: log_wrong_y.value() - log_wrong.value(),
        }
    }

    /// The probability of each true class given the label, `s_k = (1 - r) [k = y] + r w_k` with
    /// `w_k` proportional to `p_k rho_k T[k, y] + lambda c_y p_k (1 - rho_k)` for the other classes (half of the second term for classes that are no rivals);
    /// into `out`. Returns the posterior `r`.
    ///
    /// # Panics
    /// As [`Self::evidence`].
    pub fn true_class(&self, log_p: &[f64], y: usize, out: &mut [f64]) -> f64 {
        let evidence = self.evidence(log_p, y);
        let posterior = evidence.posterior();
        // A class that stayed is labelled y if that was the guess.
        let (mut log_rest, own) = (LogSum::default(), log_p[y] + (-self.rates[y]).ln_1p());
        (0..self.classes).for_each(|k| log_rest.add(log_p[k] + (-self.rates[k]).ln_1p()));
        let guessed_y = self.guessed * (own - log_rest.value()).exp();
        let stays = |k: &usize| log_p[*k] + (-self.rates[*k]).ln_1p();
        let others = (0..self.classes).filter(|&k| k != y);
        let rival = others.max_by(|a, b| stays(a).total_cmp(&stays(b)));
        let weight = |k: usize| if self.has_rivals && Some(k) != rival { 0.5 } else { 1.0 };
        // Divide by the sum in log space: a flow may be far below the smallest number that exp can give.
        let log_flow = |k: usize| {
            let guessed = if k == y { 0.0 } else { weight(k) * guessed_y * (1.0 - self.rates[k]) };
            log_p[k] + (self.flow(k, y) + guessed).ln()
        };
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
    /// gradient by the logits, `p_k - s_k`, into `d_logits`; the responsibilities `r w_k` go to `moved`. Guesses are in the evidence only:
    /// they change nothing that can be learned.
    pub(crate) fn train_row(
        &self,
        p: &[f32],
        log_p_y: f64,
        y: usize,
        known: Known,
        moved: &mut [f64],
        d_logits: &mut [f32],
    ) -> (Row<f64>, Evidence) {
        let (mut prior, mut rest, mut squares, mut flow) = (0.0, 0.0, 0.0, 0.0);
        let mut rivals = Rivals::default();
        for (k, &p) in p.iter().enumerate() {
            let p = f64::from(p);
            let contaminated = p * self.rates[k];
            let stays = p - contaminated;
            prior += contaminated;
            rest += stays;
            squares += stays * stays;
            if self.has_rivals {
                rivals.add(stays, k == y);
            }
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
        (row, self.with_guesses_in(evidence, 1.0 - squares / (rest * rest), &rivals.over(rest)))
    }
}

/// The classes that a guess may lie between: the two most probable of the clean branch `c(.|x)`, and the label's rival.
#[derive(Default)]
struct Rivals {
    first: f64,
    second: f64,
    /// The sum of all but the first.
    others: f64,
    /// The largest of all but the label's own.
    of_label: f64,
}

impl Rivals {
    fn add(&mut self, clean: f64, is_label: bool) {
        if !is_label {
            self.of_label = self.of_label.max(clean);
        }
        if clean > self.first {
            self.others += self.first;
            (self.first, self.second) = (clean, self.first);
        } else {
            self.others += clean;
            self.second = self.second.max(clean);
        }
    }

    /// The same for values that were added up to `total` in place of one.
    fn over(self, total: f64) -> Self {
        let Self { first, second, others, of_label } = self;
        Self {
            first: first / total,
            second: second / total,
            others: others / total,
            of_label: of_label / total,
        }
    }

    /// `sum_k c_k c_r(k)`.
    fn ambiguity(&self) -> f64 {
        self.first * (self.second + self.others)
    }
}

/// A transition as it is saved; checked when it is read.
#[derive(Serialize, Deserialize)]
struct Saved {
    rates: Vec<f64>,
    destinations: Vec<f64>,
    #[serde(default)]
    guessed: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_rivals: bool,
}

impl TryFrom<Saved> for Transition {
    type Error = crate::Error;

    fn try_from(saved: Saved) -> crate::Result<Self> {
        let transition = Self::new(saved.rates, saved.destinations)?.with_guesses(saved.guessed)?;
        Ok(if saved.has_rivals { transition.between_rivals() } else { transition })
    }
}

impl From<Transition> for Saved {
    fn from(transition: Transition) -> Self {
        let Transition { rates, destinations, guessed, has_rivals, .. } = transition;
        Self { rates, destinations, guessed, has_rivals }
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
