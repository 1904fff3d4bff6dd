"""The regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from . import _nbam
from ._base import Evidence, NBAMEstimator, refuse_masked
from .exceptions import DataValueError

_Array = NDArray[Any]


class NBAMRegressor(RegressorMixin, NBAMEstimator):
    """A neural regressor that wrong targets do not fool, and that knows which targets are wrong.

    A clean target scatters about a network's mean with a learned, row-dependent noise; a wrong one is drawn from a learned mixture.
    How smooth the network is, is chosen by the likelihood of rows that were left out.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=None
        Widths of the hidden layers; (128, 128) by default.
    activation : {"tanh", "relu"}, default=None
        The hidden layers' nonlinearity; "tanh" by default.
    alpha : float, default=None
        Strength of the Gaussian prior on the weights: one over its variance, in units of one over a layer's inputs. By default rows
        that are left out of trial fits choose it, and whether columns also enter in pieces between their quantiles; if it is given, they
        do not.
    batch_size : int, default=None
        Rows of a batch; 512 by default.
    learning_rate : float, default=None
        Adam's learning rate at the start; 0.005 by default.
    max_epochs : int, default=None
        Passes over the rows; by default at least 25, and at least 1,500 steps.
    n_members : int, default=None
        Networks that are trained from different starts and averaged; 4 by default, 1 with the paper's preset.
    precision : {"single", "bfloat16"}, default="single"
        What matrix products are computed in. With "bfloat16" their operands are rounded to two or three digits and the sums are not: faster
        where the processor multiplies such numbers (AVX-512 with BF16), the same as "single" where it does not.
    average : bool, default=True
        Whether `contamination_` is averaged over the last third of the epochs (not with the paper's preset).
    preset : {"default", "paper"}, default="default"
        What the parameters above are where they are None: what we recommend, or the paper's.
    random_state : int, RandomState instance or None, default=None
        Where all random numbers come from. The same whole number gives the same bits, for any `n_jobs`.
    n_jobs : int, default=None
        Threads; None or -1 for all cores.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Attributes
    ----------
    contamination_ : ndarray of shape (n_samples,)
        Probability that each training row's target is wrong.
    evidence_ : Evidence
        The same with the terms that it is made of.
    warnings_ : list of FitWarning
        Signs that the posterior should not be taken at its word.
    loss_curve_ : list of float
        The mean loss of each epoch.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from nbam import NBAMRegressor
    >>> X = np.linspace(0, 10, 100)[:, None]
    >>> y = 0.3 * X[:, 0] + 0.05 * np.sin(40 * X[:, 0])
    >>> y[7] = -999.0  # a sentinel
    >>> model = NBAMRegressor(hidden_layer_sizes=(16,), max_epochs=300, random_state=0).fit(X, y)
    >>> int(model.contamination_.argmax())
    7
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        verified: ArrayLike | None = None,
        error: ArrayLike | None = None,
    ) -> NBAMRegressor:
        """Fit on rows of which some targets are wrong.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features. An array of float32 or float16 in C order is used where it is, without a copy.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.
        verified : array-like of shape (n_samples,), default=None
            True where a target was checked and is right, False where it was checked and is wrong, None elsewhere.
        error : array-like of shape (n_samples,), default=None
            Known standard error of each target, added to the learned noise in quadrature.

        Returns
        -------
        self
        """
        settings = self._settings()
        features, targets = self._rows(X, y, y_numeric=True)
        self._train(
            _nbam.Regressor,
            settings,
            features,
            np.ascontiguousarray(targets, dtype=np.float64),
            _errors(error, features),
            sample_weight=sample_weight,
            verified=verified,
            classes=np.empty(0),
        )
        return self

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """The clean mean of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of a clean target about it as well.

        Returns
        -------
        ndarray of shape (n_samples,), or two of them
        """
        features = self._features(X)
        mean, sd = self._native.predict(features)
        return (mean, sd) if return_std else mean

    def evidence(self, X: ArrayLike, y: ArrayLike, *, error: ArrayLike | None = None) -> Evidence:
        """The posterior of rows with targets and the terms that it is made of, under the final networks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        error : array-like of shape (n_samples,), default=None

        Returns
        -------
        Evidence
        """
        features = self._features(X)
        refuse_masked("y", y)
        values = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(features, values)
        return Evidence(*self._native.posterior(features, values, _errors(error, features)))

    def contamination(self, X: ArrayLike, y: ArrayLike, *, error: ArrayLike | None = None) -> _Array:
        """The probability that each row's target is wrong, under the final networks.

        For the training rows, `contamination_` averages over the last epochs as well and is a little better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        error : array-like of shape (n_samples,), default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.evidence(X, y, error=error).contamination


def _errors(error: ArrayLike | None, X: _Array) -> _Array | None:
    if error is None:
        return None
    refuse_masked("error", error)
    errors = np.ascontiguousarray(column_or_1d(error, warn=True), dtype=np.float64)
    check_consistent_length(X, errors)
    is_valid = np.isfinite(errors) & (errors >= 0)
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        raise DataValueError(f"the error of row {row} is {errors[row]}, expected a finite number of at least 0")
    return errors
