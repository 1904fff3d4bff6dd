"""The audit: a table in, every row with its probability of being wrong out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _frames, _nbam
from ._base import integer, number, seed_of, threads_of
from ._progress import progress
from .exceptions import InputError, ParameterError

__all__ = ["Audit", "AuditModel", "Estimate", "audit", "load_model"]

#: Rows that a notebook shows.
_SHOWN = 10


class Estimate(NamedTuple):
    """A number with its 95 % interval."""

    mean: float
    low: float
    high: float


def audit(
    data: Any,
    target: Any,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    id: str | Any = None,
    error: str | Any = None,
    weight: str | Any = None,
    verified: str | Any = None,
    image: str | None = None,
    task: str = "auto",
    preset: str = "default",
    fdr: float = 0.05,
    members: int | None = None,
    epochs: int | None = None,
    precision: str = "single",
    average: bool = True,
    check: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Audit:
    """Find the rows of a table whose target is probably wrong: `nbam audit` for data in memory, with the same bits.

    Parameters
    ----------
    data : table
        A pandas, Polars or pyarrow table, any object with ``__arrow_c_stream__`` or ``__dataframe__``, a NumPy array (two-dimensional
        or structured), a mapping of names to arrays, or the name of a file that the command line reads. A two-dimensional array
        of float32 or float16 in C order, and an Arrow column of fixed-size lists of these, are used where they are, without a copy.
    target : str or array-like
        The column whose values are in doubt; or the values themselves, beside data that lacks them.
    features : sequence of str, default=None
        The feature columns; all columns without another role by default.
    exclude : sequence of str, default=()
        Columns that are not features.
    id : str, default=None
        A column that names the rows.
    error : str or array-like, default=None
        Known standard error of each numeric target.
    weight : str or array-like, default=None
        How much each row counts.
    verified : str or array-like, default=None
        True for rows known to be right, False for rows known to be wrong, None or NaN for the others.
    image : str, default=None
        A column of image paths, shown in the report.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target names classes or is a number.
    preset : {"default", "paper"}, default="default"
        The recommended settings, or exactly the paper's.
    fdr : float, default=0.05
        Flag the largest set of rows whose expected share of false flags is at most this.
    members, epochs : int, default=None
        How many networks are trained, and how often each sees all rows.
    precision : {"single", "bfloat16"}, default="single"
        What matrix products are computed in; see `NBAMClassifier`.
    average : bool, default=True
        Whether a row's probability is averaged over the last epochs.
    check : bool, default=False
        Whether to plant known errors, fit once more and report in the summary how well they are found; takes twice as long.
    random_state : int, RandomState instance or None, default=0
        Where all random numbers come from; a whole number is the command line's `--seed`.
    n_jobs : int, default=None
        Threads; None or -1 for all cores.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    Audit

    Examples
    --------
    >>> import nbam
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2  # a wrong label
    >>> found = nbam.audit(X, target=y, epochs=100, members=2)
    >>> int(found.flagged()["row"][0])
    7
    """
    given = {"target": target, "id": id, "error": error, "weight": weight, "verified": verified}
    roles: dict[str, str | None] = {}
    extra: dict[str, Any] = {}
    for role, value in given.items():
        if value is None or isinstance(value, str):
            roles[role] = value
        else:
            roles[role], extra[role] = role, value
    if roles["target"] is None:
        raise InputError("target is None", "name the column whose values are in doubt, or pass the values")
    clash = set(extra) & _names(data)
    if clash:
        raise InputError(f"the data has a column '{min(clash)}' already", "name that column, or rename it")
    source, make = _frames.read(data, extra)
    options = {
        **roles,
        "features": _listed("features", features),
        "exclude": _listed("exclude", exclude) or [],
        "image": image,
        "task": task,
        "preset": preset,
        "fdr": number("fdr", fdr, 0.0),
        "members": None if members is None else integer("members", members, 1),
        "epochs": None if epochs is None else integer("epochs", epochs, 1),
        "precision": precision,
        "average": bool(average),
        "check": bool(check),
        "seed": seed_of(random_state),
        "threads": threads_of(n_jobs),
        "image_folder": None,
    }
    with progress(verbose) as callback:
        native = _nbam.Audit.run(source, options, callback)
    return Audit(native, make)


class Audit:
    """What an audit found. Made by `nbam.audit`."""

    def __init__(self, native: _nbam.Audit, make: _frames.Maker) -> None:
        self._native = native
        self._make = make
        self._rows: Any = None

    @property
    def rows(self) -> Any:
        """One row for each row of the data, in its order, in a frame of the kind that came in.

        The columns are those of the command line's rows.parquet: `row`, `id`, `given_label` or `given_value`, `contamination` (the
        probability that the target is wrong), `prior`, `log_clean`, `log_anomaly`, `is_flagged`, and predictions and suggestions.
        """
        if self._rows is None:
            self._rows = self._make(self._native.rows(), None)
        return self._rows

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers, as in the command line's summary.json."""
        return json.loads(self._native.summary())

    @property
    def rate(self) -> Estimate:
        """The estimated share of wrong targets."""
        rate = self.summary["rate"]
        return Estimate(rate["mean"], rate["low"], rate["high"])

    @property
    def model(self) -> AuditModel:
        """The model, to score and predict new rows."""
        return AuditModel(self._native.model())

    def flagged(self, fdr: float = 0.05) -> Any:
        """The largest set of rows whose expected share of false flags is at most `fdr`, most suspicious first."""
        columns = self._native.flagged(number("fdr", fdr, 0.0))
        return self._make(columns, columns.arrays()["row"].astype(np.intp))

    def expected_found(self, budget: int) -> Estimate:
        """How many wrong rows to expect among the `budget` most suspicious, with a 95 % interval."""
        return Estimate(*self._native.expected_found(integer("budget", budget, 0)))

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report: one self-contained HTML file. Written to `path` if one is given, and returned."""
        text = self._native.report()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def save(self, folder: str | os.PathLike[str], *, rows: str = "parquet", force: bool = False) -> None:
        """Write what the command line writes: rows, summary, report and model.

        An audit that is there already is replaced only with `force`; anything else never is.
        """
        self._native.save(folder, rows, force)

    def to_cleanlab(self) -> Any:
        """The columns that users of cleanlab know: `is_label_issue`, `label_quality`, `given_label`, `predicted_label`.

        `label_quality` is one minus the contamination: 0 is certainly wrong, 1 certainly right.
        """
        columns = _frames.plain(self._native.rows())
        suffix = "label" if "given_label" in columns else "value"
        renamed = {
            "is_label_issue": columns["is_flagged"],
            "label_quality": 1.0 - columns["contamination"],
            "given_label": columns[f"given_{suffix}"],
            "predicted_label": columns[f"predicted_{suffix}"],
        }
        rows = self.rows
        if isinstance(rows, (dict, np.ndarray)):
            return renamed
        if hasattr(rows, "index") and hasattr(rows, "iloc"):
            return type(rows)(renamed, index=rows.index)
        return type(rows)(renamed) if hasattr(rows, "with_columns") else type(rows).from_pydict(renamed)

    def __repr__(self) -> str:
        return f"<nbam.Audit: {self._native.headline()}>".replace("\u00a0", " ")

    def _repr_html_(self) -> str:
        columns = _frames.plain(self._native.flagged(self.summary["settings"]["fdr"]))
        suffix = "label" if "given_label" in columns else "value"
        better = "suggested_label" if suffix == "label" else "predicted_value"
        shown = [name for name in ("row", "id", f"given_{suffix}", better, "contamination") if name in columns]
        head = "".join(f"<th>{escape(name)}</th>" for name in shown)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(columns[name][place]))}</td>" for name in shown) + "</tr>"
            for place in range(min(_SHOWN, len(columns["row"])))
        )
        rest = len(columns["row"]) - _SHOWN
        more = f"<p>and {rest:,} more: <code>.flagged()</code></p>" if rest > 0 else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
        return f"<div><p><b>{escape(self._native.headline())}</b></p>{table}{more}</div>"


class AuditModel:
    """The model of an audit, with the preparation of its features. Made by `Audit.model` or `nbam.load_model`."""

    def __init__(self, native: _nbam.SavedModel) -> None:
        self._native = native

    @property
    def target(self) -> str:
        """The name of the target column."""
        return self._native.target

    @property
    def task(self) -> str:
        """`classification` or `regression`."""
        return self._native.task

    @property
    def classes(self) -> list[str]:
        """The class names; empty for a regression."""
        return self._native.classes

    def score(self, data: Any, target: Any = None, *, id: str | bool | None = None, fdr: float | None = None) -> Any:
        """The rows of new data with their probability of being wrong: `nbam score`. The columns are those of `Audit.rows`.

        `target` holds the targets, where the audit had them beside the data as well. `id` names a column that names the rows: by
        default the audit's own, none with False.
        """
        extra = {} if target is None else {self.target: target}
        source, make = _frames.read(data, extra)
        columns, _ = self._native.score(source, self._id(id), fdr)
        return make(columns, None)

    def predict(self, data: Any, *, id: str | bool | None = None) -> Any:
        """Predictions for new rows, with probabilities or standard deviations: `nbam predict`."""
        source, make = _frames.read(data, {})
        return make(self._native.predict(source, self._id(id)), None)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `model.safetensors` and `model.json`; no pickle."""
        self._native.save(folder)

    def _id(self, id: str | bool | None) -> str | None:
        if isinstance(id, str):
            return id
        return self._native.id if id is None else None

    def __repr__(self) -> str:
        return f"<nbam.AuditModel: {self.task} of '{self.target}'>"


def load_model(folder: str | os.PathLike[str]) -> AuditModel:
    """Load the model of an audit that `Audit.save`, `AuditModel.save` or the command line wrote."""
    return AuditModel(_nbam.SavedModel.load(folder))


def _names(data: Any) -> set[str]:
    if isinstance(data, Mapping):
        return set(map(str, data))
    if isinstance(data, np.ndarray):
        return set(data.dtype.names or ())
    names: Any = getattr(data, "column_names", getattr(data, "columns", ()))
    return set() if callable(names) else {str(name) for name in names}


def _listed(name: str, names: Sequence[str] | None) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise ParameterError(f"{name} is {names!r}, expected a list of column names")
    return [str(entry) for entry in names]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
