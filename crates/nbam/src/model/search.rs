//! What left-out rows decide before a classifier is fitted: how strongly its weights are held, and whether the usual beliefs hold.

use super::belief::{Belief, Start};
use super::borders::{self, Place};
use super::ensemble::fit_members;
use super::fit_labels::Fit;
use super::left_out::{Division, ENOUGH};
use super::params::usual_weight_prior;
use super::warning::{label_counts, vanished};
use crate::density::categorical::log_softmax;
use crate::net::Network;
use crate::switch::Known;
use crate::train::Scoring;
use crate::{ErrorKind, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The weakest prior that is tried: each step divides the usual strength by the square root of five.
const WEAKEST: i8 = 6;
/// The strongest one, where errors are taken to lie near borders only.
const STRONGEST: i8 = -4;
/// The step that is tried beside the usual strength. Patterns such as one class around the other leave no trace at all
/// in a network that is held too tightly, so that small steps would not find the way to it.
const FAR: i8 = 4;
/// The steps that every search starts with.
const FIRST: [i8; 2] = [0, FAR];
/// Rows below which the left-out ones are too few to decide, and below which only a clear difference does.
pub(crate) const FEW_ROWS: usize = 100;
const SMALL: usize = 1000;
/// Share of contaminated labels from which a fit may be one that never got to see the pattern.
const SUSPICIOUS: f64 = 0.2;
/// Part of what labels cost without features that these must save, or they say nothing about them.
const LEAST_GAIN: f64 = 0.02;
/// Standard errors from which a difference between few rows is clear.
pub(crate) const CLEAR: f64 = 2.0;
/// Standard errors with which left-out rows back a belief that has another sign in its favour, or object to it.
const HINT: f64 = 1.0;
/// Standard errors beyond which left-out rows overrule a belief.
const DECISIVE: f64 = 4.0;

/// What the search ended with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settled {
    pub(crate) weight_prior: f64,
    pub(crate) belief: Belief,
    /// The classes that vanish under the usual belief, if it was given up for them.
    pub(crate) lost: Vec<usize>,
    /// Whether the features predict the labels of rows that were left out; true as well where none were.
    pub(crate) has_signal: bool,
    /// What the labels of rows that were left out cost; nothing where none were.
    pub(crate) losses: Vec<f64>,
}

/// What a trial fit says.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrialFit {
    /// The cost of each left-out label.
    pub(crate) losses: Vec<f64>,
    /// The classes that vanished from the fit.
    lost: Vec<usize>,
    /// The share of the labels that are contaminated.
    contaminated: f64,
    /// Whether labels are contradicted mostly near the borders between classes.
    has_unclear_borders: bool,
}

/// The rows of trial fits.
struct Parts {
    everything: Vec<u32>,
    inside: Vec<u32>,
    left_out: Vec<u32>,
    /// The usual strength with the rows that are divided: of very many, only some are.
    usual: f64,
}

impl Parts {
    fn new(rows: usize, seed: u64) -> Self {
        let division = Division::new(rows, seed);
        Self {
            everything: (0..rows as u32).collect(),
            inside: division.without(0),
            left_out: division.part(0),
            usual: usual_weight_prior(rows.min(ENOUGH)),
        }
    }
}

/// The strength that is so many steps weaker than usual.
fn weaker(usual: f64, step: i8) -> f64 {
    usual / 5_f64.powf(f64::from(step) / 2.0)
}

impl Fit<'_> {
    /// The strength that was given, or what left-out rows decide for.
    ///
    /// How smooth the classes' borders are is a property of the data: a strength that serves 512 features of a deep network
    /// is far too stiff for 26 letters told apart by 16 numbers. The mixture's likelihood is robust, so wrong labels among the
    /// left-out rows do not decide.
    pub(crate) fn settle(&self) -> Result<Settled> {
        let rows = self.features.rows();
        let is_few = rows < FEW_ROWS;
        let given = self.params.weight_prior.or(is_few.then(|| usual_weight_prior(rows)));
        if let Some(weight_prior) = given {
            let (belief, lost, losses) = (Belief::USUAL, Vec::new(), Vec::new());
            return Ok(Settled { weight_prior, belief, lost, has_signal: true, losses });
        }
        let parts = Parts::new(rows, self.params.seed);
        self.settle_from(self.first_trials(&parts)?, &parts)
    }

    /// What left-out rows decide for with these columns, if it makes their labels clearly more probable than what was settled on with others.
    pub(crate) fn settle_if_better(&self, other: &Settled) -> Result<Option<Settled>> {
        let is_better = |losses: &[f64]| is_better(&other.losses, losses, CLEAR);
        let parts = Parts::new(self.features.rows(), self.params.seed);
        let first = self.first_trials(&parts)?;
        if !first.iter().any(|trial| is_better(&trial.losses)) {
            return Ok(None);
        }
        let settled = self.settle_from(first, &parts)?;
        Ok(is_better(&settled.losses).then_some(settled))
    }

    /// The trial fits that every search starts from.
    fn first_trials(&self, Parts { inside, left_out, usual, .. }: &Parts) -> Result<Vec<TrialFit>> {
        fit_members(FIRST.len(), |at, is_parallel| {
            self.trial(weaker(*usual, FIRST[at]), Belief::USUAL, inside, left_out, is_parallel)
        })
    }

    fn settle_from(&self, first: Vec<TrialFit>, parts: &Parts) -> Result<Settled> {
        let Parts { everything, inside, left_out, usual } = parts;
        let rows = everything.len();
        let strength = |step: i8| weaker(usual_weight_prior(rows), step);
        let mut search = Search {
            margin: margin(rows, !self.scaler.pieces.is_empty()),
            trials: FIRST.map(|step| (Belief::USUAL, step)).into_iter().zip(first).collect(),
            trial: |belief, step| self.trial(weaker(*usual, step), belief, inside, left_out, true),
            whole: |belief, step| self.trial(strength(step), belief, everything, &[], true),
        };
        let (belief, step, lost) = search.settle(rows)?;
        let settled = &search.trials[&(belief, step)];
        // Two signs, since few left-out rows may be hard to predict by chance.
        let has_signal =
            settled.contaminated <= SUSPICIOUS || self.has_signal(&settled.losses, inside, left_out);
        let losses = settled.losses.clone();
        Ok(Settled { weight_prior: strength(step), belief, lost, has_signal, losses })
    }

    /// Whether a trial's left-out labels cost less than they do if all that is known is how frequent each is among the rows inside.
    ///
    /// Where features say nothing about the labels, any share of wrong labels explains them equally well, and what a fit says of single rows rests on
    /// its beliefs alone.
    pub(crate) fn has_signal(&self, losses: &[f64], inside: &[u32], left_out: &[u32]) -> bool {
        let weight = |row: u32| self.labels.weights.map_or(1.0, |weights| f64::from(weights[row as usize]));
        // Half a row more of each class: a label that only left-out rows have is not impossible.
        let mut totals = vec![0.5; self.classes];
        inside.iter().for_each(|&row| totals[self.labels.labels[row as usize]] += weight(row));
        let total: f64 = totals.iter().sum();
        // What a verified row costs says how probable its switch is, too.
        let is_judged =
            |row: u32| self.labels.known.is_none_or(|known| known[row as usize] == Known::Unknown);
        let judged = left_out.iter().zip(losses).filter(|(row, _)| is_judged(**row));
        let (by_share, by_features): (Vec<f64>, Vec<f64>) = judged
            .map(|(&row, &loss)| {
                let share = totals[self.labels.labels[row as usize]] / total;
                (-weight(row) * share.ln() * (1.0 - LEAST_GAIN), loss)
            })
            .unzip();
        // No standard errors are asked for: labels that are rare, or often wrong, cost little less with features that tell them.
        by_share.is_empty() || is_better(&by_share, &by_features, 0.0)
    }

    /// Trains on some rows, and looks at what the labels of others cost.
    pub(crate) fn trial(
        &self,
        strength: f64,
        belief: Belief,
        inside: &[u32],
        left_out: &[u32],
        is_parallel: bool,
    ) -> Result<TrialFit> {
        let trained =
            match self.train(strength, belief, Some(inside), self.params.batch_size, (0, 1), is_parallel) {
                Err(error) if error.kind() == ErrorKind::Diverged => {
                    let losses = vec![f64::INFINITY; left_out.len()];
                    return Ok(TrialFit { losses, ..TrialFit::default() });
                }
                trained => trained?,
            };
        let labels = inside.iter().map(|&row| self.labels.labels[row as usize]);
        let counts = label_counts(labels, self.classes);
        let channel = trained.objective.channel();
        let lost = channel.map_or_else(Vec::new, |channel| vanished(&counts, &channel.shares()));
        let contaminated = channel.map_or(0.0, |channel| channel.contaminated());
        let has_unclear_borders = channel.is_some() && self.has_unclear_borders(&trained.network, inside);
        // A verified row's likelihood would depend on guesses.
        let state = trained.objective.into_state().without_guesses();
        let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(left_out) };
        let losses = scoring.each_row(&trained.network, |row, outputs| {
            let known = self.labels.known.map_or(Known::Unknown, |known| known[row]);
            let weight = self.labels.weights.map_or(1.0, |weights| f64::from(weights[row]));
            let mut log_p = vec![0.0; self.classes];
            let evidence = state.evidence(outputs, self.classes, self.labels.labels[row], &mut log_p);
            weight * if state.is_mixture() { evidence.row(known).loss } else { -evidence.log_clean }
        });
        Ok(TrialFit { losses, lost, contaminated, has_unclear_borders })
    }

    fn has_unclear_borders(&self, network: &Network, inside: &[u32]) -> bool {
        let has_weight = |row: u32| self.labels.weights.is_none_or(|weights| weights[row as usize] > 0.0);
        let sample = borders::sample(inside.iter().copied(), has_weight);
        let scoring = Scoring { scaler: self.scaler, features: self.features, rows: Some(&sample) };
        let places = scoring.each_row(network, |row, outputs| {
            let mut probabilities = vec![0.0; self.classes];
            log_softmax(&outputs[..self.classes], &mut probabilities);
            probabilities.iter_mut().for_each(|log_p| *log_p = log_p.exp());
            Place::of(&probabilities, self.labels.labels[row])
        });
        borders::contradicted(places).is_unclear
    }
}

/// Trial fits by belief and step of the weight prior, made when they are asked for.
struct Search<Part, Whole> {
    /// Standard errors by which a weaker prior must be better than a stronger one.
    margin: f64,
    trials: BTreeMap<(Belief, i8), TrialFit>,
    trial: Part,
    /// A fit to all rows, of which none is left out.
    whole: Whole,
}

impl<Part, Whole> Search<Part, Whole>
where
    Part: Fn(Belief, i8) -> Result<TrialFit>,
    Whole: Fn(Belief, i8) -> Result<TrialFit>,
{
    /// The belief and the step to fit with, and the classes that vanish with sharp borders if those were given up for them.
    fn settle(&mut self, rows: usize) -> Result<(Belief, i8, Vec<usize>)> {
        let (start, step) = self.start(rows)?;
        let (sharp, soft) = (Belief::from(start), Belief::softly(start));
        if start == Start::TrustedLabels {
            return Ok((sharp, step, Vec::new()));
        }
        let lost = self.lost(sharp, step)?;
        if lost.is_empty() {
            let (belief, step) = self.borders(start, step)?;
            return Ok((belief, step, lost));
        }
        // A network that is held too tightly cannot tell a small class from the one around it. The class vanishes, and its labels are
        // cheap as errors.
        for weaker in step + 1..=WEAKEST {
            if self.prefers((sharp, step), (sharp, weaker), 0.0)? && self.lost(sharp, weaker)?.is_empty() {
                return Ok((sharp, weaker, Vec::new()));
            }
        }
        // Or the features do not tell the class from another, and certainty makes one of the two vanish. Or it is a wrong optimum (pair flips of
        // most labels), and left-out rows are much less probable if borders are soft.
        if self.prefers((soft, step), (sharp, step), DECISIVE)? {
            return Ok((sharp, step, Vec::new()));
        }
        Ok((soft, step, lost))
    }

    /// What is believed of the borders where no class vanishes, and the step of the weight prior for that.
    ///
    /// Sharpness takes classes that overlap, and labels that were mistaken where classes are alike, for errors that follow the classes. The sign of
    /// that is that what it calls wrong lies near the borders. The likelihood decides little between the explanations, so left-out rows may only object.
    fn borders(&mut self, start: Start, step: i8) -> Result<(Belief, i8)> {
        let (sharp, soft, guessed) = (Belief::from(start), Belief::softly(start), Belief::GUESSED);
        if !self.trials[&(sharp, step)].has_unclear_borders {
            return Ok((sharp, step));
        }
        // Each as it would be fitted: at a strength that is too weak for soft borders, any channel holds the predictor back and helps.
        let guessed = (guessed, self.step_either_way(guessed, step)?);
        let is_refuted =
            self.prefers(guessed, (sharp, step), HINT)? || self.prefers(guessed, (soft, step), HINT)?;
        if !is_refuted {
            return Ok(guessed);
        }
        let is_soft = self.prefers((sharp, step), (soft, step), HINT)?;
        Ok((if is_soft { soft } else { sharp }, step))
    }

    /// The step of the weight prior under a belief, from a step that served another: stronger ones as well, since a soft predictor learns wrong labels by heart
    /// where a sharp one calls them wrong.
    fn step_either_way(&mut self, belief: Belief, first: i8) -> Result<i8> {
        let mut step = first;
        while step > STRONGEST && self.prefers((belief, step), (belief, step - 1), 0.0)? {
            step -= 1;
        }
        while step >= first
            && step < WEAKEST
            && self.prefers((belief, step), (belief, step + 1), self.margin)?
        {
            step += 1;
        }
        Ok(step)
    }

    /// How training should start, and the step of the weight prior for that.
    fn start(&mut self, rows: usize) -> Result<(Start, i8)> {
        let mut found = (Belief::USUAL, self.step(Belief::USUAL)?);
        if self.trials[&found].contaminated <= SUSPICIOUS {
            return Ok((found.0.start, found.1));
        }
        let even = Belief::from(Start::EvenErrors);
        // A wrong optimum costs much. With many rows that is beyond doubt, and what is not is a tie.
        let standard_errors = if rows < SMALL { CLEAR } else { DECISIVE };
        if self.prefers(found, (even, found.1), standard_errors)? {
            found = (even, self.step(even)?);
        }
        let trusting = (Belief::from(Start::TrustedLabels), FAR);
        if self.prefers(found, trusting, DECISIVE)? {
            found = trusting;
        }
        Ok((found.0.start, found.1))
    }

    /// The step of the weight prior under a belief.
    fn step(&mut self, belief: Belief) -> Result<i8> {
        weakest_that_helps(self.margin, |stronger, weaker, standard_errors| {
            self.prefers((belief, stronger), (belief, weaker), standard_errors)
        })
    }

    fn try_out(&mut self, key: (Belief, i8)) -> Result<()> {
        if let Entry::Vacant(missing) = self.trials.entry(key) {
            missing.insert((self.trial)(key.0, key.1)?);
        }
        Ok(())
    }

    /// Whether left-out rows prefer the second to the first by some standard errors.
    fn prefers(&mut self, first: (Belief, i8), second: (Belief, i8), standard_errors: f64) -> Result<bool> {
        self.try_out(first)?;
        self.try_out(second)?;
        Ok(is_better(&self.trials[&first].losses, &self.trials[&second].losses, standard_errors))
    }

    /// The classes that vanish in a trial that was made. Those that only four fifths of the rows are too few for do not count.
    fn lost(&self, belief: Belief, step: i8) -> Result<Vec<usize>> {
        if self.trials[&(belief, step)].lost.is_empty() {
            return Ok(Vec::new());
        }
        Ok((self.whole)(belief, step)?.lost)
    }
}

/// Standard errors by which a weaker prior must be better than a stronger one.
fn margin(rows: usize, is_in_pieces: bool) -> f64 {
    if rows < SMALL {
        // A network that is held too loosely memorises wrong labels.
        CLEAR
    } else if is_in_pieces {
        // Columns in pieces are for patterns that are hard to find: under a stronger prior that seems as good, some networks miss them.
        0.0
    } else {
        // What chance decides are near ties, in which little is lost either way.
        0.5
    }
}

/// Searches for the weakest step that left-out rows prefer to the one before it. `prefers(stronger, weaker, standard_errors)` says
/// whether the weaker of two is better by that many standard errors of the difference.
fn weakest_that_helps(margin: f64, mut prefers: impl FnMut(i8, i8, f64) -> Result<bool>) -> Result<i8> {
    let mut step = 0;
    if prefers(0, FAR, margin)? {
        step = FAR;
        // The way is found: what is left is to settle on the best. At the strongest prior that is about as good as
        // that, some networks miss the pattern.
        while step > 1 && !prefers(step - 1, step, 0.0)? {
            step -= 1;
        }
        if step < FAR {
            return Ok(step);
        }
    }
    while step < WEAKEST && prefers(step, step + 1, margin)? {
        step += 1;
    }
    Ok(step)
}

/// Whether the second losses are lower by more than some standard errors of the difference.
pub(crate) fn is_better(first: &[f64], second: &[f64], standard_errors: f64) -> bool {
    let gains: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / count;
    mean > standard_errors * (variance / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::belief::Borders;

    #[test]
    fn chance_does_not_decide() {
        let first = [1.0, 2.0, 3.0, 4.0];
        assert!(is_better(&first, &[0.9, 1.8, 2.9, 3.9], 2.0));
        assert!(is_better(&first, &[0.0, 2.5, 2.0, 4.4], 0.5));
        assert!(!is_better(&first, &[0.0, 2.5, 2.0, 4.4], 2.0));
        assert!(!is_better(&first, &first, 0.5));
        assert!(!is_better(&first, &[f64::INFINITY; 4], 0.5));
    }

    /// What is found when the mean loss of each step is this and differences are certain, and the steps that were looked at.
    fn found(losses: [f64; 7]) -> (i8, Vec<i8>) {
        let mut seen = std::collections::BTreeSet::new();
        let step = weakest_that_helps(margin(5000, false), |stronger, weaker, _| {
            seen.extend([stronger, weaker]);
            Ok(losses[weaker as usize] < losses[stronger as usize])
        });
        (step.unwrap(), seen.into_iter().collect())
    }

    #[test]
    fn the_search_ends_where_left_out_rows_are_most_probable() {
        assert_eq!(found([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]), (0, vec![0, 1, 4]));
        assert_eq!(found([1.0, 0.9, 0.8, 1.0, 1.4, 1.5, 1.6]), (2, vec![0, 1, 2, 3, 4]));
        // Nothing is seen before the third step: one class around the other.
        assert_eq!(found([1.0, 1.0, 1.0, 0.5, 0.6, 0.7, 0.8]), (3, vec![0, 2, 3, 4]));
        assert_eq!(found([1.0, 1.0, 1.0, 0.5, 0.4, 0.3, 0.2]), (6, vec![0, 3, 4, 5, 6]));
        // A stronger prior that is as good is taken.
        assert_eq!(found([1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]).0, 1);
    }

    /// Two classes, of which the second is lost before these steps, by part of the rows and by all of them.
    struct Made {
        rows: usize,
        found_from: (i8, i8),
        contaminated: f64,
        has_unclear_borders: bool,
        /// What each left-out label costs at every step.
        usual: [f64; 7],
        even: [f64; 7],
        trusting: f64,
        soft: f64,
        /// From the strongest to the weakest.
        guessed: [f64; 11],
    }

    impl Made {
        fn settle(&self) -> (Belief, i8) {
            // The costs of single rows differ a little, so that a difference has a standard error.
            let trial = |belief: Belief, step: i8| {
                let cost = match belief {
                    Belief { borders: Borders::Soft, .. } => self.soft,
                    Belief { borders: Borders::Guessed, .. } => self.guessed[(step - STRONGEST) as usize],
                    Belief { start: Start::Usual, .. } => self.usual[step as usize],
                    Belief { start: Start::TrustedLabels, .. } => self.trusting,
                    Belief { start: Start::EvenErrors, .. } => self.even[step as usize],
                };
                let noise = f64::from(step + 10 * belief.start as i8 + 20 * belief.borders as i8) * 0.01;
                let losses = (0..100).map(|row| cost + if row % 2 == 0 { noise } else { -noise }).collect();
                let lost = if step < self.found_from.0 { vec![1] } else { Vec::new() };
                let has_unclear_borders = self.has_unclear_borders;
                Ok(TrialFit { losses, lost, contaminated: self.contaminated, has_unclear_borders })
            };
            let whole = |_: Belief, step: i8| {
                let lost = if step < self.found_from.1 { vec![1] } else { Vec::new() };
                Ok(TrialFit { lost, ..TrialFit::default() })
            };
            let margin = margin(self.rows, false);
            let mut search = Search { margin, trials: BTreeMap::new(), trial, whole };
            let (belief, step, lost) = search.settle(self.rows).unwrap();
            assert!(lost.is_empty() || belief.borders == Borders::Soft);
            (belief, step)
        }
    }

    const SEEN: Made = Made {
        rows: 5000,
        found_from: (0, 0),
        contaminated: 0.1,
        has_unclear_borders: false,
        usual: [1.0; 7],
        even: [2.0; 7],
        trusting: 2.0,
        soft: 2.0,
        guessed: [3.0; 11],
    };

    const SOFT: Belief = Belief::softly(Start::Usual);
    const TRUSTING: Belief = Belief::from(Start::TrustedLabels);
    const EVEN: Belief = Belief::from(Start::EvenErrors);

    #[test]
    fn a_class_that_vanished_asks_for_a_weaker_prior() {
        let dip = [1.0, 1.001, 0.999, 1.001, 1.001, 1.001, 1.001];
        assert_eq!(SEEN.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { found_from: (2, 2), usual: dip, ..SEEN }.settle(), (Belief::USUAL, 2));
        // Only the left-out rows were missing.
        assert_eq!(Made { found_from: (2, 0), usual: dip, ..SEEN }.settle(), (Belief::USUAL, 0));
        // Left-out rows are against the step at which it is found.
        assert_eq!(Made { found_from: (3, 3), usual: dip, ..SEEN }.settle(), (Belief::USUAL, 0));
    }

    #[test]
    fn a_class_that_stays_lost_asks_for_soft_borders() {
        let lost = Made { found_from: (7, 7), ..SEEN };
        assert_eq!(Made { soft: 1.03, ..lost }.settle(), (SOFT, 0));
        assert_eq!(Made { soft: 1.5, ..lost }.settle(), (Belief::USUAL, 0));
    }

    #[test]
    fn classes_overlap_if_two_signs_say_so() {
        let unclear = Made { has_unclear_borders: true, ..SEEN };
        assert_eq!(Made { soft: 0.9, ..unclear }.settle(), (SOFT, 0));
        assert_eq!(Made { soft: 0.999, ..unclear }.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { soft: 0.9, ..SEEN }.settle(), (Belief::USUAL, 0));
    }

    #[test]
    fn errors_near_borders_need_a_sign_and_no_objection() {
        // From a strength 25 times the usual one to the weakest.
        let guessed = [1.2, 1.1, 1.0, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6];
        let unclear = Made { has_unclear_borders: true, guessed, ..SEEN };
        assert_eq!(unclear.settle(), (Belief::GUESSED, -1));
        assert_eq!(Made { guessed, ..SEEN }.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { usual: [0.8; 7], ..unclear }.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { soft: 0.8, ..unclear }.settle(), (SOFT, 0));
        // A weaker prior is found as well, and the strongest that is tried is the last.
        let weaker = [1.9, 1.8, 1.7, 1.6, 1.0, 0.5, 0.4, 0.7, 0.8, 0.9, 1.0];
        assert_eq!(Made { guessed: weaker, ..unclear }.settle(), (Belief::GUESSED, 2));
        let stronger = std::array::from_fn(|at| 0.1 * (at + 1) as f64);
        assert_eq!(Made { guessed: stronger, ..unclear }.settle(), (Belief::GUESSED, STRONGEST));
    }

    #[test]
    fn labels_are_trusted_if_much_seems_wrong_and_left_out_rows_decide() {
        let much = Made { contaminated: 0.4, ..SEEN };
        assert_eq!(Made { trusting: 0.5, ..much }.settle(), (TRUSTING, FAR));
        assert_eq!(Made { trusting: 0.97, ..much }.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { trusting: 0.5, ..SEEN }.settle(), (Belief::USUAL, 0));
    }
    #[test]
    fn errors_start_even_if_much_seems_wrong_and_left_out_rows_are_for_it() {
        assert_eq!(Made { even: [0.5; 7], ..SEEN }.settle(), (Belief::USUAL, 0));
        let much = Made { contaminated: 0.4, ..SEEN };
        assert_eq!(Made { even: [0.5; 7], ..much }.settle(), (EVEN, 0));
        // A little is enough with few rows, and taken for a tie with many.
        let little = Made { even: [0.95; 7], ..much };
        assert_eq!(little.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { rows: 500, ..little }.settle(), (EVEN, 0));
        // The weight prior is then searched for again, and other beliefs may still give way.
        let dip = [0.5, 0.5, 0.4, 0.3, 0.3, 0.5, 0.5];
        assert_eq!(Made { even: dip, ..much }.settle(), (EVEN, 3));
        assert_eq!(Made { even: [0.9; 7], trusting: 0.3, ..much }.settle(), (TRUSTING, FAR));
        let overlap = Made { even: [0.5; 7], soft: 0.1, has_unclear_borders: true, ..much };
        assert_eq!(overlap.settle(), (Belief::softly(Start::EvenErrors), 0));
    }
}
