//! The regressor behind `nbam.NBAMRegressor`.

use nbam::{MeasuredRows, Model, ModelBytes, Params, Regression};
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Fault;
use crate::model::{
    Matrix, PosteriorArrays, known_switches, optional_slice, posterior_arrays, slice, warnings,
};
use crate::params::Settings;
use crate::run::{released, watched};

/// A fitted regressor. Rows are in C order.
#[pyclass(frozen, module = "nbam._nbam")]
pub(crate) struct Regressor {
    model: nbam::Regressor,
    threads: usize,
}

/// Mean and standard deviation of each row.
type PredictionArrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Regressor {
    #[staticmethod]
    #[pyo3(signature = (settings, x, values, errors, weights, verified, callback))]
    #[expect(clippy::too_many_arguments, reason = "one for each part of the rows, named in Python")]
    fn fit(
        py: Python<'_>,
        settings: Settings,
        x: Matrix<'_>,
        values: PyReadonlyArray1<'_, f64>,
        errors: Option<PyReadonlyArray1<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        verified: Option<PyReadonlyArray1<'_, i8>>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let params = settings.apply(Params::<Regression>::preset(settings.preset()?))?;
        let checked = params.check().map_err(Fault::from)?;
        let known = known_switches(optional_slice(&verified)?);
        let rows = MeasuredRows {
            features: x.features()?,
            values: slice(&values)?,
            errors: optional_slice(&errors)?,
            weights: optional_slice(&weights)?,
            known: known.as_deref(),
        };
        let threads = settings.threads;
        let fit = |monitor: &dyn nbam::Monitor| Ok(checked.fit_rows(&rows, monitor)?);
        let model = watched(py, threads, callback, fit)?;
        Ok(Self { model, threads })
    }

    fn training<'py>(&self, py: Python<'py>) -> Option<PosteriorArrays<'py>> {
        self.model.training().map(|posterior| posterior_arrays(py, posterior.clone()))
    }

    fn warnings(&self, names: Vec<String>) -> Vec<(String, String, Vec<usize>)> {
        warnings(self.model.warnings(), &names)
    }

    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    fn losses(&self) -> Vec<Vec<f64>> {
        self.model.losses().to_vec()
    }

    fn predict<'py>(&self, py: Python<'py>, x: Matrix<'_>) -> PyResult<PredictionArrays<'py>> {
        let features = x.features()?;
        let prediction = released(py, self.threads, || Ok(self.model.predict(&features)?))?;
        Ok((prediction.mean.into_pyarray(py), prediction.sd.into_pyarray(py)))
    }

    fn prior<'py>(&self, py: Python<'py>, x: Matrix<'_>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let features = x.features()?;
        let prior = released(py, self.threads, || Ok(self.model.prior(&features)?))?;
        Ok(prior.into_pyarray(py))
    }

    #[pyo3(signature = (x, values, errors))]
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        values: PyReadonlyArray1<'_, f64>,
        errors: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<PosteriorArrays<'py>> {
        let (features, values, errors) = (x.features()?, slice(&values)?, optional_slice(&errors)?);
        let posterior =
            released(py, self.threads, || Ok(self.model.posterior(&features, values, errors)?))?;
        Ok(posterior_arrays(py, posterior))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let model = Model::Regressor(self.model.clone());
        let ModelBytes { description, tensors } = model.to_bytes().map_err(Fault::from)?;
        Ok((description, PyBytes::new(py, &tensors)))
    }

    #[staticmethod]
    fn from_bytes(description: String, tensors: Vec<u8>, threads: usize) -> PyResult<Self> {
        let mut model = Model::from_bytes(&ModelBytes { description, tensors }).map_err(Fault::from)?;
        model.set_threads(threads);
        match model {
            Model::Regressor(model) => Ok(Self { model, threads }),
            Model::Classifier(_) => {
                Err(Fault::new("ModelError", "the bytes hold a classifier, expected a regressor").into())
            }
        }
    }
}
