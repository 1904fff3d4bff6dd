//! Are labels contradicted mostly near the borders between classes?

/// Rows that are looked at, at most: a share is known well enough from these.
const SAMPLE: usize = 50_000;
/// By how much contradictions must be more frequent near the borders than away from them. Errors of the predictor itself lie there too;
/// on clean rows that a network predicts with an accuracy of 0.95 they make a difference of 0.07.
const EXCESS: f64 = 0.1;
/// By how much that difference may be another one in a fit to more rows.
const LEEWAY: f64 = 0.04;
/// Standard errors by which the difference must be beyond chance.
const DECISIVE: f64 = 4.0;

/// At most [`SAMPLE`] of these rows, without those that have no weight.
pub(crate) fn sample(rows: impl ExactSizeIterator<Item = u32>, has_weight: impl Fn(u32) -> bool) -> Vec<u32> {
    let stride = rows.len().div_ceil(SAMPLE).max(1);
    rows.step_by(stride).filter(|&row| has_weight(row)).collect()
}

/// Where a row lies in the eyes of the predictor.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// The most probable class.
    pub(crate) class: usize,
    /// `log p` of that class less that of the next: the distance from the border.
    pub(crate) margin: f64,
    /// Whether the label is another one.
    pub(crate) is_contradicted: bool,
}

impl Place {
    /// The place of a row with these probabilities of the classes and this label.
    pub(crate) fn of(probabilities: &[f64], label: usize) -> Self {
        let (mut class, mut best, mut next) = (0, f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (index, &probability) in probabilities.iter().enumerate() {
            if probability > best {
                (class, next, best) = (index, best, probability);
            } else {
                next = next.max(probability);
            }
        }
        let margin = best.ln() - next.max(f64::MIN_POSITIVE).ln();
        Self { class, margin, is_contradicted: class != label }
    }
}

/// The shares of contradicted labels in the half of each class's rows that lies nearer to a border, and in the other half.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Contradicted {
    pub(crate) near: f64,
    pub(crate) far: f64,
    /// Whether the first is much larger, beyond chance.
    ///
    /// A class's own errors do not know where the border is. If contradictions do, then either labels were
    /// mistaken where classes are alike, or the features do not decide there and the labels are right: the data cannot tell.
    pub(crate) is_unclear: bool,
}

impl Contradicted {
    /// Whether a fit to more rows may find that it [is unclear](Self::is_unclear).
    pub(crate) fn may_be_unclear(&self) -> bool {
        self.near - self.far > EXCESS - LEEWAY
    }

    /// Whether a fit to more rows may find the opposite.
    pub(crate) fn is_open(&self) -> bool {
        (self.near - self.far - EXCESS).abs() < LEEWAY
    }
}

/// How many labels are contradicted near the borders, and away from them.
pub(crate) fn contradicted(mut places: Vec<Place>) -> Contradicted {
    places.sort_by(|a, b| a.class.cmp(&b.class).then(a.margin.total_cmp(&b.margin)));
    let (mut near, mut far) = (Half::default(), Half::default());
    for class in places.chunk_by(|a, b| a.class == b.class) {
        let (nearer, farther) = class.split_at(class.len() / 2);
        near.add(nearer);
        far.add(farther);
    }
    let variance = near.variance() + far.variance();
    let difference = near.share() - far.share();
    let is_unclear = difference > EXCESS && difference > DECISIVE * variance.sqrt();
    Contradicted { near: near.share(), far: far.share(), is_unclear }
}

#[derive(Default)]
struct Half {
    rows: usize,
    contradicted: usize,
}

impl Half {
    fn add(&mut self, places: &[Place]) {
        self.rows += places.len();
        self.contradicted += places.iter().filter(|place| place.is_contradicted).count();
    }

    fn share(&self) -> f64 {
        self.contradicted as f64 / self.rows.max(1) as f64
    }

    /// Of the share, as of a binomial.
    fn variance(&self) -> f64 {
        self.share() * (1.0 - self.share()) / self.rows.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two classes with evenly spread margins; `wrong` says which are contradicted, by number and margin.
    fn places(rows: usize, wrong: impl Fn(usize, f64) -> bool) -> Vec<Place> {
        let place = |row: usize| {
            let margin = (row / 2) as f64 / (rows / 2) as f64;
            Place { class: row % 2, margin, is_contradicted: wrong(row / 2, margin) }
        };
        (0..rows).map(place).collect()
    }

    #[test]
    fn a_place_has_the_best_class_and_the_distance_from_the_next() {
        let place = Place::of(&[0.1, 0.2, 0.6, 0.1], 1);
        assert_eq!(place.class, 2);
        assert!((place.margin - 3.0_f64.ln()).abs() < 1e-12);
        assert!(place.is_contradicted);
        assert!(!Place::of(&[0.9, 0.1], 0).is_contradicted);
        assert!(Place::of(&[1.0, 0.0], 0).margin.is_finite());
    }

    #[test]
    fn only_contradictions_near_the_border_warn() {
        assert!(!contradicted(places(2_000, |row, _| row % 5 == 0)).is_unclear);
        assert!(contradicted(places(2_000, |row, margin| margin < 0.5 && row % 3 == 0)).is_unclear);
        assert!(!contradicted(places(2_000, |row, margin| margin < 0.5 && row % 12 == 0)).is_unclear);
        assert!(!contradicted(places(2_000, |row, margin| margin > 0.5 && row % 3 == 0)).is_unclear);
        // As striking, but among too few rows.
        assert!(!contradicted(places(40, |row, margin| margin < 0.5 && row % 3 == 0)).is_unclear);
        assert!(!contradicted(Vec::new()).is_unclear);
    }
}
