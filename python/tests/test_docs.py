"""The examples of the documentation do what they say."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

import nbam
from nbam import _audit, _classifier, _regressor


def blocks(path):
    """The Python blocks of a page, by the heading above them."""
    found: dict[str, list[str]] = {}
    for section in re.split(r"^##? ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        heading = section.splitlines()[0]
        code = re.findall(r"^```python\n(.*?)^```", section, flags=re.M | re.S)
        if code:
            found[heading] = code
    return found


def run(repository, page, heading, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for code in blocks(repository / page)[heading]:
        exec(compile(code, f"{page}: {heading}", "exec"), names)
    return names


def test_every_section_is_tested(repository):
    assert set(blocks(repository / "docs" / "python.md")) == {
        "scikit-learn",
        "pandas, Polars, pyarrow, NumPy",
        "PyTorch",
        "JAX",
        "A likelihood that you already have",
        "Coming from cleanlab",
    }


def test_scikit_learn(repository, monkeypatch, tmp_path):
    names = run(repository, "docs/python.md", "scikit-learn", monkeypatch, tmp_path)
    assert names["is_wrong"][names["suspects"][:200]].mean() > 0.8


def test_tables(repository, monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    names = run(repository, "docs/python.md", "pandas, Polars, pyarrow, NumPy", monkeypatch, tmp_path)
    found = names["audit"].flagged()["id"].astype(int)
    assert np.isin(np.arange(0, 600, 40), found).mean() > 0.8
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_torch(repository, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    names = run(repository, "docs/python.md", "PyTorch", monkeypatch, tmp_path)
    order = names["contamination"].argsort(descending=True)
    assert names["is_wrong"][order[:200]].float().mean() > 0.9


def test_jax(repository, monkeypatch, tmp_path):
    pytest.importorskip("jax")
    names = run(repository, "docs/python.md", "JAX", monkeypatch, tmp_path)
    order = np.argsort(-np.asarray(names["contamination"]))
    assert np.asarray(names["is_wrong"])[order[:40]].mean() > 0.8


def test_a_line_with_outliers(repository, monkeypatch, tmp_path):
    pytest.importorskip("emcee")
    np.random.seed(0)  # emcee draws from NumPy's global state
    names = run(repository, "docs/python.md", "A likelihood that you already have", monkeypatch, tmp_path)
    assert names["slope"] == pytest.approx(2.0, abs=0.1)
    assert names["intercept"] == pytest.approx(1.0, abs=0.6)
    # A wrong point that happens to lie on the line cannot be told.
    assert (names["bad"] == names["is_wrong"]).mean() > 0.9
    assert not (names["bad"] & ~names["is_wrong"]).any()


def test_coming_from_cleanlab(repository, monkeypatch, tmp_path):
    names = run(repository, "docs/python.md", "Coming from cleanlab", monkeypatch, tmp_path)
    is_issue = names["issues"]["is_label_issue"]
    assert is_issue[::25].mean() > 0.5
    assert np.delete(is_issue, np.s_[::25]).mean() < 0.02


def test_the_readmes(repository, monkeypatch, tmp_path, capsys):
    """The package's own page shows the example of the repository's."""
    example = blocks(repository / "README.md")["What it does"]
    assert blocks(repository / "python/README.md") == {"nbam for Python": example}
    run(repository, "README.md", "What it does", monkeypatch, tmp_path)
    assert capsys.readouterr().out.strip() == "7"


@pytest.mark.parametrize("module", [nbam, _audit, _classifier, _regressor])
def test_docstrings(module):
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
