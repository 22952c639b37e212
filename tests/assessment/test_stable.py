"""StableSelector: halves, seeds, continuation, any selector."""

from __future__ import annotations

import logging
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectorMixin, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ufselect import MaxVariance, PCALeverage, RandomSubset, StableSelector
from ufselect.assessment.stable_selector import half_of_rows, with_seed
from ufselect.exceptions import UnreachableBoundWarning

LEVERAGE = PCALeverage(n_features_to_select=3, n_components=2)


@pytest.fixture(scope="module")
def data():
    """Return twelve features of which the first three carry two strong directions."""
    rng = np.random.default_rng(0)
    X = 0.3 * rng.standard_normal((60, 12))
    X[:, :3] += 3 * rng.standard_normal((60, 2)) @ np.array([[1, 0, 1], [0, 1, 1]])
    return X


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([StableSelector(MaxVariance(0.5), n_resamples=4, threshold=0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_frequencies_are_those_of_the_halves(data):
    stable = StableSelector(LEVERAGE, n_resamples=6, threshold=0.5, random_state=3).fit(data)
    entropy = int(np.random.default_rng(3).integers(2**31 - 1))
    masks = [clone(LEVERAGE).fit(data[half_of_rows(60, index, entropy)]).support_ for index in range(6)]
    np.testing.assert_array_equal(stable.frequencies_, np.mean(masks, axis=0))
    np.testing.assert_array_equal(stable.support_, np.mean(masks, axis=0) >= 0.5)


def test_a_frequency_that_equals_the_threshold_reaches_it():
    """Floating-point numbers make 0.58 · 50 a little less than 29, and 0.28 · 50 a little more than 14."""
    stable = StableSelector(MaxVariance(1), n_resamples=50)
    for count in range(1, 51):
        supports = np.arange(51) > np.arange(50)[:, None]  # feature j is selected j times
        stable.set_params(threshold=float(f"{count / 50:.2f}"))
        stable._set_fitted([(row, np.zeros(51)) for row in supports])
        np.testing.assert_array_equal(stable.support_, np.arange(51) >= count)


def test_halves_are_complementary_and_differ_between_pairs():
    first, second = half_of_rows(11, 0, 5), half_of_rows(11, 1, 5)
    assert len(first) == len(second) == 5
    assert not set(first) & set(second)
    assert set(first) != set(half_of_rows(11, 2, 5))
    np.testing.assert_array_equal(first, half_of_rows(11, 0, 5))


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_structure_is_kept_and_the_promise_holds(data):
    stable = StableSelector(LEVERAGE, random_state=0).fit(data)
    assert list(stable.get_support(indices=True)) == [0, 1, 2]
    assert stable.error_bound_.unimodal <= 0.1 * 3
    assert stable.threshold_ == stable.error_bound_.threshold > 0.5
    assert stable.stability_ > 0.9
    assert set(stable.ranking_[:3]) == {1, 2, 3}


@pytest.mark.filterwarnings("ignore:No column")
def test_a_blind_draw_is_not_stable(data):
    """The seed of the draw is another one on every half, although the selector has a fixed one."""
    stable = StableSelector(RandomSubset(3, random_state=0), random_state=0).fit(data)
    assert not stable.support_.any()
    assert abs(stable.stability_) < 0.1
    assert stable.estimator.random_state == 0


def test_every_seed_within_is_set():
    model = SelectFromModel(LogisticRegression(random_state=1))
    assert with_seed(model, 7).estimator.random_state == 7


def test_ranking_breaks_ties_by_mean_rank(data):
    stable = StableSelector(MaxVariance(3), n_resamples=10, threshold=0.5, random_state=0).fit(data)
    best = np.argmin(stable.ranking_)
    mean_variance = data.var(axis=0)
    assert stable.frequencies_[best] == 1
    assert best == np.argmax(mean_variance)


@pytest.mark.parametrize(
    "selector",
    [SelectKBest(k=2), SelectFromModel(LogisticRegression(max_iter=500)), VarianceThreshold(0.5)],
    ids=["univariate", "model", "variance"],
)
def test_any_selector_will_do(selector):
    X, y = load_iris(return_X_y=True)
    stable = StableSelector(selector, n_resamples=10, threshold=0.6, random_state=0).fit(X, y)
    assert stable.transform(X).shape == (150, stable.support_.sum())
    assert stable.support_[2]


def test_sparse_data_and_names_pass_through(data):
    pd = pytest.importorskip("pandas")
    plain = StableSelector(LEVERAGE, n_resamples=6, threshold=0.5, random_state=0).fit(data)
    for other in (sparse.coo_array(data), pd.DataFrame(data, columns=[f"f{j}" for j in range(12)])):
        again = clone(plain).fit(other)
        np.testing.assert_array_equal(again.frequencies_, plain.frequencies_)
    assert list(again.get_feature_names_out()) == ["f0", "f1", "f2"]


def test_workers_do_not_change_the_result(data):
    alone = StableSelector(LEVERAGE, n_resamples=8, random_state=0).fit(data)
    together = StableSelector(LEVERAGE, n_resamples=8, random_state=0, n_jobs=2).fit(data)
    np.testing.assert_array_equal(alone.frequencies_, together.frequencies_)
    np.testing.assert_array_equal(alone.ranking_, together.ranking_)


@pytest.fixture
def fits_made(monkeypatch):
    """Count the fits of a selector."""
    made = []
    fit = PCALeverage.fit
    monkeypatch.setattr(PCALeverage, "fit", lambda self, *given: made.append(0) or fit(self, *given))
    return made


@pytest.mark.parametrize("kind", [str, Path, joblib.Memory])
def test_memory_makes_only_the_fits_that_are_missing(data, fits_made, tmp_path, kind):
    memory = joblib.Memory(tmp_path, verbose=0) if kind is joblib.Memory else kind(tmp_path)
    stable = StableSelector(LEVERAGE, n_resamples=6, threshold=0.5, memory=memory, random_state=0).fit(data)
    assert len(fits_made) == 6
    clone(stable).fit(data)
    assert len(fits_made) == 6
    more = clone(stable).set_params(n_resamples=8).fit(data)
    assert len(fits_made) == 8
    plain = StableSelector(LEVERAGE, n_resamples=8, threshold=0.5, random_state=0).fit(data)
    np.testing.assert_array_equal(more.frequencies_, plain.frequencies_)
    clone(stable).fit(2 * data)  # other data
    assert len(fits_made) == 8 + 8 + 6


def test_no_columns_are_said(data):
    with pytest.warns(UserWarning, match="No column is selected"):
        stable = StableSelector(RandomSubset(1), n_resamples=20, threshold=0.9, random_state=0).fit(data)
    assert not stable.support_.any()


@pytest.mark.parametrize("weights", [np.ones((60, 1)), np.ones((60, 2)), np.ones(59)])
def test_row_arguments_of_another_shape_are_refused(data, weights):
    with pytest.raises(ValueError, match=r"one entry per row|inconsistent"):
        StableSelector(MaxVariance(3), n_resamples=4, threshold=0.5).fit(data, sample_weight=weights)


def test_progress_is_logged(data, caplog):
    with caplog.at_level(logging.INFO, logger="ufselect"):
        StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, random_state=0, verbose=True).fit(data)
    assert "StableSelector: 4 of 4 half-samples" in caplog.text


def test_an_unreachable_promise_is_said(data):
    stable = StableSelector(MaxVariance(9), n_resamples=4, random_state=0)
    with pytest.warns(UnreachableBoundWarning, match="No threshold limits") as caught:
        stable.fit(data)
    assert Path(caught[0].filename) == Path(__file__)
    assert stable.threshold_ == 1


class Aligned(SelectorMixin, BaseEstimator):
    """A selector that only looks whether its arguments belong to its rows."""

    def fit(self, X, y=None, sample_weight=None):
        np.testing.assert_array_equal(sample_weight, X[:, 0])
        np.testing.assert_array_equal(y, X[:, 1])
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 1


def test_row_arguments_are_halved_with_the_rows():
    X = np.random.default_rng(0).standard_normal((20, 3))
    stable = StableSelector(Aligned(), n_resamples=4, threshold=0.5, random_state=0)
    stable.fit(X, X[:, 1], sample_weight=X[:, 0])
    assert stable.support_.tolist() == [False, True, False]


def test_metadata_routing_reaches_the_selector():
    X, y = load_iris(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression(max_iter=500).set_fit_request(sample_weight=True)
        stable = StableSelector(SelectFromModel(model), n_resamples=4, threshold=0.5, random_state=0)
        pipeline = make_pipeline(stable).fit(X, y, sample_weight=np.ones(150))
    assert pipeline[0].frequencies_.shape == (4,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_resamples": 5}, "must be even"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"threshold": 0.0}, "threshold"),
        ({"threshold": "high"}, "threshold"),
        ({"max_false": 1.5}, "integer number of features"),
        ({"max_false": -1}, "max_false"),
    ],
)
def test_bad_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        StableSelector(LEVERAGE, **parameters).fit(data)
