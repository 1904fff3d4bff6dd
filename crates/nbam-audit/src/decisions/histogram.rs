//! How the posterior is distributed over [0, 1].

/// Counts of rows in equal bins of the contamination.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Rows per bin, from 0 to 1; the last bin includes 1.
    pub rows: Vec<usize>,
    /// How many of them are flagged.
    pub flagged: Vec<usize>,
}

impl Histogram {
    /// The number of bins.
    pub const BINS: usize = 20;

    pub(super) fn new(contamination: &[f64], is_flagged: &[bool]) -> Self {
        let mut histogram = Self { rows: vec![0; Self::BINS], flagged: vec![0; Self::BINS] };
        for (&posterior, &flagged) in contamination.iter().zip(is_flagged) {
            let bin = ((posterior * Self::BINS as f64) as usize).min(Self::BINS - 1);
            histogram.rows[bin] += 1;
            histogram.flagged[bin] += usize::from(flagged);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_a_bin() {
        let histogram = Histogram::new(&[0.0, 0.049, 0.05, 1.0], &[false, false, false, true]);
        assert_eq!((histogram.rows[0], histogram.rows[1], histogram.rows[19]), (2, 1, 1));
        assert_eq!(histogram.flagged.iter().sum::<usize>(), 1);
    }
}
