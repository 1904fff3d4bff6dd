"""Ctrl-C, threads, fork, progress, and the GIL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import nbam
from nbam import NBAMClassifier, NBAMRegressor


def made(rows=4000, columns=64):
    chance = np.random.default_rng(0)
    x = chance.normal(size=(rows, columns)).astype(np.float32)
    return x, (x[:, 0] > 0).astype(int)


def endless(**changes):
    return NBAMClassifier(**{"max_epochs": 100_000, "n_members": 2, "random_state": 0, **changes})


@pytest.fixture
def heard():
    """Ctrl-C as a terminal's program hears it: a shell starts its background jobs with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(
    "work",
    [
        lambda x, y: endless().fit(x, y),
        lambda x, y: NBAMRegressor(max_epochs=100_000, random_state=0).fit(x, x[:, 0]),
        lambda x, y: nbam.audit({"x": x, "y": y}, target="y", epochs=100_000),
    ],
    ids=["classifier", "regressor", "audit"],
)
def test_control_c_stops_a_fit_within_a_second(work):
    x, y = made()
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work(x, y)
    # The machine may be busy with other tests; alone it takes a tenth of this.
    assert time.monotonic() - pressed[0] < 1.0
    # The interpreter is as good as before.
    assert endless(max_epochs=1).fit(x, y).contamination_.shape == y.shape


def test_an_exception_in_a_callback_stops_the_fit(monkeypatch):
    import contextlib

    from nbam import _base

    @contextlib.contextmanager
    def failing(verbose):
        def tell(*news):
            raise OSError("the terminal is gone")

        yield tell

    monkeypatch.setattr(_base, "progress", failing)
    with pytest.raises(OSError, match="the terminal is gone"):
        endless().fit(*made(500))


def test_the_gil_is_released():
    x, y = made()
    counts = []
    is_done = threading.Event()

    def count():
        number = 0
        while not is_done.is_set():
            number += 1
            time.sleep(0.001)
        counts.append(number)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.monotonic()
    endless(max_epochs=30).fit(x, y)
    elapsed = time.monotonic() - start
    is_done.set()
    counter.join()
    # A thread that is held up by the GIL counts once or twice.
    assert counts[0] > 20 * elapsed


def test_fits_in_threads_give_the_same_bits():
    x, y = made(600, 8)
    alone = endless(max_epochs=5, hidden_layer_sizes=(16,)).fit(x, y).contamination_
    results = [None] * 4

    def fit(place):
        results[place] = endless(max_epochs=5, hidden_layer_sizes=(16,)).fit(x, y).contamination_

    threads = [threading.Thread(target=fit, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, alone)


FORK = """
    import multiprocessing

    import numpy as np

    import nbam

    x = np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int)
    table = {"x": x, "y": y}

    def fit():
        return nbam.NBAMClassifier(hidden_layer_sizes=(16,), max_epochs=3, random_state=0).fit(x, y)

    def work(results):
        rate = nbam.audit(table, target="y", epochs=1, members=1).rate.mean
        results.put((fit().contamination_, model.contamination(x, y), rate))

    # Everything is used before the fork, so that a pool of threads that is kept would be missed after it.
    model = fit()
    rate = nbam.audit(table, target="y", epochs=1, members=1).rate.mean
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=work, args=(results,), daemon=True)
    child.start()
    fitted, scored, child_rate = results.get(timeout=60)
    child.join(10)
    assert np.array_equal(fitted, model.contamination_)
    assert np.array_equal(scored, model.contamination(x, y))
    assert child_rate == rate
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_it_works_after_a_fork():
    # In a process of its own: other libraries that the tests load do not survive a fork.
    subprocess.run([sys.executable, "-c", textwrap.dedent(FORK)], check=True, timeout=120)


def test_progress(capfd):
    pytest.importorskip("tqdm")
    x, y = made(1600, 4)  # so many rows that no committee is asked
    endless(max_epochs=4, hidden_layer_sizes=(8,), verbose=1).fit(x, y)
    shown = capfd.readouterr().err
    assert "trial fits, judged by left-out rows" in shown
    assert "8/8" in shown
    assert "loss=" in shown
    endless(max_epochs=4, hidden_layer_sizes=(8,)).fit(x, y)
    assert capfd.readouterr().err == ""


PEAK = """
    import resource

    import numpy as np
    import nbam

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def table(x, y):
        import pyarrow

        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(x.ravel()), x.shape[1])
        return pyarrow.table({{"x": lists, "y": y}})

    def classifier(x, y):
        small = nbam.NBAMClassifier(hidden_layer_sizes=(8,), max_epochs=1, n_members=1, random_state=0)
        return small.fit(x, y).contamination(x, y)

    def audit(data):
        return nbam.audit(data, target="y", preset="paper", epochs=1).rate

    def work(x, y):
        return {work}

    warm = np.zeros((100, 4), dtype=np.float32)
    warm[::2] = 1
    work(warm, np.arange(100) % 2)
    x = np.random.default_rng(0).random((100_000, 512), dtype=np.float32)
    y = (x[:, 0] > 0.5).astype(int)
    data = {prepare}
    before = peak()
    work(x, y)
    print((peak() - before) / x.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is measured in other units elsewhere")
@pytest.mark.parametrize(
    ("work", "prepare"),
    [("classifier(x, y)", "None"), ("audit({'x': x, 'y': y})", "None"), ("audit(data if len(x) > 100 else table(x, y))", "table(x, y)")],
    ids=["classifier", "audit of arrays", "audit of Arrow lists"],
)
def test_no_copy_of_the_features_is_made(work, prepare):
    """The peak of a fresh process stays far below a second copy of X."""
    program = textwrap.dedent(PEAK).format(work=work, prepare=prepare)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert float(run.stdout) < 0.5


def test_importing_nbam_needs_neither_torch_nor_jax():
    program = "import sys, nbam; print({'torch', 'jax', 'tqdm'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
