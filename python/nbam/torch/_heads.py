"""Heads that attach to any backbone's features, started so that the model is identified.

The mixture alone does not say which branch is the clean one: exchange them, and every row keeps its likelihood. What decides is how
the heads are tied and where they start. docs/identification.md has the reasons and the measurements.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

#: Where the prior's logit starts: a contamination of 12 %.
_PRIOR_BIAS = -2.0
#: The share of labels that are drawn at random before anything is learned. High, so that early training does not trust them.
_INITIAL_SHARE = 0.7
#: How much faster the label channel learns than the weights: it has to follow the network, not to lag behind it.
_CHANNEL_SPEED = 40.0
#: Where the log standard deviation of wrong values starts, in units of the target's spread.
_ANOMALY_LOG_SD = 0.75


class Terms(NamedTuple):
    """What `NBAMLoss` takes: one number of each for every row."""

    clean_nll: Tensor
    prior_logit: Tensor
    anomaly_logp: Tensor


class NBAMHead(nn.Module):
    """Clean predictor, prior and anomaly density on a backbone's features.

    Parameters
    ----------
    in_features : int
        Width of the backbone's features.
    num_classes : int, default=None
        Number of classes; None for a regression.
    anomaly : {"transition", "free"}, default="transition"
        For classes, "transition" says that a wrong label comes from the row's true class: class k is mislabelled with a learned
        probability, and then as class j with a learned probability. The anomaly sees a row only through the clean predictor and cannot
        trade places with it. "free" is the paper's: heads of their own for prior and anomaly. For a regression, "transition" is not
        defined: wrong values come from one learned Gaussian ("common", the default there), or from a head of their own ("free").
    clean : nn.Module, default=None
        Your own clean predictor, from features to logits (or to mean and log standard deviation); a linear layer by default, and
        ``nn.Identity()`` where the features are the logits already.
    target_centre, target_spread : float, default=0.0 and 1.0
        For a regression: a robust centre and spread of the targets, such as median and 1.48 times the median absolute deviation.

    Notes
    -----
    Weight decay should spare the channel of "transition": `decayed_parameters` and `other_parameters` make the two groups.
    Adding `entropy` to the loss, with a weight that rises from 0 to 0.5 between 30 % and 70 % of the training, says that clean labels are
    nearly certain given the features; without it the predictor may explain wrong labels as ambiguity.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int | None = None,
        *,
        anomaly: str | None = None,
        clean: nn.Module | None = None,
        target_centre: float = 0.0,
        target_spread: float = 1.0,
    ) -> None:
        super().__init__()
        if num_classes is not None and num_classes < 2:
            raise ValueError(f"num_classes is {num_classes}, expected 2 or more, or None for a regression")
        if not (target_spread > 0 and math.isfinite(target_spread)):
            raise ValueError(f"target_spread is {target_spread}, expected a positive number")
        is_class = num_classes is not None
        anomaly = anomaly or ("transition" if is_class else "common")
        choices = ("transition", "free") if is_class else ("common", "free")
        if anomaly not in choices:
            raise ValueError(f"anomaly is {anomaly!r}, expected {choices[0]!r} or {choices[1]!r}")
        self.in_features = in_features
        self.num_classes = num_classes
        self.anomaly = anomaly
        outputs = num_classes if num_classes is not None else 2
        self.clean = clean if clean is not None else nn.Linear(in_features, outputs)
        self.target_centre = float(target_centre)
        self.target_spread = float(target_spread)
        if anomaly == "transition":
            assert num_classes is not None
            # What is learned is the distance from the start, in units that make an optimiser's step a large one.
            self.rate = nn.Parameter(torch.zeros(num_classes))
            self.channel = nn.Parameter(torch.zeros(num_classes, num_classes))
            self.initial_rate = _logit(_INITIAL_SHARE * (num_classes - 1) / num_classes)
        else:
            self.prior = _zeros(nn.Linear(in_features, 1), _PRIOR_BIAS)
        if anomaly == "free":
            self.wrong = _zeros(nn.Linear(in_features, outputs), 0.0)
        if anomaly == "common":
            self.wrong_value = nn.Parameter(torch.zeros(2))

    def forward(self, features: Tensor, target: Tensor) -> Terms:
        """The three terms of each row, for `NBAMLoss`.

        Parameters
        ----------
        features : Tensor of shape (rows, in_features)
        target : Tensor of shape (rows,)
            Class numbers, or values.
        """
        # Log-likelihoods need single precision, whatever an autocast chose for the backbone.
        with torch.autocast(features.device.type, enabled=False):
            features = features.float() if features.dtype in (torch.float16, torch.bfloat16) else features
            outputs = self.clean(features)
            if self.anomaly == "transition":
                return self._transition(outputs, target)
            prior_logit = self.prior(features).squeeze(-1)
            if self.num_classes is not None:
                clean_nll = functional.cross_entropy(outputs, target, reduction="none")
                anomaly_nll = functional.cross_entropy(self.wrong(features), target, reduction="none")
                return Terms(clean_nll, prior_logit, -anomaly_nll)
            target = (target - self.target_centre) / self.target_spread
            wrong = self.wrong(features) if self.anomaly == "free" else self.wrong_value.expand(len(target), 2)
            # Densities are of the target in its own units.
            unit = math.log(self.target_spread)
            clean_nll = _gaussian_nll(target, outputs[:, 0], outputs[:, 1]) + unit
            anomaly_nll = _gaussian_nll(target, wrong[:, 0], wrong[:, 1] + _ANOMALY_LOG_SD) + unit
            return Terms(clean_nll, prior_logit, -anomaly_nll)

    def _transition(self, logits: Tensor, target: Tensor) -> Terms:
        """``P(y|x) = p_y (1 - rho_y) + sum_k p_k rho_k T[k, y]``, taken apart into the two branches."""
        log_p = functional.log_softmax(logits, dim=-1)
        rate = self.initial_rate + _CHANNEL_SPEED * self.rate
        log_rate, log_rest = functional.logsigmoid(rate), functional.logsigmoid(-rate)
        # A wrong label differs from the true class by definition.
        own = torch.eye(len(rate), dtype=torch.bool, device=logits.device)
        log_channel = functional.log_softmax((_CHANNEL_SPEED * self.channel).masked_fill(own, -torch.inf), dim=-1)
        log_pi = torch.logsumexp(log_p + log_rate, dim=-1)
        log_not_pi = torch.logsumexp(log_p + log_rest, dim=-1)
        log_kept = log_p + log_rest
        clean = log_kept.gather(-1, target[:, None]).squeeze(-1) - log_not_pi
        moved = log_p + log_rate + log_channel.t()[target]
        # The own class has no way to its own wrong label; its minus infinity must not reach the gradient.
        moved = moved.masked_fill(own[target], torch.finfo(moved.dtype).min)
        return Terms(-clean, log_pi - log_not_pi, torch.logsumexp(moved, dim=-1) - log_pi)

    def predict(self, features: Tensor) -> Tensor:
        """Logits of the classes, or mean and standard deviation of a clean value, for each row."""
        outputs: Tensor = self.clean(features)
        if self.num_classes is not None:
            return outputs
        mean = self.target_centre + self.target_spread * outputs[:, 0]
        return torch.stack([mean, self.target_spread * outputs[:, 1].exp()], dim=-1)

    def entropy(self, features: Tensor) -> Tensor:
        """The mean entropy of the clean predictor's classes: how uncertain it is."""
        if self.num_classes is None:
            raise ValueError("only a classification has an entropy")
        log_p = functional.log_softmax(self.clean(features).float(), dim=-1)
        return -(log_p.exp() * log_p).sum(dim=-1).mean()

    def rates(self) -> Tensor:
        """The probability that a row of each class is mislabelled; only with "transition"."""
        if self.anomaly != "transition":
            raise ValueError("only the transition has one rate for each class")
        return torch.sigmoid(self.initial_rate + _CHANNEL_SPEED * self.rate)

    def decayed_parameters(self) -> list[nn.Parameter]:
        """The weight matrices: what weight decay is for."""
        channel = {id(getattr(self, name, None)) for name in ("channel", "rate", "wrong_value")}
        return [parameter for parameter in self.parameters() if parameter.ndim > 1 and id(parameter) not in channel]

    def other_parameters(self) -> list[nn.Parameter]:
        """All other parameters."""
        decayed = {id(parameter) for parameter in self.decayed_parameters()}
        return [parameter for parameter in self.parameters() if id(parameter) not in decayed]


def _logit(p: float) -> float:
    return math.log(p / (1 - p))


def _zeros(layer: nn.Linear, bias: float) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    nn.init.constant_(layer.bias, bias)
    return layer


def _gaussian_nll(target: Tensor, mean: Tensor, log_sd: Tensor) -> Tensor:
    return 0.5 * ((target - mean) * torch.exp(-log_sd)).square() + log_sd + 0.5 * math.log(2 * math.pi)
