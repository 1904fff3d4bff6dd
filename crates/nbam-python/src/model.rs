//! What both estimators share: features from NumPy without a copy, and what a fit leaves behind.

use half::f16;
use nbam::switch::Known;
use nbam::{Features, Posterior, Warning};
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

use crate::error::Fault;

/// A matrix of features from Python: single or half precision, read where it is.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    /// Single precision.
    Single(PyReadonlyArray2<'py, f32>),
    /// Half precision.
    Half(PyReadonlyArray2<'py, f16>),
}

impl Matrix<'_> {
    /// The features; nothing is copied, so the array must be in C order.
    pub(crate) fn features(&self) -> Result<Features<'_>, Fault> {
        Ok(match self {
            Self::Single(array) => {
                Features::new(array.as_slice().map_err(|_| not_contiguous())?, array.shape()[1])?
            }
            Self::Half(array) => {
                Features::from_half(array.as_slice().map_err(|_| not_contiguous())?, array.shape()[1])?
            }
        })
    }
}

/// A column from Python, read where it is.
pub(crate) fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> Result<&'a [T], Fault> {
    array.as_slice().map_err(|_| not_contiguous())
}

/// An optional column from Python.
pub(crate) fn optional_slice<'a, T: numpy::Element>(
    array: &'a Option<PyReadonlyArray1<'_, T>>,
) -> Result<Option<&'a [T]>, Fault> {
    array.as_ref().map(slice).transpose()
}

fn not_contiguous() -> Fault {
    Fault::internal("an array reached the engine that is not contiguous")
}

/// Known switches: 1 is clean, 0 contaminated, anything else unknown.
pub(crate) fn known_switches(codes: Option<&[i8]>) -> Option<Vec<Known>> {
    let known = |code: &i8| match code {
        1 => Known::Clean,
        0 => Known::Contaminated,
        _ => Known::Unknown,
    };
    codes.map(|codes| codes.iter().map(known).collect())
}

/// Contamination, prior, log clean and log anomaly of each row, as arrays.
pub(crate) type PosteriorArrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

pub(crate) fn posterior_arrays<'py>(py: Python<'py>, posterior: Posterior) -> PosteriorArrays<'py> {
    (
        posterior.contamination.into_pyarray(py),
        posterior.prior.into_pyarray(py),
        posterior.log_clean.into_pyarray(py),
        posterior.log_anomaly.into_pyarray(py),
    )
}

/// Code, sentence and classes of each warning.
pub(crate) fn warnings(warnings: &[Warning], names: &[String]) -> Vec<(String, String, Vec<usize>)> {
    let warning = |warning: &Warning| {
        (warning.code.clone(), warning.message_with_names(names), warning.classes.clone())
    };
    warnings.iter().map(warning).collect()
}
