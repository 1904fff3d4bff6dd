#!/usr/bin/env python3
"""One go: `NBAMClassifier().fit(X, y).contamination_` against cleanlab's CleanLearning with an MLP of the same shape.

    pip install ./python cleanlab
    python3 bench/python_vs_cleanlab.py [--data FILE.npz] [--out results/python.json]

45,000 rows of 512 features in ten classes; a part of the labels is moved to another class. Both sides get the same rows and two hidden
layers of 256 tanh units, batches of 512, Adam at 0.001, and as many epochs as nbam takes by default. cleanlab cross-validates its classifier in five
folds, which is its default. What is timed is everything from arrays to one number for each row; what is compared is how well that number ranks
the wrong labels (average precision).

Without --data the rows are made: ten overlapping classes in 32 dimensions, embedded in 512. With it, x_train and y_train of the file are used.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

ROWS, FEATURES, CLASSES = 45_000, 512, 10
EPOCHS = 25


def made(rows):
    """Ten overlapping classes: the best classifier is right for nine of ten rows."""
    chance = np.random.default_rng(1)
    labels = chance.integers(0, CLASSES, rows)
    centres = chance.normal(0, 0.62, (CLASSES, 32))
    hidden = centres[labels] + chance.normal(size=(rows, 32))
    mixed = np.tanh(hidden @ chance.normal(0, 0.3, (32, FEATURES))) + 0.5 * chance.normal(size=(rows, FEATURES))
    return mixed.astype(np.float32), labels


def read(path, rows):
    """The first rows of a file of arrays."""
    with np.load(path) as arrays:
        return arrays["x_train"][:rows].astype(np.float32), arrays["y_train"][:rows].astype(int)


def corrupted(truth, kind, rate):
    """Labels of which a share is moved: to any other class, or always to the next one."""
    chance = np.random.default_rng(2)
    is_wrong = chance.random(len(truth)) < rate
    steps = chance.integers(1, CLASSES, len(truth)) if kind == "symmetric" else 1
    return np.where(is_wrong, (truth + steps) % CLASSES, truth), is_wrong


def run_nbam(x, y):
    """Seconds, and each row's suspicion."""
    from nbam import NBAMClassifier

    start = time.perf_counter()
    contamination = NBAMClassifier(random_state=0).fit(x, y).contamination_
    return time.perf_counter() - start, contamination


def run_cleanlab(x, y):
    """The same of cleanlab."""
    from cleanlab.classification import CleanLearning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        hidden_layer_sizes=(256, 256), activation="tanh", batch_size=512, max_iter=EPOCHS, random_state=0
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        # The network is not meant to converge: it gets the epochs that nbam gets.
        warnings.simplefilter("ignore")
        issues = CleanLearning(network, seed=0).find_label_issues(x, y)
    return time.perf_counter() - start, 1 - issues["label_quality"].to_numpy()


def main():
    """Runs both, prints a table, and writes the numbers if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="an .npz file with x_train and y_train")
    parser.add_argument("--rows", type=int, default=ROWS, help="how many rows are used")
    parser.add_argument("--kind", choices=("next", "symmetric"), default="next", help="where wrong labels go")
    parser.add_argument("--rate", type=float, default=0.2, help="the share of labels that are moved")
    parser.add_argument("--out", type=Path, help="where the numbers are written as JSON")
    arguments = parser.parse_args()
    try:
        from sklearn.metrics import average_precision_score
    except ImportError:
        sys.exit("scikit-learn was not found; pip install ./python cleanlab, and run this again.")

    x, truth = read(arguments.data, arguments.rows) if arguments.data else made(arguments.rows)
    y, is_wrong = corrupted(truth, arguments.kind, arguments.rate)
    result = {
        "rows": len(y),
        "features": x.shape[1],
        "data": arguments.data.name if arguments.data else "made",
        "kind": arguments.kind,
        "rate": arguments.rate,
    }
    print(f"{len(y):,} rows x {x.shape[1]}, {is_wrong.mean():.1%} of the labels moved ({arguments.kind})", file=sys.stderr)
    print("| | seconds | average precision |\n| --- | --- | --- |")
    for name, runner in (("nbam", run_nbam), ("cleanlab", run_cleanlab)):
        seconds, suspicion = runner(x, y)
        precision = float(average_precision_score(is_wrong, suspicion))
        result[name] = {"seconds": seconds, "average_precision": precision}
        print(f"| {name} | {seconds:.1f} | {precision:.3f} |", flush=True)
    result["times_faster"] = result["cleanlab"]["seconds"] / result["nbam"]["seconds"]
    print(f"\nnbam is {result['times_faster']:.1f} times as fast")
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
