"""The manners of scikit-learn."""

from __future__ import annotations

import os
import pickle

# scikit-learn checks array API input only where SciPy was told of it before its import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nbam import NBAMClassifier, NBAMRegressor

#: Checks that cannot pass, and why.
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": (
        "the weight prior and the batches depend on the number of rows, so that a row of weight two is not two rows: weights say how "
        "much a row counts, not how often it was seen"
    ),
}


# Small networks and few epochs: at its defaults a fit takes seconds, and the checks do more than a hundred.
@parametrize_with_checks(
    [
        NBAMClassifier(hidden_layer_sizes=(64,), n_members=2, alpha=0.1, max_epochs=300, random_state=0),
        NBAMRegressor(hidden_layer_sizes=(32,), n_members=1, alpha=0.1, max_epochs=300, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def quick(**changes):
    return NBAMClassifier(**{"hidden_layer_sizes": (64,), "max_epochs": 40, "n_members": 1, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def fitted(digits):
    x, y, _ = digits
    return quick().fit(x, y)


def test_wrong_labels_are_found(digits, fitted):
    _, _, is_wrong = digits
    assert fitted.contamination_.shape == is_wrong.shape
    assert average_precision_score(is_wrong, fitted.contamination_) > 0.9


def test_the_evidence_is_what_the_posterior_is_made_of(digits, fitted):
    x, y, _ = digits
    evidence = fitted.evidence(x, y)
    np.testing.assert_array_equal(fitted.contamination(x, y), evidence.contamination)
    np.testing.assert_array_equal(fitted.prior(x), evidence.prior)
    # One network: the four columns are tied exactly.
    odds = np.log(evidence.prior) - np.log1p(-evidence.prior) + evidence.log_anomaly - evidence.log_clean
    np.testing.assert_allclose(evidence.contamination, 1 / (1 + np.exp(-odds)), rtol=1e-9, atol=1e-15)
    assert len(fitted.loss_curve_) == 40


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(digits):
    x, y, _ = digits
    runs = [quick(max_epochs=3, n_jobs=jobs).fit(x, y) for jobs in (1, 2, None)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.contamination_, runs[0].contamination_)
    other = quick(max_epochs=3, random_state=1).fit(x, y)
    assert not np.array_equal(other.contamination_, runs[0].contamination_)


def test_string_labels(digits, fitted):
    x, y, _ = digits
    names = np.array([f"digit {label}" for label in y])
    for labels in (names, names.astype(object), list(names)):
        model = quick().fit(x, labels)
        assert model.classes_[3] == "digit 3"
        np.testing.assert_array_equal(model.contamination_, fitted.contamination_)
        np.testing.assert_array_equal(model.contamination(x, labels), fitted.contamination(x, y))
        assert set(model.predict(x[:5])) <= set(names)


def test_half_precision_is_kept(digits):
    x, y, _ = digits
    model = quick(max_epochs=2).fit(x.astype(np.float16), y)
    # The digits are whole numbers, which both precisions hold exactly.
    np.testing.assert_array_equal(model.contamination_, quick(max_epochs=2).fit(x, y).contamination_)


def test_verified_rows_are_settled(digits):
    x, y, is_wrong = digits
    verified = [None] * len(y)
    bad, good = np.flatnonzero(is_wrong)[0], np.flatnonzero(~is_wrong)[0]
    verified[bad], verified[good] = False, True
    model = quick(max_epochs=5).fit(x, y, verified=verified)
    assert model.contamination_[bad] == 1.0
    assert model.contamination_[good] == 0.0
    as_numbers = np.array([np.nan if value is None else float(value) for value in verified])
    np.testing.assert_array_equal(quick(max_epochs=5).fit(x, y, verified=as_numbers).contamination_, model.contamination_)


def test_weights_matter(digits):
    x, y, _ = digits
    model = quick(max_epochs=3)
    even = clone(model).fit(x, y).contamination_
    np.testing.assert_array_equal(clone(model).fit(x, y, sample_weight=np.ones(len(y))).contamination_, even)
    uneven = np.where(y == 3, 5.0, 1.0)
    assert not np.array_equal(clone(model).fit(x, y, sample_weight=uneven).contamination_, even)


def test_warnings_name_their_classes(digits):
    x, y, _ = digits
    rare = np.where(y == 3, "three", "other").astype(object)
    rare[:3] = "rare"
    model = quick(max_epochs=3).fit(x, rare)
    found = [warning for warning in model.warnings_ if warning.code == "few_rows"]
    assert found
    assert found[0].classes == ("rare",)
    assert "rare" in found[0].message


def test_the_papers_preset(digits):
    x, y, _ = digits
    model = NBAMClassifier(preset="paper", max_epochs=5, random_state=0).fit(x, y)
    assert len(model.loss_curve_) == 5


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(digits, fitted, protocol):
    x, y, _ = digits
    copy = pickle.loads(pickle.dumps(fitted, protocol=protocol))
    np.testing.assert_array_equal(copy.contamination(x, y), fitted.contamination(x, y))
    np.testing.assert_array_equal(copy.contamination_, fitted.contamination_)
    assert copy.get_params() == fitted.get_params()


def test_joblib(digits, fitted, tmp_path):
    x, _, _ = digits
    joblib.dump(fitted, tmp_path / "model.joblib", compress=3)
    copy = joblib.load(tmp_path / "model.joblib", mmap_mode=None)
    np.testing.assert_array_equal(copy.predict_proba(x), fitted.predict_proba(x))


def test_clone_forgets_the_fit(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "contamination_")


def test_grid_search_pipeline_and_set_output(digits):
    pandas = pytest.importorskip("pandas")
    x, y, _ = digits
    frame = pandas.DataFrame(x, columns=[f"pixel_{index}" for index in range(x.shape[1])])
    pipeline = make_pipeline(StandardScaler(), quick(max_epochs=60)).set_output(transform="pandas")
    grid = {"nbamclassifier__hidden_layer_sizes": [(16,), (32,)], "nbamclassifier__alpha": [None, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2).fit(frame, y)
    assert search.best_estimator_[-1].feature_names_in_[0] == "pixel_0"
    assert search.best_score_ > 0.3
    assert len(search.cv_results_["params"]) == 4


def test_cross_validation(digits):
    x, y, _ = digits
    probabilities = cross_val_predict(quick(max_epochs=3), x, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_the_regressor(line):
    x, y, is_wrong = line
    model = NBAMRegressor(hidden_layer_sizes=(32,), n_members=2, max_epochs=300, random_state=0).fit(x, y)
    assert average_precision_score(is_wrong, model.contamination_) > 0.9
    mean, sd = model.predict(x, return_std=True)
    assert np.abs(mean - (3 * x[:, 0] + 1)).max() < 0.5
    assert 0.05 < np.median(sd) < 0.3
    np.testing.assert_array_equal(model.predict(x), mean)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.evidence(x, y).log_clean, model.evidence(x, y).log_clean)
    # A large known error makes a far-off value less surprising.
    worst = int(model.contamination_.argmax())
    error = np.full(len(y), 50.0)
    assert model.contamination(x, y, error=error)[worst] < model.contamination(x, y)[worst]


def test_known_errors_and_verified_values(line):
    x, y, is_wrong = line
    verified = np.where(np.arange(len(y)) < 20, ~is_wrong, None)
    model = NBAMRegressor(hidden_layer_sizes=(8,), n_members=1, alpha=0.1, max_epochs=50, random_state=0)
    model.fit(x, y, verified=verified, error=np.full(len(y), 0.1))
    np.testing.assert_array_equal(model.contamination_[:20], is_wrong[:20].astype(float))
