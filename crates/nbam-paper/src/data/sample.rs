//! The rows that a run is trained and tested on.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use super::folder::{DataSet, Targets};
use super::matrix::Matrix;
use crate::error::{Error, Result};

/// What accuracy or error is measured on.
#[derive(Debug, Clone)]
pub enum Test {
    /// Rows that no fit has seen.
    Rows(Matrix, Targets),
    /// The training rows, against their true targets: the set has no test rows and is too small to give any away.
    Training,
}

/// The rows of a data set as one run uses them, with true targets.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Features of the training rows.
    pub features: Matrix,
    /// Their true targets.
    pub targets: Targets,
    /// What accuracy or error is measured on.
    pub test: Test,
}

/// Rows of CIFAR-10 that the paper trains on.
const CIFAR_ROWS: usize = 50_000;
/// The share of them that it keeps.
const PAPER_SHARE: f64 = 0.9;

/// Chooses rows by seed.
///
/// * `cifar10` with its 50,000 training rows: the paper's stratified split, nine tenths of every class.
/// * Numbers without test rows: two thirds for training, one third for the test.
/// * Everything else: all rows.
pub fn sample(data: &DataSet, seed: u64) -> Sample {
    let rows = data.targets.len();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // A stream of its own, so that the protocols of noise with the same seed draw other numbers.
    random.set_stream(SPLIT_STREAM);
    match (&data.targets, &data.test) {
        (Targets::Labels { labels, classes }, Some((features, targets)))
            if data.name == "cifar10" && rows == CIFAR_ROWS =>
        {
            let chosen = stratified(labels, *classes, PAPER_SHARE, &mut random);
            part(data, &chosen, Test::Rows(features.clone(), targets.clone()))
        }
        (_, Some((features, targets))) => Sample {
            features: data.features.clone(),
            targets: data.targets.clone(),
            test: Test::Rows(features.clone(), targets.clone()),
        },
        (Targets::Labels { .. }, None) => {
            Sample { features: data.features.clone(), targets: data.targets.clone(), test: Test::Training }
        }
        (Targets::Values(_), None) => {
            let mut order: Vec<usize> = (0..rows).collect();
            order.shuffle(&mut random);
            let (test, train) = order.split_at(rows / 3);
            part(data, train, Test::Rows(data.features.take(test), taken(&data.targets, test)))
        }
    }
}

const SPLIT_STREAM: u64 = 7;

/// The paper's fixed split: nine tenths of every class, the same for all seeds. Accuracy is measured on the test rows; a
/// set without any is tested on the tenth that is left.
///
/// # Errors
/// When the targets are no classes.
pub fn paper_split(data: &DataSet) -> Result<Sample> {
    let Targets::Labels { labels, classes } = &data.targets else {
        return Err(Error::input(format!("the targets of '{}' are quantities, expected classes", data.name))
            .with_hint("number the classes 0, 1, 2, ... without gaps"));
    };
    let mut random = ChaCha8Rng::seed_from_u64(0);
    random.set_stream(SPLIT_STREAM);
    let chosen = stratified(labels, *classes, PAPER_SHARE, &mut random);
    let test = match &data.test {
        Some((features, targets)) => Test::Rows(features.clone(), targets.clone()),
        None => {
            let left: Vec<usize> =
                (0..labels.len()).filter(|row| chosen.binary_search(row).is_err()).collect();
            if left.is_empty() {
                return Err(Error::input(format!(
                    "'{}' has too few rows to leave some for a test",
                    data.name
                )));
            }
            Test::Rows(data.features.take(&left), taken(&data.targets, &left))
        }
    };
    Ok(part(data, &chosen, test))
}

fn part(data: &DataSet, rows: &[usize], test: Test) -> Sample {
    Sample { features: data.features.take(rows), targets: taken(&data.targets, rows), test }
}

/// This share of the rows of every class, in the data's order.
fn stratified(labels: &[usize], classes: usize, share: f64, random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut chosen = Vec::new();
    for class in 0..classes {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        rows.shuffle(random);
        rows.truncate((share * rows.len() as f64).round() as usize);
        chosen.extend(rows);
    }
    chosen.sort_unstable();
    chosen
}

fn taken(targets: &Targets, rows: &[usize]) -> Targets {
    match targets {
        Targets::Labels { labels, classes } => {
            Targets::Labels { labels: rows.iter().map(|&row| labels[row]).collect(), classes: *classes }
        }
        Targets::Values(values) => Targets::Values(rows.iter().map(|&row| values[row]).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_keeps_its_share() {
        let labels: Vec<usize> = (0..100).map(|row| usize::from(row % 5 == 0)).collect();
        let chosen = stratified(&labels, 2, 0.9, &mut ChaCha8Rng::seed_from_u64(3));
        assert_eq!(chosen.len(), 90);
        assert_eq!(chosen.iter().filter(|&&row| labels[row] == 1).count(), 18);
        assert!(chosen.is_sorted());
        assert_ne!(chosen, stratified(&labels, 2, 0.9, &mut ChaCha8Rng::seed_from_u64(4)));
    }

    #[test]
    fn the_papers_split_is_fixed_and_leaves_a_tenth() {
        let data = DataSet {
            name: "made".into(),
            fingerprint: String::new(),
            features: Matrix::new((0..100).map(|row| row as f32).collect(), 1),
            targets: Targets::Labels { labels: (0..100).map(|row| row % 2).collect(), classes: 2 },
            test: None,
        };
        let split = paper_split(&data).unwrap();
        let Test::Rows(left, test) = &split.test else { panic!("a tenth is left") };
        assert_eq!((split.features.rows(), left.rows(), test.len()), (90, 10, 10));
        let Targets::Labels { labels, .. } = &split.targets else { panic!("labels stay labels") };
        assert_eq!(labels.iter().sum::<usize>(), 45);
        let test = (Matrix::new(vec![0.0; 4], 1), Targets::Labels { labels: vec![0; 4], classes: 2 });
        let with_test = paper_split(&DataSet { test: Some(test), ..data }).unwrap();
        let Test::Rows(rows, _) = &with_test.test else { panic!("the test rows are used") };
        assert_eq!((with_test.features.rows(), rows.rows()), (90, 4));
    }

    #[test]
    fn numbers_are_split_into_thirds() {
        let data = DataSet {
            name: "made".into(),
            fingerprint: String::new(),
            features: Matrix::new((0..30).map(|row| row as f32).collect(), 1),
            targets: Targets::Values((0..30).map(f64::from).collect()),
            test: None,
        };
        let sample = sample(&data, 1);
        let (Targets::Values(train), Test::Rows(_, Targets::Values(test))) = (&sample.targets, &sample.test)
        else {
            panic!("numbers stay numbers")
        };
        let mut all = [train.as_slice(), test.as_slice()].concat();
        all.sort_by(f64::total_cmp);
        assert_eq!((train.len(), test.len()), (20, 10));
        assert_eq!(all, (0..30).map(f64::from).collect::<Vec<_>>());
    }
}
