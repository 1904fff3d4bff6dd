//! Result columns on their way to Python: as an Arrow stream, or as NumPy arrays.

use arrow::array::RecordBatchIterator;
use arrow::ffi_stream::FFI_ArrowArrayStream;
use nbam_table::{MISSING_CODE, OutputColumn, OutputValues};
use numpy::ToPyArray as _;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::error::Fault;

/// Named columns of equal length.
#[pyclass(frozen, module = "nbam._nbam")]
pub(crate) struct Columns {
    columns: Vec<OutputColumn>,
}

impl Columns {
    pub(crate) fn new(columns: Vec<OutputColumn>) -> Self {
        Self { columns }
    }

    /// Some of the rows, in the given order.
    pub(crate) fn of_rows(columns: &[OutputColumn], rows: &[usize]) -> Self {
        let select =
            |column: &OutputColumn| OutputColumn::new(column.name.as_str(), take(&column.values, rows));
        Self { columns: columns.iter().map(select).collect() }
    }
}

fn take(values: &OutputValues, rows: &[usize]) -> OutputValues {
    fn each<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
        rows.iter().filter_map(|&row| values.get(row).cloned()).collect()
    }
    match values {
        OutputValues::F64(values) => OutputValues::F64(each(values, rows)),
        OutputValues::OptionalF64(values) => OutputValues::OptionalF64(each(values, rows)),
        OutputValues::I64(values) => OutputValues::I64(each(values, rows)),
        OutputValues::U64(values) => OutputValues::U64(each(values, rows)),
        OutputValues::Bool(values) => OutputValues::Bool(each(values, rows)),
        OutputValues::OptionalBool(values) => OutputValues::OptionalBool(each(values, rows)),
        OutputValues::Text(values) => OutputValues::Text(each(values, rows)),
        OutputValues::OptionalText(values) => OutputValues::OptionalText(each(values, rows)),
        OutputValues::Category { codes, values } => {
            OutputValues::Category { codes: each(codes, rows), values: values.clone() }
        }
        other => other.clone(),
    }
}

#[pymethods]
impl Columns {
    /// The Arrow PyCapsule interface: any library that knows it can take the columns without a copy.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore the wish for another schema.
        drop(requested_schema);
        let batch = nbam_table::record_batch(&self.columns).map_err(Fault::from)?;
        let schema = batch.schema();
        let reader = RecordBatchIterator::new([Ok(batch)], schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// The columns by name: NumPy arrays, lists of texts, or `(codes, values)` for texts that repeat, with the code -1 where
    /// there is none.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(py);
        for column in &self.columns {
            let name = &column.name;
            match &column.values {
                OutputValues::F64(values) => arrays.set_item(name, values.to_pyarray(py))?,
                OutputValues::OptionalF64(values) => {
                    let values: Vec<f64> = values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
                    arrays.set_item(name, values.to_pyarray(py))?;
                }
                OutputValues::I64(values) => arrays.set_item(name, values.to_pyarray(py))?,
                OutputValues::U64(values) => arrays.set_item(name, values.to_pyarray(py))?,
                OutputValues::Bool(values) => arrays.set_item(name, values.to_pyarray(py))?,
                OutputValues::OptionalBool(values) => arrays.set_item(name, values)?,
                OutputValues::Text(values) => arrays.set_item(name, values)?,
                OutputValues::OptionalText(values) => arrays.set_item(name, values)?,
                OutputValues::Category { codes, values } => {
                    let code = |code: &u32| if *code == MISSING_CODE { -1 } else { i64::from(*code) };
                    let codes: Vec<i64> = codes.iter().map(code).collect();
                    arrays.set_item(name, (codes.to_pyarray(py), values))?;
                }
                _ => return Err(Fault::internal(format!("column '{name}' is of an unknown kind")).into()),
            }
        }
        Ok(arrays)
    }
}
