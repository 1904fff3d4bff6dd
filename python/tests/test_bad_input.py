"""Bad input: scikit-learn's own messages where it has them, one exception for each kind of fault, and never a panic."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import nbam
from nbam import NBAMClassifier, NBAMRegressor, exceptions

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)


def classifier(**changes):
    return NBAMClassifier(**{"hidden_layer_sizes": (8,), "max_epochs": 2, "n_members": 1, "random_state": 0, **changes})


def regressor(**changes):
    settings = {"hidden_layer_sizes": (8,), "max_epochs": 2, "n_members": 1, "alpha": 0.1, "random_state": 0}
    return NBAMRegressor(**{**settings, **changes})


@pytest.fixture(scope="module")
def reference():
    return classifier().fit(X, Y).contamination_


@pytest.mark.parametrize(
    "features",
    [
        np.asfortranarray(X),
        X[::-1][::-1],
        np.repeat(X, 2, axis=1)[:, ::2],
        X.astype(np.float64),
        X.astype(object),
        X.tolist(),
        np.ma.array(X),
        X.astype(">f4"),
    ],
    ids=["fortran", "negative strides", "gaps", "double", "objects", "lists", "masked", "big endian"],
)
def test_every_layout_gives_the_same_bits(features, reference):
    np.testing.assert_array_equal(classifier().fit(features, Y).contamination_, reference)


def test_read_only_and_unaligned_arrays(reference):
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(classifier().fit(frozen, Y).contamination_, reference)
    raw = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:]
    unaligned = raw.view(np.float32).reshape(X.shape)
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(classifier().fit(unaligned, Y).contamination_, reference)
    np.testing.assert_array_equal(classifier().fit(X, Y).prior(unaligned), classifier().fit(X, Y).prior(X))


def test_what_a_mask_hides_is_not_used():
    hidden = np.ma.array(X, mask=np.arange(240).reshape(60, 4) == 33)
    with pytest.raises(exceptions.DataValueError, match="X is masked in row 8"):
        classifier().fit(hidden, Y)
    with pytest.raises(exceptions.DataValueError, match="y is masked in row 3"):
        classifier().fit(X, np.ma.array(Y, mask=np.arange(60) == 3))
    ones = np.ma.array(np.ones(60), mask=np.arange(60) == 4)
    for name in ("sample_weight", "verified"):
        with pytest.raises(exceptions.DataValueError, match=f"{name} is masked in row 4"):
            classifier().fit(X, Y, **{name: ones})
    with pytest.raises(exceptions.DataValueError, match="error is masked in row 4"):
        regressor().fit(X, X[:, 0], error=ones)
    for model in (classifier().fit(X, Y), regressor().fit(X, X[:, 0])):
        with pytest.raises(exceptions.DataValueError, match="y is masked in row 3"):
            model.contamination(X, np.ma.array(Y, mask=np.arange(60) == 3))
    # A table may have gaps.
    column = np.ma.array(X[:, 0], mask=np.arange(60) == 3)
    gap = np.where(np.arange(60) == 3, np.nan, X[:, 0])
    rows = [nbam.audit({"a": values, "y": Y}, target="y", epochs=1, members=1).rows for values in (column, gap)]
    np.testing.assert_array_equal(rows[0]["contamination"], rows[1]["contamination"])


def test_nullable_columns_of_pandas(reference):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd")).astype("Float32")
    np.testing.assert_array_equal(classifier().fit(frame, pandas.Series(Y, dtype="Int64")).contamination_, reference)
    frame.iloc[3, 1] = pandas.NA
    with pytest.raises(ValueError, match="NaN"):
        classifier().fit(frame, Y)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (np.empty((0, 4), dtype=np.float32), [], "minimum of 2 is required"),
        (np.empty((60, 0), dtype=np.float32), Y, "0 feature"),
        (X[0], Y, "Expected 2D array"),
        (X[:, :, None], Y, "dim 3"),
        (X, Y[:59], "inconsistent numbers of samples"),
        (np.where(np.arange(60)[:, None] == 5, np.nan, X), Y, "contains NaN"),
        (np.where(np.arange(60)[:, None] == 5, np.inf, X), Y, "contains infinity"),
        (np.full((60, 1), 1e300), Y, "too large for dtype"),
        (X.astype(str)[:, :1].astype(object) + "x", Y, "could not convert string to float"),
        (X, np.zeros(60), "class 0.0, expected two classes"),
        (X, X[:, 0], "Unknown label type"),
        (X + 1j, Y, "Complex data not supported"),
        (X, [None] * 59 + [1], "NaN|None|Unknown label type"),
        (np.array([[object()] * 4] * 60), Y, "float|not"),
    ],
)
def test_bad_arrays(features, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        classifier().fit(features, labels)


def test_sparse_matrices_are_refused_with_a_hint():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        classifier().fit(sparse.csr_matrix(X), Y)
    with pytest.raises(exceptions.InputError, match="toarray"):
        nbam.audit(sparse.csr_array(X), target=Y)


def test_scikit_learns_messages():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        classifier().predict(X)
    model = classifier().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but NBAMClassifier is expecting 4 features"):
        model.prior(X[:, :3])
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict_proba(np.full((2, 4), np.nan))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.contamination(X, Y[:3])


def test_unseen_labels_are_named():
    model = classifier().fit(X, np.where(Y, "cat", "dog"))
    labels = np.where(Y, "cat", "dog").astype(object)
    labels[7] = "bird"
    with pytest.raises(exceptions.LabelError, match="label of row 7 is 'bird'.*'cat', 'dog'"):
        model.contamination(X, labels)
    with pytest.raises(ValueError, match="row 0"):
        model.contamination(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_epochs": 0}, "max_epochs is 0"),
        ({"max_epochs": 2.5}, "max_epochs is 2.5"),
        ({"batch_size": -1}, "batch_size is -1"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'"),
        ({"learning_rate": 0.0}, "learning_rate is 0"),
        ({"alpha": np.nan}, "alpha is nan"),
        ({"hidden_layer_sizes": (8, 0)}, "hidden_layer_sizes is 0"),
        ({"hidden_layer_sizes": (10**9,)}, "width"),
        ({"activation": "gelu"}, "activation is 'gelu'"),
        ({"preset": "best"}, "preset is 'best'"),
        ({"precision": "half"}, "precision is 'half'"),
        ({"n_members": 10**6}, "members"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 10**9}, "n_jobs is 1000000000, expected a number of threads up to 1024"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
@pytest.mark.parametrize("make", [classifier, regressor])
def test_bad_parameters_are_named(make, parameters, message):
    with pytest.raises(exceptions.ParameterError, match=message):
        make(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"sample_weight": np.full(60, -1.0)}, "Negative values"),
        ({"sample_weight": np.ones(59)}, "sample_weight.shape"),
        ({"sample_weight": np.zeros(60)}, "every weight is 0|zero"),
        ({"verified": [True] * 59}, r"verified has the shape \(59,\)"),
        ({"verified": ["yes"] + [None] * 59}, "verified of row 0 is 'yes'"),
    ],
)
def test_bad_side_columns(extra, message):
    with pytest.raises(ValueError, match=message):
        classifier().fit(X, Y, **extra)


def test_bad_values_for_the_regressor():
    y = X[:, 0].astype(float)
    with pytest.raises(exceptions.DataValueError, match="error of row 2 is -1"):
        regressor().fit(X, y, error=np.where(np.arange(60) == 2, -1.0, 1.0))
    with pytest.raises(ValueError, match="NaN"):
        regressor().fit(X, np.where(np.arange(60) == 2, np.nan, y))
    with pytest.raises(exceptions.DataValueError, match="every target is 1"):
        regressor().fit(X, np.ones(60))
    with pytest.raises(ValueError, match="could not convert string"):
        regressor().fit(X, ["a"] * 60)


def test_huge_class_counts():
    rows = 6000
    features = np.random.default_rng(1).normal(size=(rows, 2)).astype(np.float32)
    with pytest.raises(exceptions.LabelError, match="too large, expected below 4096"):
        classifier().fit(features, np.arange(rows).astype(str))
    many = np.arange(600) % 300
    model = classifier(max_epochs=1).fit(features[:600], many)
    assert model.predict_proba(features[:3]).shape == (3, 300)


def frame(**changes):
    return {"a": X[:, 0], "b": X[:, 1], "kind": np.where(Y, "cat", "dog"), **changes}


@pytest.mark.parametrize(
    ("data", "arguments", "kind", "message"),
    [
        (frame(), {"target": "kid"}, exceptions.UnknownColumnError, "did you mean 'kind'"),
        (frame(), {"target": None}, exceptions.InputError, "target is None"),
        (frame(), {"target": "kind", "features": ["a", "c"]}, exceptions.UnknownColumnError, "'c'"),
        (frame(), {"target": "kind", "features": "a"}, exceptions.ParameterError, "list of column names"),
        (frame(), {"target": "kind", "fdr": 2.0}, exceptions.ParameterError, "false discovery rate is 2"),
        (frame(), {"target": "kind", "fdr": "low"}, exceptions.ParameterError, "fdr is 'low'"),
        (frame(), {"target": "kind", "members": -1}, exceptions.ParameterError, "members is -1"),
        (frame(), {"target": "kind", "epochs": 1.5}, exceptions.ParameterError, "epochs is 1.5"),
        (frame(), {"target": "kind", "epochs": 2**70}, exceptions.ParameterError, "epochs is 1180591620717411303424"),
        (frame(), {"target": "kind", "n_jobs": 10**9}, exceptions.ParameterError, "n_jobs is 1000000000"),
        (frame(), {"target": "kind", "task": "ranking"}, exceptions.ParameterError, "task is 'ranking'"),
        (frame(), {"target": "kind", "task": "regression"}, exceptions.TargetError, "row 0.*not a number"),
        (frame(), {"target": "kind", "error": "a"}, exceptions.NBAMError, "error"),
        (frame(), {"target": Y[:5]}, exceptions.ShapeError, "column 'target' has 5 rows"),
        (frame(kind=["cat"] * 60), {"target": "kind"}, exceptions.TargetError, "same|one class|only"),
        (frame(a=np.where(np.arange(60) == 4, np.inf, X[:, 0])), {"target": "kind"}, exceptions.DataValueError, "row 4"),
        (frame(a=np.array([object()] * 60)), {"target": "kind"}, exceptions.DataValueError, "row 0 of column 'a'"),
        (frame(a=np.array(["x", 3.5] * 30, dtype=object)), {"target": "kind"}, exceptions.DataValueError, "row 1 of"),
        (frame(a=X + 1j), {"target": "kind"}, exceptions.DataValueError, "complex"),
        (frame(a=np.zeros((60, 2, 2))), {"target": "kind"}, exceptions.ShapeError, r"\(60, 2, 2\)"),
        (frame(a=np.zeros((60, 0), dtype=np.float32)), {"target": "kind"}, exceptions.ShapeError, "0 columns"),
        ({"a": [], "kind": []}, {"target": "kind"}, exceptions.EmptyError, "no rows"),
        ({}, {"target": "kind"}, exceptions.NBAMError, "column"),
        (X[0], {"target": Y}, exceptions.ShapeError, r"shape \(4,\)"),
        (3, {"target": Y}, exceptions.InputError, "type int"),
        ("nowhere.csv", {"target": "kind"}, exceptions.FileError, "no such file"),
        (frame(target=Y), {"target": Y}, exceptions.InputError, "column 'target' already"),
    ],
)
def test_bad_tables(data, arguments, kind, message):
    with pytest.raises(kind, match=message):
        nbam.audit(data, **{"epochs": 1, "members": 1, **arguments})


def test_bad_frames_of_pandas(monkeypatch):
    import sys

    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    mixed = pandas.DataFrame({"lists": [[1.0, 2.0]] * 60, "a": ["x", 3.5] * 30, "kind": Y})
    twice = pandas.DataFrame(np.c_[X, Y], columns=["a", "b", "a", "c", "kind"])
    # The column that is at fault is named, not one before it that only Arrow can hold.
    with pytest.raises(exceptions.DataValueError, match="row 1 of column 'a'"):
        nbam.audit(mixed, target="kind")
    for is_arrow_there in (True, False):
        if not is_arrow_there:
            monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(exceptions.DataValueError, match="row 1 of column 'a' is 3.5, of type float"):
            nbam.audit(mixed.drop(columns="lists"), target="kind")
        with pytest.raises(exceptions.DuplicateColumnError, match="more than one column named 'a'"):
            nbam.audit(twice, target="kind")
    levels = pandas.DataFrame(X, columns=pandas.MultiIndex.from_product([["a", "b"], ["c", "d"]]))
    assert len(nbam.audit(levels, target=Y, epochs=1, members=1).rows) == 60


def test_bad_questions_to_an_audit():
    audit = nbam.audit(frame(), target="kind", epochs=1, members=1)
    with pytest.raises(exceptions.ParameterError, match="budget is 2.5"):
        audit.expected_found(2.5)
    with pytest.raises(exceptions.ParameterError, match="fdr is 'a few'"):
        audit.flagged("a few")


def test_hints_speak_python():
    with pytest.raises(exceptions.TargetError) as caught:
        nbam.audit(frame(), target="kind", task="regression")
    assert "--" not in str(caught.value)
    assert "task='classification'" in caught.value.hint
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (type(caught.value), str(caught.value))


def test_every_kind_of_fault_has_a_class():
    """The names that the native module asks for are there, and each is a built-in exception as well."""
    from pathlib import Path

    source = Path(__file__).resolve().parents[2] / "crates" / "nbam-python" / "src"
    import re

    names = set()
    for path in source.glob("*.rs"):
        names |= set(re.findall(r'"([A-Za-z]+Error)"', path.read_text()))
    assert len(names) > 15
    for name in names - {"NBAMError"}:
        kind = getattr(exceptions, name)
        assert issubclass(kind, exceptions.NBAMError)
        assert any(base.__module__ == "builtins" and base is not Exception for base in kind.__mro__[2:-3]), name


def test_damaged_models_are_refused(tmp_path):
    model = classifier().fit(X, Y)
    description, tensors = model._native.to_bytes()
    native = type(model._native)
    for bad in ((description, tensors[:-1]), ("{}", tensors), ("", b""), (description.replace("0", "9"), tensors)):
        with pytest.raises(exceptions.ModelError):
            native.from_bytes(*bad, 0)
    with pytest.raises(exceptions.ModelError, match=r"no such folder|model\.json"):
        nbam.load_model(tmp_path / "nothing")
