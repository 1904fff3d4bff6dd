"""The audit: every kind of table, and the same bits as the command line."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

import nbam

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

NUMBERS = ("contamination", "prior", "log_clean", "log_anomaly")


@pytest.fixture(scope="module")
def fruit():
    """Numbers, texts, truth values, gaps, dates and an id; every tenth kind is wrong."""
    chance = np.random.default_rng(0)
    is_apple = chance.random(120) < 0.5
    weight = np.where(is_apple, chance.normal(150, 10, 120), chance.normal(8, 1, 120))
    weight[5] = np.nan
    kind = np.where(is_apple, "apple", "cherry").astype(object)
    for row in range(3, 120, 10):
        kind[row] = "cherry" if kind[row] == "apple" else "apple"
    return pandas.DataFrame(
        {
            "name": [f"fruit {row}" for row in range(120)],
            "weight": weight,
            "seeds": chance.integers(1, 9, 120),
            "colour": np.where(chance.random(120) < 0.7, "red", "green"),
            "ripe": chance.random(120) < 0.5,
            "picked": pandas.to_datetime("2026-05-01") + pandas.to_timedelta(chance.integers(0, 90, 120), unit="D"),
            "kind": kind,
        }
    )


SETTINGS = {"target": "kind", "id": "name", "epochs": 60, "members": 2, "random_state": 7}


@pytest.fixture(scope="module")
def audit(fruit):
    return nbam.audit(fruit, **SETTINGS)


def numbers(rows):
    return {name: np.asarray(rows[name]) for name in NUMBERS}


def assert_same(rows, expected):
    for name, values in numbers(rows).items():
        np.testing.assert_array_equal(values, np.asarray(expected[name]), err_msg=name)
    np.testing.assert_array_equal(np.asarray(rows["is_flagged"]), np.asarray(expected["is_flagged"]))


class Interchange:
    """An object that speaks only the interchange protocol."""

    def __init__(self, frame):
        self._frame = frame

    def __dataframe__(self, **options):
        return self._frame.__dataframe__(**options)


class Stream:
    """An object that speaks only the Arrow interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_every_kind_of_table_gives_the_same_bits(fruit, audit):
    arrow = pyarrow.Table.from_pandas(fruit)
    kinds = {
        "polars": (polars.from_pandas(fruit), polars.DataFrame),
        "pyarrow": (arrow, pyarrow.Table),
        "chunks": (pyarrow.concat_tables([arrow.slice(0, 50), arrow.slice(50)]), pyarrow.Table),
        "stream": (Stream(arrow), pyarrow.Table),
        "mapping": ({name: fruit[name].to_numpy() for name in fruit}, dict),
    }
    assert isinstance(audit.rows, pandas.DataFrame)
    for name, (table, kind) in kinds.items():
        again = nbam.audit(table, **SETTINGS)
        assert isinstance(again.rows, kind), name
        assert isinstance(again.flagged(), kind), name
        assert_same(again.rows, audit.rows)


def test_the_interchange_protocol(fruit):
    plain = fruit[["weight", "seeds", "kind"]].dropna()
    settings = {**SETTINGS, "id": None}
    frame = Interchange(polars.from_pandas(plain))
    if not hasattr(frame._frame, "__dataframe__"):
        frame = Interchange(pyarrow.Table.from_pandas(plain, preserve_index=False))
    rows = nbam.audit(frame, **settings).rows
    assert_same(rows, nbam.audit(plain, **settings).rows)


def test_pandas_without_pyarrow_gives_the_same_bits(fruit, audit, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_same(nbam.audit(fruit, **SETTINGS).rows, audit.rows)


def test_nullable_columns_give_the_same_bits(fruit, audit, monkeypatch):
    import sys

    nullable = fruit.convert_dtypes()
    assert_same(nbam.audit(nullable, **SETTINGS).rows, audit.rows)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_same(nbam.audit(nullable, **SETTINGS).rows, audit.rows)


def test_the_index_is_kept_and_is_no_feature(fruit, audit):
    shuffled = fruit.set_index(pandas.Index(np.arange(120) * 7 + 3, name="number"))
    again = nbam.audit(shuffled, **SETTINGS)
    assert_same(again.rows, audit.rows)
    assert again.rows.index.equals(shuffled.index)
    flagged = again.flagged()
    assert (shuffled.loc[flagged.index, "name"].to_numpy() == flagged["id"].to_numpy()).all()


def test_arrays_beside_the_data_are_columns(fruit, audit):
    features = fruit.drop(columns=["kind"])
    settings = {**SETTINGS, "target": fruit["kind"]}
    assert_same(nbam.audit(features, **settings).rows, audit.rows)
    assert_same(nbam.audit(polars.from_pandas(features), **{**settings, "target": list(fruit["kind"])}).rows, audit.rows)
    assert_same(nbam.audit(pyarrow.Table.from_pandas(features), **settings).rows, audit.rows)
    verified = np.full(120, None, dtype=object)
    verified[[3, 4]] = [False, True]
    rows = nbam.audit(fruit, **SETTINGS, verified=verified).rows
    assert rows["contamination"][[3, 4]].tolist() == [1.0, 0.0]


def test_the_result(audit, tmp_path):
    contamination = audit.rows["contamination"]
    assert contamination[3::10].mean() > 5 * contamination.drop(range(3, 120, 10)).mean()
    found = audit.flagged(fdr=0.6)
    assert len(found) > len(audit.flagged(fdr=0.3))
    assert found["contamination"].is_monotonic_decreasing
    assert found["is_flagged"].all()
    # No set of rows that is larger keeps the promise.
    ordered = np.sort(1 - contamination)
    assert ordered[: len(found)].mean() <= 0.6 < ordered[: len(found) + 1].mean()
    assert (1 - found["contamination"]).mean() <= 0.6
    rate = audit.rate
    assert 0 <= rate.low <= rate.mean <= rate.high <= 1
    assert rate.mean == pytest.approx(audit.rows["contamination"].mean())
    assert audit.expected_found(10).mean == pytest.approx(audit.rows["contamination"].nlargest(10).sum())
    assert audit.expected_found(10**9).mean == pytest.approx(audit.rows["contamination"].sum())
    assert (audit.summary["seed"], audit.summary["rows"]) == (7, 120)
    assert "120 labels" in repr(audit)
    assert "\n" not in repr(audit)
    report = audit.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report
    assert "fruit 3" in report
    assert "120 labels" in audit._repr_html_()


def test_what_a_notebook_shows_is_escaped():
    data = {"x": np.r_[np.zeros(30), np.ones(30)], "y": np.array(["<b>a", "<i>b"])[np.r_[[1], np.zeros(29, int), np.ones(30, int)]]}
    shown = nbam.audit(data, target="y", epochs=1000, members=2, fdr=0.9)._repr_html_()
    assert "&lt;b&gt;a" in shown
    assert "<b>a" not in shown


def test_cleanlabs_columns(fruit, audit):
    columns = ["is_label_issue", "label_quality", "given_label", "predicted_label"]
    for table in (fruit, polars.from_pandas(fruit), pyarrow.Table.from_pandas(fruit)):
        given = nbam.audit(table, **SETTINGS).to_cleanlab()
        names = list(given.columns) if not isinstance(given, pyarrow.Table) else given.column_names
        assert names == columns
        np.testing.assert_array_equal(np.asarray(given["label_quality"]), 1 - audit.rows["contamination"].to_numpy())
    assert nbam.audit(fruit, **SETTINGS).to_cleanlab().index.equals(fruit.index)


def test_the_model_scores_new_rows(fruit, audit, tmp_path):
    model = audit.model
    new = fruit.iloc[:40].sample(frac=1.0, random_state=0)
    scored = model.score(new)
    assert len(scored) == 40
    assert scored.index.equals(new.index)
    audit.save(tmp_path / "audit")
    with pytest.raises(nbam.exceptions.ExistsError):
        audit.save(tmp_path / "audit")
    audit.save(tmp_path / "audit", force=True, rows="csv")
    loaded = nbam.load_model(tmp_path / "audit")
    assert_same(loaded.score(new), scored)
    assert (loaded.task, loaded.target, loaded.classes) == ("classification", "kind", ["apple", "cherry"])
    predicted = loaded.predict(new.drop(columns=["kind"]))
    assert list(predicted.columns[:3]) == ["row", "id", "predicted_label"]
    assert "id" not in loaded.predict(new.drop(columns=["kind", "name"]), id=False)
    model.save(tmp_path / "model")
    assert_same(nbam.load_model(tmp_path / "model").score(polars.from_pandas(new)), scored)
    with pytest.raises(nbam.exceptions.UnknownColumnError, match="weight"):
        model.score(new.drop(columns=["weight"]))
    with pytest.raises(nbam.exceptions.UnseenCategoryError, match="blue"):
        model.score(new.assign(colour="blue"))


def test_scores_of_the_training_rows_are_the_final_networks(fruit, audit):
    """An audit averages over epochs; a model that scores does not, whether it was saved in between or not."""
    assert not np.array_equal(audit.model.score(fruit)["contamination"], audit.rows["contamination"])
    single = nbam.audit(fruit, **{**SETTINGS, "members": 1}, average=False)
    assert_same(single.model.score(fruit), single.rows)


def test_regression(line):
    x, y, is_wrong = line
    audit = nbam.audit(x, target=y, epochs=150, members=1)
    assert audit.rows.dtype.names[:3] == ("row", "given_value", "contamination")
    assert is_wrong[audit.flagged()["row"].astype(int)].mean() > 0.9
    assert audit.to_cleanlab()["given_label"].tolist() == y.tolist()
    predicted = audit.model.predict(x)
    assert (predicted["low"] < predicted["predicted_value"]).all()


def test_blocks_are_not_copied():
    """A matrix in C order and a column of fixed-size lists reach the engine where they are."""
    x = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int)
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(x.ravel()), 4)
    table = pyarrow.table({"features": lists, "target": y})
    settings = {"target": "target", "epochs": 5, "members": 1}
    rows = nbam.audit(table, **settings).rows
    assert_same(rows, nbam.audit({"features": x, "target": y}, **settings).rows)
    assert_same(rows, nbam.audit(pyarrow.concat_tables([table.slice(0, 100), table.slice(100)]), **settings).rows)
    assert_same(nbam.audit(table.slice(100), **settings).rows, nbam.audit(x[100:], **{**settings, "target": y[100:]}).rows)
    half = nbam.audit({"features": x.astype(np.float16), "target": y}, **settings)
    assert not np.array_equal(half.rows["contamination"], np.asarray(rows["contamination"]))


def run(command, *arguments):
    subprocess.run([str(command), "--quiet", *map(str, arguments)], check=True, capture_output=True)


def test_parity_with_the_command_line(command, repository, tmp_path):
    """The same rows and the same seed: the same bits, whatever the table came in."""
    source = repository / "examples" / "digits" / "digits.csv"
    roles = ["--target", "label", "--id", "image", "--exclude", "label_true,is_contaminated"]
    run(command, "audit", source, *roles, "--epochs", 6, "--members", 2, "--seed", 5, "--out", tmp_path / "digits")
    expected = pandas.read_parquet(tmp_path / "digits" / "rows.parquet")
    summary = json.loads((tmp_path / "digits" / "summary.json").read_text())
    settings = {"target": "label", "id": "image", "exclude": ["label_true", "is_contaminated"]}
    settings |= {"epochs": 6, "members": 2, "random_state": 5}
    frame = pandas.read_csv(source)
    for table in (source, frame, polars.read_csv(source), pyarrow.Table.from_pandas(frame)):
        audit = nbam.audit(table, **settings)
        assert_same(audit.rows, expected)
        for name in ("given_label", "predicted_label", "id"):
            assert [str(value) for value in audit.rows[name]] == expected[name].tolist()
        for name in ("rate", "flagged", "expected_fdr", "transitions", "warnings", "classes", "features"):
            assert audit.summary[name] == summary[name]
    run(command, "score", source, "--model", tmp_path / "digits", "--out", tmp_path / "scores.parquet")
    assert_same(nbam.load_model(tmp_path / "digits").score(frame), pandas.read_parquet(tmp_path / "scores.parquet"))


def test_parity_of_arrays_and_of_a_regression(command, digits, line, tmp_path):
    x, y, _ = digits
    np.savez(tmp_path / "digits.npz", x=x, y=y)
    run(command, "audit", tmp_path / "digits.npz", "--target", "y", "--epochs", 3, "--members", 1, "--out", tmp_path / "a")
    expected = pandas.read_parquet(tmp_path / "a" / "rows.parquet")
    assert_same(nbam.audit({"x": x, "y": y}, target="y", epochs=3, members=1).rows, expected)
    assert_same(nbam.audit(np.asfortranarray(x), target=y, epochs=3, members=1).rows, expected)
    short = ["--epochs", "3", "--members", "1"]
    run(command, "audit", tmp_path / "digits.npz", "--target", "y", *short, "--precision", "bfloat16", "--out", tmp_path / "c")
    rounded = nbam.audit(x, target=y, epochs=3, members=1, precision="bfloat16")
    assert_same(rounded.rows, pandas.read_parquet(tmp_path / "c" / "rows.parquet"))
    assert rounded.summary["settings"]["precision"] == "bfloat16"
    with pytest.raises(nbam.exceptions.ParameterError, match="precision is 'half', expected 'single' or 'bfloat16'"):
        nbam.audit(x, target=y, precision="half")
    features, values, _ = line
    frame = pandas.DataFrame({"x": features[:, 0].astype(np.float64), "y": values})
    frame.to_csv(tmp_path / "line.csv", index=False)
    run(command, "audit", tmp_path / "line.csv", "--target", "y", "--epochs", 20, "--out", tmp_path / "b")
    assert_same(nbam.audit(frame, target="y", epochs=20).rows, pandas.read_parquet(tmp_path / "b" / "rows.parquet"))
