//! The classifier behind `nbam.NBAMClassifier`.

use nbam::{Classification, LabelledRows, Model, ModelBytes, Params};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Fault;
use crate::model::{
    Matrix, PosteriorArrays, known_switches, optional_slice, posterior_arrays, slice, warnings,
};
use crate::params::Settings;
use crate::run::{released, watched};

/// A fitted classifier. Classes are numbers from 0; rows are in C order.
#[pyclass(frozen, module = "nbam._nbam")]
pub(crate) struct Classifier {
    model: nbam::Classifier,
    threads: usize,
}

#[pymethods]
impl Classifier {
    #[staticmethod]
    #[pyo3(signature = (settings, x, labels, weights, verified, callback))]
    fn fit(
        py: Python<'_>,
        settings: Settings,
        x: Matrix<'_>,
        labels: PyReadonlyArray1<'_, usize>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        verified: Option<PyReadonlyArray1<'_, i8>>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let params = settings.apply(Params::<Classification>::preset(settings.preset()?))?;
        let checked = params.check().map_err(Fault::from)?;
        let known = known_switches(optional_slice(&verified)?);
        let rows = LabelledRows {
            features: x.features()?,
            labels: slice(&labels)?,
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

    fn predict_proba<'py>(&self, py: Python<'py>, x: Matrix<'_>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let features = x.features()?;
        let shape = [features.rows(), self.model.classes()];
        let probabilities = released(py, self.threads, || Ok(self.model.predict_proba(&features)?))?;
        probabilities.into_pyarray(py).reshape(shape)
    }

    fn prior<'py>(&self, py: Python<'py>, x: Matrix<'_>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let features = x.features()?;
        let prior = released(py, self.threads, || Ok(self.model.prior(&features)?))?;
        Ok(prior.into_pyarray(py))
    }

    fn posterior<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'_>,
        labels: PyReadonlyArray1<'_, usize>,
    ) -> PyResult<PosteriorArrays<'py>> {
        let (features, labels) = (x.features()?, slice(&labels)?);
        let posterior = released(py, self.threads, || Ok(self.model.posterior(&features, labels)?))?;
        Ok(posterior_arrays(py, posterior))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let model = Model::Classifier(self.model.clone());
        let ModelBytes { description, tensors } = model.to_bytes().map_err(Fault::from)?;
        Ok((description, PyBytes::new(py, &tensors)))
    }

    #[staticmethod]
    fn from_bytes(description: String, tensors: Vec<u8>, threads: usize) -> PyResult<Self> {
        let mut model = Model::from_bytes(&ModelBytes { description, tensors }).map_err(Fault::from)?;
        model.set_threads(threads);
        match model {
            Model::Classifier(model) => Ok(Self { model, threads }),
            Model::Regressor(_) => {
                Err(Fault::new("ModelError", "the bytes hold a regressor, expected a classifier").into())
            }
        }
    }
}
