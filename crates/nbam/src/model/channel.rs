//! Learning the label channel: online expectation maximisation with pseudo-counts.

use super::labels::TransitionPrior;
use crate::density::transition::Transition;
use crate::train::Context;

/// A class transition with the running counts that it is estimated from.
///
/// Each batch gives expected counts: how much of class `k` was moved to label `y`, and how much stayed. They are
/// averaged over a short window, and the channel is the mode of its posterior given these counts
/// (the M-step of EM): no learning rate, and the same behaviour for any number of rows and classes.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    pub(crate) transition: Transition,
    /// Share of all rows that is of class `k` and moved to `y`, row-major.
    moved: Vec<f64>,
    /// Share of all rows that is of class `k` and stayed.
    stayed: Vec<f64>,
    prior: TransitionPrior,
}

impl Channel {
    pub(crate) fn new(classes: usize, prior: TransitionPrior) -> Self {
        let k = classes as f64;
        let rate = prior.first_rate(classes);
        let cell =
            |index: usize| if index / classes == index % classes { 0.0 } else { rate / (k * (k - 1.0)) };
        let transition = Transition::uniform(classes, rate, prior.guessed);
        Self {
            transition: if prior.borders_only { transition.between_rivals() } else { transition },
            moved: (0..classes * classes).map(cell).collect(),
            stayed: vec![(1.0 - rate) / k; classes],
            prior,
        }
    }

    /// How many sums a batch gives: the moved counts, then the ones that stayed.
    pub(crate) fn statistics(&self) -> usize {
        self.moved.len() + self.stayed.len()
    }

    /// The share of the rows that are really of each class.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let moved = self.moved.chunks_exact(self.stayed.len()).map(|row| row.iter().sum::<f64>());
        moved.zip(&self.stayed).map(|(moved, stayed)| moved + stayed).collect()
    }

    /// The share of the rows whose label was moved.
    pub(crate) fn contaminated(&self) -> f64 {
        self.moved.iter().sum()
    }

    /// Blends a batch's expected counts in and re-estimates the channel.
    pub(crate) fn absorb(&mut self, counts: &[f64], context: &Context) {
        let rows = context.rows as f64;
        let blend = context.blend(self.prior.window.0, self.prior.window.1);
        let scale = 1.0 / context.batch as f64;
        let (moved, stayed) = counts.split_at(self.moved.len());
        for (average, count) in self.moved.iter_mut().zip(moved).chain(self.stayed.iter_mut().zip(stayed)) {
            *average += blend * (count * scale - *average);
        }
        if self.prior.borders_only {
            return;
        }
        let classes = self.stayed.len();
        let others = classes as f64 - 1.0;
        let first_rate = self.prior.first_rate(classes);
        let doubt = self.prior.doubt_at(context.progress) * rows / classes as f64;
        let (bad, good) = self.prior.rate_counts;
        let bad = bad + doubt * first_rate;
        let hold = self.prior.hold_at(context.progress) * rows;
        let spread = self.prior.destination_count + doubt * first_rate + hold;
        let held_rate = self.contaminated();
        let mut rates = Vec::with_capacity(classes);
        let mut destinations = vec![0.0; classes * classes];
        for class in 0..classes {
            let row = &self.moved[class * classes..(class + 1) * classes];
            let total = rows * row.iter().sum::<f64>();
            let contaminated = total + bad + hold * held_rate;
            rates.push(contaminated / (total + rows * self.stayed[class] + bad + good + hold));
            for to in (0..classes).filter(|&to| to != class) {
                destinations[class * classes + to] = (rows * row[to] + spread / others) / (total + spread);
            }
        }
        self.transition = Transition::trusted(rates, destinations, self.prior.guessed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The channel after many batches in which half of the rows of class 0 are moved to class 1, when this share of the fit is done.
    fn learned(starts_even: bool, progress: f64) -> Transition {
        let prior = TransitionPrior { starts_even, doubt: 0.0, ..TransitionPrior::default() };
        let mut channel = Channel::new(3, prior);
        let counts = [0.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 50.0, 100.0, 100.0];
        let context = Context { batch: 300, rows: 3000, progress, learning_rate: 1e-3 };
        (0..1000).for_each(|_| channel.absorb(&counts, &context));
        channel.transition
    }

    #[test]
    fn errors_are_held_even_until_half_of_the_rise_of_sharpness() {
        let (first, late) = (learned(true, 0.1), learned(true, 0.5));
        for class in 0..3 {
            assert!((first.rates()[class] - 1.0 / 6.0).abs() < 0.05, "{:?}", first.rates());
        }
        assert!((first.destinations()[1] - 0.5).abs() < 0.05, "{:?}", first.destinations());
        assert!((late.rates()[0] - 0.5).abs() < 0.01 && late.rates()[1] < 0.01, "{:?}", late.rates());
        assert!(late.destinations()[1] > 0.99);
        // Halfway, they are let go by degrees.
        let between = learned(true, 0.48).rates()[0];
        assert!(between > first.rates()[0] && between < late.rates()[0], "{between}");
        assert_eq!(late, learned(false, 0.5));
        assert_eq!(learned(false, 0.1), learned(false, 0.5));
    }
}
