"""The drop-in loss."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_REDUCTIONS = ("none", "mean", "sum")


def _log_share(g: Tensor, t: Tensor) -> Tensor:
    """``log[(1 - pi) + pi exp(t)]`` for ``t <= 0``; a value near zero keeps its relative accuracy."""
    missing = torch.sigmoid(g) * -torch.expm1(t)
    near = torch.log1p(-missing.clamp(max=0.5))
    far = torch.logaddexp(functional.logsigmoid(-g), functional.logsigmoid(g) + t)
    return torch.where(missing < 0.5, near, far)


class _Switch(torch.autograd.Function):
    """The loss of each row with its gradient in closed form: ``1 - r``, ``pi - r`` and ``-r``.

    Derived automatically, the gradient would be a difference of numbers that nearly cancel, and not finite where a branch is
    impossible.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(l: Tensor, g: Tensor, a: Tensor) -> Tensor:
        t = l + a
        # Factor the likelier branch out: the rest is a number in (0, 1] whose logarithm is safe.
        is_clean = t <= 0
        return torch.where(is_clean, l, -a) - _log_share(torch.where(is_clean, g, -g), -t.abs())

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        (weight,) = gradients
        l, g, a = ctx.saved_tensors
        t = l + a
        odds = g + t
        is_clean = t <= 0
        sign = torch.where(is_clean, torch.ones_like(t), -torch.ones_like(t))
        # pi - r as a product, so that it keeps its relative accuracy where pi and r agree.
        prior = sign * torch.sigmoid(sign * g) * torch.sigmoid(-sign * odds) * -torch.expm1(-t.abs())
        return weight * torch.sigmoid(-odds), weight * prior, -weight * torch.sigmoid(odds)


def _rows(clean_nll: Tensor, prior_logit: Tensor, anomaly_logp: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The three terms in one shape and in single precision at least: half precision has too few digits for a posterior."""
    terms = torch.broadcast_tensors(clean_nll, prior_logit, anomaly_logp)
    precision = torch.promote_types(torch.promote_types(terms[0].dtype, terms[1].dtype), terms[2].dtype)
    if precision in (torch.float16, torch.bfloat16) or not precision.is_floating_point:
        precision = torch.float32
    l, g, a = (term.to(precision) for term in terms)
    return l, g, a


def nbam_loss(clean_nll: Tensor, prior_logit: Tensor, anomaly_logp: Tensor, reduction: str = "mean") -> Tensor:
    """``-log[(1 - pi) p(y|x) + pi q(y|x)]``: the loss of rows of which some targets are wrong.

    Parameters
    ----------
    clean_nll : Tensor
        ``-log p(y|x)`` of each row: a cross-entropy, or a Gaussian's negative log-likelihood with its normalisation.
    prior_logit : Tensor
        ``logit pi(x)``.
    anomaly_logp : Tensor
        ``log q(y|x)``; it must be normalised, or flagging every row is free.
    reduction : {"none", "mean", "sum"}
        What is made of the rows' losses.
    """
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}, expected 'none', 'mean' or 'sum'")
    losses: Tensor = _Switch.apply(*_rows(clean_nll, prior_logit, anomaly_logp))
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def posterior(clean_nll: Tensor, prior_logit: Tensor, anomaly_logp: Tensor) -> Tensor:
    """The probability that each row's target is wrong, ``sigmoid(g + l + a)``."""
    l, g, a = _rows(clean_nll, prior_logit, anomaly_logp)
    return torch.sigmoid(g + (l + a))


class NBAMLoss(nn.Module):
    """`nbam_loss` as a module.

    Parameters
    ----------
    reduction : {"none", "mean", "sum"}, default="mean"
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in _REDUCTIONS:
            raise ValueError(f"reduction is {reduction!r}, expected 'none', 'mean' or 'sum'")
        self.reduction = reduction

    def forward(self, clean_nll: Tensor, prior_logit: Tensor, anomaly_logp: Tensor) -> Tensor:
        """The loss; see `nbam_loss`."""
        return nbam_loss(clean_nll, prior_logit, anomaly_logp, self.reduction)

    def posterior(self, clean_nll: Tensor, prior_logit: Tensor, anomaly_logp: Tensor) -> Tensor:
        """The probability that each row's target is wrong."""
        return posterior(clean_nll, prior_logit, anomaly_logp)

    def extra_repr(self) -> str:
        """What `repr` shows."""
        return f"reduction={self.reduction!r}"
