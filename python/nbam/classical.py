"""The static form: a log-likelihood for each datum, corrected for contamination that has no model of its own.

A datum is wrong with probability ``omega``; a wrong one is anywhere in a volume ``Delta`` (the range of the data, say). For the
clean log-likelihood ``log L`` of each datum::

    log marginal   log[(1 - omega) L + omega / Delta]
    posterior      omega / Delta / [(1 - omega) L + omega / Delta]

It is the kernel of `nbam.switch` with ``g = logit(omega)`` and ``a = -log(Delta)``. Put ``log_marginal(...).sum()`` in place of the
log-likelihood in any sampler or optimiser::

    import numpy as np
    from nbam import classical

    log_likelihood = np.array([-0.9, -1.1, -40.0])
    classical.posterior(log_likelihood, omega=0.1, delta=10.0)  # the last datum is wrong
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import switch
from .exceptions import DataValueError, ShapeError

__all__ = ["is_clean", "log_dominant", "log_marginal", "posterior", "weight"]

_Array = NDArray[Any]


def log_marginal(log_likelihood: ArrayLike, omega: ArrayLike, delta: ArrayLike) -> _Array:
    """``log[(1 - omega) L + omega / Delta]`` of each datum; their sum is the corrected log-likelihood.

    Parameters
    ----------
    log_likelihood : array of shape (n,)
        The clean log-likelihood of each datum. Minus infinity is allowed, NaN is not.
    omega : float or array of shape (n,)
        Probability that a datum is wrong, strictly between 0 and 1.
    delta : float or array of shape (n,)
        The volume in which a wrong datum lies, in the units of the datum.
    """
    return -switch.loss(*_terms(log_likelihood, omega, delta))


def log_dominant(log_likelihood: ArrayLike, omega: ArrayLike, delta: ArrayLike) -> _Array:
    """The better branch alone, ``max{log L + log(1 - omega), log omega - log Delta}``: the dominant-mask approximation."""
    l, g, a = _terms(log_likelihood, omega, delta)
    return np.maximum(switch.log_sigmoid(-g) - l, switch.log_sigmoid(g) + a)


def posterior(log_likelihood: ArrayLike, omega: ArrayLike, delta: ArrayLike) -> _Array:
    """The probability that each datum is wrong."""
    return switch.posterior(*_terms(log_likelihood, omega, delta))


def weight(log_likelihood: ArrayLike, omega: ArrayLike, delta: ArrayLike) -> _Array:
    """How much each datum counts: the derivative of its log marginal by its ``log L``, one minus the posterior."""
    return switch.gradient(*_terms(log_likelihood, omega, delta)).clean


def is_clean(log_likelihood: ArrayLike, omega: ArrayLike, delta: ArrayLike) -> _Array:
    """The mask: True where a datum is more probably right than wrong, ``log L + log Delta > logit omega``."""
    l, g, a = _terms(log_likelihood, omega, delta)
    return np.asarray(-l - a > g)


def _terms(log_likelihood: ArrayLike, omega: ArrayLike, delta: ArrayLike) -> tuple[_Array, _Array, _Array]:
    likelihoods = np.asarray(log_likelihood, dtype=np.float64)
    omegas, deltas = np.asarray(omega, dtype=np.float64), np.asarray(delta, dtype=np.float64)
    for name, values in (("omega", omegas), ("delta", deltas)):
        if values.ndim > 0 and values.shape != likelihoods.shape:
            raise ShapeError(f"{name} has the shape {values.shape}, expected one number or {likelihoods.shape}")
    _check("the log-likelihood", likelihoods, ~np.isnan(likelihoods), "a number")
    _check("omega", omegas, (omegas > 0) & (omegas < 1), "a probability strictly between 0 and 1")
    _check("delta", deltas, (deltas > 0) & np.isfinite(deltas), "a positive volume")
    return -likelihoods, switch.logit(omegas), -np.log(deltas)


def _check(name: str, values: _Array, is_valid: _Array, expected: str) -> None:
    if np.all(is_valid):
        return
    if values.ndim == 0:
        raise DataValueError(f"{name} is {values}, expected {expected}")
    row = int(np.argmin(np.ravel(is_valid)))
    raise DataValueError(f"{name} of row {row} is {np.ravel(values)[row]}, expected {expected}")
