"""The loss for JAX."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

from nbam import switch  # noqa: E402
from nbam.jax import nbam_loss, posterior, transition_terms  # noqa: E402


def terms(rows=64):
    keys = jax.random.split(jax.random.key(0), 3)
    return [jax.random.normal(key, (rows,)) for key in keys]


def test_reductions():
    rows = terms()
    each = nbam_loss(*rows, reduction="none")
    np.testing.assert_allclose(each, switch.loss(*map(np.asarray, rows)), rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(nbam_loss(*rows), each.mean(), rtol=1e-6)
    np.testing.assert_allclose(nbam_loss(*rows, reduction="sum"), each.sum(), rtol=1e-6)
    with pytest.raises(ValueError, match="reduction is 'average'"):
        nbam_loss(*rows, reduction="average")


def test_jit_grad_vmap_and_forward_mode_agree():
    rows = terms()
    gradient = jax.grad(nbam_loss, argnums=(0, 1, 2))
    expected = switch.gradient(*map(np.asarray, rows))
    for got in (gradient(*rows), jax.jit(gradient)(*rows)):
        for values, exact in zip(got, expected, strict=True):
            np.testing.assert_allclose(values * 64, exact, rtol=1e-4, atol=1e-6)
    blocks = [term.reshape(4, 16) for term in rows]
    np.testing.assert_allclose(jax.vmap(nbam_loss)(*blocks).mean(), nbam_loss(*rows), rtol=1e-5)
    directions = tuple(jnp.ones_like(term) for term in rows)
    _, along = jax.jvp(nbam_loss, tuple(rows), directions)
    np.testing.assert_allclose(along, sum(values.sum() for values in gradient(*rows)), rtol=1e-4, atol=1e-6)
    assert jnp.isfinite(jax.hessian(lambda l: nbam_loss(l, rows[1], rows[2]))(rows[0])).all()


def test_half_precision_is_computed_in_single():
    rows = [term.astype(jnp.bfloat16) for term in terms()]
    assert nbam_loss(*rows).dtype == jnp.float32
    assert posterior(*rows).dtype == jnp.float32


@pytest.mark.parametrize("classes", [2, 5])
def test_the_transition_is_the_label_channel(classes):
    keys = jax.random.split(jax.random.key(1), 4)
    logits = jax.random.normal(keys[0], (30, classes))
    labels = jax.random.randint(keys[1], (30,), 0, classes)
    rates, channel = jax.random.normal(keys[2], (classes,)), jax.random.normal(keys[3], (classes, classes))
    p, rho = jax.nn.softmax(logits), jax.nn.sigmoid(rates)
    move = jnp.exp(channel) * (1 - jnp.eye(classes))
    move = move / move.sum(axis=-1, keepdims=True)
    rows = jnp.arange(30)
    wrong = ((p * rho) @ move)[rows, labels]
    marginal = p[rows, labels] * (1 - rho[labels]) + wrong
    got = transition_terms(logits, labels, rates, channel)
    np.testing.assert_allclose(nbam_loss(*got, reduction="none"), -jnp.log(marginal), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(posterior(*got), wrong / marginal, rtol=1e-3, atol=1e-6)
    gradient = jax.grad(lambda *values: nbam_loss(*transition_terms(values[0], labels, *values[1:])), argnums=(0, 1, 2))
    assert all(jnp.isfinite(values).all() for values in gradient(logits, rates, channel))
