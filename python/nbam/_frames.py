"""Frames in, frames of the same kind out: pandas, Polars, pyarrow, NumPy, and whatever speaks Arrow."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _nbam
from ._base import is_missing
from .exceptions import DataValueError, DuplicateColumnError, InputError, ShapeError

_Array = NDArray[Any]
#: Makes result columns a frame of the kind that came in; the second argument says which input rows they are about, in order.
Maker = Callable[[_nbam.Columns, "_Array | None"], Any]

#: What a column is called that has no name of its own.
FEATURES, TARGET = "features", "target"


def read(data: Any, extra: Mapping[str, Any]) -> tuple[Any, Maker]:
    """What the native module reads, and what makes its results a frame like `data`.

    `extra` holds columns that were given beside the data, by name.
    """
    if isinstance(data, (str, os.PathLike)):
        if extra:
            raise InputError("columns beside a file cannot be arrays", "name columns of the file")
        return os.fspath(data), structured
    if _is_sparse(data):
        raise InputError(
            "the data is a sparse matrix, which cannot be audited", "pass a dense one: data.toarray(), if it fits in memory"
        )
    if _is_from(data, "pandas", "DataFrame"):
        return _from_pandas(data, extra)
    if isinstance(data, np.ndarray):
        return _from_numpy(data, extra), structured
    if isinstance(data, Mapping):
        return [column(str(name), values) for name, values in {**data, **extra}.items()], plain
    if not hasattr(data, "__arrow_c_stream__"):
        if hasattr(data, "__dataframe__"):
            data = _from_interchange(data)
        else:
            raise InputError(
                f"an audit cannot read an object of type {type(data).__name__}",
                "pass a pandas, Polars or pyarrow table, a NumPy array, a mapping of names to arrays, or a file's name",
            )
    if _is_from(data, "polars", "DataFrame"):
        return _with_polars(data, extra), _to_polars
    if extra:
        data = _with_arrow(data, extra)
    return data, _to_arrow


def column(name: str, values: Any) -> tuple[str, str, Any]:
    """A column as the native module takes it: name, kind, and an array or a list of texts."""
    array = _plain_array(name, values)
    if array.ndim == 2:
        if array.dtype.kind not in "fiub":
            raise DataValueError(f"column '{name}' has two dimensions and holds no numbers but {array.dtype}")
        precision = np.float16 if array.dtype == np.float16 else np.float32
        with np.errstate(over="ignore"):
            block = np.require(array, dtype=precision, requirements=["C", "A"])
        return name, "block", block
    if array.ndim != 1:
        raise ShapeError(
            f"column '{name}' has the shape {array.shape}, but only one value or one list of numbers per row can be read"
        )
    kind = array.dtype.kind
    if kind == "b":
        return name, "truth", array.astype(np.int8)
    if kind in "iu":
        wide, word = (np.int64, "integer") if kind == "i" else (np.uint64, "unsigned")
        return name, word, np.require(array, dtype=wide, requirements=["C", "A"])
    if kind == "f":
        return name, "number", np.require(array, dtype=np.float64, requirements=["C", "A"])
    if kind == "M":
        return name, "time", array.astype("datetime64[us]").astype(np.int64)
    if kind in "US":
        return name, "text", [str(value) if kind == "U" else value.decode() for value in array.tolist()]
    if kind == "O":
        return _object_column(name, array)
    raise DataValueError(f"column '{name}' holds values of type {array.dtype}, which cannot be read")


def _plain_array(name: str, values: Any) -> _Array:
    """NumPy's form of a column; a masked or nullable one has NaN or None where there is nothing."""
    if isinstance(values, np.ma.MaskedArray):
        if not np.ma.is_masked(values):
            return np.asarray(values.data)
        plain_values = values.data.astype(np.float64 if values.dtype.kind in "fiu" else object)
        plain_values[np.ma.getmaskarray(values)] = None
        return plain_values
    dtype = getattr(values, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype) and hasattr(values, "to_numpy"):
        # An extension type of pandas. Numbers without gaps keep their type.
        kind = getattr(dtype, "kind", "O")
        if kind in "fiu" and not values.isna().any():
            return np.asarray(values.to_numpy(dtype=dtype.numpy_dtype if hasattr(dtype, "numpy_dtype") else None))
        if kind in "fiu":
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(values.to_numpy(dtype=object))
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ShapeError(f"column '{name}' holds lists of different lengths") from error


def _category(value: Any) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "truth"
    return "text" if isinstance(value, str) else "number" if isinstance(value, numbers.Real) else "object"


def _object_column(name: str, array: _Array) -> tuple[str, str, Any]:
    categories = [_category(value) for value in array]
    kind = next((category for category in categories if category is not None), "text")
    odd = next((row for row, category in enumerate(categories) if category not in (None, kind) or category == "object"), None)
    if odd is not None:
        raise DataValueError(
            f"row {odd} of column '{name}' is {array[odd]!r}, of type {type(array[odd]).__name__}",
            "make all values numbers, all of them texts, or all of them truth values",
        )
    if kind == "text":
        return name, "text", [None if category is None else str(value) for value, category in zip(array, categories)]
    if kind == "truth":
        codes = [-1 if category is None else int(value) for value, category in zip(array, categories)]
        return name, "truth", np.array(codes, dtype=np.int8)
    return name, "number", np.array([np.nan if category is None else float(value) for value, category in zip(array, categories)])


def _is_from(data: Any, library: str, name: str) -> bool:
    return any(kind.__module__.split(".")[0] == library and kind.__name__ == name for kind in type(data).__mro__)


def _is_sparse(data: Any) -> bool:
    return any(kind.__module__.startswith("scipy.sparse") for kind in type(data).__mro__)


def _from_numpy(data: _Array, extra: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    if data.dtype.names is not None:
        columns = {name: data[name] for name in data.dtype.names}
    elif data.ndim == 2:
        columns = {FEATURES: data}
    else:
        raise ShapeError(f"the data has the shape {data.shape}, expected (rows, features)")
    if data.dtype == object:
        # Columns of their own: an array of objects may hold texts beside numbers.
        columns = {f"{FEATURES}[{index}]": data[:, index] for index in range(data.shape[1])}
    return [column(name, values) for name, values in {**columns, **extra}.items()]


def _from_pandas(data: Any, extra: Mapping[str, Any]) -> tuple[Any, Maker]:
    index = data.index

    def make(columns: _nbam.Columns, rows: _Array | None) -> Any:
        return _to_pandas(columns, index if rows is None else index[rows])

    # The index names rows; it is not a feature.
    frame = data.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DuplicateColumnError(f"the data has more than one column named '{twice}'", "rename or leave out all but one")
    if extra:
        frame = frame.assign(**{name: _plain_array(name, values) for name, values in extra.items()})
    try:
        import pyarrow
    except ImportError:
        return [column(name, frame[name]) for name in frame], make
    try:
        return pyarrow.Table.from_pandas(frame, preserve_index=False), make
    except pyarrow.ArrowException as error:
        for name in frame:
            try:
                pyarrow.Array.from_pandas(frame[name])
            except pyarrow.ArrowException:
                column(name, frame[name])  # raises an error that names the row
        raise DataValueError(f"the data cannot be read: {error}") from error


def _to_pandas(columns: _nbam.Columns, index: Any) -> Any:
    import pandas

    def series(values: Any) -> Any:
        if isinstance(values, tuple):
            codes, categories = values
            return pandas.Categorical.from_codes(codes, categories)
        return values

    return pandas.DataFrame({name: series(values) for name, values in columns.arrays().items()}, index=index)


def _with_polars(data: Any, extra: Mapping[str, Any]) -> Any:
    import polars

    return data.with_columns([polars.Series(name, values) for name, values in extra.items()]) if extra else data


def _to_polars(columns: _nbam.Columns, rows: _Array | None) -> Any:
    import polars

    return polars.DataFrame(columns)


def _with_arrow(data: Any, extra: Mapping[str, Any]) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise InputError("columns beside an Arrow table need pyarrow", "name columns of the table, or install pyarrow") from error
    table = pyarrow.table(data)
    for name, values in extra.items():
        table = table.append_column(name, pyarrow.array(values))
    return table


def _to_arrow(columns: _nbam.Columns, rows: _Array | None) -> Any:
    try:
        import pyarrow
    except ImportError:
        # Whoever made the table can read this as well: it has __arrow_c_stream__.
        return columns
    return pyarrow.table(columns)


def _from_interchange(data: Any) -> Any:
    """An object with `__dataframe__` as one with `__arrow_c_stream__`."""
    try:
        from pyarrow.interchange import from_dataframe
    except ImportError:
        try:
            from polars import from_dataframe
        except ImportError as error:
            raise InputError(
                "an object with __dataframe__ is read with pyarrow or Polars, and neither is installed", "pip install pyarrow"
            ) from error
    return from_dataframe(data)


def plain(columns: _nbam.Columns, rows: _Array | None = None) -> dict[str, _Array]:
    """Result columns as NumPy arrays; texts as objects, with None where there is none."""

    def array(values: Any) -> _Array:
        if isinstance(values, tuple):
            codes, categories = values
            return np.array([*categories, None], dtype=object)[codes]
        return values if isinstance(values, np.ndarray) else np.array(values, dtype=object)

    return {name: array(values) for name, values in columns.arrays().items()}


def structured(columns: _nbam.Columns, rows: _Array | None = None) -> _Array:
    """Result columns as one structured NumPy array."""
    arrays = plain(columns)
    length = len(next(iter(arrays.values())))
    result = np.empty(length, dtype=[(name, values.dtype) for name, values in arrays.items()])
    for name, values in arrays.items():
        result[name] = values
    return result
