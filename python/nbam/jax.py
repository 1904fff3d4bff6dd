"""The loss for JAX: pure functions, safe under `jit`, `grad` and `vmap`.

::

    from nbam.jax import nbam_loss, posterior

    def objective(parameters, x, y):
        clean_nll, prior_logit, anomaly_logp = heads(parameters, x, y)
        return nbam_loss(clean_nll, prior_logit, anomaly_logp)

`transition_terms` makes the three terms of a classification from any network's logits, tied so that the branches cannot swap.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["nbam_loss", "posterior", "transition_terms"]

_REDUCTIONS = ("none", "mean", "sum")


def _log_share(g: Any, t: Any) -> Any:
    """``log[(1 - pi) + pi exp(t)]`` for ``t <= 0``; a value near zero keeps its relative accuracy."""
    missing = jax.nn.sigmoid(g) * -jnp.expm1(t)
    near = jnp.log1p(-jnp.minimum(missing, 0.5))
    far = jnp.logaddexp(jax.nn.log_sigmoid(-g), jax.nn.log_sigmoid(g) + t)
    return jnp.where(missing < 0.5, near, far)


@jax.custom_jvp
def _switch(l: Any, g: Any, a: Any) -> Any:
    """The loss of each row; its derivative is given in closed form below."""
    t = l + a
    # Factor the likelier branch out: the rest is a number in (0, 1] whose logarithm is safe.
    is_clean = t <= 0
    return jnp.where(is_clean, l, -a) - _log_share(jnp.where(is_clean, g, -g), -jnp.abs(t))


@_switch.defjvp
def _switch_jvp(primals: Any, tangents: Any) -> Any:
    l, g, a = primals
    d_l, d_g, d_a = tangents
    t = l + a
    odds = g + t
    sign = jnp.where(t <= 0, 1.0, -1.0).astype(t.dtype)
    # pi - r as a product, so that it keeps its relative accuracy where pi and r agree.
    prior = sign * jax.nn.sigmoid(sign * g) * jax.nn.sigmoid(-sign * odds) * -jnp.expm1(-jnp.abs(t))
    tangent = jax.nn.sigmoid(-odds) * d_l + prior * d_g - jax.nn.sigmoid(odds) * d_a
    return _switch(l, g, a), tangent


def _rows(clean_nll: Any, prior_logit: Any, anomaly_logp: Any) -> tuple[Any, Any, Any]:
    """The three terms in one shape and in single precision at least."""
    terms = jnp.broadcast_arrays(clean_nll, prior_logit, anomaly_logp)
    precision = jnp.promote_types(jnp.result_type(*terms), jnp.float32)
    l, g, a = (term.astype(precision) for term in terms)
    return l, g, a


def nbam_loss(clean_nll: Any, prior_logit: Any, anomaly_logp: Any, reduction: str = "mean") -> Any:
    """``-log[(1 - pi) p(y|x) + pi q(y|x)]``: the loss of rows of which some targets are wrong.

    Parameters
    ----------
    clean_nll : array
        ``-log p(y|x)`` of each row.
    prior_logit : array
        ``logit pi(x)``.
    anomaly_logp : array
        ``log q(y|x)``; it must be normalised, or flagging every row is free.
    reduction : {"none", "mean", "sum"}
        What is made of the rows' losses.
    """
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}, expected 'none', 'mean' or 'sum'")
    losses = _switch(*_rows(clean_nll, prior_logit, anomaly_logp))
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def posterior(clean_nll: Any, prior_logit: Any, anomaly_logp: Any) -> Any:
    """The probability that each row's target is wrong, ``sigmoid(g + l + a)``."""
    l, g, a = _rows(clean_nll, prior_logit, anomaly_logp)
    return jax.nn.sigmoid(g + (l + a))


def transition_terms(logits: Any, labels: Any, rate_logits: Any, channel_logits: Any) -> tuple[Any, Any, Any]:
    """The three terms of a classification whose wrong labels come from the row's true class.

    ``P(y|x) = p_y (1 - rho_y) + sum_k p_k rho_k T[k, y]`` with ``p = softmax(logits)``, ``rho = sigmoid(rate_logits)`` and ``T`` the
    softmax over each row of `channel_logits` without its diagonal. Start `channel_logits` at zero and `rate_logits` at
    ``logit(0.7 (K - 1) / K)``, and let both learn ten to forty times faster than the weights; docs/identification.md says why.

    Parameters
    ----------
    logits : array of shape (rows, K)
    labels : integer array of shape (rows,)
    rate_logits : array of shape (K,)
    channel_logits : array of shape (K, K)
    """
    log_p = jax.nn.log_softmax(logits.astype(jnp.promote_types(logits.dtype, jnp.float32)), axis=-1)
    log_rate, log_rest = jax.nn.log_sigmoid(rate_logits), jax.nn.log_sigmoid(-rate_logits)
    own = jnp.eye(log_rate.shape[0], dtype=bool)
    # A wrong label differs from the true class by definition; a finite stand-in keeps the gradient finite.
    nothing = jnp.finfo(log_p.dtype).min / 4
    log_channel = jax.nn.log_softmax(jnp.where(own, nothing, channel_logits), axis=-1)
    log_pi = jax.nn.logsumexp(log_p + log_rate, axis=-1)
    log_not_pi = jax.nn.logsumexp(log_p + log_rest, axis=-1)
    clean = jnp.take_along_axis(log_p + log_rest, labels[:, None], axis=-1)[:, 0] - log_not_pi
    moved = jnp.where(own[labels], nothing, log_p + log_rate + log_channel.T[labels])
    return -clean, log_pi - log_not_pi, jax.nn.logsumexp(moved, axis=-1) - log_pi
