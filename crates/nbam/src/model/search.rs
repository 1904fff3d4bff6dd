//! What left-out rows decide before a classifier is fitted: how strongly its weights are held, and whether the usual beliefs hold.

use super::belief::{Belief, Borders, Start};
use super::committee::MANY_ROWS;
use super::ensemble::fit_members;
use super::fit_labels::Fit;
use super::left_out::{Parts, is_better};
use super::params::usual_weight_prior;
use super::trial::TrialFit;
use crate::Result;
use std::collections::BTreeMap;

/// The weakest prior that is tried: each step divides the usual strength by the square root of five.
const WEAKEST: i8 = 6;
/// The strongest one, where errors are taken to lie near borders only.
const STRONGEST: i8 = -4;
/// The strongest one where borders are sharp and rows are not few. With a stronger one yet, pair flips of most labels of a class end in a wrong optimum.
const FIRMEST: i8 = -1;
/// The step that is tried beside the usual strength. Patterns such as one class around the other leave no trace at all
/// in a network that is held too tightly, so that small steps would not find the way to it.
const FAR: i8 = 4;
/// The steps that every search starts with.
const FIRST: [i8; 2] = [0, FAR];
/// Rows that trial fits are made on at first, at most, and as many that they are judged by. With all rows they would take longer than the members,
/// and are needed only where these leave something open.
const AT_FIRST: usize = 16_000;
/// Rows below which the left-out ones are too few to decide, and below which only a clear difference does.
pub(crate) const FEW_ROWS: usize = 100;
const SMALL: usize = 1000;
/// Share of contaminated labels from which a fit may be one that never got to see the pattern.
const SUSPICIOUS: f64 = 0.2;
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
    /// Rows that the trial fits were made on at most.
    most: usize,
}

/// What is believed, and the step of the weight prior.
type Try = (Belief, i8);

const EVEN: Belief = Belief::from(Start::EvenErrors);

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
            return Ok(Settled { weight_prior, belief, lost, has_signal: true, losses, most: 0 });
        }
        let some = self.parts(AT_FIRST);
        let (settled, is_close) = self.settle_from(self.first_trials(&some)?, &some, AT_FIRST)?;
        if !is_close || some.whole == rows {
            return Ok(settled);
        }
        let more = self.parts(usize::MAX);
        Ok(self.settle_from(self.first_trials(&more)?, &more, usize::MAX)?.0)
    }

    fn parts(&self, most: usize) -> Parts {
        Parts::new(self.features.rows(), most, self.params.seed)
    }

    /// What left-out rows decide for with these columns, if it makes their labels clearly more probable than what was settled on with others.
    pub(crate) fn settle_if_better(&self, other: &Settled) -> Result<Option<Settled>> {
        let is_better = |losses: &[f64]| is_better(&other.losses, losses, CLEAR);
        let parts = self.parts(other.most);
        let first = self.first_trials(&parts)?;
        if !first.iter().any(|trial| is_better(&trial.losses)) {
            return Ok(None);
        }
        let (settled, _) = self.settle_from(first, &parts, other.most)?;
        Ok(is_better(&settled.losses).then_some(settled))
    }

    /// The trial fits that every search starts from.
    fn first_trials(&self, parts: &Parts) -> Result<Vec<TrialFit>> {
        self.trials(&FIRST.map(|step| (Belief::USUAL, step)), parts)
    }

    /// Trial fits, one on each core.
    fn trials(&self, tries: &[Try], parts: &Parts) -> Result<Vec<TrialFit>> {
        let usual = usual_weight_prior(parts.whole);
        fit_members(tries.len(), |at, is_parallel| {
            let (belief, step) = tries[at];
            self.trial(weaker(usual, step), belief, parts, is_parallel)
        })
    }

    /// What is settled on with these rows, for trial fits on at most so many, and whether that was close.
    fn settle_from(&self, first: Vec<TrialFit>, parts: &Parts, most: usize) -> Result<(Settled, bool)> {
        let rows = self.features.rows();
        let everything = Parts { inside: (0..rows as u32).collect(), left_out: Vec::new(), whole: rows };
        let strength = |step: i8| weaker(usual_weight_prior(rows), step);
        let mut search = Search {
            margin: margin(rows, !self.scaler.pieces.is_empty()),
            firmest: firmest(rows),
            trials: FIRST.map(|step| (Belief::USUAL, step)).into_iter().zip(first).collect(),
            trial: |tries: &[Try]| self.trials(tries, parts),
            whole: |belief, step| self.trial(strength(step), belief, &everything, true),
        };
        let (belief, step, lost) = search.settle(rows)?;
        let is_close = search.is_close(belief, step);
        let settled = &search.trials[&(belief, step)];
        // Two signs, since few left-out rows may be hard to predict by chance.
        let has_signal = settled.contaminated <= SUSPICIOUS
            || self.has_signal(&settled.losses, &parts.inside, &parts.left_out);
        let (weight_prior, losses) = (strength(step), settled.losses.clone());
        Ok((Settled { weight_prior, belief, lost, has_signal, losses, most }, is_close))
    }
}

/// Trial fits by belief and step of the weight prior, made when they are asked for.
struct Search<Part, Whole> {
    /// Standard errors by which a weaker prior must be better than a stronger one.
    margin: f64,
    /// The strongest prior that is tried where borders are sharp.
    firmest: i8,
    trials: BTreeMap<Try, TrialFit>,
    trial: Part,
    /// A fit to all rows, of which none is left out.
    whole: Whole,
}

impl<Part, Whole> Search<Part, Whole>
where
    Part: Fn(&[Try]) -> Result<Vec<TrialFit>>,
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
        if !self.trials[&(sharp, step)].contradicted.is_unclear {
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
        while self.stronger_helps(belief, step)? {
            step -= 1;
        }
        if step < first { Ok(step) } else { self.weakest(belief, first) }
    }

    /// Whether a prior that is stronger by a step is better. Where borders are sharp, it must also leave every class and every border where it was:
    /// what a prior that is too strong cannot learn is taken for errors, or for classes that overlap.
    fn stronger_helps(&mut self, belief: Belief, step: i8) -> Result<bool> {
        let is_guessed = belief.borders == Borders::Guessed;
        let (strongest, standard_errors) = if is_guessed { (STRONGEST, 0.0) } else { (self.firmest, CLEAR) };
        let stronger = (belief, step - 1);
        Ok(step > strongest
            && self.prefers((belief, step), stronger, standard_errors)?
            && (is_guessed || self.trials[&stronger].leaves_borders()))
    }

    /// How training should start, and the step of the weight prior for that.
    fn start(&mut self, rows: usize) -> Result<(Start, i8)> {
        let mut found = (Belief::USUAL, self.step(Belief::USUAL)?);
        if self.trials[&found].contaminated <= SUSPICIOUS {
            return Ok((found.0.start, found.1));
        }
        // What starts even is not fitted under a stronger prior unless it is better under the usual one.
        let compared = found.1.max(0);
        // A wrong optimum costs much. With many rows that is beyond doubt, and what is not is a tie.
        let standard_errors = if rows < SMALL { CLEAR } else { DECISIVE };
        if self.prefers((Belief::USUAL, compared), (EVEN, compared), standard_errors)? {
            found = (EVEN, self.step(EVEN)?);
        }
        let trusting = (Belief::from(Start::TrustedLabels), FAR);
        if !self.is_far_hopeless()? && self.prefers(found, trusting, DECISIVE)? {
            found = trusting;
        }
        Ok((found.0.start, found.1))
    }

    /// The step of the weight prior under a belief: the usual one, or what left-out rows prefer to it.
    fn step(&mut self, belief: Belief) -> Result<i8> {
        let is_far_tried = belief == Belief::USUAL || !self.is_far_hopeless()?;
        if is_far_tried && self.prefers((belief, 0), (belief, FAR), self.margin)? {
            // The way is found: what is left is to settle on the best. At the strongest prior that is about as good as
            // that, some networks miss the pattern.
            let mut step = FAR;
            while step > 1 && !self.prefers((belief, step - 1), (belief, step), 0.0)? {
                step -= 1;
            }
            return if step < FAR { Ok(step) } else { self.weakest(belief, FAR) };
        }
        // What is likely to be asked for next goes along: two fits at a time take less than one after the other.
        let is_suspicious = belief == Belief::USUAL && self.trials[&(belief, 0)].contaminated > SUSPICIOUS;
        let next = if is_suspicious { (EVEN, 0) } else { (belief, 1) };
        let stronger = (self.firmest < 0).then_some((belief, -1));
        let likely: Vec<Try> = [(belief, 0), next].into_iter().chain(stronger).collect();
        self.try_out(&likely)?;
        if self.stronger_helps(belief, 0)? { Ok(-1) } else { self.weakest(belief, 0) }
    }

    /// Whether it is open if a prior that is a step weaker is better, which more rows would ask for sooner than fewer, or if the borders are unclear.
    fn is_close(&self, belief: Belief, step: i8) -> bool {
        let settled = &self.trials[&(belief, step)];
        let weaker = self.trials.get(&(belief, step + 1));
        let is_tie = |weaker: &TrialFit| !is_better(&weaker.losses, &settled.losses, DECISIVE);
        settled.contradicted.is_open() || weaker.is_some_and(is_tie)
    }

    /// The weakest step from this one on that left-out rows prefer to the one before it.
    fn weakest(&mut self, belief: Belief, mut step: i8) -> Result<i8> {
        while step < WEAKEST && self.prefers((belief, step), (belief, step + 1), self.margin)? {
            step += 1;
        }
        Ok(step)
    }

    /// Whether left-out rows are beyond doubt against the weak prior that patterns which are hard to find ask for.
    fn is_far_hopeless(&mut self) -> Result<bool> {
        self.prefers((Belief::USUAL, FAR), (Belief::USUAL, 0), DECISIVE)
    }

    /// Makes those of these trial fits that were not made yet.
    fn try_out(&mut self, tries: &[Try]) -> Result<()> {
        let missing: Vec<Try> = tries.iter().copied().filter(|key| !self.trials.contains_key(key)).collect();
        if !missing.is_empty() {
            let made = (self.trial)(&missing)?;
            self.trials.extend(missing.into_iter().zip(made));
        }
        Ok(())
    }

    /// Whether left-out rows prefer the second to the first by some standard errors.
    fn prefers(&mut self, first: Try, second: Try, standard_errors: f64) -> Result<bool> {
        self.try_out(&[first, second])?;
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

/// The strongest prior that is tried where borders are sharp. What few rows leave open is for a committee to judge: a stronger prior makes one network
/// nearly as good at predicting them, and less good at telling what is wrong.
fn firmest(rows: usize) -> i8 {
    if rows < MANY_ROWS { 0 } else { FIRMEST }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::belief::Borders;
    use crate::model::borders::Contradicted;

    /// Two classes, of which the second is lost before these steps, by part of the rows and by all of them.
    struct Made {
        rows: usize,
        found_from: (i8, i8),
        contaminated: f64,
        has_unclear_borders: bool,
        /// Whether stronger priors than the usual one blur the borders.
        blurs: bool,
        /// What each left-out label costs at every step, from the firmest to the weakest.
        usual: [f64; 8],
        even: [f64; 8],
        trusting: f64,
        soft: f64,
        /// From the strongest to the weakest.
        guessed: [f64; 11],
    }

    impl Made {
        fn settle(&self) -> (Belief, i8) {
            self.search().0
        }

        /// What is settled on, and whether it was close.
        fn search(&self) -> ((Belief, i8), bool) {
            // The costs of single rows differ a little, so that a difference has a standard error.
            let one = |&(belief, step): &Try| {
                let cost = match belief {
                    Belief { borders: Borders::Soft, .. } => self.soft,
                    Belief { borders: Borders::Guessed, .. } => self.guessed[(step - STRONGEST) as usize],
                    Belief { start: Start::Usual, .. } => self.usual[(step - FIRMEST) as usize],
                    Belief { start: Start::TrustedLabels, .. } => self.trusting,
                    Belief { start: Start::EvenErrors, .. } => self.even[(step - FIRMEST) as usize],
                };
                let noise = f64::from(step + 10 * belief.start as i8 + 20 * belief.borders as i8) * 0.01;
                let losses = (0..100).map(|row| cost + if row % 2 == 0 { noise } else { -noise }).collect();
                let lost = if step < self.found_from.0 { vec![1] } else { Vec::new() };
                let near = if self.has_unclear_borders || self.blurs && step < 0 { 0.2 } else { 0.0 };
                TrialFit {
                    losses,
                    lost,
                    contaminated: self.contaminated,
                    contradicted: Contradicted { near, far: 0.0, is_unclear: self.has_unclear_borders },
                }
            };
            let trial = |tries: &[Try]| Ok(tries.iter().map(one).collect());
            let whole = |_: Belief, step: i8| {
                let lost = if step < self.found_from.1 { vec![1] } else { Vec::new() };
                Ok(TrialFit { lost, ..TrialFit::default() })
            };
            let (margin, firmest) = (margin(self.rows, false), firmest(self.rows));
            let mut search = Search { margin, firmest, trials: BTreeMap::new(), trial, whole };
            let (belief, step, lost) = search.settle(self.rows).unwrap();
            assert!(lost.is_empty() || belief.borders == Borders::Soft);
            ((belief, step), search.is_close(belief, step))
        }
    }

    const SEEN: Made = Made {
        rows: 5000,
        found_from: (0, 0),
        contaminated: 0.1,
        has_unclear_borders: false,
        blurs: false,
        usual: [1.0; 8],
        even: [2.0; 8],
        trusting: 2.0,
        soft: 2.0,
        guessed: [3.0; 11],
    };

    const SOFT: Belief = Belief::softly(Start::Usual);
    const TRUSTING: Belief = Belief::from(Start::TrustedLabels);

    #[test]
    fn the_search_ends_where_left_out_rows_are_most_probable() {
        let found = |usual: [f64; 8]| Made { usual, ..SEEN }.settle();
        assert_eq!(found([1.1, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]), (Belief::USUAL, 0));
        assert_eq!(found([1.1, 1.0, 0.9, 0.8, 1.0, 1.4, 1.5, 1.6]), (Belief::USUAL, 2));
        // Nothing is seen before the third step: one class around the other.
        assert_eq!(found([1.0, 1.0, 1.0, 1.0, 0.5, 0.6, 0.7, 0.8]), (Belief::USUAL, 3));
        assert_eq!(found([1.0, 1.0, 1.0, 1.0, 0.5, 0.4, 0.3, 0.2]), (Belief::USUAL, 6));
        // A stronger prior that is as good is taken.
        assert_eq!(found([1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]), (Belief::USUAL, 1));
    }

    #[test]
    fn it_is_close_if_left_out_rows_hardly_tell_a_step_from_a_weaker_one() {
        let is_close = |usual: [f64; 8]| Made { usual, ..SEEN }.search().1;
        assert!(!is_close([1.1, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]));
        assert!(is_close([1.1, 1.0, 1.002, 1.2, 1.3, 1.4, 1.5, 1.6]));
        assert!(is_close([1.2, 1.1, 1.0, 0.9, 0.901, 1.0, 1.1, 1.2]));
        // More rows would not ask for a stronger one.
        assert!(!is_close([0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]));
    }

    #[test]
    fn a_stronger_prior_must_help_and_leave_the_borders() {
        let firmer = Made { usual: [0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6], found_from: (-1, -1), ..SEEN };
        assert_eq!(firmer.settle(), (Belief::USUAL, -1));
        assert_eq!(Made { blurs: true, ..firmer }.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { rows: 1400, ..firmer }.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { found_from: (0, 0), ..firmer }.settle(), (Belief::USUAL, 0));
        // A tenth of what a label costs is clear, a thousandth is not.
        let tie = [0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6];
        assert_eq!(Made { usual: tie, ..firmer }.settle(), (Belief::USUAL, 0));
    }

    #[test]
    fn a_class_that_vanished_asks_for_a_weaker_prior() {
        let dip = [1.001, 1.0, 1.001, 0.999, 1.001, 1.001, 1.001, 1.001];
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
        assert_eq!(Made { usual: [0.8; 8], ..unclear }.settle(), (Belief::USUAL, 0));
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
        // A weak prior that is far worse is not tried with another start.
        let hopeless = [1.0, 1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2];
        assert_eq!(Made { trusting: 0.5, usual: hopeless, ..much }.settle(), (Belief::USUAL, 0));
    }

    #[test]
    fn errors_start_even_if_much_seems_wrong_and_left_out_rows_are_for_it() {
        assert_eq!(Made { even: [0.5; 8], ..SEEN }.settle(), (Belief::USUAL, 0));
        let much = Made { contaminated: 0.4, ..SEEN };
        assert_eq!(Made { even: [0.5; 8], ..much }.settle(), (EVEN, 0));
        // A little is enough with few rows, and taken for a tie with many.
        let little = Made { even: [0.95; 8], ..much };
        assert_eq!(little.settle(), (Belief::USUAL, 0));
        assert_eq!(Made { rows: 500, ..little }.settle(), (EVEN, 0));
        // The weight prior is then searched for again, and other beliefs may still give way.
        let dip = [0.5, 0.5, 0.5, 0.4, 0.3, 0.3, 0.5, 0.5];
        assert_eq!(Made { even: dip, ..much }.settle(), (EVEN, 3));
        assert_eq!(Made { even: [0.9; 8], trusting: 0.3, ..much }.settle(), (TRUSTING, FAR));
        let overlap = Made { even: [0.5; 8], soft: 0.1, has_unclear_borders: true, ..much };
        assert_eq!(overlap.settle(), (Belief::softly(Start::EvenErrors), 0));
    }
}
