//! A CNN trained end to end on raw images, three labels in ten of which are wrong. See README.md beside this file.
//!
//!     cargo run --release -p nbam-burn --example fashion_mnist -- [--rows N] [--epochs N] [--seed N] [--data FOLDER] [--out FOLDER]
#![expect(clippy::print_stdout, reason = "an example shows its result")]

mod data;
mod inference;
mod model;
mod options;
mod training;

use std::error::Error;
use std::time::Instant;

use burn::tensor::Device;
use nbam::corrupt::{PairFlip, pair_flips};
use nbam_burn::score::{RowsFormat, score_classes};

use data::{CLASSES, Images, NAMES};
use model::{Loss, Model};
use options::Options;

/// The probability that a label is turned into that of the next class.
const FLIP_RATE: f64 = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    let (train, test) = (Images::load(&options.data, "train")?, Images::load(&options.data, "t10k")?);
    let mut train = train.first(options.rows);
    println!(
        "{} images to train on and {} to test with, from {}",
        train.len(),
        test.len(),
        options.data.display()
    );
    let flips = (0..CLASSES).map(|from| PairFlip { from, to: (from + 1) % CLASSES, rate: FLIP_RATE });
    let given = pair_flips(train.labels(), CLASSES, &flips.collect::<Vec<_>>(), options.seed)?;
    train.replace_labels(given.targets.clone());

    let device = Device::flex().autodiff();
    println!("\nloss                             test accuracy   AP      ECE     believed wrong   seconds");
    for loss in [Loss::CrossEntropy { is_held: false }, Loss::CrossEntropy { is_held: true }, Loss::Nbam] {
        let start = Instant::now();
        device.seed(options.seed);
        let steps = options.epochs * train.len().div_ceil(training::BATCH);
        let model = Model::new(loss, train.len(), steps, &device);
        let model = training::train(model, &train, &test, &options, &device)?;
        let seconds = start.elapsed().as_secs_f64();
        let quality = inference::quality(&model, &train, &test, &given.is_contaminated)?;
        println!("{:<32} {quality}   {seconds:.0}", loss.name());
        if let (Loss::Nbam, Some(folder)) = (loss, &options.out) {
            let names = NAMES.map(String::from);
            let scores = score_classes("garment", &names, inference::reviews(&model, &train), 0.05)?;
            scores.write(folder, "Fashion-MNIST with pair flips", RowsFormat::Parquet, true)?;
            println!("{}", scores.summary.headline());
        }
    }
    println!("\nof the training labels, {:.1} % are wrong", 100.0 * given.rate());
    Ok(())
}
