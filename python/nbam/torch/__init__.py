"""The loss and the heads for PyTorch.

`NBAMLoss` needs three numbers for each row: the clean negative log-likelihood, the prior logit and the anomaly log-likelihood.
`NBAMHead` makes them from any backbone's features::

    head = NBAMHead(in_features=64, num_classes=10)
    criterion = NBAMLoss()
    loss = criterion(*head(backbone(images), labels)) + 0.5 * ramp * head.entropy(backbone(images))
    contamination = criterion.posterior(*head(backbone(images), labels))
"""

from __future__ import annotations

from ._heads import NBAMHead, Terms
from ._loss import NBAMLoss, nbam_loss, posterior

__all__ = ["NBAMHead", "NBAMLoss", "Terms", "nbam_loss", "posterior"]
