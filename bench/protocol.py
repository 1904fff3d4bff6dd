"""What a worker does with the parent's orders.

A worker is one process holding one engine. It reads one JSON object per line on standard input, obeys it, and answers
with one on standard output. It stays alive between orders, so that compilation and memory are warm, and works only when
told to, so that contenders can take turns on the same cores.
"""

import json
import math
import os
import sys
import time
import traceback

import numpy as np

import step
from sizes import BATCH, ROWS

CHECKED_STEPS = 3
WARM_UP_EPOCHS = 2


def serve(make_engine):
    """Obey orders until standard input ends. `make_engine(features, labels, weights)` builds the engine.

    An engine has `version`; `reset()`, back to the starting weights; `train(order)`, which returns the loss of each
    step; `score(batch)`, which returns the posterior of every row; and `score_batches`, the batch sizes worth trying.
    """
    # Libraries write notices to standard output; the protocol keeps the real one to itself.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    contender = None
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if contender is None:
                contender = _Contender(make_engine)
            answer = contender.obey(order)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class _Contender:
    def __init__(self, make_engine):
        self.features, self.labels = step.make_data()
        self.weights = step.make_weights()
        self.engine = make_engine(self.features, self.labels, self.weights)
        self.random = np.random.default_rng(0)
        self.score_batch = None

    def obey(self, order):
        match order["command"]:
            case "check":
                return self.check()
            case "warm_up":
                return self.warm_up(order["scores"])
            case "train":
                return {"seconds": [self.train_epoch() for _ in range(order["epochs"])]}
            case "score":
                return {"rows_per_second": [self.score(self.score_batch) for _ in range(order["passes"])]}
            case other:
                raise ValueError(f"unknown command {other}")

    def check(self):
        """Loss and posterior from the starting weights against the float64 reference, and the losses of a few steps."""
        self.engine.reset()
        posterior = np.asarray(self.engine.score(self.engine.score_batches[0]))[:BATCH]
        expected_loss, expected_posterior = step.reference(self.features[:BATCH], self.labels[:BATCH], self.weights)
        losses = np.asarray(self.engine.train(step.plain_order(CHECKED_STEPS)))
        return {
            "version": self.engine.version,
            "losses": [float(loss) for loss in losses],
            "loss_error": abs(float(losses[0]) - expected_loss),
            "posterior_error": float(np.abs(posterior - expected_posterior).max()),
        }

    def warm_up(self, scores):
        """Compile, touch all memory and, for a contender that scores, choose the batch size that scores fastest."""
        self.engine.reset()
        for _ in range(WARM_UP_EPOCHS):
            self.train_epoch()
        if not scores:
            return {"score_batch": None}
        speeds = {}
        for batch in self.engine.score_batches:
            self.score(batch)
            speeds[batch] = max(self.score(batch) for _ in range(3))
        self.score_batch = max(speeds, key=speeds.get)
        return {"score_batch": self.score_batch}

    def train_epoch(self):
        """Seconds of one epoch, shuffling included."""
        start = time.perf_counter()
        losses = self.engine.train(step.epoch_order(self.random))
        seconds = time.perf_counter() - start
        if not math.isfinite(float(np.asarray(losses).sum())):
            raise ArithmeticError("the loss stopped being finite")
        return seconds

    def score(self, batch):
        """Rows per second of the posterior of all rows."""
        start = time.perf_counter()
        self.engine.score(batch)
        return ROWS / (time.perf_counter() - start)
