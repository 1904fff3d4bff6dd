//! The native half of the Python package: arrays and tables in, the engine, arrays and tables out.
//!
//! Nothing here is meant for users of Python: `python/nbam` wraps it, checks what people pass, and carries the documentation.
//! Every function that works for longer than a moment releases the GIL.

mod audit;
mod classifier;
mod error;
mod model;
mod outputs;
mod params;
mod regressor;
mod run;
mod tables;

use pyo3::prelude::*;

/// The module `nbam._nbam`.
#[pymodule(name = "_nbam")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<classifier::Classifier>()?;
    module.add_class::<regressor::Regressor>()?;
    module.add_class::<audit::Audit>()?;
    module.add_class::<audit::SavedModel>()?;
    module.add_class::<outputs::Columns>()?;
    Ok(())
}
