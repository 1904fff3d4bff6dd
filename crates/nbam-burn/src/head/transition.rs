//! A wrong label comes from the class that the row really has.

use burn::config::Config;
use burn::module::{Flag, Module, Param, RunningState};
use burn::tensor::activation::{log_softmax, sigmoid};
use burn::tensor::{Bool, Device, Int, Tensor};
use nbam::TransitionPrior;

use super::pick;
use crate::Terms;
use crate::loss::precise;

/// Configuration to create a [transition anomaly head](TransitionAnomalyHead).
#[derive(Config, Debug)]
pub struct TransitionAnomalyHeadConfig {
    /// Number of classes.
    pub classes: usize,
    /// Number of rows of the training set.
    pub rows: usize,
    /// Forward passes of the whole training: epochs times batches. The priors change while training goes on.
    pub steps: usize,
    /// The priors on the channel and on the predictor's sharpness; the default is that of `nbam::Classifier`.
    #[config(default = "TransitionPrior::default()")]
    pub prior: TransitionPrior,
}

/// A wrong label is drawn from the row's true class.
///
/// The row is of class `k` with probability `p(k|x)`, the softmax of the network's own logits. With probability `rho_k` its label is
/// wrong and drawn from `T[k, .]`, a distribution over the *other* classes; otherwise it is `k`:
///
/// ```text
/// P(y|x) = p_y (1 - rho_y) + sum_k p_k rho_k T[k, y]
/// prior          pi(x)  = sum_k p_k rho_k
/// clean branch   p_y (1 - rho_y) / (1 - pi)
/// anomaly        q(y|x) = sum_k p_k rho_k T[k, y] / pi
/// ```
///
/// The anomaly sees a row only through the clean predictor and cannot trade places with it. `rho` and `T` are no parameters of the
/// optimiser: as batch normalisation does with its means, the head estimates them while training goes by, with the online EM of
/// `nbam::Classifier`. They are saved in records.
///
/// The network's last layer should start at zero ([`clean_output`](crate::clean_output)), so that `p` starts uniform: a random
/// `p` that happens to contradict the labels would be believed before it is corrected, and classes would change names.
#[derive(Module, Debug)]
pub struct TransitionAnomalyHead {
    /// `rho_k`, the probability that a label of class `k` is wrong. Shape `[classes]`.
    pub rates: RunningState<Tensor<1>>,
    /// `T[k, y]`, zero on the diagonal, rows sum to one. Shape `[classes, classes]`.
    pub destinations: RunningState<Tensor<2>>,
    /// Share of all rows that is of class `k` and labelled `y`. Shape `[classes, classes]`.
    moved: RunningState<Tensor<2>>,
    /// Share of all rows that is of class `k` and labelled so. Shape `[classes]`.
    stayed: RunningState<Tensor<1>>,
    /// Forward passes in training so far. Shape `[1]`.
    steps_done: RunningState<Tensor<1>>,
    /// Whether the channel is learned; follows `train` and `valid`, `freeze` and `unfreeze`.
    pub training: Param<Flag>,
    classes: usize,
    rows: usize,
    steps: usize,
    #[module(skip)]
    prior: TransitionPrior,
}

/// What a [`TransitionAnomalyHead`] makes of a batch.
#[derive(Debug, Clone)]
pub struct TransitionOutput {
    /// The three terms of each row.
    pub terms: Terms,
    /// The sharpness prior, to be added to the mean loss: clean labels are nearly certain given the input. Zero outside training.
    /// Shape `[1]`.
    pub sharpness: Tensor<1>,
}

/// The share of the training in which doubt fades, as in `nbam::TransitionPrior`.
const DOUBT_FADES: f64 = 0.1;
/// Stands for the logarithm of zero: minus infinity would turn into NaN in a gradient.
const LOG_ZERO: f64 = -1e30;

impl TransitionAnomalyHeadConfig {
    /// Initialises a [transition anomaly head](TransitionAnomalyHead).
    ///
    /// # Panics
    /// When there are fewer than two classes, no rows or no steps.
    pub fn init(&self, device: &Device) -> TransitionAnomalyHead {
        let Self { classes, rows, steps, prior } = *self;
        assert!(classes >= 2, "there are {classes} classes, expected two or more");
        assert!(
            rows > 0 && steps > 0,
            "there are {rows} rows and {steps} steps, expected at least one of both"
        );
        let rate = prior.first_rate(classes);
        let share = 1.0 / classes as f64;
        let others = own_class(classes, device).bool_not().float().div_scalar(classes as f64 - 1.0);
        TransitionAnomalyHead {
            rates: RunningState::new(Tensor::full([classes], rate, device)),
            moved: RunningState::new(others.clone().mul_scalar(rate * share)),
            destinations: RunningState::new(others),
            stayed: RunningState::new(Tensor::full([classes], (1.0 - rate) * share, device)),
            steps_done: RunningState::new(Tensor::zeros([1], device)),
            training: Param::from_bool(true),
            classes,
            rows,
            steps,
            prior,
        }
    }
}

/// Whether a cell of a square matrix is on its diagonal.
fn own_class(classes: usize, device: &Device) -> Tensor<2, Bool> {
    // Burn's diagonal mask is false on the diagonal.
    Tensor::<2, Bool>::diag_mask([classes, classes], 0, device).bool_not()
}

/// The logarithms that all answers about a batch are made of.
struct Evidence {
    /// `log p(.|x)`. Shape `[rows, classes]`.
    log_p: Tensor<2>,
    /// `log(p_k rho_k T[k, y])`, `y` being the row's label. Shape `[rows, classes]`.
    log_moved: Tensor<2>,
    /// Its sum over `k`. Shape `[rows, 1]`.
    log_flow: Tensor<2>,
    terms: Terms,
}

impl Evidence {
    /// `r w_k`: the probability that the row is of class `k` and its label wrong. Shape `[rows, classes]`.
    fn moved(&self, posterior: Tensor<1>) -> Tensor<2> {
        posterior.unsqueeze_dim(1) * (self.log_moved.clone() - self.log_flow.clone()).exp()
    }
}

impl TransitionAnomalyHead {
    /// The three terms of each row, and the sharpness prior. In training, also learns the channel from the batch.
    ///
    /// # Shapes
    ///
    /// - logits: `[rows, classes]`, of the clean predictor
    /// - targets: `[rows]`
    pub fn forward(&self, logits: Tensor<2>, targets: Tensor<1, Int>) -> TransitionOutput {
        let evidence = self.evidence(logits, targets.clone());
        let is_training = evidence.log_p.is_autodiff() && self.training.is_enabled();
        let sharpness = if is_training {
            let progress = self.progress(&evidence.log_p.device());
            let entropy = -(evidence.log_p.clone().exp() * evidence.log_p.clone()).sum_dim(1).mean();
            let sharpness = self.sharpness_at(progress.clone()) * entropy;
            self.learn(&evidence, targets, progress);
            sharpness
        } else {
            Tensor::zeros([1], &evidence.log_p.device())
        };
        TransitionOutput { terms: evidence.terms, sharpness }
    }

    /// The three terms of each row, and the probability of each true class given input and label: `(1 - r) [k = y] + r w_k`, with
    /// `w_k` proportional to `p_k rho_k T[k, y]`. Learns nothing.
    ///
    /// # Shapes
    ///
    /// - logits: `[rows, classes]`
    /// - targets: `[rows]`
    /// - output: the terms, and `[rows, classes]`
    pub fn review(&self, logits: Tensor<2>, targets: Tensor<1, Int>) -> (Terms, Tensor<2>) {
        let evidence = self.evidence(logits, targets.clone());
        let posterior = evidence.terms.posterior();
        let stayed = one_hot(targets, self.classes) * (-posterior.clone()).add_scalar(1.0).unsqueeze_dim(1);
        let true_class = stayed + evidence.moved(posterior);
        (evidence.terms, true_class)
    }

    fn evidence(&self, logits: Tensor<2>, targets: Tensor<1, Int>) -> Evidence {
        let device = logits.device();
        let log_p = log_softmax(precise(logits), 1);
        let rates = self.rates.value_sync().to_device(&device).detach();
        let log_rates = rates.clone().log().unsqueeze_dim::<2>(0);
        let log_rest = (-rates).log1p().unsqueeze_dim::<2>(0);
        let log_destinations = self.destinations.value_sync().to_device(&device).detach().log();
        let log_destinations = log_destinations.mask_fill(own_class(self.classes, &device), LOG_ZERO);

        let log_contaminated = log_p.clone() + log_rates;
        let log_kept = log_p.clone() + log_rest;
        let to_label = log_destinations.transpose().select(0, targets.clone());
        let log_moved = log_contaminated.clone() + to_label;
        let log_flow = log_sum_exp(log_moved.clone());
        let log_prior: Tensor<1> = log_sum_exp(log_contaminated).squeeze_dim(1);
        let log_not_prior: Tensor<1> = log_sum_exp(log_kept.clone()).squeeze_dim(1);
        let terms = Terms {
            clean_nll: log_not_prior.clone() - pick(log_kept, targets),
            prior_logit: log_prior.clone() - log_not_prior,
            anomaly_logp: log_flow.clone().squeeze_dim::<1>(1) - log_prior,
        };
        Evidence { log_p, log_moved, log_flow, terms }
    }

    /// The share of the training that is done. Shape `[1]`.
    fn progress(&self, device: &Device) -> Tensor<1> {
        self.steps_done.value_sync().to_device(device).detach().div_scalar(self.steps as f64)
    }

    /// `TransitionPrior::sharpness_at`, on the device: reading the progress back would stop the device at every step.
    fn sharpness_at(&self, progress: Tensor<1>) -> Tensor<1> {
        let (start, end) = self.prior.ramp;
        let is_full = progress.clone().greater_equal_scalar(end);
        let rising = progress.sub_scalar(start).div_scalar((end - start).max(f64::from(f32::EPSILON)));
        rising.clamp_min(0.0).mask_fill(is_full, 1.0).mul_scalar(self.prior.sharpness_for(self.rows))
    }

    /// `TransitionPrior::doubt_at`, on the device.
    fn doubt_at(&self, progress: Tensor<1>) -> Tensor<1> {
        let (start, end) = self.prior.ramp;
        let is_early = progress.clone().lower_scalar(start);
        let fading = progress.sub_scalar(end).div_scalar(-DOUBT_FADES).add_scalar(1.0).clamp(0.0, 1.0);
        fading.mask_fill(is_early, 0.0).mul_scalar(self.prior.doubt)
    }

    /// `TransitionPrior::hold_at` at its start, times the share that is left of it, on the device.
    fn hold_at(&self, progress: Tensor<1>) -> Tensor<1> {
        let (start, end) = self.prior.ramp;
        let middle = f64::midpoint(start, end);
        let is_over = progress.clone().greater_equal_scalar(middle);
        let left = (-progress).add_scalar(middle).div_scalar((middle - start).max(f64::from(f32::EPSILON)));
        left.clamp_max(1.0).mask_fill(is_over, 0.0).mul_scalar(self.prior.hold_at(0.0))
    }

    /// One step of online EM: blends the batch's expected counts in and takes the mode of the channel's posterior.
    fn learn(&self, evidence: &Evidence, targets: Tensor<1, Int>, progress: Tensor<1>) {
        let device = progress.device();
        let [batch] = targets.dims();
        let Terms { clean_nll, prior_logit, anomaly_logp } = evidence.terms.clone();
        let odds = (prior_logit + (clean_nll + anomaly_logp)).detach();
        let labels = one_hot(targets, self.classes);
        let moved = evidence.moved(sigmoid(odds.clone())).detach().transpose().matmul(labels.clone());
        let stayed: Tensor<1> = (labels * sigmoid(-odds).unsqueeze_dim(1)).sum_dim(0).squeeze_dim(0);

        let window: f64 = (self.prior.window.0 * self.rows as f64 / batch as f64).max(self.prior.window.1);
        let blend = -(-1.0_f64 / window).exp_m1();
        let scale = 1.0 / batch as f64;
        let moved = blended(self.moved.value_sync().to_device(&device), moved.mul_scalar(scale), blend);
        let stayed = blended(self.stayed.value_sync().to_device(&device), stayed.mul_scalar(scale), blend);

        let rows = self.rows as f64;
        let first_rate = self.prior.first_rate(self.classes);
        let hold = self.hold_at(progress.clone()).mul_scalar(rows);
        let doubt = self.doubt_at(progress).mul_scalar(rows / self.classes as f64 * first_rate);
        let (bad, good) = self.prior.rate_counts;
        let bad = doubt.clone().add_scalar(bad) + hold.clone() * moved.clone().sum();
        let good = (-moved.clone().sum()).add_scalar(1.0) * hold.clone() + good;
        let spread = doubt.add_scalar(self.prior.destination_count) + hold;
        let moved_rows = moved.clone().mul_scalar(rows);
        let total = moved_rows.clone().sum_dim(1);
        let contaminated = total.clone().squeeze_dim::<1>(1) + bad.clone();
        let rates = contaminated.clone() / (contaminated + stayed.clone().mul_scalar(rows) + good);
        let spread = spread.unsqueeze_dim::<2>(1);
        let others = self.classes as f64 - 1.0;
        let destinations = (moved_rows + spread.clone().div_scalar(others)) / (total + spread);
        let destinations = destinations.mask_fill(own_class(self.classes, &device), 0.0);

        self.rates.update(rates);
        self.destinations.update(destinations);
        self.moved.update(moved);
        self.stayed.update(stayed);
        self.steps_done.update(self.steps_done.value_sync().to_device(&device).add_scalar(1.0));
    }
}

fn blended<const D: usize>(average: Tensor<D>, value: Tensor<D>, blend: f64) -> Tensor<D> {
    let change = value - average.clone();
    (average + change.mul_scalar(blend)).detach()
}

fn one_hot(targets: Tensor<1, Int>, classes: usize) -> Tensor<2> {
    targets.one_hot::<2>(classes).float()
}

/// `log sum_k exp(x_k)` of each row, shape `[rows, 1]`.
fn log_sum_exp(x: Tensor<2>) -> Tensor<2> {
    let high = x.clone().detach().max_dim(1);
    (x - high.clone()).exp().sum_dim(1).log() + high
}
