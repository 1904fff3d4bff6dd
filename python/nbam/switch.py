"""The kernel in NumPy: a mixture of two explanations of a row, with its hidden switch marginalised.

For one row, let ``l = -log p(y|x)`` be the clean negative log-likelihood, ``g`` the prior logit (``pi = sigmoid(g)``) and
``a = log q(y|x)`` the anomaly log-likelihood::

    loss       L = -log[(1 - pi) p + pi q]
    posterior  r = sigmoid(g + l + a)
    gradient   dL/dl = 1 - r      dL/dg = pi - r      dL/da = -r

All functions take numbers or arrays and broadcast.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Gradient", "gradient", "log_sigmoid", "logit", "loss", "posterior", "sigmoid"]

_Array = NDArray[Any]


class Gradient(NamedTuple):
    """The derivatives of the loss."""

    clean: _Array
    """``dL/dl = 1 - r``."""
    prior: _Array
    """``dL/dg = pi - r``."""
    anomaly: _Array
    """``dL/da = -r``."""


def _floats(*values: ArrayLike) -> list[_Array]:
    arrays = [np.asarray(value) for value in values]
    precision = np.result_type(*arrays, np.float32)
    return [array.astype(precision, copy=False) for array in arrays]


def sigmoid(x: ArrayLike) -> _Array:
    """``1 / (1 + exp(-x))`` with full relative accuracy in both tails."""
    (x,) = _floats(x)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def log_sigmoid(x: ArrayLike) -> _Array:
    """``log sigmoid(x)``, finite for every finite ``x``."""
    (x,) = _floats(x)
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def logit(p: ArrayLike) -> _Array:
    """``log p - log(1 - p)``."""
    (p,) = _floats(p)
    return np.asarray(np.log(p) - np.log1p(-p))


def _log_share(g: _Array, t: _Array) -> _Array:
    """``log[(1 - pi) + pi exp(t)]`` for ``t <= 0``; a value near zero keeps its relative accuracy."""
    missing = sigmoid(g) * -np.expm1(t)
    near = np.log1p(-np.minimum(missing, 0.5))
    far = np.logaddexp(log_sigmoid(-g), log_sigmoid(g) + t)
    return np.where(missing < 0.5, near, far)


def loss(l: ArrayLike, g: ArrayLike, a: ArrayLike) -> _Array:
    """The negative log marginal likelihood of each row."""
    l, g, a = _floats(l, g, a)
    t = l + a
    # Factor the likelier branch out: the rest is a number in (0, 1] whose logarithm is safe.
    is_clean = t <= 0
    share = _log_share(np.where(is_clean, g, -g), -np.abs(t))
    return np.where(is_clean, l, -a) - share


def posterior(l: ArrayLike, g: ArrayLike, a: ArrayLike) -> _Array:
    """The probability that each row is contaminated."""
    l, g, a = _floats(l, g, a)
    return sigmoid(g + (l + a))


def gradient(l: ArrayLike, g: ArrayLike, a: ArrayLike) -> Gradient:
    """The derivatives of each row's loss."""
    l, g, a = _floats(l, g, a)
    t = l + a
    odds = g + t
    # pi - r as a product, so that it keeps its relative accuracy where pi and r agree.
    is_clean = t <= 0
    sign = np.where(is_clean, 1, -1).astype(t.dtype)
    prior = sign * sigmoid(sign * g) * sigmoid(-sign * odds) * -np.expm1(-np.abs(t))
    return Gradient(clean=sigmoid(-odds), prior=prior, anomaly=-sigmoid(odds))
