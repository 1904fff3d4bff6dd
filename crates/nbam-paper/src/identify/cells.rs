//! The cells of the experiment: which noise is put on which data.

use crate::data::DataSet;
use crate::noise::{Noise, NoiseKind};
use crate::results::cell_name;

/// One cell: a data set, what is done to its targets, and how many seeds it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The data set's name.
    pub data: String,
    /// Whether its targets are classes.
    pub is_classification: bool,
    /// What is done to its targets.
    pub noise: Noise,
    /// The share of rows whose switch the method is told.
    pub verified: f64,
    /// Seeds that the experiment asks for.
    pub seeds: usize,
}

/// Seeds of a cell, and of a cell on small data, where one draw says little.
const SEEDS: usize = 3;
const SMALL_SEEDS: usize = 20;

/// The small sets of the experiment.
pub(super) const SMALL_SETS: [&str; 3] = ["digits", "breast-cancer", "wine"];

impl Cell {
    /// The cell's name: `cifar10/asymmetric-0.8+verified-0.02`.
    pub fn name(&self) -> String {
        cell_name(&self.data, &self.noise, self.verified)
    }
}

/// The cells of a data set. CIFAR-10, Fashion-MNIST and the small sets have their own by name; any other set gets
/// those of its kind.
pub fn cells_of(data: &DataSet) -> Vec<Cell> {
    use NoiseKind::{Asymmetric, Boundary, Dense, Next, None, Pairs, Sentinel, Shift, Symmetric, Wide};
    let noises: Vec<(NoiseKind, &[f64])> = match data.name.as_str() {
        _ if !data.is_classification() => {
            [Wide, Shift, Sentinel].map(|kind| (kind, &[0.05, 0.15, 0.3][..])).to_vec()
        }
        "cifar10" => vec![
            (None, &[0.0]),
            (Symmetric, &[0.2, 0.4, 0.6]),
            (Asymmetric, &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]),
            (Dense, &[0.4]),
            (Boundary, &[0.2]),
        ],
        "fashion-mnist" => {
            vec![(None, &[0.0]), (Symmetric, &[0.4]), (Pairs, &[0.3]), (Dense, &[0.3]), (Boundary, &[0.2])]
        }
        "digits" => {
            vec![(None, &[0.0]), (Next, &[0.2]), (Symmetric, &[0.2]), (Dense, &[0.3]), (Boundary, &[0.2])]
        }
        name if SMALL_SETS.contains(&name) => vec![(Next, &[0.2]), (Symmetric, &[0.2]), (Boundary, &[0.2])],
        _ => vec![(Symmetric, &[0.2]), (Pairs, &[0.3]), (Dense, &[0.3]), (Boundary, &[0.2])],
    };
    let mut cells = Vec::new();
    for (kind, rates) in noises {
        for &rate in rates {
            cells.push(Cell {
                data: data.name.clone(),
                is_classification: data.is_classification(),
                noise: Noise::new(kind, rate),
                verified: 0.0,
                seeds: seeds_of(&data.name, kind),
            });
        }
    }
    if data.name == "cifar10" && data.is_classification() {
        let helped = Cell {
            data: data.name.clone(),
            is_classification: true,
            noise: Noise::new(Asymmetric, 0.8),
            verified: 0.02,
            seeds: seeds_of(&data.name, Asymmetric),
        };
        cells.push(helped);
    }
    cells
}

/// How many seeds a cell takes.
pub(super) fn seeds_of(data: &str, kind: NoiseKind) -> usize {
    let is_small = SMALL_SETS.contains(&data) && matches!(kind, NoiseKind::Next | NoiseKind::Symmetric);
    if is_small { SMALL_SEEDS } else { SEEDS }
}
