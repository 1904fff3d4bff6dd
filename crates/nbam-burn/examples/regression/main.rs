//! A curve with error bars through points of which a quarter are wrong: the paper's one-dimensional example.
//!
//!     cargo run --release -p nbam-burn --example regression
//!
//! Wrong points become more frequent to the right, where they outnumber the clean ones.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

mod data;
mod inference;
mod model;
mod training;

use std::error::Error;

use burn::tensor::Device;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    let (train, fresh) = (data::draw(1_000, 0), data::draw(10_000, 1));
    device.seed(0);
    let curve = training::train(model::Curve::new(&device), &train, &device);
    println!("    x    truth    mean ± sd        picture: o truth, * mean, - two error bars");
    for line in inference::picture(&curve, 25)? {
        println!("{line}");
    }
    let quality = inference::quality(&curve, &train, &fresh)?;
    println!("\nroot mean square error of the curve   {:.3}", quality.error);
    println!("mean error bar (clean noise is {:.3})  {:.3}", data::NOISE, quality.mean_sd);
    println!("fresh clean points within two bars    {:.1} %", 100.0 * quality.coverage);
    println!("posterior on the right side of 1/2    {:.1} %", 100.0 * quality.accuracy);
    println!("the same, knowing everything          {:.1} %", 100.0 * quality.ceiling);
    Ok(())
}
