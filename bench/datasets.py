#!/usr/bin/env python3
"""Makes the folder of data sets for `nbam paper`, from packages: one .npz file each.

    python3 -m venv .venv-sets
    .venv-sets/bin/pip install numpy scikit-learn pandas plotnine rdata
    apt-get install dataset-fashion-mnist r-cran-mlbench       (Debian)
    .venv-sets/bin/python bench/datasets.py SETS --cifar cifar10-features.npz

A file holds x_train and y_train, and x_test and y_test where the set comes with test rows. Labels are the whole numbers
0 to K - 1. A set whose package is missing is left out with a word about it; nothing is downloaded.
"""

import argparse
import gzip
import importlib.resources
import shutil
import sys
from pathlib import Path

import numpy

FASHION = Path("/usr/share/datasets/fashion-mnist")
MLBENCH = Path("/usr/lib/R/site-library/mlbench/data")
DIAMOND_ROWS = 6000


class Missing(Exception):
    """The package of a set is not installed."""


def from_scikit_learn(name):
    """A set that scikit-learn ships: features as float32, labels as int64 or targets as float64."""
    from sklearn import datasets

    loaded = getattr(datasets, f"load_{name}")()
    targets = loaded.target
    targets = targets.astype("int64" if targets.dtype.kind in "iu" else "float64")
    return {"x_train": loaded.data.astype("float32"), "y_train": targets}


def fashion_mnist():
    """Fashion-MNIST from Debian's package: pixels from 0 to 1."""
    if not FASHION.is_dir():
        raise Missing("Debian's dataset-fashion-mnist")

    def images(name):
        data = gzip.decompress((FASHION / name).read_bytes())
        count = int.from_bytes(data[4:8], "big")
        return (numpy.frombuffer(data, "uint8", offset=16).reshape(count, -1) / numpy.float32(255)).astype("float32")

    def labels(name):
        return numpy.frombuffer(gzip.decompress((FASHION / name).read_bytes()), "uint8", offset=8)

    return {
        "x_train": images("train-images-idx3-ubyte.gz"),
        "y_train": labels("train-labels-idx1-ubyte.gz"),
        "x_test": images("t10k-images-idx3-ubyte.gz"),
        "y_test": labels("t10k-labels-idx1-ubyte.gz"),
    }


def from_mlbench(name, target, folder):
    """A classification set of R's mlbench: all columns but the target as numbers."""
    path = folder / f"{name}.rda"
    if not path.is_file():
        raise Missing("Debian's r-cran-mlbench (or --mlbench with its data folder)")
    try:
        import rdata
    except ImportError as error:
        raise Missing("PyPI's rdata") from error
    frame = rdata.read_rda(path)[name]
    labels = frame[target].astype("category").cat.codes.to_numpy().astype("int64")
    return {"x_train": frame.drop(columns=target).to_numpy(dtype="float32"), "y_train": labels}


def diamonds():
    """Prices of diamonds (the logarithm), from plotnine's data: 6,000 rows, grades as ordered numbers."""
    try:
        import pandas

        text = importlib.resources.files("plotnine.data") / "diamonds.csv"
        with importlib.resources.as_file(text) as path:
            frame = pandas.read_csv(path)
    except (ImportError, FileNotFoundError) as error:
        raise Missing("PyPI's plotnine and pandas") from error
    grades = {
        "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
        "color": list("JIHGFED"),
        "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
    }
    for column, order in grades.items():
        frame[column] = frame[column].map(order.index)
    chosen = numpy.sort(numpy.random.default_rng(0).choice(len(frame), DIAMOND_ROWS, replace=False))
    frame = frame.iloc[chosen]
    features = frame.drop(columns="price").to_numpy(dtype="float32")
    return {"x_train": features, "y_train": numpy.log(frame["price"].to_numpy(dtype="float64"))}


def friedman():
    """Friedman's first function of ten features, five of them idle, with noise of sd 1: 3,000 rows."""
    random = numpy.random.default_rng(1)
    x = random.uniform(size=(3000, 10))
    signal = 10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return {"x_train": x.astype("float32"), "y_train": signal + random.normal(size=len(x))}


def heteroscedastic():
    """A smooth signal of four features whose noise grows twelvefold along the first: 3,000 rows."""
    random = numpy.random.default_rng(2)
    x = random.uniform(-1, 1, size=(3000, 4))
    signal = 2 * numpy.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3] + x[:, 0]
    spread = 0.05 * 12 ** ((x[:, 0] + 1) / 2)
    return {"x_train": x.astype("float32"), "y_train": signal + spread * random.normal(size=len(x))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--cifar", type=Path, help="a feature file of CIFAR-10, copied as cifar10.npz")
    parser.add_argument("--mlbench", type=Path, default=MLBENCH, help="the data folder of R's mlbench")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    makers = {
        "digits": lambda: from_scikit_learn("digits"),
        "breast-cancer": lambda: from_scikit_learn("breast_cancer"),
        "wine": lambda: from_scikit_learn("wine"),
        "diabetes": lambda: from_scikit_learn("diabetes"),
        "fashion-mnist": fashion_mnist,
        "satellite": lambda: from_mlbench("Satellite", "classes", arguments.mlbench),
        "letters": lambda: from_mlbench("LetterRecognition", "lettr", arguments.mlbench),
        "diamonds": diamonds,
        "friedman": friedman,
        "heteroscedastic": heteroscedastic,
    }
    for name, make in makers.items():
        try:
            arrays = make()
        except Missing as missing:
            print(f"{name}: left out, {missing} is not there", file=sys.stderr)
            continue
        numpy.savez(arguments.folder / f"{name}.npz", **arrays)
        shapes = ", ".join(f"{key} {value.shape}" for key, value in arrays.items())
        print(f"{name}: {shapes}", file=sys.stderr)
    if arguments.cifar:
        shutil.copyfile(arguments.cifar, arguments.folder / "cifar10.npz")
        print("cifar10: copied", file=sys.stderr)


if __name__ == "__main__":
    main()
