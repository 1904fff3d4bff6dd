"""The classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _nbam
from ._base import Evidence, NBAMEstimator, refuse_masked
from .exceptions import LabelError

_Array = NDArray[Any]


class NBAMClassifier(ClassifierMixin, NBAMEstimator):
    """A neural classifier that wrong labels do not fool, and that knows which labels are wrong.

    Every row has a hidden switch, clean or contaminated; the mixture ``(1 - pi(x)) p(y|x) + pi(x) q(y|x)`` is trained, and Bayes'
    rule gives each row's probability of being contaminated. There is no contamination rate to guess and no threshold to tune.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=None
        Widths of the hidden layers; (256, 256) by default.
    activation : {"tanh", "relu"}, default=None
        The hidden layers' nonlinearity; "tanh" by default.
    alpha : float, default=None
        Strength of the Gaussian prior on the weights: one over its variance, in units of one over a layer's inputs. By default rows
        that are left out of trial fits choose it, and whether columns also enter in pieces between their quantiles; if it is given, they
        do not.
    batch_size : int, default=None
        Rows of a batch; 512 by default.
    learning_rate : float, default=None
        Adam's learning rate; 0.002 by default, and from the middle of the fit on falling to a twentieth of that. 0.001 throughout with the
        paper's preset.
    max_epochs : int, default=None
        Passes over the rows; by default at least 12, and at least 1,000 steps. 200 with the paper's preset.
    n_members : int, default=None
        Networks that are trained from different starts and averaged; 3 by default, 1 with the paper's preset. Where 100 to 1,500
        rows are judged by a committee (docs/identification.md), it has five networks for each.
    precision : {"single", "bfloat16"}, default="single"
        What matrix products are computed in. With "bfloat16" their operands are rounded to two or three digits and the sums are not: faster
        where the processor multiplies such numbers (AVX-512 with BF16), the same as "single" where it does not.
    average : bool, default=True
        Whether `contamination_` is averaged over the last fifth of the epochs (not with the paper's preset).
    preset : {"default", "paper"}, default="default"
        What the parameters above are where they are None: what we recommend, or exactly the paper's.
    random_state : int, RandomState instance or None, default=None
        Where all random numbers come from. The same whole number gives the same bits, for any `n_jobs`.
    n_jobs : int, default=None
        Threads; None or -1 for all cores.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    contamination_ : ndarray of shape (n_samples,)
        Probability that each training row's label is wrong.
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
    >>> from sklearn.datasets import load_iris
    >>> from nbam import NBAMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2  # a wrong label
    >>> model = NBAMClassifier(hidden_layer_sizes=(32,), max_epochs=300, random_state=0).fit(X, y)
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
    ) -> NBAMClassifier:
        """Fit on rows of which some labels are wrong.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features. An array of float32 or float16 in C order is used where it is, without a copy.
        y : array-like of shape (n_samples,)
            Labels: numbers, strings or truth values.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.
        verified : array-like of shape (n_samples,), default=None
            True where a label was checked and is right, False where it was checked and is wrong, None elsewhere.

        Returns
        -------
        self
        """
        settings = self._settings()
        features, targets = self._rows(X, y)
        check_classification_targets(targets)
        self.classes_, labels = np.unique(targets, return_inverse=True)
        if len(self.classes_) < 2:
            raise LabelError(f"every row is of class {self.classes_.tolist()[0]!r}, expected two classes or more")
        self._train(
            _nbam.Classifier,
            settings,
            features,
            labels.astype(np.uintp),
            sample_weight=sample_weight,
            verified=verified,
            classes=self.classes_,
        )
        return self

    def predict_proba(self, X: ArrayLike) -> _Array:
        """Probabilities of the classes under the clean predictor: what the labels should be.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        features = self._features(X)
        return self._native.predict_proba(features)

    def predict(self, X: ArrayLike) -> _Array:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def evidence(self, X: ArrayLike, y: ArrayLike) -> Evidence:
        """The posterior of labelled rows and the terms that it is made of, under the final networks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        Evidence
        """
        features = self._features(X)
        return Evidence(*self._native.posterior(features, self._codes(y, features)))

    def contamination(self, X: ArrayLike, y: ArrayLike) -> _Array:
        """The probability that each row's label is wrong, under the final networks.

        For the training rows, `contamination_` averages over the last epochs as well and is a little better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.evidence(X, y).contamination

    def _codes(self, y: ArrayLike, features: _Array) -> _Array:
        """Labels as numbers of classes."""
        refuse_masked("y", y)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(features, labels)
        if labels.dtype.kind != self.classes_.dtype.kind and "O" in (labels.dtype.kind, self.classes_.dtype.kind):
            # Objects and fixed-width strings compare element by element only as objects.
            labels = labels.astype(object)
        try:
            codes = np.searchsorted(self.classes_, labels)
        except TypeError as error:
            raise LabelError(f"the labels cannot be compared with the classes {self.classes_.tolist()!r}") from error
        codes = np.minimum(codes, len(self.classes_) - 1)
        is_known = np.asarray(self.classes_[codes] == labels)
        if not is_known.all():
            row = int(np.argmin(is_known))
            shown = ", ".join(repr(label) for label in self.classes_[:10].tolist())
            raise LabelError(
                f"the label of row {row} is {labels.tolist()[row]!r}, which was not among the training labels", f"they are {shown}"
            )
        return codes.astype(np.uintp)
