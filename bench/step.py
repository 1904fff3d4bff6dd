"""The step that every contender runs: its sizes, its data, its starting weights and its value.

The network and the loss are the paper's. With features x and label y,

    h = tanh(W2 tanh(W1 x))                                      the shared backbone
    l = -log softmax(clean(h))[y]                                clean negative log-likelihood
    a = log softmax(anomaly(h))[y]                               anomaly log-likelihood
    g = prior(h)                                                 prior logit
    L = -logaddexp(log sigmoid(-g) - l, log sigmoid(g) + a)      mean over the batch
    r = sigmoid(g + l + a)                                       posterior, what scoring returns

This module needs NumPy, so only the workers and nothing of the parent process import it.
"""

import numpy as np

from sizes import BATCH, CLASSES, FEATURES, LAYERS, ROWS, STEPS

SEED = 20260101


def make_data():
    """Features (float32) and labels (int32): Gaussian clusters, the same numbers in every worker."""
    random = np.random.default_rng(SEED)
    labels = random.integers(0, CLASSES, ROWS).astype(np.int32)
    centres = random.standard_normal((CLASSES, FEATURES), dtype=np.float32)
    features = random.standard_normal((ROWS, FEATURES), dtype=np.float32)
    features += 0.2 * centres[labels]
    return features, labels


def make_weights():
    """Starting weights by layer name: (inputs x outputs matrix, bias), uniform within 1 / sqrt(inputs)."""
    random = np.random.default_rng(SEED + 1)
    weights = {}
    for name, (inputs, outputs) in LAYERS.items():
        bound = inputs**-0.5
        matrix = random.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
        bias = random.uniform(-bound, bound, outputs).astype(np.float32)
        weights[name] = (matrix, bias)
    return weights


def epoch_order(random):
    """Row numbers of one shuffled epoch, steps x batch.

    The last batch is filled up with rows from the start of the shuffle: a fixed shape suits JAX, and costs 0.1 %.
    """
    order = random.permutation(ROWS).astype(np.int32)
    return np.resize(order, STEPS * BATCH).reshape(STEPS, BATCH)


def plain_order(steps):
    """Row numbers of the first batches in file order: what `check` trains on, so that contenders can be compared."""
    return np.arange(steps * BATCH, dtype=np.int32).reshape(steps, BATCH)


def reference(features, labels, weights):
    """Mean loss and the posterior of each row, in float64 and in plain NumPy: the oracle of every contender."""

    def layer(name, inputs):
        matrix, bias = weights[name]
        return inputs @ matrix.astype(np.float64) + bias.astype(np.float64)

    def log_likelihood(scores):
        scores = scores - scores.max(axis=1, keepdims=True)
        normaliser = np.log(np.exp(scores).sum(axis=1))
        return scores[np.arange(len(labels)), labels] - normaliser

    hidden = np.tanh(layer("first", features.astype(np.float64)))
    hidden = np.tanh(layer("second", hidden))
    clean = log_likelihood(layer("clean", hidden))
    anomaly = log_likelihood(layer("anomaly", hidden))
    logit = layer("prior", np.tanh(layer("prior_hidden", hidden)))[:, 0]
    log_prior = -np.logaddexp(0.0, -logit)
    log_not_prior = -np.logaddexp(0.0, logit)
    loss = -np.logaddexp(log_not_prior + clean, log_prior + anomaly)
    posterior = 1.0 / (1.0 + np.exp(-(logit - clean + anomaly)))
    return float(loss.mean()), posterior
