"""What the tests share: data with planted errors, the golden vectors, the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def golden() -> dict[str, np.ndarray]:
    """The kernel's values from 50-digit arithmetic, as columns."""
    rows = json.loads((REPOSITORY / "golden" / "switch.json").read_text())["rows"]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@pytest.fixture(scope="session")
def command() -> Path:
    """The nbam binary; `cargo xtask test` builds it and says where it is."""
    path = os.environ.get("NBAM_COMMAND")
    if path is None:
        pytest.skip("NBAM_COMMAND does not name the nbam binary; cargo xtask test --only python sets it")
    return Path(path)


@pytest.fixture(scope="session")
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels of which a fifth were moved to another class, and which those are."""
    x, truth = load_digits(return_X_y=True)
    chance = np.random.default_rng(0)
    is_wrong = chance.random(len(truth)) < 0.2
    given = np.where(is_wrong, (truth + chance.integers(1, 10, len(truth))) % 10, truth)
    return np.ascontiguousarray(x, dtype=np.float32), given, is_wrong


@pytest.fixture(scope="session")
def line() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A line with noise of which a tenth of the targets are far off, and which those are."""
    chance = np.random.default_rng(1)
    x = chance.uniform(-2, 2, (400, 1)).astype(np.float32)
    y = 3.0 * x[:, 0] + 1.0 + 0.1 * chance.normal(size=400)
    is_wrong = chance.random(400) < 0.1
    return x, np.where(is_wrong, chance.normal(0, 20, 400), y), is_wrong
