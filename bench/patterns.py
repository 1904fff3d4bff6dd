#!/usr/bin/env python3
"""Made tables of few columns whose classes change places many times: `nbam audit` beside five-fold predictions.

    pip install numpy pandas scikit-learn
    cargo build --release
    python3 bench/patterns.py --draw 201 --folds

Boards, spirals, rings and products of signs; a tenth of the labels is turned into another class. The others' score is `1 - p(y)` in
five folds. Every finished line is appended to the results file, and lines that are there are not made again.
"""

import argparse
from pathlib import Path

import numpy

from small_tables import judged, measure_missing


def board(random, rows, fields):
    points = random.random((rows, 2))
    return points, (points * fields).astype(int).sum(axis=1) % 2, 2


def spirals(random, rows, turns, classes):
    angle = numpy.sqrt(random.random(rows)) * turns * 2 * numpy.pi
    truth = random.integers(0, classes, rows)
    turned = angle + 2 * numpy.pi * truth / classes
    points = numpy.column_stack([angle * numpy.cos(turned), angle * numpy.sin(turned)])
    return points + random.normal(0, 0.3, (rows, 2)), truth, classes


def rings(random, rows):
    points = random.normal(size=(rows, 2))
    return points, (numpy.hypot(*points.T) * 3).astype(int) % 3, 3


def signs(random, rows, columns, factors):
    points = random.normal(size=(rows, columns))
    return points, (numpy.sign(points[:, :factors]).prod(axis=1) > 0).astype(int), 2


PATTERNS = {
    "board of 4 x 4, 3,000 rows": lambda random: board(random, 3000, 4),
    "board of 8 x 8, 3,000 rows": lambda random: board(random, 3000, 8),
    "board of 8 x 8, 20,000 rows": lambda random: board(random, 20_000, 8),
    "spirals of one turn, 2 classes, 1,000 rows": lambda random: spirals(random, 1000, 1, 2),
    "spirals of two turns, 3 classes, 2,000 rows": lambda random: spirals(random, 2000, 2, 3),
    "spirals of three turns, 2 classes, 5,000 rows": lambda random: spirals(random, 5000, 3, 2),
    "rings of 3 classes in turn, 3,000 rows": lambda random: rings(random, 3000),
    "the product of 2 signs of 10, 3,000 rows": lambda random: signs(random, 3000, 10, 2),
    "the product of 3 signs of 6, 3,000 rows": lambda random: signs(random, 3000, 6, 3),
}


def measure(program, pattern, draw, with_folds):
    random = numpy.random.default_rng([draw, list(PATTERNS).index(pattern)])
    features, truth, classes = PATTERNS[pattern](random)
    is_wrong = random.random(len(truth)) < 0.1
    given = numpy.where(is_wrong, (truth + random.integers(1, classes, len(truth))) % classes, truth)
    return judged(program, features.astype("float32"), given, is_wrong, with_folds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nbam", default="target/release/nbam", help="the program to measure")
    parser.add_argument("--name", default="nbam", help="its name in the results file")
    parser.add_argument("--draw", type=int, default=201)
    parser.add_argument("--folds", action="store_true", help="the others as well")
    parser.add_argument("--results", type=Path, default=Path("results/patterns.jsonl"))
    options = parser.parse_args()
    keys = [(options.name, options.draw, pattern) for pattern in PATTERNS]
    measure_missing(options.results, keys, lambda pattern: measure(options.nbam, pattern, options.draw, options.folds))


if __name__ == "__main__":
    main()
