//! The classifier.

use super::belief::Belief;
use super::borders::{self, Place};
use super::committee::{Committee, log_of};
use super::ensemble::{averaged_posterior, fit_members};
use super::fit_labels::Fit;
use super::labels::{LabelModel, LabelObjective, LabelState, Labels};
use super::params::{Checked, Classification, Params};
use super::posterior::{Posterior, PosteriorSum, columns};
use super::rows::{check_features, check_length, check_weights, relative_weights};
use super::search::Settled;
use super::selection::{Candidate, kept};
use super::warning::{Warning, class_warnings, posterior_warnings};
use crate::density::categorical::log_softmax;
use crate::density::transition::Transition;
use crate::net::{Features, Network, Scaler};
use crate::switch::{Known, sigmoid};
use crate::train::{Monitor, Scoring, Silent, Trained, in_pool};
use crate::{Error, ErrorKind, Result};

/// A predictor of classes that learned from partly wrong labels, and knows which were wrong.
///
/// ```
/// use nbam::{Classifier, Features};
///
/// // Two clusters; the label of row 7 is wrong.
/// let x: Vec<f32> = (0..60).map(|i| (if i < 30 { -3.0 } else { 3.0 }) + (i % 7) as f32 / 7.0).collect();
/// let mut y: Vec<usize> = (0..60).map(|i| usize::from(i >= 30)).collect();
/// y[7] = 1;
/// let x = Features::new(&x, 1)?;
/// let model = Classifier::params().hidden(&[16]).epochs(300).seed(0).fit(&x, &y)?;
/// let contamination = model.contamination(&x, &y)?;
/// assert!(contamination[7] > 0.5 && contamination[8] < 0.1);
/// assert_eq!(model.predict(&x)?[7], 0);
/// # Ok::<(), nbam::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    pub(crate) params: Params<Classification>,
    pub(crate) classes: usize,
    pub(crate) scaler: Scaler,
    pub(crate) members: Vec<ClassifierMember>,
    /// Whether the posterior is that of the members' mean prediction ([`super::committee`]), and not the mean of theirs.
    pub(crate) is_pooled: bool,
    pub(crate) losses: Vec<Vec<f64>>,
    pub(crate) training: Option<Posterior>,
    /// `log p(.|x)` of the rows of the fit by the networks that left them out, where there are such.
    pub(crate) left_out: Option<Vec<f32>>,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Debug, Clone)]
pub(crate) struct ClassifierMember {
    pub(crate) network: Network,
    pub(crate) state: LabelState,
}

/// What a classifier is trained on.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<'a> {
    /// The features.
    pub features: Features<'a>,
    /// A class for each row, from 0.
    pub labels: &'a [usize],
    /// How much each row counts; all the same without it.
    pub weights: Option<&'a [f64]>,
    /// Rows whose switch is known.
    pub known: Option<&'a [Known]>,
}

impl Classifier {
    /// Parameters of the default preset, to be changed and fitted.
    pub fn params() -> Params<Classification> {
        Params::default()
    }
}

impl Params<Classification> {
    /// Checks the parameters and fits; see [`Checked::fit_rows`] for weights, verified rows and progress.
    ///
    /// # Errors
    /// When a parameter or the data is not valid, or the fit diverges.
    pub fn fit(self, features: &Features<'_>, labels: &[usize]) -> Result<Classifier> {
        let rows = LabelledRows { features: *features, labels, weights: None, known: None };
        self.check()?.fit_rows(&rows, &Silent)
    }
}

/// Classes at most: the class transition holds a few numbers for each pair of them.
pub(crate) const CLASS_LIMIT: usize = 4096;

impl LabelledRows<'_> {
    /// Checks shapes and values, and returns the number of classes.
    fn check(&self) -> Result<usize> {
        let rows = self.features.rows();
        self.features.check()?;
        check_length("labels", self.labels.len(), rows)?;
        check_weights(self.weights, rows)?;
        if let Some(known) = self.known {
            check_length("known switches", known.len(), rows)?;
        }
        let highest = self.labels.iter().copied().max().unwrap_or(0);
        if highest >= CLASS_LIMIT {
            return Err(Error::new(
                ErrorKind::Label,
                format!("label {highest} is too large, expected below {CLASS_LIMIT}"),
            )
            .with_hint("number the classes 0, 1, 2, ... without gaps"));
        }
        let classes = highest + 1;
        if self.labels.iter().all(|&label| label == self.labels[0]) {
            return Err(Error::new(
                ErrorKind::Label,
                format!("every row has label {}, expected two classes or more", self.labels[0]),
            ));
        }
        Ok(classes)
    }
}

impl Checked<Classification> {
    /// Fits on rows with weights and verified rows, reporting to a monitor.
    ///
    /// # Errors
    /// When the data is not valid, the fit diverges, or the monitor cancels it.
    pub fn fit_rows(&self, rows: &LabelledRows<'_>, monitor: &dyn Monitor) -> Result<Classifier> {
        let classes = rows.check()?;
        in_pool(self.0.threads, || self.fit_here(rows, classes, monitor))?
    }

    /// The strength of the weight prior that [`Self::fit_rows`] settles on for these rows: the one given, or the one that left-out
    /// rows decide for. To fit several models with the same strength, choose it once and give it to each.
    ///
    /// # Errors
    /// When the data is not valid, a trial fit fails, or the monitor cancels it.
    pub fn choose_weight_prior(&self, rows: &LabelledRows<'_>, monitor: &dyn Monitor) -> Result<f64> {
        let classes = rows.check()?;
        in_pool(self.0.threads, || {
            let weights = relative_weights(rows.weights);
            let scaler = Scaler::fit(&rows.features, weights.as_deref(), &self.0.scaling)?;
            let labels = Labels { labels: rows.labels, weights: weights.as_deref(), known: rows.known };
            self.fit_on(rows, classes, &scaler, labels, monitor).settle().map(|settled| settled.weight_prior)
        })?
    }

    fn fit_on<'a>(
        &'a self,
        rows: &'a LabelledRows<'_>,
        classes: usize,
        scaler: &'a Scaler,
        labels: Labels<'a>,
        monitor: &'a dyn Monitor,
    ) -> Fit<'a> {
        Fit { params: &self.0, classes, features: &rows.features, scaler, labels, monitor }
    }

    fn fit_here(&self, rows: &LabelledRows<'_>, classes: usize, monitor: &dyn Monitor) -> Result<Classifier> {
        let params = &self.0;
        let weights = relative_weights(rows.weights);
        let scaler = Scaler::fit(&rows.features, weights.as_deref(), &params.scaling)?;
        let labels = Labels { labels: rows.labels, weights: weights.as_deref(), known: rows.known };
        let mut fit = self.fit_on(rows, classes, &scaler, labels, monitor);
        let mut settled = fit.settle()?;
        // Without left-out rows, nothing could decide between columns as they are and in pieces.
        let pieces = || scaler.in_pieces(&rows.features, weights.as_deref(), &params.scaling);
        let in_pieces = if settled.losses.is_empty() { None } else { pieces() };
        if let Some(scaler) = &in_pieces {
            let other = self.fit_on(rows, classes, scaler, labels, monitor);
            if let Some(better) = other.settle_if_better(&settled)? {
                (fit, settled) = (other, better);
            }
        }
        if let Some(committee) = fit.second_opinion(&settled)? {
            return Ok(self.of_committee(committee, rows, classes, fit.scaler.clone()));
        }
        let Settled { weight_prior, belief, lost, has_signal, .. } = settled;
        let members = params.members;
        let fitted = fit_members(members, |member, is_parallel| {
            fit.train(weight_prior, belief, None, params.batch_size, (member, members), is_parallel)
        })?;
        let (fitted, shares) = best_explanation(fitted, weight_prior, rows.labels.len());
        let averaged = averaged_posterior(&fitted, rows.labels.len());
        let (mut members, mut losses) = (Vec::new(), Vec::new());
        for Trained { network, objective, losses: member_losses, .. } in fitted {
            members.push(ClassifierMember { network, state: objective.into_state() });
            losses.push(member_losses);
        }
        let mut params = Params { weight_prior: Some(weight_prior), ..params.clone() };
        params.task.model = belief.model(params.task.model);
        let mut model =
            Classifier { losses, ..Classifier::loaded(params, classes, fit.scaler.clone(), members, false) };
        let posterior = averaged.unwrap_or_else(|| model.posterior_here(&rows.features, rows.labels));
        let posterior = posterior.with_known(rows.known);
        model.warnings = model.all_warnings(rows, &posterior, &shares, &lost, has_signal);
        model.training = Some(posterior);
        Ok(model)
    }

    /// Fits a committee without a look at what one fit to all rows would give.
    pub(crate) fn fit_committee(&self, rows: &LabelledRows<'_>, monitor: &dyn Monitor) -> Result<Classifier> {
        let classes = rows.check()?;
        in_pool(self.0.threads, || {
            let weights = relative_weights(rows.weights);
            let scaler = Scaler::fit(&rows.features, weights.as_deref(), &self.0.scaling)?;
            let labels = Labels { labels: rows.labels, weights: weights.as_deref(), known: rows.known };
            let committee = self.fit_on(rows, classes, &scaler, labels, monitor).committee()?;
            Ok(self.of_committee(committee, rows, classes, scaler.clone()))
        })?
    }

    fn of_committee(
        &self,
        committee: Committee,
        rows: &LabelledRows<'_>,
        classes: usize,
        scaler: Scaler,
    ) -> Classifier {
        let Committee { networks, losses, transition, log_p, division_means, weight_prior, has_signal } =
            committee;
        let mut params = Params { weight_prior: Some(weight_prior), ..self.0.clone() };
        params.task.model = Belief::COMMITTEE.model(params.task.model);
        let member =
            |network| ClassifierMember { network, state: LabelState::Transition(transition.clone()) };
        let members = networks.into_iter().map(member).collect();
        let mut model = Classifier { losses, ..Classifier::loaded(params, classes, scaler, members, true) };
        let mut sum = PosteriorSum::new(rows.labels.len());
        let state = &model.members[0].state;
        sum.add(
            log_p.chunks_exact(classes).zip(rows.labels).map(|(log_p, &label)| {
                columns(&state.evidence(log_p, classes, label, &mut vec![0.0; classes]))
            }),
        );
        let posterior = Posterior { member_means: division_means, ..sum.finish() }.with_known(rows.known);
        model.left_out = Some(log_p);
        model.warnings = model.all_warnings(rows, &posterior, &[], &[], has_signal);
        model.training = Some(posterior);
        model
    }
}

impl Classifier {
    /// What the posterior, the classes and the borders between them say; little of that counts where the features say nothing.
    fn all_warnings(
        &self,
        rows: &LabelledRows<'_>,
        posterior: &Posterior,
        shares: &[Vec<f64>],
        lost: &[usize],
        has_signal: bool,
    ) -> Vec<Warning> {
        let mut warnings = posterior_warnings(posterior);
        warnings.extend(class_warnings(rows.labels, self.classes, self.transitions(), shares));
        if !lost.is_empty() {
            warnings.push(Warning::overlap(lost));
        } else if let LabelModel::Transition(prior) = self.params.task.model {
            let contradicted = borders::contradicted(self.places(rows));
            if prior.borders_only {
                warnings.push(Warning::borders_only(contradicted));
            } else if contradicted.is_unclear {
                warnings.push(Warning::borders(contradicted));
            }
        }
        if !has_signal {
            // What else a fit to nothing shows of itself is a consequence; what it shows of the rows is not.
            warnings.retain(Warning::is_of_rows);
            warnings.insert(0, Warning::no_signal());
        }
        warnings
    }
}

/// The members that found the best explanation of the labels, and the share of rows that each finds in every class.
fn best_explanation<'a>(
    fitted: Vec<Trained<LabelObjective<'a>>>,
    weight_prior: f64,
    rows: usize,
) -> (Vec<Trained<LabelObjective<'a>>>, Vec<Vec<f64>>) {
    let candidate = |member: &Trained<LabelObjective<'a>>| {
        let channel = member.objective.channel()?;
        let weights = member.network.prior_energy(weight_prior);
        let labels = rows as f64 * member.losses.last().copied().unwrap_or(f64::INFINITY);
        Some(Candidate {
            objective: labels + weights,
            rates: channel.transition.rates().to_vec(),
            rows: channel.shares().iter().map(|share| share * rows as f64).collect(),
        })
    };
    let Some(candidates) = fitted.iter().map(candidate).collect::<Option<Vec<_>>>() else {
        return (fitted, Vec::new());
    };
    let is_kept = kept(&candidates);
    let members = fitted.into_iter().zip(&is_kept).filter(|(_, kept)| **kept);
    let members: Vec<_> = members.map(|(member, _)| member).collect();
    let shares = members.iter().filter_map(|member| Some(member.objective.channel()?.shares())).collect();
    (members, shares)
}

impl Classifier {
    /// A classifier that knows nothing of the rows that it was trained on.
    pub(crate) fn loaded(
        params: Params<Classification>,
        classes: usize,
        scaler: Scaler,
        members: Vec<ClassifierMember>,
        is_pooled: bool,
    ) -> Self {
        let (losses, training, left_out, warnings) = (Vec::new(), None, None, Vec::new());
        Self { params, classes, scaler, members, is_pooled, losses, training, left_out, warnings }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.scaler.mean.len()
    }

    pub(super) fn scoring<'a>(&'a self, features: &'a Features<'a>) -> Scoring<'a> {
        Scoring { scaler: &self.scaler, features, rows: None }
    }

    /// The mean loss of each epoch, for each member. Empty for a loaded model.
    pub fn losses(&self) -> &[Vec<f64>] {
        &self.losses
    }

    /// The posterior of the rows that the model was trained on, averaged over members and, if so asked, over the
    /// last epochs of training. `None` for a loaded model.
    pub fn training(&self) -> Option<&Posterior> {
        self.training.as_ref()
    }

    /// Signs that the posterior should not be taken at its word. Empty for a loaded model.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The class transition of each member, where the label model has one.
    pub fn transitions(&self) -> impl Iterator<Item = &Transition> {
        self.members.iter().filter_map(|member| match &member.state {
            LabelState::Transition(transition) => Some(transition),
            _ => None,
        })
    }

    pub(super) fn check_rows(&self, features: &Features<'_>, labels: &[usize]) -> Result<()> {
        check_features(features, self.features())?;
        check_length("labels", labels.len(), features.rows())?;
        match labels.iter().position(|&label| label >= self.classes) {
            None => Ok(()),
            Some(row) => Err(Error::new(
                ErrorKind::Label,
                format!("the label of row {row} is {}, expected below {}", labels[row], self.classes),
            )),
        }
    }

    /// Probabilities of the classes under the clean predictor, row-major.
    ///
    /// # Errors
    /// When the features do not fit the model.
    pub fn predict_proba(&self, features: &Features<'_>) -> Result<Vec<f64>> {
        check_features(features, self.features())?;
        let classes = self.classes;
        let networks = self.networks();
        in_pool(self.params.threads, || {
            let mut probabilities = vec![0.0; features.rows() * classes];
            self.scoring(features).each_row_into(
                &networks,
                &mut probabilities,
                classes,
                |_, outputs, row| {
                    self.mean_probabilities(outputs, row);
                },
            );
            probabilities
        })
    }

    /// The network of each member.
    pub fn networks(&self) -> Vec<&Network> {
        self.members.iter().map(|member| &member.network).collect()
    }

    /// The mean over members of the clean predictor's probabilities.
    pub(super) fn mean_probabilities(&self, outputs: &[&[f32]], out: &mut [f64]) {
        let mut log_p = vec![0.0; self.classes];
        out.fill(0.0);
        for outputs in outputs {
            log_softmax(&outputs[..self.classes], &mut log_p);
            for (out, log_p) in out.iter_mut().zip(&log_p) {
                *out += log_p.exp() / self.members.len() as f64;
            }
        }
    }

    /// How many opinions there are of a row: one of each member, or one of all.
    pub(super) fn opinions(&self) -> usize {
        if self.is_pooled { 1 } else { self.members.len() }
    }

    /// Calls `say` with each opinion of a row, as a label state and the outputs of a network, or what takes their place.
    pub(super) fn each_opinion(&self, outputs: &[&[f32]], mut say: impl FnMut(&LabelState, &[f32])) {
        if self.is_pooled {
            let mut mean = vec![0.0; self.classes];
            self.mean_probabilities(outputs, &mut mean);
            say(&self.members[0].state, &log_of(&mean));
        } else {
            self.members.iter().zip(outputs).for_each(|(member, outputs)| say(&member.state, outputs));
        }
    }

    /// The most probable class of each row.
    ///
    /// # Errors
    /// When the features do not fit the model.
    pub fn predict(&self, features: &Features<'_>) -> Result<Vec<usize>> {
        Ok(self.predict_proba(features)?.chunks_exact(self.classes).map(|p| largest(p).0).collect())
    }

    /// The prior `pi(x)` of each row.
    ///
    /// # Errors
    /// When the features do not fit the model.
    pub fn prior(&self, features: &Features<'_>) -> Result<Vec<f64>> {
        check_features(features, self.features())?;
        let networks = self.networks();
        let opinions = self.opinions() as f64;
        in_pool(self.params.threads, || {
            let mut priors = vec![0.0; features.rows()];
            self.scoring(features).each_row_into(&networks, &mut priors, 1, |_, outputs, prior| {
                let mut log_p = vec![0.0; self.classes];
                self.each_opinion(outputs, |state, outputs| {
                    prior[0] += sigmoid(state.logit_prior(outputs, self.classes, &mut log_p)) / opinions;
                });
            });
            priors
        })
    }

    /// The probability that each row's label is contaminated, under the final networks. For the rows of the fit,
    /// [`Self::training`] averages over the last epochs as well and is a little better.
    ///
    /// # Errors
    /// When the rows do not fit the model.
    pub fn contamination(&self, features: &Features<'_>, labels: &[usize]) -> Result<Vec<f64>> {
        Ok(self.posterior(features, labels)?.contamination)
    }

    /// The contamination posterior with its evidence.
    ///
    /// # Errors
    /// When the rows do not fit the model.
    pub fn posterior(&self, features: &Features<'_>, labels: &[usize]) -> Result<Posterior> {
        self.check_rows(features, labels)?;
        in_pool(self.params.threads, || self.posterior_here(features, labels))
    }

    pub(super) fn posterior_here(&self, features: &Features<'_>, labels: &[usize]) -> Posterior {
        let mut sum = PosteriorSum::new(labels.len());
        if self.is_pooled {
            let mut rows = vec![[0.0; 4]; labels.len()];
            self.scoring(features).each_row_into(&self.networks(), &mut rows, 1, |row, outputs, result| {
                self.each_opinion(outputs, |state, outputs| {
                    let mut log_p = vec![0.0; self.classes];
                    result[0] = columns(&state.evidence(outputs, self.classes, labels[row], &mut log_p));
                });
            });
            sum.add(rows.into_iter());
            return sum.finish();
        }
        // One network after the other: all members' opinions of a million rows need not be held at once.
        for member in &self.members {
            let rows = self.scoring(features).each_row(&member.network, |row, outputs| {
                columns(&member.state.evidence(
                    outputs,
                    self.classes,
                    labels[row],
                    &mut vec![0.0; self.classes],
                ))
            });
            sum.add(rows.into_iter());
        }
        sum.finish()
    }

    /// Where rows lie between the classes, or some of them if there are many.
    fn places(&self, rows: &LabelledRows<'_>) -> Vec<Place> {
        let LabelledRows { features, labels, weights, .. } = *rows;
        let has_weight = |row: u32| weights.is_none_or(|weights| weights[row as usize] > 0.0);
        let sample = borders::sample(0..labels.len() as u32, has_weight);
        if let Some(log_p) = &self.left_out {
            let place = |&row: &u32| {
                let at = row as usize * self.classes;
                let p: Vec<f64> =
                    log_p[at..at + self.classes].iter().map(|log_p| f64::from(*log_p).exp()).collect();
                Place::of(&p, labels[row as usize])
            };
            return sample.iter().map(place).collect();
        }
        let mut places = vec![Place::default(); sample.len()];
        let scoring = Scoring { rows: Some(&sample), ..self.scoring(&features) };
        scoring.each_row_into(&self.networks(), &mut places, 1, |row, outputs, place| {
            let mut probabilities = vec![0.0; self.classes];
            self.mean_probabilities(outputs, &mut probabilities);
            place[0] = Place::of(&probabilities, labels[row]);
        });
        places
    }

    /// The anomaly distribution `q(y|x)` over the classes for each row, row-major: the mean over members. A plain loss has
    /// none; there it is the score `1 - p(y|x)`.
    ///
    /// # Errors
    /// When the features do not fit the model.
    pub fn anomaly(&self, features: &Features<'_>) -> Result<Vec<f64>> {
        check_features(features, self.features())?;
        let rows: Vec<u32> = (0..features.rows() as u32).collect();
        let mut densities = in_pool(self.params.threads, || self.anomaly_densities(features, &rows))?;
        let opinions = self.opinions() as f64;
        densities.iter_mut().for_each(|density| *density /= opinions);
        Ok(densities)
    }

    /// The sum over opinions of `q(y|x)` of every class, for some rows.
    pub(crate) fn anomaly_densities(&self, features: &Features<'_>, rows: &[u32]) -> Vec<f64> {
        let classes = self.classes;
        let networks = self.networks();
        let scoring = Scoring { rows: Some(rows), ..self.scoring(features) };
        let mut densities = vec![0.0; rows.len() * classes];
        scoring.each_row_into(&networks, &mut densities, classes, |_, outputs, densities| {
            let mut log_p = vec![0.0; classes];
            self.each_opinion(outputs, |state, outputs| {
                for (y, density) in densities.iter_mut().enumerate() {
                    *density += state.evidence(outputs, classes, y, &mut log_p).log_anomaly.exp();
                }
            });
        });
        densities
    }
}

/// The first largest value and where it is.
pub(super) fn largest(values: &[f64]) -> (usize, f64) {
    values.iter().enumerate().fold(
        (0, f64::NEG_INFINITY),
        |best, (index, &value)| {
            if value > best.1 { (index, value) } else { best }
        },
    )
}
