//! An MLP with cross-entropy turned into NBAM in a diff of a few lines: compare `cross_entropy.rs` and `nbam.rs`.
//!
//!     cargo run --release -p nbam-burn --example mlp
//!
//! Both are trained on the bundled digits, one label in five of which is wrong, and compared with the truth.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

mod cross_entropy;
mod data;
mod inference;
mod nbam;
mod training;

use std::error::Error;

use burn::tensor::Device;

use burn::data::dataset::Dataset as _;
use data::Digits;
use training::{Settings, train};

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    let digits = Digits::load()?;
    let settings = Settings { rows: digits.len(), batch_size: 128, epochs: 60, seed: 0 };
    device.seed(settings.seed);
    let baseline = train(cross_entropy::Model::new(&device), &digits, &settings, &device)?;
    let robust = train(nbam::Model::new(&settings, &device), &digits, &settings, &device)?;

    let all = data::whole(&digits, &device.inner());
    println!("\n                accuracy against the truth   average precision of finding the wrong labels");
    for (name, result) in [
        ("cross-entropy", inference::cross_entropy(&baseline, all.clone(), &digits)?),
        ("NBAM", inference::nbam(&robust, all, &digits)?),
    ] {
        println!("{name:<15} {:<28.3} {:.3}", result.accuracy, result.average_precision);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    /// The diff that docs/burn.md shows is that of the two files.
    #[test]
    fn the_documented_diff_is_the_diff() {
        let documentation = include_str!("../../../../docs/burn.md");
        let diff = documentation.split("```diff\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let (before, after) = (include_str!("cross_entropy.rs"), include_str!("nbam.rs"));
        let has = |text: &str, line: &str| text.lines().any(|own| own == line);
        for line in diff.lines() {
            let (sign, rest) = line.split_at(line.len().min(1));
            match sign {
                "-" => assert!(has(before, rest) && !has(after, rest), "{line}"),
                "+" => assert!(has(after, rest) && !has(before, rest), "{line}"),
                _ => assert!(has(before, rest) && has(after, rest), "{line}"),
            }
        }
        let changed = |text: &str, other: &str| text.lines().filter(|line| !has(other, line)).count();
        let counted = |sign: char| diff.lines().filter(|line| line.starts_with(sign)).count();
        // The line of documentation at the top of each file is the only other difference.
        assert_eq!(counted('-') + 1, changed(before, after));
        assert_eq!(counted('+') + 1, changed(after, before));
    }
}
