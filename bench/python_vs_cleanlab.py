#!/usr/bin/env python3
"""One go: `NBAMClassifier().fit(X, y).contamination_` against cleanlab's CleanLearning with scikit-learn's MLP of the same shape.

    pip install ./python cleanlab
    python3 bench/python_vs_cleanlab.py [--data FILE.npz] [--rate 0.4] [--rounds 3] [--out results/python.jsonl]

45,000 rows of 512 features in ten classes; a part of the labels is moved to another class. All sides get the same rows and two hidden
layers of 256 units. cleanlab cross-validates its classifier in five folds, which is its default; nbam has its defaults too (three networks). What is
timed is everything from arrays to one number for each row; what is compared is how well that number ranks the wrong labels (average precision).

cleanlab is there twice, because its time is that of the classifier that it is given:

* `cleanlab`: MLPClassifier(hidden_layer_sizes=(256, 256)) and nothing else said, as one would write it: up to 200 epochs.
* `cleanlab-short`: the same with nbam's activation, batches and number of epochs, far fewer than scikit-learn takes by itself.

They take turns, on other wrong labels in each round, and each turn has a process of its own. Every turn is written to --out when it is
done: start the same command again to go on where it was stopped. Turns of another commit or of other settings are left out.

Without --data the rows are made: ten overlapping classes in 32 dimensions, embedded in 512. With it, x_train and y_train of the file are used.
"""

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import date
from multiprocessing import get_context, set_start_method
from pathlib import Path

from environment import BenchError, commit, describe_machine, note

ROWS, FEATURES, CLASSES, FOLDS = 45_000, 512, 10, 5


def made(rows):
    """Ten overlapping classes: the best classifier is right for nine of ten rows."""
    import numpy

    chance = numpy.random.default_rng(1)
    labels = chance.integers(0, CLASSES, rows)
    centres = chance.normal(0, 0.62, (CLASSES, 32))
    hidden = centres[labels] + chance.normal(size=(rows, 32))
    mixed = numpy.tanh(hidden @ chance.normal(0, 0.3, (32, FEATURES))) + 0.5 * chance.normal(size=(rows, FEATURES))
    return mixed.astype(numpy.float32), labels


def read(path, rows):
    """The first rows of a file of arrays."""
    import numpy

    try:
        with numpy.load(path) as arrays:
            return arrays["x_train"][:rows].astype(numpy.float32), arrays["y_train"][:rows].astype(int)
    except (OSError, KeyError, ValueError) as error:
        raise BenchError(f"{path} cannot be read ({error}); give an .npz file with x_train and y_train.") from error


def corrupted(truth, kind, rate, seed):
    """Labels of which a share is moved, to any other class or always to the next one; and which those are."""
    import numpy

    classes = int(truth.max()) + 1
    chance = numpy.random.default_rng([2, seed])
    is_wrong = chance.random(len(truth)) < rate
    steps = chance.integers(1, classes, len(truth)) if kind == "symmetric" else 1
    return numpy.where(is_wrong, (truth + steps) % classes, truth), is_wrong


def run_nbam(x, y, seed, epochs):
    """Each row's suspicion, and the epochs that it took."""
    from nbam import NBAMClassifier

    model = NBAMClassifier(random_state=seed, max_epochs=epochs).fit(x, y)
    return model.contamination_, len(model.loss_curve_)


def run_cleanlab(x, y, seed, epochs):
    """The same of cleanlab, with scikit-learn's defaults; the epochs are the most that it may take."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(hidden_layer_sizes=(256, 256), random_state=seed)
    return cross_validated(network, x, y, seed), network.max_iter


def run_cleanlab_short(x, y, seed, epochs):
    """The same of cleanlab, with the training that nbam's networks get."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        hidden_layer_sizes=(256, 256),
        activation="tanh",
        batch_size=512,
        learning_rate_init=0.001,
        max_iter=epochs,
        random_state=seed,
    )
    return cross_validated(network, x, y, seed), epochs


def cross_validated(network, x, y, seed):
    """Each row's suspicion by cleanlab, from probabilities of networks that did not see it."""
    from cleanlab.classification import CleanLearning

    with warnings.catch_warnings():
        # That a network has not converged is no news.
        warnings.simplefilter("ignore")
        issues = CleanLearning(network, cv_n_folds=FOLDS, seed=seed).find_label_issues(x, y)
    return 1 - issues["label_quality"].to_numpy()


CONTENDERS = {"nbam": run_nbam, "cleanlab": run_cleanlab, "cleanlab-short": run_cleanlab_short}


def turn(name, x, truth, setting, number, epochs):
    """One contender's turn: its time and how well it ranks. Runs in a process of its own, with everything imported before the clock starts."""
    from importlib.metadata import version

    import cleanlab.classification  # noqa: F401
    import nbam  # noqa: F401
    from sklearn.metrics import average_precision_score, roc_auc_score

    if sys.platform == "linux":
        # cleanlab's own processes find their data only where they are forked, as they are in a program that was not started so itself.
        set_start_method("fork", force=True)
    y, is_wrong = corrupted(truth, setting["kind"], setting["rate"], number)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    start = time.perf_counter()
    suspicion, epochs = CONTENDERS[name](x, y, number, epochs)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "average_precision": float(average_precision_score(is_wrong, suspicion)),
        "auroc": float(roc_auc_score(is_wrong, suspicion)),
        "epochs": epochs,
        "wrong": float(is_wrong.mean()),
        "load_average": load,
        "versions": {library: version(library) for library in ("nbam", "cleanlab", "scikit-learn", "numpy")},
    }


def finished(path, setting):
    """The turns of these settings that are on file, by round and contender. A last line that was cut short is not among them."""
    done = {}
    if path.is_file():
        for line in path.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)
            if record["setting"] == setting:
                done[record["round"], record["contender"]] = record
    return done


def append(path, record):
    """Adds a line, in place of one that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        whole = path.read_bytes()
        if whole and not whole.endswith(b"\n"):
            path.write_bytes(whole[: whole.rfind(b"\n") + 1])
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")
        lines.flush()
        os.fsync(lines.fileno())


def order(number):
    """Who goes first in a round: each contender in its turn. nbam begins, because another gets its epochs."""
    names = list(CONTENDERS)
    return names[number % len(names) :] + names[: number % len(names)]


def compare(x, truth, setting, rounds, path):
    """Takes the turns that are not on file yet; returns all of them by round and contender."""
    done = finished(path, setting)
    facts = {"date": date.today().isoformat(), "tree": commit(), "machine": describe_machine()}
    for number in range(rounds):
        for name in order(number):
            if (number, name) in done:
                continue
            note(f"round {number + 1} of {rounds}: {name} ...")
            # nbam chooses its epochs; cleanlab-short gets as many.
            epochs = None if name == "nbam" else done[0, "nbam"]["epochs"]
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                try:
                    measured = process.submit(turn, name, x, truth, setting, number, epochs).result()
                except BrokenProcessPool as error:
                    raise BenchError(f"{name}'s process was ended from outside, perhaps for its memory.") from error
            record = {"setting": setting, "round": number, "contender": name, **measured, **facts}
            append(path, record)
            done[number, name] = record
            note(f"  {record['seconds']:.1f} s, average precision {record['average_precision']:.4f}")
    return done


def table(done, rounds):
    """Markdown: medians with their extremes, and the ratio of times within each round."""
    lines = ["| | seconds | average precision | AUROC |", "| --- | --- | --- | --- |"]
    for name in CONTENDERS:
        cells = []
        for quantity, digits in (("seconds", 1), ("average_precision", 4), ("auroc", 4)):
            values = [done[number, name][quantity] for number in range(rounds)]
            cells.append(f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} - {max(values):.{digits}f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "Medians, extremes in brackets.", ""]
    for name in list(CONTENDERS)[1:]:
        pairs = [(done[number, "nbam"], done[number, name]) for number in range(rounds)]
        faster = [other["seconds"] / nbam["seconds"] for nbam, other in pairs]
        better = sum(nbam["average_precision"] > other["average_precision"] for nbam, other in pairs)
        lines.append(
            f"* nbam is {statistics.median(faster):.1f} times as fast ({min(faster):.1f} - {max(faster):.1f}) as {name}, "
            f"with the higher average precision in {better} of {rounds} rounds."
        )
    return "\n".join(lines)


def main():
    """Runs all, writes every turn, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="an .npz file with x_train and y_train")
    parser.add_argument("--rows", type=int, default=ROWS, help="how many rows are used")
    parser.add_argument("--kind", choices=("next", "symmetric"), default="next", help="where wrong labels go")
    parser.add_argument("--rate", type=float, default=0.4, help="the share of labels that are moved")
    parser.add_argument("--rounds", type=int, default=3, help="how often each has its turn")
    parser.add_argument("--out", type=Path, default=Path("results/python.jsonl"), help="where every turn is written")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or not 0 < arguments.rate < 1:
        parser.error("--rounds is a number from 1, --rate one between 0 and 1")
    try:
        x, truth = read(arguments.data, arguments.rows) if arguments.data else made(arguments.rows)
        setting = {
            "rows": len(truth),
            "features": x.shape[1],
            "data": arguments.data.name if arguments.data else "made",
            "kind": arguments.kind,
            "rate": arguments.rate,
            "commit": (commit() or "unknown").removesuffix("-dirty"),
        }
        note(f"{len(truth):,} rows x {x.shape[1]}, {arguments.rate:.0%} of the labels moved ({arguments.kind})")
        load = describe_machine()["load_average"]
        if load is not None and load > 0.5:
            note(f"The machine is busy (load {load}): the times will be those of a busy machine.")
        done = compare(x, truth, setting, arguments.rounds, arguments.out)
    except ImportError as error:
        sys.exit(f"{error}; pip install ./python cleanlab, and run this again.")
    except BenchError as error:
        sys.exit(f"{error} Run this again to go on.")
    print(table(done, arguments.rounds))


if __name__ == "__main__":
    main()
