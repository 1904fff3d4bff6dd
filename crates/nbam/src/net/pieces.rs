//! Columns in pieces: each number also enters the network as ramps between neighbouring quantiles of its column.
//!
//! A network that sees a number once learns slow functions of it long before fast ones, and under a weight prior it may never learn these: rings, boards and
//! waves leave no trace. With a column's quantiles `t_0 < t_1 < ... < t_m`, the ramps
//!
//! ```text
//! r_k(x) = clamp((x - t_k) / (t_{k+1} - t_k), 0, 1)        k = 0 .. m - 1
//! ```
//!
//! make every function that is linear between quantiles a linear function of the inputs, so that a border may lie anywhere without steep weights. Beyond the
//! outermost quantiles the ramps are constant: only the column itself extrapolates. (Piecewise-linear encoding: Gorishniy, Rubachev and Babenko, "On embeddings
//! for numerical features in tabular deep learning", 2022.)

use super::{Features, Scaler, vector};

/// Columns at most that are taken apart: more make networks with thousands of inputs.
const MOST_COLUMNS: usize = 64;
/// Rows that quantiles are taken from, evenly spread over all.
const ENOUGH_ROWS: usize = 100_000;
/// Rows that show whether a column has more than two values. Most columns of an embedding are not looked at further.
const SHOWN_ROWS: usize = 1000;
/// The narrowest ramp, in standard deviations of its column: anything below is rounding.
const NARROWEST: f32 = 1e-5;

/// The ramps of all columns, in units of standardised columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pieces {
    /// How many ramps each column has.
    pub(crate) counts: Vec<usize>,
    /// Where each ramp starts to rise, and how steeply.
    pub(crate) low: Vec<f32>,
    pub(crate) slope: Vec<f32>,
    /// The mean of each ramp, and one over its standard deviation.
    pub(crate) mean: Vec<f32>,
    pub(crate) scale: Vec<f32>,
}

impl Pieces {
    /// Number of ramps of all columns together.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether no column is taken apart.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// The ramps of the columns that have a scale of their own and more than two values, or none if these are too many.
    pub(crate) fn fit(
        features: &Features<'_>,
        weights: Option<&[f32]>,
        scaler: &Scaler,
        has_own_scale: impl Fn(usize) -> bool,
    ) -> Self {
        let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
        let rows: Vec<usize> = (0..features.rows()).filter(counts).collect();
        let mut columns: Vec<usize> = (0..features.columns())
            .filter(|&column| has_own_scale(column) && scaler.scale[column] != 0.0)
            .collect();
        let shown = columns_of(features, scaler, &columns, &spread(&rows, SHOWN_ROWS));
        let has_more_than_two = |values: &Vec<f32>| {
            let other = values.iter().find(|value| **value != values[0]);
            values.iter().any(|value| *value != values[0] && Some(value) != other)
        };
        let mut is_taken = shown.iter().map(has_more_than_two);
        columns.retain(|_| is_taken.next() == Some(true));
        if columns.is_empty() || columns.len() > MOST_COLUMNS {
            return Self::default();
        }
        let rows = spread(&rows, ENOUGH_ROWS);
        let mut pieces = Self { counts: vec![0; features.columns()], ..Self::default() };
        for (mut values, &column) in columns_of(features, scaler, &columns, &rows).into_iter().zip(&columns) {
            values.sort_by(f32::total_cmp);
            let quantiles = quantiles(&values, pieces_for(rows.len()));
            // One ramp would be the column again.
            if quantiles.len() > 2 {
                pieces.counts[column] = quantiles.len() - 1;
                quantiles.windows(2).for_each(|ends| pieces.push(ends[0], ends[1], &values));
            }
        }
        if pieces.is_empty() { Self::default() } else { pieces }
    }

    fn push(&mut self, low: f32, high: f32, values: &[f32]) {
        let slope = 1.0 / (high - low);
        let count = values.len() as f64;
        let ramp = |value: &f32| f64::from(((value - low) * slope).clamp(0.0, 1.0));
        let mean = values.iter().map(ramp).sum::<f64>() / count;
        let variance = values.iter().map(|value| (ramp(value) - mean).powi(2)).sum::<f64>() / count;
        self.low.push(low);
        self.slope.push(slope);
        self.mean.push(mean as f32);
        self.scale.push((1.0 / variance.sqrt()) as f32);
    }

    /// Writes the ramps of one standardised row.
    pub(crate) fn write(&self, standardised: &[f32], out: &mut [f32]) {
        vector::ramps(out, standardised, self);
    }
}

/// Every so many rows, so that at most this many are left.
fn spread(rows: &[usize], most: usize) -> Vec<usize> {
    rows.iter().copied().step_by(rows.len().div_ceil(most).max(1)).collect()
}

/// The standardised values of some columns in some rows.
fn columns_of(features: &Features<'_>, scaler: &Scaler, columns: &[usize], rows: &[usize]) -> Vec<Vec<f32>> {
    let mut values = vec![Vec::with_capacity(rows.len()); columns.len()];
    let mut standardised = vec![0.0; features.columns()];
    for &row in rows {
        features.read_standardised(row, &scaler.mean, &scaler.scale, &mut standardised);
        values.iter_mut().zip(columns).for_each(|(values, &column)| values.push(standardised[column]));
    }
    values
}

/// How many pieces a column of this many rows is taken into: more rows show finer detail.
fn pieces_for(rows: usize) -> usize {
    ((rows as f64).sqrt() / 4.0).round().clamp(4.0, 16.0) as usize
}

/// The distinct quantiles of sorted values that divide them into so many parts, the lowest and the highest among them.
fn quantiles(sorted: &[f32], parts: usize) -> Vec<f32> {
    let at = |part: usize| sorted[part * (sorted.len() - 1) / parts];
    let mut quantiles: Vec<f32> = (0..=parts).map(at).collect();
    quantiles.dedup_by(|next, kept| *next - *kept < NARROWEST);
    quantiles
}

#[cfg(test)]
mod tests {
    use super::super::Scaling;
    use super::*;

    /// 401 rows: a number, a switch, a column of one value, and a number again.
    fn made() -> Vec<f32> {
        (0..401)
            .flat_map(|row| [(row as f32 / 40.0).exp(), f32::from(row % 2 == 0), 3.0, -(row as f32)])
            .collect()
    }

    fn scaler(values: &[f32], columns: usize, scaling: &Scaling) -> (Scaler, Option<Scaler>) {
        let features = Features::new(values, columns).unwrap();
        let plain = Scaler::fit(&features, None, scaling).unwrap();
        let in_pieces = plain.in_pieces(&features, None, scaling);
        (plain, in_pieces)
    }

    #[test]
    fn ramps_rise_between_quantiles_and_are_standardised() {
        let values = made();
        let features = Features::new(&values, 4).unwrap();
        let (plain, in_pieces) = scaler(&values, 4, &Scaling::Columns);
        let in_pieces = in_pieces.unwrap();
        // The square root of 401 rows, divided by four.
        assert_eq!(in_pieces.pieces.counts, [5, 0, 0, 5]);
        assert_eq!(in_pieces.inputs(), 4 + 10);
        let mut rows = vec![vec![0.0; 14]; 401];
        rows.iter_mut().enumerate().for_each(|(row, out)| in_pieces.read(&features, row, out));
        let mut standardised = [0.0; 4];
        for (row, out) in rows.iter().enumerate() {
            features.read_standardised(row, &plain.mean, &plain.scale, &mut standardised);
            assert_eq!(out[..4], standardised);
        }
        for ramp in 4..14 {
            let mean = rows.iter().map(|row| row[ramp]).sum::<f32>() / 401.0;
            let square = rows.iter().map(|row| row[ramp].powi(2)).sum::<f32>() / 401.0;
            assert!(mean.abs() < 1e-4 && (square - 1.0).abs() < 1e-3, "{ramp}: {mean} {square}");
        }
        // Rows 80 to 160 are between the second quantile and the third, where the second ramp rises and all others rest.
        let of = |row: usize, ramp: usize| rows[row][4 + ramp];
        for (row, next) in (80..160).zip(81..=160) {
            assert!(of(row, 1) < of(next, 1), "{row}");
            assert!([0, 2, 3, 4].iter().all(|&ramp| of(row, ramp) == of(next, ramp)), "{row}");
        }
        // Linear in the value itself, whatever its distribution.
        let value = |row: usize| values[4 * row];
        let share = |row: usize| (of(row, 1) - of(80, 1)) / (of(160, 1) - of(80, 1));
        assert!((share(120) - (value(120) - value(80)) / (value(160) - value(80))).abs() < 1e-5);
    }

    #[test]
    fn only_columns_with_a_scale_of_their_own_and_not_too_many_are_taken_apart() {
        let values = made();
        let counts = |scaling| scaler(&values, 4, &scaling).1.map(|scaler| scaler.pieces.counts);
        assert_eq!(counts(Scaling::Groups(vec![0, 1, 2, 0])), None);
        assert_eq!(counts(Scaling::Groups(vec![0, 1, 1, 2])), Some(vec![5, 0, 0, 5]));
        assert_eq!(counts(Scaling::Common), None);
        assert_eq!(counts(Scaling::None), None);
        let wide = |columns: usize| {
            let values: Vec<f32> =
                (0..columns * 50).map(|at| ((at / columns * 7 + at % columns) % 50) as f32).collect();
            scaler(&values, columns, &Scaling::Columns).1.is_some()
        };
        assert!(wide(MOST_COLUMNS) && !wide(MOST_COLUMNS + 1));
    }

    #[test]
    fn a_row_of_no_weight_leaves_no_trace() {
        let mut values = made();
        let rows = Features::new(&values, 4).unwrap();
        let own =
            Scaler::fit(&rows, None, &Scaling::Columns).unwrap().in_pieces(&rows, None, &Scaling::Columns);
        values.extend([1e6, 0.5, 3.0, 1e6]);
        let mut weights = vec![1.0; 402];
        weights[401] = 0.0;
        let rows = Features::new(&values, 4).unwrap();
        let plain = Scaler::fit(&rows, Some(&weights), &Scaling::Columns).unwrap();
        assert_eq!(plain.in_pieces(&rows, Some(&weights), &Scaling::Columns), own);
    }

    #[test]
    fn quantiles_are_distinct() {
        assert_eq!(quantiles(&[0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0], 6), [0.0, 1.0, 2.0]);
        assert_eq!(quantiles(&[0.0, 1e-7, 1.0], 2), [0.0, 1.0]);
        assert_eq!(quantiles(&[5.0], 4), [5.0]);
    }
}
