"""What both estimators share: their parameters, the checks of their input, and what a fit leaves behind."""

from __future__ import annotations

import copyreg
import numbers
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _nbam
from ._progress import progress
from .exceptions import DataValueError, ParameterError, ShapeError

_Array = NDArray[Any]

#: More threads than any machine that this runs on has cores.
MOST_THREADS = 1024


class Evidence(NamedTuple):
    """What a model says of each row: the posterior and the three terms that it is made of.

    For a single network, ``contamination = sigmoid(logit(prior) + log_anomaly - log_clean)``; for an ensemble every column is the mean.
    """

    contamination: _Array
    """Probability that the row's target is wrong."""
    prior: _Array
    """The same before the target is looked at."""
    log_clean: _Array
    """Log-likelihood of the target if it is right."""
    log_anomaly: _Array
    """Log-likelihood of the target if it is wrong."""


class FitWarning(NamedTuple):
    """A sign that a fit's posterior should not be taken at its word."""

    code: str
    """A short name that does not change: ``posterior_not_trusted``, ``members_disagree``, ..."""
    message: str
    """One sentence for people."""
    classes: tuple[Any, ...]
    """The classes that it is about."""


class NBAMEstimator(BaseEstimator):
    """The common base; use `NBAMClassifier` or `NBAMRegressor`."""

    def __init__(
        self,
        *,
        hidden_layer_sizes: Sequence[int] | int | None = None,
        activation: str | None = None,
        alpha: float | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        n_members: int | None = None,
        precision: str = "single",
        average: bool = True,
        preset: str = "default",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.n_members = n_members
        self.precision = precision
        self.average = average
        self.preset = preset
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, object]:
        """The parameters, checked, as the engine takes them."""
        sizes: Any = self.hidden_layer_sizes
        if sizes is not None:
            sizes = [sizes] if isinstance(sizes, numbers.Real) else list(sizes)
            sizes = [integer("hidden_layer_sizes", size, 1) for size in sizes]
        return {
            "preset": _choice("preset", self.preset, ("default", "paper")),
            "hidden_layer_sizes": sizes,
            "activation": None if self.activation is None else _choice("activation", self.activation, ("tanh", "relu")),
            "alpha": None if self.alpha is None else number("alpha", self.alpha, 0.0),
            "batch_size": None if self.batch_size is None else integer("batch_size", self.batch_size, 1),
            "learning_rate": None if self.learning_rate is None else number("learning_rate", self.learning_rate, 0.0),
            "max_epochs": None if self.max_epochs is None else integer("max_epochs", self.max_epochs, 1),
            "n_members": None if self.n_members is None else integer("n_members", self.n_members, 1),
            "precision": _choice("precision", self.precision, ("single", "bfloat16")),
            "average": bool(self.average),
            "seed": seed_of(self.random_state),
            "threads": threads_of(self.n_jobs),
        }

    def _features(self, X: ArrayLike) -> _Array:
        """New rows as the engine reads them; an array that is so already is not copied."""
        check_is_fitted(self)
        refuse_masked("X", X)
        return aligned(validate_data(self, X, dtype=[np.float32, np.float16], order="C", reset=False))

    def _rows(self, X: ArrayLike, y: ArrayLike, **checks: Any) -> tuple[_Array, _Array]:
        """Rows to train on as the engine reads them, and their targets; features that are so already are not copied."""
        refuse_masked("X", X)
        refuse_masked("y", y)
        features, targets = validate_data(
            self, X, y, dtype=[np.float32, np.float16], order="C", ensure_min_samples=2, **checks
        )
        return aligned(features), targets

    def _train(
        self,
        engine: Any,
        settings: dict[str, object],
        features: _Array,
        *columns: _Array | None,
        sample_weight: ArrayLike | None,
        verified: ArrayLike | None,
        classes: _Array,
    ) -> None:
        """Fits an engine and sets what every fit leaves behind; `columns` are the targets and what goes with them."""
        weights = None
        if sample_weight is not None:
            refuse_masked("sample_weight", sample_weight)
            weights = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
        known = known_switches(verified, len(features))
        with progress(self.verbose) as callback:
            native = engine.fit(settings, features, *columns, weights, known, callback)
        self._native = native
        self.evidence_ = Evidence(*native.training())
        self.contamination_ = self.evidence_.contamination
        names = [str(label) for label in classes]
        self.warnings_ = [
            FitWarning(code, message, tuple(classes[places])) for code, message, places in native.warnings(names)
        ]
        # Networks that left rows out may differ by an epoch or two in number.
        self.loss_curve_ = [float(np.mean(losses)) for losses in zip(*native.losses(), strict=False)]

    def prior(self, X: ArrayLike) -> _Array:
        """The probability that a row's target is wrong, before it is seen: `pi(x)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        features = self._features(X)
        return self._native.prior(features)


def refuse_masked(name: str, values: Any) -> None:
    """NumPy drops a mask without a word, and what is under it is no data."""
    if np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise DataValueError(f"{name} is masked in row {row}", "fill the masked values in or leave their rows out")


def aligned(X: _Array) -> _Array:
    """The array itself, or a copy if its numbers are not where a processor wants them."""
    return np.require(X, requirements=["C", "A"])


def seed_of(random_state: Any) -> int:
    """The engine's seed: a whole number is taken as it is, so that the command line's `--seed` gives the same bits."""
    if isinstance(random_state, numbers.Integral):
        if not 0 <= int(random_state) < 2**64:
            raise ParameterError(f"random_state is {random_state}, expected a number from 0 to 2**64 - 1")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: Any) -> int:
    """The engine's number of threads: 0 is all."""
    if n_jobs is None:
        return 0
    jobs = int(n_jobs) if isinstance(n_jobs, numbers.Integral) else 0
    # All of them are started: a slip of the keyboard could bring the machine down.
    if jobs == 0 or jobs > MOST_THREADS:
        raise ParameterError(f"n_jobs is {n_jobs!r}, expected a number of threads up to {MOST_THREADS}, or None or -1 for all")
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def known_switches(verified: ArrayLike | None, rows: int) -> _Array | None:
    """`verified` as codes: 1 is known to be right, 0 known to be wrong, -1 unknown."""
    if verified is None:
        return None
    refuse_masked("verified", verified)
    values: Any = np.asarray(verified, dtype=object)
    if values.shape != (rows,):
        raise ShapeError(f"verified has the shape {values.shape}, expected ({rows},): one value for each row")
    codes = np.full(rows, -1, dtype=np.int8)
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        if isinstance(value, (bool, np.bool_)) or (isinstance(value, numbers.Real) and value in (0, 1)):
            codes[row] = 1 if value else 0
        else:
            raise DataValueError(
                f"verified of row {row} is {value!r}, expected True (right), False (wrong), or None (not checked)"
            )
    return codes


def is_missing(value: Any) -> bool:
    """None, NaN, pandas' NA and NumPy's 'not a time'."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def integer(name: str, value: Any, least: int) -> int:
    """A parameter that is a whole number, or an error that names it."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) < 2**63:
        return int(value)
    raise ParameterError(f"{name} is {value!r}, expected a whole number of at least {least}")


def number(name: str, value: Any, least: float) -> float:
    """A parameter that is a finite number, or an error that names it."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and least <= float(value) < np.inf:
        return float(value)
    raise ParameterError(f"{name} is {value!r}, expected a finite number of at least {least}")


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value in choices:
        return str(value)
    raise ParameterError(f"{name} is {value!r}, expected {' or '.join(map(repr, choices))}")


def _restore(kind: str, description: str, tensors: bytes, threads: int) -> Any:
    return getattr(_nbam, kind).from_bytes(description, tensors, threads)


def _reduce(native: Any) -> tuple[Any, tuple[str, str, bytes, int]]:
    description, tensors = native.to_bytes()
    return _restore, (type(native).__name__, description, tensors, native.threads)


# Models are saved as they are on disk (JSON and safetensors); pickle carries only those two pieces.
copyreg.pickle(_nbam.Classifier, _reduce)
copyreg.pickle(_nbam.Regressor, _reduce)
