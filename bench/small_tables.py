#!/usr/bin/env python3
"""Small made tables of classes that are more or less hard to tell apart: `nbam audit` beside five-fold predictions.

    pip install numpy pandas scikit-learn
    cargo build --release
    python3 bench/small_tables.py --draw 23

Tables are scikit-learn's `make_classification` (20 columns, 8 that inform, two clusters a class). A fifth of the labels is drawn
at random, or turned into the next class. The others' score is `1 - p(y)` in five folds; the best of three is shown, which nobody
could pick without the truth. Every finished line is appended to the results file, and lines that are there are not made again.
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy
import pandas
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from identify_peers import calibration_error

SHAPES = [(2, 0.8), (2, 1.5), (4, 0.8), (4, 1.5), (4, 2.0)]
NOISES = ["random", "next", "none"]


def table(rows, classes, separation, noise, draw):
    """Features, given labels and true labels."""
    features, truth = make_classification(
        rows, 20, n_informative=8, n_redundant=4, n_classes=classes, class_sep=separation, flip_y=0,
        random_state=100 * draw + classes,
    )
    random = numpy.random.default_rng([draw, rows, classes, NOISES.index(noise)])
    moved = random.random(rows) < (0.0 if noise == "none" else 0.2)
    targets = (truth + 1) % classes if noise == "next" else random.integers(0, classes, rows)
    return features.astype("float32"), numpy.where(moved, targets, truth), truth


def audit(program, features, given):
    """The posterior of every row, the codes of the warnings, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        frame = pandas.DataFrame(features, columns=[f"x{column}" for column in range(features.shape[1])])
        frame["label"] = [f"class {label}" for label in given]
        frame.to_csv(f"{folder}/table.csv", index=False)
        start = time.monotonic()
        subprocess.run(
            [program, "audit", f"{folder}/table.csv", "--target", "label", "--rows", "csv", "--quiet", "--out", f"{folder}/out"],
            check=True, stdout=subprocess.DEVNULL,
        )
        seconds = time.monotonic() - start
        summary = json.loads(Path(f"{folder}/out/summary.json").read_text())
        codes = [warning["code"] for warning in summary["warnings"]]
        return pandas.read_csv(f"{folder}/out/rows.csv")["contamination"].to_numpy(), codes, seconds


def folds(features, given, is_wrong):
    """The average precision of each other method's five-fold `1 - p(y)`."""
    methods = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "forest": RandomForestClassifier(200, random_state=0),
        "mlp": make_pipeline(StandardScaler(), MLPClassifier(random_state=0)),
    }
    parts = StratifiedKFold(5, shuffle=True, random_state=0)
    found = {}
    for name, method in methods.items():
        probability = cross_val_predict(method, features, given, cv=parts, method="predict_proba")
        score = 1 - probability[numpy.arange(len(given)), given]
        found[name] = float(average_precision_score(is_wrong, score))
    return found


def measure(program, rows, classes, separation, noise, draw):
    features, given, truth = table(rows, classes, separation, noise, draw)
    is_wrong = given != truth
    return judged(program, features, given, is_wrong, with_folds=is_wrong.any())


def judged(program, features, given, is_wrong, with_folds):
    """An audit against the truth, and the others if they are asked for."""
    posterior, codes, seconds = audit(program, features, given)
    record = {"ece": calibration_error(posterior, is_wrong), "mean": float(posterior.mean()), "rate": float(is_wrong.mean())}
    if is_wrong.any():
        record["ap"] = float(average_precision_score(is_wrong, posterior))
    if with_folds:
        record["others"] = folds(features, given, is_wrong)
    return record | {"warnings": codes, "seconds": round(seconds, 1)}


def measure_missing(results, keys, measure):
    """Measures what the results file does not hold yet; every finished line is appended at once."""
    # The MLP is used as it comes.
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = results.read_text().splitlines() if results.exists() else []
    done = {tuple(json.loads(line)["table"]) for line in lines}
    for key in keys:
        if key not in done:
            record = measure(*key[2:])
            with results.open("a") as file:
                file.write(json.dumps({"table": key} | record) + "\n")
            print(*key, json.dumps(record), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nbam", default="target/release/nbam", help="the program to measure")
    parser.add_argument("--name", default="nbam", help="its name in the results file")
    parser.add_argument("--draw", type=int, default=23)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--results", type=Path, default=Path("results/small.jsonl"))
    options = parser.parse_args()
    tables = [(options.rows, *shape, noise) for shape in SHAPES for noise in NOISES]
    keys = [(options.name, options.draw, *table) for table in tables]
    measure_missing(options.results, keys, lambda *table: measure(options.nbam, *table, options.draw))


if __name__ == "__main__":
    main()
