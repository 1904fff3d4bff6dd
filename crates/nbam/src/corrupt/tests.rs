//! Realised rates and destinations against what each protocol promises, truth, determinism, and bad input.

use proptest::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::*;

const ROWS: usize = 20_000;

fn balanced(classes: usize) -> Vec<usize> {
    (0..ROWS).map(|row| row % classes).collect()
}

fn share(flags: impl IntoIterator<Item = bool>) -> (f64, f64) {
    let (mut hits, mut rows) = (0.0, 0.0);
    for flag in flags {
        rows += 1.0;
        hits += f64::from(flag);
    }
    (hits / rows, rows)
}

/// The share of true flags lies within five binomial standard deviations of `rate`.
#[track_caller]
fn assert_rate(flags: impl IntoIterator<Item = bool>, rate: f64) {
    let (observed, rows) = share(flags);
    let margin = 5.0 * (rate * (1.0 - rate) / rows).sqrt();
    assert!((observed - rate).abs() <= margin, "observed {observed}, expected {rate} +- {margin}");
}

/// Counts follow the expected shares by a chi-square test at one in a million.
#[track_caller]
fn assert_distribution(counts: &[f64], shares: &[f64]) {
    let total: f64 = counts.iter().sum();
    let mut statistic = 0.0;
    let mut possible = 0;
    for (count, share) in counts.iter().zip(shares) {
        if *share == 0.0 {
            assert_eq!(*count, 0.0, "an impossible class was drawn");
        } else {
            statistic += (count - total * share).powi(2) / (total * share);
            possible += 1;
        }
    }
    let limit = ChiSquared::new(f64::from(possible - 1)).unwrap().inverse_cdf(1.0 - 1e-6);
    assert!(statistic < limit, "chi-square {statistic} exceeds {limit}: {counts:?}");
}

#[track_caller]
fn assert_truth_is_consistent<T: Copy + PartialEq>(truth: &[T], corrupted: &Corrupted<T>) {
    assert_eq!(corrupted.targets.len(), truth.len());
    assert_eq!(corrupted.is_drawn.len(), truth.len());
    for (row, truth) in truth.iter().enumerate() {
        assert_eq!(corrupted.is_contaminated[row], corrupted.targets[row] != *truth, "row {row}");
        assert!(
            corrupted.is_drawn[row] || !corrupted.is_contaminated[row],
            "row {row} changed without a draw"
        );
    }
}

/// How often each class is observed among the chosen rows.
fn counts(targets: &[usize], classes: usize, chosen: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut counts = vec![0.0; classes];
    for (row, &target) in targets.iter().enumerate() {
        if chosen(row) {
            counts[target] += 1.0;
        }
    }
    counts
}

#[test]
fn symmetric_draws_from_all_classes() {
    let labels = balanced(10);
    for seed in 0..5 {
        for rate in [0.1, 0.6] {
            let corrupted = symmetric(&labels, 10, rate, seed).unwrap();
            assert_truth_is_consistent(&labels, &corrupted);
            assert_rate(corrupted.is_drawn.iter().copied(), rate);
            assert_rate(corrupted.is_contaminated.iter().copied(), rate * 0.9);
            assert_distribution(&counts(&corrupted.targets, 10, |row| corrupted.is_drawn[row]), &[0.1; 10]);
            // The true class is among the draws.
            let kept =
                (0..ROWS).filter(|&row| corrupted.is_drawn[row]).map(|row| !corrupted.is_contaminated[row]);
            assert_rate(kept, 0.1);
        }
    }
}

#[test]
fn pair_flips_move_only_their_classes() {
    let labels = balanced(10);
    let flips = [(9, 1), (2, 0), (3, 5), (4, 7)].map(|(from, to)| PairFlip { from, to, rate: 0.4 });
    for seed in 0..5 {
        let corrupted = pair_flips(&labels, 10, &flips, seed).unwrap();
        assert_truth_is_consistent(&labels, &corrupted);
        for class in 0..10 {
            let observed = counts(&corrupted.targets, 10, |row| labels[row] == class);
            let mut shares = [0.0; 10];
            shares[class] = 1.0;
            if let Some(flip) = flips.iter().find(|flip| flip.from == class) {
                (shares[class], shares[flip.to]) = (0.6, 0.4);
                let flipped =
                    (0..ROWS).filter(|&row| labels[row] == class).map(|row| corrupted.is_contaminated[row]);
                assert_rate(flipped, 0.4);
                assert_distribution(&observed, &shares);
            } else {
                assert_eq!(observed[class], (ROWS / 10) as f64);
            }
        }
    }
}

#[test]
fn several_flips_may_leave_one_class() {
    let flips = [PairFlip { from: 0, to: 1, rate: 0.5 }, PairFlip { from: 0, to: 2, rate: 0.5 }];
    let corrupted = pair_flips(&[0; 1000], 3, &flips, 1).unwrap();
    assert_eq!(corrupted.rate(), 1.0);
    assert_distribution(&counts(&corrupted.targets, 3, |_| true), &[0.0, 0.5, 0.5]);
}

#[test]
fn transition_follows_its_rows() {
    let rows = [[0.7, 0.2, 0.1, 0.0], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.0, 0.5, 0.0]];
    let matrix = TransitionMatrix::new(4, rows.concat()).unwrap();
    let labels = balanced(4);
    for seed in 0..5 {
        let corrupted = transition(&labels, &matrix, seed).unwrap();
        assert_truth_is_consistent(&labels, &corrupted);
        assert_eq!(corrupted.is_drawn, corrupted.is_contaminated);
        for class in [0, 2, 3] {
            assert_distribution(&counts(&corrupted.targets, 4, |row| labels[row] == class), &rows[class]);
        }
        assert_eq!(counts(&corrupted.targets, 4, |row| labels[row] == 1)[1], (ROWS / 4) as f64);
    }
}

#[test]
fn quantiles_at_the_ends_of_a_row_never_give_an_impossible_class() {
    let matrix = TransitionMatrix::new(3, vec![0.0, 1.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!((matrix.destination(0, 0.0), matrix.destination(0, 1.0)), (1, 1));
    assert_eq!(
        (matrix.destination(1, 0.0), matrix.destination(1, 0.5), matrix.destination(1, 1.0)),
        (0, 1, 1)
    );
    assert_eq!((matrix.destination(2, 0.0), matrix.destination(2, 1.0)), (2, 2));
}

#[test]
fn symmetric_matrix_is_the_symmetric_protocol() {
    let matrix = TransitionMatrix::symmetric(4, 0.4).unwrap();
    assert!((matrix.row(2).unwrap()[2] - 0.7).abs() < 1e-15);
    assert!((matrix.row(2).unwrap()[0] - 0.1).abs() < 1e-15);
    assert_eq!(matrix.row(4), None);
}

#[test]
fn input_dependent_rates_are_per_row() {
    let labels = balanced(3);
    let rates: Vec<f64> = (0..ROWS).map(|row| if row < ROWS / 2 { 0.05 } else { 0.5 }).collect();
    let destinations: Vec<usize> = labels.iter().map(|label| (label + 1) % 3).collect();
    let corrupted = input_dependent(&labels, 3, &rates, Destination::Labels(&destinations), 3).unwrap();
    assert_truth_is_consistent(&labels, &corrupted);
    assert_rate(corrupted.is_contaminated[..ROWS / 2].iter().copied(), 0.05);
    assert_rate(corrupted.is_contaminated[ROWS / 2..].iter().copied(), 0.5);
    for row in (0..ROWS).filter(|&row| corrupted.is_contaminated[row]) {
        assert_eq!(corrupted.targets[row], destinations[row]);
    }
    // A matrix with a zero diagonal moves every row that is hit.
    let cycle = TransitionMatrix::new(3, vec![0.0, 0.5, 0.5, 0.3, 0.0, 0.7, 1.0, 0.0, 0.0]).unwrap();
    let moved = input_dependent(&labels, 3, &rates, Destination::Transition(&cycle), 3).unwrap();
    assert_eq!(moved.is_contaminated, corrupted.is_drawn);
    let from_one = counts(&moved.targets, 3, |row| moved.is_drawn[row] && labels[row] == 1);
    assert_distribution(&from_one, &[0.3, 0.0, 0.7]);
}

#[test]
fn gaussian_values_follow_the_prior_and_their_law() {
    // The paper's example: a ramp of rates, draws from N(0, 1.5^2) that know nothing of the signal.
    let inputs: Vec<f64> = (0..ROWS).map(|row| -3.0 + 6.0 * row as f64 / ROWS as f64).collect();
    let signal: Vec<f64> = inputs.iter().map(|x| (2.3 * x).sin() + 0.3 * x).collect();
    let rates: Vec<f64> = inputs.iter().map(|x| 1.0 / (1.0 + (1.742 - x).exp())).collect();
    for seed in 0..5 {
        let corrupted = values(&signal, &rates, GrossError::Gaussian { mean: 0.5, sd: 1.5 }, seed).unwrap();
        assert_truth_is_consistent(&signal, &corrupted);
        assert_eq!(corrupted.is_drawn, corrupted.is_contaminated);
        for quarter in 0..4 {
            let rows = quarter * ROWS / 4..(quarter + 1) * ROWS / 4;
            let mean_rate = rates[rows.clone()].iter().sum::<f64>() / (ROWS / 4) as f64;
            assert_rate(corrupted.is_contaminated[rows].iter().copied(), mean_rate);
        }
        let draws: Vec<f64> =
            (0..ROWS).filter(|&row| corrupted.is_drawn[row]).map(|row| corrupted.targets[row]).collect();
        let number = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / number;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / number;
        assert!((mean - 0.5).abs() < 5.0 * 1.5 / number.sqrt(), "mean {mean}");
        assert!((variance / 2.25 - 1.0).abs() < 5.0 * (2.0 / number).sqrt(), "variance {variance}");
    }
}

#[test]
fn gross_errors_do_what_they_say() {
    let clean = [1.0, 2.0, 4.0, 5.0];
    let all = |error| values(&clean, 1.0, error, 0).unwrap().targets;
    assert_eq!(all(GrossError::Unit { factor: 2.54 }), [2.54, 5.08, 10.16, 12.7]);
    assert_eq!(all(GrossError::Sentinel { value: -999.0 }), [-999.0; 4]);
    assert_eq!(all(GrossError::Shift { offset: -1.5 }), [-0.5, 0.5, 2.5, 3.5]);
    // Mean 3, squared deviations 4, 1, 1, 4: sd = sqrt(2.5).
    let shifted = all(GrossError::ShiftInSd { multiple: 4.0 });
    for (shifted, clean) in shifted.iter().zip(clean) {
        assert!((shifted - clean - 4.0 * 2.5_f64.sqrt()).abs() < 1e-14);
    }
}

#[test]
fn a_hit_that_changes_nothing_is_no_contamination() {
    let corrupted = values(&[0.0, 3.0], 1.0, GrossError::Unit { factor: 1000.0 }, 0).unwrap();
    assert_eq!((corrupted.is_drawn, corrupted.is_contaminated), (vec![true, true], vec![false, true]));
    let sentinel = values(&[-999.0, 3.0], 1.0, GrossError::Sentinel { value: -999.0 }, 0).unwrap();
    assert_eq!(sentinel.is_contaminated, [false, true]);
    assert_eq!(sentinel.rate(), 0.5);
}

#[test]
fn gross_error_rates_and_swapped_digits() {
    let clean: Vec<f64> = (0..ROWS).map(|row| 120.0 + (row % 7) as f64).collect();
    let corrupted = values(&clean, 0.2, GrossError::SwapDigits { leading: 3 }, 9).unwrap();
    assert_truth_is_consistent(&clean, &corrupted);
    assert_rate(corrupted.is_drawn.iter().copied(), 0.2);
    // 120 becomes 210 or 102, each half of the time; 122 has one pair of different digits only.
    let of = |value: f64| {
        let hit = (0..ROWS).filter(|&row| clean[row] == value && corrupted.is_drawn[row]);
        hit.map(|row| corrupted.targets[row]).collect::<Vec<f64>>()
    };
    assert!(of(120.0).iter().all(|value| [210.0, 102.0].contains(value)));
    assert_rate(of(120.0).iter().map(|value| *value == 210.0), 0.5);
    assert!(of(122.0).iter().all(|value| *value == 212.0));
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_does_not() {
    let labels = balanced(5);
    let first = symmetric(&labels, 5, 0.3, 11).unwrap();
    assert_eq!(first, symmetric(&labels, 5, 0.3, 11).unwrap());
    assert_ne!(first, symmetric(&labels, 5, 0.3, 12).unwrap());
    let clean = vec![1.0; 100];
    let noise = GrossError::Gaussian { mean: 0.0, sd: 1.0 };
    assert_eq!(values(&clean, 0.5, noise, 1).unwrap(), values(&clean, 0.5, noise, 1).unwrap());
}

/// Published results name a seed: if this fails, the seeds of every earlier version mean something else.
#[test]
fn seeds_keep_their_meaning_across_versions() {
    let labels = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
    let corrupted = symmetric(&labels, 4, 0.5, 42).unwrap();
    assert_eq!(corrupted.targets, [0, 1, 2, 3, 0, 1, 1, 3, 0, 0, 2, 3]);
    let flips = [PairFlip { from: 0, to: 1, rate: 0.5 }];
    assert_eq!(pair_flips(&[0; 12], 2, &flips, 42).unwrap().targets, [1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1]);
}

#[test]
fn boundary_rates_grow_as_the_margin_shrinks() {
    let margins = [0.0, 0.2, 0.9, 0.5, 1.0];
    let probabilities: Vec<f32> =
        margins.iter().flat_map(|margin| [(1.0 + margin) / 2.0, (1.0 - margin) / 2.0, 0.0]).collect();
    let noise = boundary_rates(&probabilities, &[0, 1, 0, 2, 0], 3, 0.2).unwrap();
    // The weights 1 - m are 1, .8, .1, .5, 0 and sum to 2.4; a total of 1 needs c = 1 / 2.4.
    for (rate, margin) in noise.rates.iter().zip(margins) {
        assert!((rate - (1.0 - f64::from(margin)) / 2.4).abs() < 1e-6);
    }
    // The runner-up, unless the row's own label is not the favourite.
    assert_eq!(noise.destinations, [1, 0, 1, 0, 1]);
}

#[test]
fn boundary_rates_at_their_ends() {
    let probabilities = [0.5, 0.5, 0.9, 0.1, 1.0, 0.0];
    let rates = |mean_rate| boundary_rates(&probabilities, &[0, 0, 0], 2, mean_rate).map(|noise| noise.rates);
    assert_eq!(rates(0.0).unwrap(), [0.0, 0.0, 0.0]);
    // Two of three rows can be hit at all.
    assert_eq!(rates(2.0 / 3.0).unwrap(), [1.0, 1.0, 0.0]);
    assert!(matches!(rates(0.7).unwrap_err().kind(), ErrorKind::Parameter));
    let certain = boundary_rates(&[1.0, 0.0], &[0], 2, 0.0).unwrap();
    assert_eq!((certain.rates, certain.destinations), (vec![0.0], vec![1]));
}

#[test]
fn bad_labels_rates_and_shapes_are_errors() {
    let uniform = Destination::Uniform;
    let kind = |result: Result<Corrupted<usize>>| result.unwrap_err().kind();
    for rate in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(kind(symmetric(&[0, 1], 2, rate, 0)), ErrorKind::Parameter));
        assert!(matches!(
            kind(input_dependent(&[0, 1], 2, &[0.1, rate][..], uniform, 0)),
            ErrorKind::Parameter
        ));
        let flip = PairFlip { from: 0, to: 1, rate };
        assert!(matches!(kind(pair_flips(&[0, 1], 2, &[flip], 0)), ErrorKind::Parameter));
    }
    assert!(matches!(kind(symmetric(&[0, 2], 2, 0.1, 0)), ErrorKind::Label));
    assert!(matches!(kind(symmetric(&[0, 0], 1, 0.1, 0)), ErrorKind::Parameter));
    assert!(matches!(kind(symmetric(&[], 2, 0.1, 0)), ErrorKind::Shape));
    assert!(matches!(kind(input_dependent(&[0, 1], 2, &[0.1][..], uniform, 0)), ErrorKind::Shape));
    assert!(matches!(kind(input_dependent(&[0], 2, 0.1, Destination::Labels(&[0, 1]), 0)), ErrorKind::Shape));
    assert!(matches!(kind(input_dependent(&[0], 2, 0.1, Destination::Labels(&[2]), 0)), ErrorKind::Label));
    let matrix = TransitionMatrix::symmetric(3, 0.1).unwrap();
    assert!(matches!(
        kind(input_dependent(&[0], 2, 0.1, Destination::Transition(&matrix), 0)),
        ErrorKind::Shape
    ));
    let error = symmetric(&[0, 7], 2, 0.1, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the label 7 of row 1 is out of range: there are 2 classes, numbered from 0"
    );
}

#[test]
fn bad_matrices_and_flips_are_errors() {
    let kind = |result: Result<TransitionMatrix>| result.unwrap_err().kind();
    assert!(matches!(kind(TransitionMatrix::new(2, vec![1.0, 0.0, 0.0])), ErrorKind::Shape));
    assert!(matches!(kind(TransitionMatrix::new(2, vec![1.0, 0.0, 0.6, 0.6])), ErrorKind::Parameter));
    assert!(matches!(kind(TransitionMatrix::new(2, vec![1.5, -0.5, 0.0, 1.0])), ErrorKind::Parameter));
    assert!(matches!(kind(TransitionMatrix::new(2, vec![f64::NAN, 1.0, 0.0, 1.0])), ErrorKind::Parameter));
    assert!(matches!(kind(TransitionMatrix::new(usize::MAX, vec![])), ErrorKind::Parameter));
    let flips = |flips: &[(usize, usize, f64)]| {
        let flips: Vec<PairFlip> =
            flips.iter().map(|&(from, to, rate)| PairFlip { from, to, rate }).collect();
        kind(TransitionMatrix::pair_flips(3, &flips))
    };
    assert!(matches!(flips(&[(0, 3, 0.1)]), ErrorKind::Label));
    assert!(matches!(flips(&[(3, 0, 0.1)]), ErrorKind::Label));
    assert!(matches!(flips(&[(1, 1, 0.1)]), ErrorKind::Parameter));
    assert!(matches!(flips(&[(0, 1, 0.1), (0, 1, 0.2)]), ErrorKind::Parameter));
    assert!(matches!(flips(&[(0, 1, 0.6), (0, 2, 0.6)]), ErrorKind::Parameter));
}

#[test]
fn bad_values_and_gross_errors_are_errors() {
    let kind = |clean: &[f64], error| values(clean, 1.0, error, 0).unwrap_err().kind();
    let shift = GrossError::Shift { offset: 1.0 };
    assert!(matches!(kind(&[1.0, f64::NAN], shift), ErrorKind::Value));
    assert!(matches!(kind(&[f64::INFINITY], shift), ErrorKind::Value));
    assert!(matches!(kind(&[], shift), ErrorKind::Shape));
    for parameter in [f64::NAN, f64::INFINITY] {
        for error in [
            GrossError::Gaussian { mean: parameter, sd: 1.0 },
            GrossError::Gaussian { mean: 0.0, sd: parameter },
            GrossError::Unit { factor: parameter },
            GrossError::Sentinel { value: parameter },
            GrossError::Shift { offset: parameter },
            GrossError::ShiftInSd { multiple: parameter },
        ] {
            assert!(matches!(kind(&[1.0, 2.0], error), ErrorKind::Parameter), "{error:?}");
        }
    }
    for error in [
        GrossError::Gaussian { mean: 0.0, sd: -1.0 },
        GrossError::Unit { factor: 1.0 },
        GrossError::Unit { factor: 0.0 },
        GrossError::Shift { offset: 0.0 },
        GrossError::ShiftInSd { multiple: 0.0 },
        GrossError::SwapDigits { leading: 1 },
    ] {
        assert!(matches!(kind(&[1.0, 2.0], error), ErrorKind::Parameter), "{error:?}");
    }
    assert!(matches!(kind(&[1e300], GrossError::Unit { factor: 1e10 }), ErrorKind::Value));
    assert!(matches!(kind(&[0.1; 7], GrossError::ShiftInSd { multiple: 2.0 }), ErrorKind::Value));
    assert!(matches!(values(&[1.0], 2.0, shift, 0).unwrap_err().kind(), ErrorKind::Parameter));
}

#[test]
fn bad_probabilities_are_errors() {
    let kind = |probabilities: &[f64], labels: &[usize], rate| {
        boundary_rates(probabilities, labels, 2, rate).unwrap_err().kind()
    };
    assert!(matches!(kind(&[0.5, 0.5, 0.5], &[0, 1], 0.1), ErrorKind::Shape));
    assert!(matches!(kind(&[], &[], 0.1), ErrorKind::Shape));
    assert!(matches!(kind(&[0.5, 0.6], &[0], 0.1), ErrorKind::Value));
    assert!(matches!(kind(&[f64::NAN, 0.5], &[0], 0.1), ErrorKind::Value));
    assert!(matches!(kind(&[1.5, -0.5], &[0], 0.1), ErrorKind::Value));
    assert!(matches!(kind(&[0.5, 0.5], &[2], 0.1), ErrorKind::Label));
    assert!(matches!(kind(&[0.5, 0.5], &[0], 1.1), ErrorKind::Parameter));
}

proptest! {
    #[test]
    fn higher_rates_hit_the_same_rows_and_more(
        seed in any::<u64>(), low in 0.0..1.0_f64, more in 0.0..1.0_f64, classes in 2..6_usize,
    ) {
        let high = low + more * (1.0 - low);
        let labels: Vec<usize> = (0..200).map(|row| row % classes).collect();
        let labels_at = |rate| symmetric(&labels, classes, rate, seed).unwrap();
        let (few, many) = (labels_at(low), labels_at(high));
        let error = GrossError::Gaussian { mean: 0.0, sd: 2.0 };
        let clean = vec![0.0; 200];
        let values_at = |rate| values(&clean, rate, error, seed).unwrap();
        let (little, much) = (values_at(low), values_at(high));
        for row in 0..200 {
            if few.is_drawn[row] {
                prop_assert!(many.is_drawn[row]);
                prop_assert_eq!(few.targets[row], many.targets[row]);
            }
            if little.is_drawn[row] {
                prop_assert_eq!(little.targets[row], much.targets[row]);
            }
        }
    }

    #[test]
    fn rates_of_zero_and_one_are_exact(seed in any::<u64>()) {
        let labels: Vec<usize> = (0..50).map(|row| row % 4).collect();
        prop_assert_eq!(symmetric(&labels, 4, 0.0, seed).unwrap().targets, labels.clone());
        prop_assert!(symmetric(&labels, 4, 1.0, seed).unwrap().is_drawn.iter().all(|is_drawn| *is_drawn));
    }

    #[test]
    fn boundary_rates_have_the_mean_asked_for(
        margins in prop::collection::vec(0.0..0.999_f64, 1..60), mean_rate in 0.0..=1.0_f64,
    ) {
        let pair = |margin: &f64| [(1.0 + margin) / 2.0, (1.0 - margin) / 2.0];
        let probabilities: Vec<f64> = margins.iter().flat_map(pair).collect();
        let noise = boundary_rates(&probabilities, &vec![0; margins.len()], 2, mean_rate).unwrap();
        let mean = noise.rates.iter().sum::<f64>() / margins.len() as f64;
        prop_assert!((mean - mean_rate).abs() < 1e-9, "mean {mean}, asked for {mean_rate}");
        for (left, left_margin) in noise.rates.iter().zip(&margins) {
            prop_assert!((0.0..=1.0).contains(left));
            for (right, right_margin) in noise.rates.iter().zip(&margins) {
                prop_assert!(left_margin > right_margin || left >= right);
            }
        }
    }
}
