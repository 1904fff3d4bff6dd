"""NumPy, PyTorch and JAX against the golden vectors, which the Rust crates are tested against too."""

from __future__ import annotations

import numpy as np
import pytest

from nbam import classical, switch

OUTPUTS = ("loss", "posterior", "d_clean", "d_prior", "d_anomaly")


def check(golden, got, epsilon, smallest, units=8):
    """Every output is right to a few units in its last place, given that the sum g + l + a is rounded."""
    l, g, a = (np.abs(golden[name]) for name in "lga")
    condition = (units + 4 * (l + g + a)) * epsilon
    for name, values in zip(OUTPUTS, got, strict=True):
        slack = 2 * epsilon * np.maximum(np.maximum(l, g), a) if name == "loss" else 0.0
        limit = condition * np.abs(golden[name]) + slack + smallest
        error = np.abs(np.asarray(values, dtype=np.float64) - golden[name])
        worst = int(np.argmax(error - limit))
        point = {key: golden[key][worst] for key in "lga"}
        assert np.all(error <= limit), f"{name} at {point}: {values[worst]}, exactly {golden[name][worst]}"


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_numpy(golden, precision):
    l, g, a = (golden[name].astype(precision) for name in "lga")
    gradient = switch.gradient(l, g, a)
    got = (switch.loss(l, g, a), switch.posterior(l, g, a), *gradient)
    assert all(values.dtype == precision for values in got)
    check(golden, got, np.finfo(precision).eps, np.finfo(precision).tiny)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_torch(golden, precision):
    torch = pytest.importorskip("torch")
    from nbam.torch import nbam_loss, posterior

    terms = [torch.tensor(golden[name], dtype=getattr(torch, precision), requires_grad=True) for name in "lga"]
    losses = nbam_loss(*terms, reduction="none")
    losses.sum().backward()
    got = [losses, posterior(*terms), *(term.grad for term in terms)]
    got = [values.detach().numpy() for values in got]
    # PyTorch's sigmoid in single precision flushes what is subnormal.
    smallest = np.finfo(precision).tiny * (1 if precision == "float64" else 2)
    check(golden, got, np.finfo(precision).eps, smallest)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_jax(golden, precision):
    jax = pytest.importorskip("jax")
    from nbam.jax import nbam_loss, posterior

    with jax.enable_x64(precision == "float64"):
        terms = [jax.numpy.asarray(golden[name], dtype=precision) for name in "lga"]
        losses = jax.jit(lambda *terms: nbam_loss(*terms, reduction="none"))(*terms)
        gradients = jax.vmap(jax.grad(nbam_loss, argnums=(0, 1, 2)))(*terms)
        got = [np.asarray(values) for values in (losses, posterior(*terms), *gradients)]
    assert got[0].dtype == precision
    # XLA's log1p is right to some fifty units in double precision.
    check(golden, got, np.finfo(precision).eps, np.finfo(precision).tiny * 2, units=100)


def test_an_impossible_branch_is_no_obstacle():
    # A clean likelihood of zero: the row is wrong, the loss is that of the anomaly, and nothing is NaN.
    assert switch.posterior(np.inf, -2.0, -1.0) == 1.0
    assert switch.loss(np.inf, 0.0, -1.0) == pytest.approx(1.0 + np.log(2))
    assert switch.gradient(np.inf, 0.0, -1.0) == (0.0, -0.5, -1.0)
    assert switch.posterior(1.0, 0.0, -np.inf) == 0.0
    assert switch.loss(1.0, 0.0, -np.inf) == pytest.approx(1.0 + np.log(2))


def test_the_classical_form_is_the_textbook_formula():
    log_likelihood = np.array([-0.5, -3.0, -40.0, -np.inf])
    omega, delta = 0.1, 20.0
    marginal = np.log((1 - omega) * np.exp(log_likelihood) + omega / delta)
    np.testing.assert_allclose(classical.log_marginal(log_likelihood, omega, delta), marginal, rtol=1e-14)
    wrong = omega / delta / np.exp(marginal)
    np.testing.assert_allclose(classical.posterior(log_likelihood, omega, delta), wrong, rtol=1e-13)
    np.testing.assert_allclose(classical.weight(log_likelihood, omega, delta), 1 - wrong, atol=1e-13)
    dominant = np.maximum(log_likelihood + np.log(1 - omega), np.log(omega / delta))
    np.testing.assert_allclose(classical.log_dominant(log_likelihood, omega, delta), dominant, rtol=1e-14)
    assert classical.is_clean(log_likelihood, omega, delta).tolist() == [True, True, False, False]
    assert classical.posterior(log_likelihood, np.full(4, omega), np.full(4, delta)).shape == (4,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, np.nan], 0.1, 1.0), "the log-likelihood of row 1 is nan"),
        (([0.0, 1.0], [0.1, 1.5], 1.0), "omega of row 1 is 1.5"),
        (([0.0, 1.0], 0.0, 1.0), "omega is 0.0"),
        (([0.0, 1.0], 0.1, -1.0), "delta is -1.0"),
        (([0.0, 1.0], [0.1, 0.1, 0.1], 1.0), r"omega has the shape \(3,\)"),
    ],
)
def test_the_classical_form_names_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        classical.log_marginal(*arguments)
