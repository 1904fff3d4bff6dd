//! Tables from Python: files, Arrow streams, and NumPy arrays as columns.

use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch, RecordBatchReader,
    StringArray,
};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, Field, Float16Type, Float32Type, Float64Type, Int64Type, Schema,
    TimestampMicrosecondType, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use nbam_table::{ReadOptions, Table};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::Fault;
use crate::model::Matrix;

/// What messages call data that has no file name.
const SOURCE: &str = "the data";

/// Where a table comes from, ready to be read without the GIL.
pub(crate) enum Input {
    File(PathBuf),
    Stream(RecordBatchStreamReader),
    Columns(RecordBatch),
}

/// A column from NumPy: its name, what it holds, and the array or the list.
type NamedColumn<'py> = (String, String, Bound<'py, PyAny>);

impl<'py> FromPyObject<'_, 'py> for Input {
    type Error = PyErr;

    /// A path, an object with `__arrow_c_stream__`, or a list of named columns.
    fn extract(source: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if source.hasattr("__arrow_c_stream__")? {
            return stream(&source);
        }
        if let Ok(columns) = source.extract::<Vec<NamedColumn<'py>>>() {
            return Ok(Self::Columns(record_batch(columns)?));
        }
        Ok(Self::File(source.extract()?))
    }
}

impl Input {
    pub(crate) fn read(self, options: &ReadOptions) -> Result<Table, Fault> {
        Ok(match self {
            Self::File(path) => Table::read(path, options)?,
            Self::Stream(reader) => {
                let schema = reader.schema();
                Table::from_arrow_batches(SOURCE, &schema, reader, options)?
            }
            Self::Columns(batch) => {
                let schema = batch.schema();
                Table::from_arrow_batches(SOURCE, &schema, [Ok(batch)], options)?
            }
        })
    }
}

fn stream(source: &Bound<'_, PyAny>) -> PyResult<Input> {
    let capsule = source.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream of the Arrow C interface. It is moved out, and what is left says that it
    // was, so that the capsule's destructor does not release it again.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    Ok(Input::Stream(reader.map_err(|error| not_a_table(&error))?))
}

fn not_a_table(error: &ArrowError) -> Fault {
    Fault::new("FormatError", format!("{SOURCE}: the Arrow stream cannot be read as a table: {error}"))
}

fn record_batch(columns: Vec<NamedColumn<'_>>) -> PyResult<RecordBatch> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for (name, kind, values) in columns {
        let array = array(&kind, &values)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let rows = arrays.first().map_or(0, |array| array.len());
    if let Some((field, array)) = fields.iter().zip(&arrays).find(|(_, array)| array.len() != rows) {
        let message = format!(
            "{SOURCE}: column '{}' has {} rows, but column '{}' has {rows}",
            field.name(),
            array.len(),
            fields[0].name()
        );
        return Err(Fault::new("ShapeError", message).into());
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
    Ok(batch.map_err(|error| not_a_table(&error))?)
}

fn array(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(match kind {
        "number" => Arc::new(PrimitiveArray::<Float64Type>::new(shared::<Float64Type>(values)?, None)),
        "integer" => Arc::new(PrimitiveArray::<Int64Type>::new(shared::<Int64Type>(values)?, None)),
        "unsigned" => Arc::new(PrimitiveArray::<UInt64Type>::new(shared::<UInt64Type>(values)?, None)),
        // Microseconds since 1970; NumPy's 'not a time' is the smallest number.
        "time" => {
            let times = shared::<Int64Type>(values)?;
            let times = times.iter().map(|time| (*time != i64::MIN).then_some(*time));
            Arc::new(times.collect::<PrimitiveArray<TimestampMicrosecondType>>())
        }
        "truth" => {
            let codes: PyReadonlyArray1<'_, i8> = values.extract()?;
            let truths: BooleanArray =
                codes.as_array().iter().map(|code| (*code >= 0).then_some(*code == 1)).collect();
            Arc::new(truths)
        }
        "text" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
        "block" => block(values)?,
        other => return Err(Fault::internal(format!("there is no kind of column '{other}'")).into()),
    })
}

/// A matrix as one list of numbers for each row.
fn block(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (width, numbers): (usize, ArrayRef) = match values.extract::<Matrix<'_>>()? {
        Matrix::Single(matrix) => {
            let flat = matrix.as_slice().map_err(|_| not_contiguous())?;
            let buffer = owned_by(values, flat);
            (matrix.shape()[1], Arc::new(PrimitiveArray::<Float32Type>::new(buffer, None)))
        }
        Matrix::Half(matrix) => {
            let flat = matrix.as_slice().map_err(|_| not_contiguous())?;
            let buffer = owned_by(values, flat);
            (matrix.shape()[1], Arc::new(PrimitiveArray::<Float16Type>::new(buffer, None)))
        }
    };
    let width = i32::try_from(width).ok().filter(|width| *width > 0).ok_or_else(|| {
        Fault::new("ShapeError", format!("{SOURCE}: a block of {width} columns, expected 1 or more"))
    })?;
    let field = Arc::new(Field::new("element", numbers.data_type().clone(), true));
    let lists = FixedSizeListArray::try_new(field, width, numbers, None);
    Ok(Arc::new(lists.map_err(|error| not_a_table(&error))?))
}

fn not_contiguous() -> Fault {
    Fault::internal("an array reached the engine that is not contiguous")
}

/// The numbers of a one-dimensional NumPy array, where they are.
fn shared<T: ArrowPrimitiveType>(values: &Bound<'_, PyAny>) -> PyResult<ScalarBuffer<T::Native>>
where
    T::Native: numpy::Element,
{
    let array: PyReadonlyArray1<'_, T::Native> = values.extract()?;
    Ok(owned_by(values, array.as_slice().map_err(|_| not_contiguous())?))
}

/// A buffer over memory that a Python object owns and that lives as long as the buffer; a copy where it is not aligned.
fn owned_by<T: arrow::datatypes::ArrowNativeType>(owner: &Bound<'_, PyAny>, values: &[T]) -> ScalarBuffer<T> {
    let pointer = NonNull::from(values).cast::<T>();
    if values.is_empty() || !pointer.is_aligned() {
        return ScalarBuffer::from(values.to_vec());
    }
    let owner: Arc<Owner> = Arc::new(Owner { _array: owner.clone().unbind() });
    // SAFETY: the array owns this memory, and the buffer holds the array. NumPy does not move or free the data of an array
    // that others hold. As with every view of NumPy's data, Python code could write to it meanwhile; nbam only reads
    // numbers from it, checks them first, and takes no index or length from them.
    let buffer = unsafe { Buffer::from_custom_allocation(pointer.cast(), size_of_val(values), owner) };
    ScalarBuffer::from(buffer)
}

/// Keeps a Python array alive.
struct Owner {
    _array: Py<PyAny>,
}

impl std::panic::RefUnwindSafe for Owner {}
