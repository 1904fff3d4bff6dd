#!/usr/bin/env python3
"""Runs other people's methods on what `nbam paper identify --export DIR` wrote, and appends their records.

    pip install numpy scikit-learn cleanlab
    python3 bench/identify_peers.py DIR --results results/identify.jsonl

| method | what it is | score of a row |
| --- | --- | --- |
| cleanlab | `get_label_quality_scores` at its default, self-confidence, on 5-fold out-of-sample probabilities of `ce` | 1 - quality |
| cleanlab-margin | the same with `normalized_margin` | 1 - quality |
| huber-line, ransac, theil-sen | scikit-learn's HuberRegressor, RANSACRegressor and TheilSenRegressor, standardised features | absolute residual, in sample |

Each order (a .json file) names its arrays and the runs that are wanted. Runs that the results file holds already are left
out, so that the script can be run again at any time, also while `nbam paper identify` is running.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy
from sklearn.linear_model import HuberRegressor, RANSACRegressor, TheilSenRegressor
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

BINS = 15
CLEANLAB_SCORES = {"cleanlab": "self_confidence", "cleanlab-margin": "normalized_margin"}
LINES = {
    "huber-line": lambda seed: HuberRegressor(max_iter=1000),
    "ransac": lambda seed: RANSACRegressor(random_state=seed),
    "theil-sen": lambda seed: TheilSenRegressor(random_state=seed, n_jobs=1),
}


def calibration_error(probability, is_wrong):
    """The expected calibration error in equal bins, as nbam computes it."""
    bins = numpy.minimum((probability * BINS).astype(int), BINS - 1)
    gaps = [
        abs(is_wrong[bins == index].mean() - probability[bins == index].mean()) * (bins == index).mean()
        for index in numpy.unique(bins)
    ]
    return float(sum(gaps))


def ranking(scores, is_wrong):
    """What a score's order tells; nothing where all rows are alike."""
    measures = {"true_rate": float(is_wrong.mean()), "warnings": [], "threads": 1}
    if is_wrong.any() and not is_wrong.all():
        measures["auroc"] = float(roc_auc_score(is_wrong, scores))
        measures["ap"] = float(average_precision_score(is_wrong, scores))
    return measures


def label_run(run, arrays):
    """cleanlab's quality of every label. It predicts nothing, so that there is no accuracy."""
    from cleanlab.rank import get_label_quality_scores

    rows = numpy.load(arrays[0])
    probabilities = rows["probabilities"].astype("float64")
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    start = time.perf_counter()
    quality = get_label_quality_scores(rows["given"], probabilities, method=CLEANLAB_SCORES[run["method"]])
    seconds = time.perf_counter() - start
    score, is_wrong = numpy.clip(1 - quality, 0, 1), rows["is_wrong"].astype(bool)
    return ranking(score, is_wrong) | {
        "ece": calibration_error(score, is_wrong),
        "brier": float(brier_score_loss(is_wrong, score, pos_label=True)) if is_wrong.any() else None,
        "mean_posterior": float(score.mean()),
        "seconds": seconds,
    }


def value_run(run, arrays):
    """A robust line: its error on the test rows, in units of their spread, and its residuals."""
    train, test = numpy.load(arrays[0]), numpy.load(arrays[1])
    features, given = train["x"].astype("float64").reshape(len(train["y"]), -1), train["y"]
    start = time.perf_counter()
    model = make_pipeline(StandardScaler(), LINES[run["method"]](run["seed"])).fit(features, given)
    seconds = time.perf_counter() - start
    truth = test["y"]
    errors = model.predict(test["x"].astype("float64").reshape(len(truth), -1)) - truth
    return ranking(numpy.abs(given - model.predict(features)), train["is_wrong"].astype(bool)) | {
        "rmse": float(numpy.sqrt((errors**2).mean()) / truth.std()),
        "measured_on": "test",
        "seconds": seconds,
    }


def identity(run):
    """Everything that a run depends on, as one text."""
    return json.dumps(run, sort_keys=True)


def finished(results):
    """The runs of the results file. A last line that is still being written is not among them."""
    done = set()
    if results.is_file():
        for line in results.read_bytes().split(b"\n")[:-1]:
            if line.strip():
                done.add(identity(json.loads(line)["run"]))
    return done


def append(results, record):
    """Appends a line with one call, as nbam does."""
    line = json.dumps({key: value for key, value in record.items() if value is not None}) + "\n"
    handle = os.open(results, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder that --export wrote")
    parser.add_argument("--results", type=Path, default=Path("results/identify.jsonl"))
    arguments = parser.parse_args()
    done = finished(arguments.results)
    orders = sorted(arguments.folder.glob("*.json"))
    for number, path in enumerate(orders, 1):
        order = json.loads(path.read_text())
        arrays = [arguments.folder / name for name in order["arrays"]]
        for run in order["runs"]:
            if identity(run) in done:
                continue
            record = {"run": run, "measures": {}}
            try:
                measures = label_run(run, arrays) if order["kind"] == "labels" else value_run(run, arrays)
                record["measures"] = {key: value for key, value in measures.items() if value is not None}
            except ValueError as error:
                # A line that finds no consensus is a result too.
                record["failure"] = str(error)
            append(arguments.results, record)
            print(f"{number} of {len(orders)}: {path.stem} {run['method']}", file=sys.stderr)


if __name__ == "__main__":
    main()
