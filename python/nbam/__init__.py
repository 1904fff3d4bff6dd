"""Neural Bayesian Anomaly Mitigation: learn from partly wrong targets, and learn which rows are wrong.

* `NBAMClassifier` and `NBAMRegressor`: scikit-learn estimators that know which of their training rows are wrong.
* `audit`: a table in, every row with its probability of being wrong out; the same as the command line.
* `nbam.torch` and `nbam.jax`: the loss for your own networks (import them by name; nbam itself needs neither library).
* `nbam.classical`: the static form, for a log-likelihood that you already have.
* `nbam.switch`: the kernel in NumPy.
"""

from __future__ import annotations

from . import classical, exceptions, switch
from ._audit import Audit, AuditModel, Estimate, audit, load_model
from ._base import Evidence, FitWarning
from ._classifier import NBAMClassifier
from ._nbam import __version__
from ._regressor import NBAMRegressor
from .exceptions import NBAMError

__all__ = [
    "Audit",
    "AuditModel",
    "Estimate",
    "Evidence",
    "FitWarning",
    "NBAMClassifier",
    "NBAMError",
    "NBAMRegressor",
    "__version__",
    "audit",
    "classical",
    "exceptions",
    "load_model",
    "switch",
]
