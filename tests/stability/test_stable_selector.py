"""StableSelector: halves, seeds, continuation, any selector."""

from __future__ import annotations

import logging
from pathlib import Path

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
from ufselect.exceptions import UnreachableBoundWarning
from ufselect.stability import half_samples
from ufselect.stability.half_samples import Experiment, HalfFit, with_seed

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
    experiment = Experiment(LEVERAGE, data, None, {}, 60, int(np.random.default_rng(3).integers(2**31 - 1)))
    masks = [clone(LEVERAGE).fit(data[experiment.rows(index)]).support_ for index in range(6)]
    np.testing.assert_array_equal(stable.frequencies_, np.mean(masks, axis=0))
    np.testing.assert_array_equal(stable.support_, np.mean(masks, axis=0) >= 0.5)


def test_a_frequency_that_equals_the_threshold_reaches_it():
    """Floating-point numbers make 0.58 · 50 a little less than 29, and 0.28 · 50 a little more than 14."""
    stable = StableSelector(MaxVariance(1), n_resamples=50)
    for count in range(1, 51):
        supports = np.arange(51) > np.arange(50)[:, None]  # feature j is selected j times
        stable.set_params(threshold=float(f"{count / 50:.2f}"))
        stable._set_fitted([HalfFit(index, row, np.zeros(51)) for index, row in enumerate(supports)])
        np.testing.assert_array_equal(stable.support_, np.arange(51) >= count)


def test_halves_are_complementary_and_differ_between_pairs():
    experiment = Experiment(LEVERAGE, None, None, {}, 11, 5)
    first, second = experiment.rows(0), experiment.rows(1)
    assert len(first) == len(second) == 5
    assert not set(first) & set(second)
    assert set(first) != set(experiment.rows(2))
    np.testing.assert_array_equal(first, Experiment(LEVERAGE, None, None, {}, 11, 5).rows(0))


def test_structure_is_kept_and_the_promise_holds(data):
    stable = StableSelector(LEVERAGE, random_state=0).fit(data)
    assert list(stable.get_support(indices=True)) == [0, 1, 2]
    assert stable.error_bound_.unimodal <= 0.1 * 3
    assert stable.threshold_ == stable.error_bound_.threshold > 0.5
    assert stable.stability_ > 0.9
    assert set(stable.ranking_[:3]) == {1, 2, 3}


def test_a_blind_draw_is_not_stable(data):
    """The seed of the draw is another one on every half, although the selector has a fixed one."""
    stable = StableSelector(RandomSubset(3, random_state=0), random_state=0).fit(data)
    assert not stable.support_.any()
    assert abs(stable.stability_) < 0.1
    assert stable.selector.random_state == 0


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
    """Count the half-samples that are fitted."""
    made = []
    original = half_samples.Experiment.run

    def run(self, index):
        made.append(index)
        return original(self, index)

    monkeypatch.setattr(half_samples.Experiment, "run", run)
    return made


@pytest.mark.parametrize("seed", [0, None])
def test_warm_start_makes_only_the_fits_that_are_missing(data, fits_made, seed):
    stable = StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, warm_start=True, random_state=seed).fit(
        data
    )
    stable.set_params(n_resamples=10).fit(data)
    assert fits_made == list(range(10))
    fewer = stable.set_params(n_resamples=6).fit(data)
    assert fits_made == list(range(10))
    assert np.all(fewer.frequencies_ * 6 % 1 == pytest.approx(0))
    stable.fit(data + 1)
    assert len(fits_made) == 16
    if seed == 0:
        expected = StableSelector(LEVERAGE, n_resamples=6, threshold=0.6, random_state=0).fit(data + 1)
        np.testing.assert_array_equal(stable.frequencies_, expected.frequencies_)


def test_an_interrupted_run_goes_on_from_its_folder(data, fits_made, tmp_path, monkeypatch):
    stable = StableSelector(LEVERAGE, n_resamples=8, path=tmp_path / "halves", random_state=0)
    original = half_samples.Experiment.run

    def stop_at_five(self, index):
        if index == 5:
            raise KeyboardInterrupt
        return original(self, index)

    with monkeypatch.context() as patch:
        patch.setattr(half_samples.Experiment, "run", stop_at_five)
        with pytest.raises(KeyboardInterrupt):
            stable.fit(data)
    assert not hasattr(stable, "support_")
    stable.fit(data)
    assert fits_made == list(range(8))
    expected = StableSelector(LEVERAGE, n_resamples=8, random_state=0).fit(data)
    np.testing.assert_array_equal(stable.frequencies_, expected.frequencies_)
    assert not list((tmp_path / "halves").glob("*.part"))


def test_a_folder_without_seed_keeps_the_one_it_began_with(data, tmp_path):
    first = StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, path=tmp_path).fit(data)
    again = StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, path=tmp_path).fit(data)
    np.testing.assert_array_equal(first.frequencies_, again.frequencies_)


@pytest.mark.parametrize("change", ["data", "selector", "seed"])
def test_a_folder_of_another_run_is_refused(data, tmp_path, change):
    StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, path=tmp_path, random_state=0).fit(data)
    other = StableSelector(
        MaxVariance(3) if change == "selector" else LEVERAGE,
        n_resamples=4,
        threshold=0.6,
        path=tmp_path,
        random_state=1 if change == "seed" else 0,
    )
    with pytest.raises(ValueError, match="another selector"):
        other.fit(data * 2 if change == "data" else data)


def test_progress_is_logged(data, caplog):
    with caplog.at_level(logging.INFO, logger="ufselect"):
        StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, random_state=0, verbose=True).fit(data)
    assert "StableSelector: 4 of 4 half-samples" in caplog.text


def test_progress_of_a_run_taken_up_again_counts_what_was_there(data, caplog):
    stable = StableSelector(LEVERAGE, n_resamples=4, threshold=0.6, warm_start=True, random_state=0)
    stable.fit(data)
    with caplog.at_level(logging.INFO, logger="ufselect"):
        stable.set_params(n_resamples=6, verbose=True).fit(data)
    assert "StableSelector: 5 of 6 half-samples" in caplog.text
    assert "1 of 6" not in caplog.text


def test_an_unreachable_promise_is_said(data):
    stable = StableSelector(MaxVariance(9), n_resamples=4, random_state=0)
    with pytest.warns(UnreachableBoundWarning, match="No threshold keeps") as caught:
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


def test_too_few_rows_are_refused(data):
    with pytest.raises(ValueError, match="minimum of 4"):
        StableSelector(LEVERAGE).fit(data[:3])


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("experiment.json", b'{"fingerprint": "ab', r"experiment\.json is damaged; delete its folder"),
        ("half_00001.npz", b"PK\x03\x04 nothing", r"half_00001\.npz is damaged; delete it"),
    ],
)
def test_a_damaged_folder_names_the_file(tmp_path, name, content, sentence):
    X = np.random.default_rng(0).standard_normal((20, 5))
    stable = StableSelector(
        MaxVariance(2), n_resamples=4, threshold=0.6, random_state=0, path=tmp_path / "fits"
    )
    expected = clone(stable).fit(X).frequencies_
    (tmp_path / "fits" / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        clone(stable).fit(X)
    if name.startswith("half"):
        (tmp_path / "fits" / name).unlink()
        np.testing.assert_array_equal(clone(stable).fit(X).frequencies_, expected)
