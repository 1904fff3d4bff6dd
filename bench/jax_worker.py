"""JAX: one jitted scan per epoch; features, labels and weights stay on the device."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

import protocol
from sizes import LEARNING_RATE


def heads(weights, x):
    """Class scores of the clean and of the anomaly head, and the prior logit."""

    def layer(name, inputs):
        matrix, bias = weights[name]
        return inputs @ matrix + bias

    hidden = jnp.tanh(layer("second", jnp.tanh(layer("first", x))))
    prior = layer("prior", jnp.tanh(layer("prior_hidden", hidden)))[:, 0]
    return layer("clean", hidden), layer("anomaly", hidden), prior


def evidence(weights, x, y):
    """Clean negative log-likelihood l, anomaly log-likelihood a and prior logit g of each row."""
    clean, anomaly, prior = heads(weights, x)

    def log_likelihood(scores):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], axis=1, mode="promise_in_bounds")
        return chosen[:, 0]

    return -log_likelihood(clean), log_likelihood(anomaly), prior


def mean_loss(weights, x, y):
    l, a, g = evidence(weights, x, y)
    return -jnp.logaddexp(jax.nn.log_sigmoid(-g) - l, jax.nn.log_sigmoid(g) + a).mean()


def adam(weights, gradient, state):
    """One step of Adam with its usual constants (0.9, 0.999, 1e-8)."""
    count, first, second = state
    count = count + 1
    first = jax.tree.map(lambda m, d: 0.9 * m + 0.1 * d, first, gradient)
    second = jax.tree.map(lambda v, d: 0.999 * v + 0.001 * d * d, second, gradient)
    rate = LEARNING_RATE / (1 - 0.9**count)
    correction = lax.rsqrt(1 - 0.999**count)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) * correction + 1e-8), weights, first, second)
    return weights, (count, first, second)


@partial(jax.jit, donate_argnums=(0, 1))
def train_epoch(weights, state, x, y, order):
    """All steps of an epoch; `order` holds the row numbers of each batch."""

    def one_step(carry, rows):
        weights, state = carry
        batch = x.at[rows].get(mode="promise_in_bounds"), y.at[rows].get(mode="promise_in_bounds")
        loss, gradient = jax.value_and_grad(mean_loss)(weights, *batch)
        return adam(weights, gradient, state), loss

    (weights, state), losses = lax.scan(one_step, (weights, state), order)
    return weights, state, losses


@partial(jax.jit, static_argnames="batch")
def posterior(weights, x, y, batch):
    """Posterior of every row, a batch at a time."""

    def one_batch(rows):
        l, a, g = evidence(weights, *rows)
        return jax.nn.sigmoid(g + l + a)

    blocks = x.reshape(-1, batch, x.shape[1]), y.reshape(-1, batch)
    return lax.map(one_batch, blocks).reshape(-1)


class Engine:
    """What `protocol.serve` asks of a contender."""

    version = jax.__version__
    # Each divides the number of rows, so that no batch is padded.
    score_batches = (250, 500, 1_500, 5_000)

    def __init__(self, features, labels, weights):
        self.x = jax.device_put(features)
        self.y = jax.device_put(labels)
        self.start = weights
        self.reset()

    def reset(self):
        # Copies, because training gives its arguments' memory away.
        self.weights = jax.tree.map(lambda array: jnp.array(array, copy=True), self.start)
        self.state = (
            jnp.float32(0),
            jax.tree.map(jnp.zeros_like, self.weights),
            jax.tree.map(jnp.zeros_like, self.weights),
        )

    def train(self, order):
        self.weights, self.state, losses = train_epoch(self.weights, self.state, self.x, self.y, order)
        return jax.block_until_ready(losses)

    def score(self, batch):
        return jax.block_until_ready(posterior(self.weights, self.x, self.y, batch))


if __name__ == "__main__":
    protocol.serve(Engine)
