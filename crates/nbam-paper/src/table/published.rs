//! The numbers that the paper reports: clean-test accuracy on CIFAR-10, mean and standard error over five seeds.

use crate::noise::{Noise, NoiseKind};
use crate::study::Method;

/// Rates of both panels.
pub(crate) const RATES: [f64; 6] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];

/// Thousandths, mean and standard error: a row for each rate, a column for each of [`Method::PAPER`].
type Panel = [[(u16, u16); 5]; 6];

const SYMMETRIC: Panel = [
    [(867, 1), (870, 1), (870, 1), (859, 1), (867, 1)],
    [(862, 1), (868, 1), (866, 1), (856, 1), (858, 1)],
    [(856, 1), (863, 1), (860, 1), (856, 1), (856, 1)],
    [(848, 2), (857, 0), (855, 0), (853, 2), (852, 2)],
    [(831, 1), (843, 2), (840, 2), (851, 1), (847, 2)],
    [(812, 2), (830, 2), (821, 2), (843, 2), (834, 2)],
];

const ASYMMETRIC: Panel = [
    [(865, 1), (868, 1), (868, 0), (858, 1), (868, 1)],
    [(855, 1), (859, 1), (861, 0), (853, 1), (862, 1)],
    [(830, 2), (843, 2), (844, 3), (846, 1), (851, 3)],
    [(784, 6), (793, 7), (787, 12), (802, 7), (814, 5)],
    [(710, 11), (699, 8), (703, 10), (677, 8), (726, 15)],
    [(636, 11), (625, 8), (608, 9), (587, 5), (642, 10)],
];

/// The paper's accuracy and its standard error.
pub(crate) fn published(noise: Noise, method: Method) -> Option<(f64, f64)> {
    let panel = match noise.kind {
        NoiseKind::Symmetric => &SYMMETRIC,
        NoiseKind::Asymmetric => &ASYMMETRIC,
        _ => return None,
    };
    let row = RATES.iter().position(|rate| *rate == noise.rate)?;
    let column = Method::PAPER.iter().position(|other| *other == method)?;
    let (mean, error) = panel[row][column];
    Some((f64::from(mean) / 1000.0, f64::from(error) / 1000.0))
}

/// Whether the paper prints the number in bold: the best of its row.
pub(super) fn is_bold(noise: Noise, method: Method) -> bool {
    let best = Method::PAPER.iter().filter_map(|other| published(noise, *other)).map(|(mean, _)| mean);
    published(noise, method).is_some_and(|(mean, _)| best.fold(0.0, f64::max) <= mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The methods that the paper's own source marks with \textbf, row by row.
    #[test]
    fn bold_is_where_the_paper_has_it() {
        use Method::{Gce, Huber, Nbam, StudentT};
        let symmetric: [&[Method]; 6] =
            [&[StudentT, Huber], &[StudentT], &[StudentT], &[StudentT], &[Gce], &[Gce]];
        let asymmetric: [&[Method]; 6] =
            [&[StudentT, Huber, Nbam], &[Nbam], &[Nbam], &[Nbam], &[Nbam], &[Nbam]];
        for (kind, rows) in [(NoiseKind::Symmetric, symmetric), (NoiseKind::Asymmetric, asymmetric)] {
            for (rate, bold) in RATES.into_iter().zip(rows) {
                let noise = Noise::new(kind, rate);
                let found: Vec<Method> = Method::all().filter(|method| is_bold(noise, *method)).collect();
                assert_eq!(found, bold, "{}", noise.name());
            }
        }
    }
}
