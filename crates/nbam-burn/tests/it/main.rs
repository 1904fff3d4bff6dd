//! Tests of the crate as its users see it.

mod golden;
#[path = "../../../../golden/rows.rs"]
mod golden_rows;
mod heads;
mod learned;
#[cfg(feature = "train")]
mod metrics;
mod paper;
#[cfg(feature = "audit")]
mod score;
mod trajectory;

use burn::tensor::{Device, Tensor};

/// The device of all tests, with and without autodiff.
fn training_device() -> Device {
    Device::flex().autodiff()
}

/// The elements of a tensor as they lie in memory.
fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().unwrap()
}

/// Asserts that all elements agree within a relative and an absolute tolerance.
fn assert_close(got: &[f32], expected: &[f32], relative: f32, absolute: f32) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let limit = relative * expected.abs() + absolute;
        assert!((got - expected).abs() <= limit, "element {index}: {got}, expected {expected}");
    }
}
