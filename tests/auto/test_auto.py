"""AutoSelector: the winner, the report, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.preprocessing import scale
from tests.auto.examples import sparse_clusters

from ufselect import DSCOFS, AutoSelector, GraphClustering
from ufselect.auto import ties
from ufselect.auto.pool import Shared, default_pool
from ufselect.auto.reference import build_reference
from ufselect.auto.report import ALL_FEATURES, RANDOM_SUBSETS, SKIPPED
from ufselect.auto.rows import rows_of
from ufselect.auto.selector import CLUSTERERS
from ufselect.metrics import evaluate_selection, normalized_mutual_info
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.selectors.baselines import MaxVariance, PCALeverage, RandomSubset
from ufselect.selectors.wishes import wanted_of


def nuisance_data(seed=0, n=240):
    """Six clusters seen by features 0–29, under two strong directions that features 30–99 carry."""
    rng = np.random.default_rng(seed)
    y = rng.integers(6, size=n)
    centres = 2.5 * rng.standard_normal((6, 8))
    signal = (centres[y] + rng.standard_normal((n, 8))) @ rng.standard_normal((8, 30)) / 3
    nuisance = 6 * rng.standard_normal((n, 2)) @ rng.standard_normal((2, 70))
    return np.hstack([signal, nuisance + rng.standard_normal((n, 70))]), y


@pytest.fixture(scope="module")
def fitted_on_nuisance():
    X, y = nuisance_data()
    return AutoSelector(15, n_clusters=6, random_state=0).fit(X), X, y


def test_a_strong_nuisance_is_seen_through(fitted_on_nuisance):
    selector, X, y = fitted_on_nuisance
    chosen = evaluate_selection(X, y, selector.support_, n_runs=20, seeding="k-means++")
    everything = evaluate_selection(X, y, None, n_runs=20, seeding="k-means++")
    assert chosen.acc_mean > everything.acc_mean + 30
    assert np.flatnonzero(selector.support_).max() < 30


def test_structure_below_the_leading_components_is_missed():
    """Where neighbours in the leading components say nothing, no judge built on them can help."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=300)
    clusters = 0.3 * (2.0 * y - 1)[:, None] + 0.05 * rng.standard_normal((300, 3))
    smooth = rng.uniform(-5, 5, (300, 6)) @ rng.standard_normal((6, 30))
    X = np.hstack([clusters, smooth])
    selector = AutoSelector(3, n_clusters=2, random_state=0).fit(X)
    assert not selector.support_[:3].any()


def test_report_tells_every_candidate_and_why_the_winner_won(fitted_on_nuisance):
    selector, _, _ = fitted_on_nuisance
    rows = selector.report_
    assert [row["selected"] for row in rows] == [True] + [False] * (len(rows) - 1)
    assert len(rows) == 8
    assert {ALL_FEATURES, RANDOM_SUBSETS} < {row["candidate"] for row in rows}
    finished = [row for row in rows if "stopped early" not in row["note"]]
    assert rows[0]["criterion"] == max(row["criterion"] for row in finished)
    assert rows[0]["note"] == "the winner"
    assert all(set(row) == set(rows[0]) for row in rows)
    assert all(0 <= row["criterion"] <= 1 for row in rows)
    assert "better than random" in selector.verdict_


def test_winner_is_the_best_estimator(fitted_on_nuisance):
    selector, _, _ = fitted_on_nuisance
    best = selector.best_estimator_
    assert selector.best_params_ == best.get_params()
    assert np.array_equal(best.ranking_, selector.ranking_)
    assert np.array_equal(best.get_support(), selector.support_)
    assert selector.n_clusters_ == 6


def test_same_seed_same_result_whatever_the_number_of_threads():
    X = scale(load_wine().data)
    first = AutoSelector(4, random_state=3).fit(X)
    second = AutoSelector(4, random_state=3, n_jobs=2).fit(X)
    assert np.array_equal(first.scores_, second.scores_)
    keys = ("candidate", "criterion", "criterion_std", "selected", "tied", "note")
    assert [[row[k] for k in keys] for row in first.report_] == [
        [row[k] for k in keys] for row in second.report_
    ]


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_candidates_fitted_to_what_is_shared_equal_those_fitted_to_the_data(clusterer):
    """A candidate of the pool is the estimator that the report names."""
    X = load_digits().data[:80, :40]
    X = X[:, X.std(axis=0) > 0]
    wanted = wanted_of(MaxVariance(8), X.shape[1])
    shared = Shared(X, build_reference(rows_of(X), 5, 0), wanted)
    pool = default_pool(clusterer, 5, seed=0, max_samples=2000)
    rules = {"kmeans": "margin", "graph": "embedding"}
    assert pool[0].estimator.rule == rules[clusterer]
    for candidate in pool:
        direct = candidate.estimator.set_params(n_features_to_select=8).fit(X)
        found = candidate.fitted(shared)
        assert np.array_equal(found.support_, direct.support_), candidate.name
        assert found.n_features_in_ == direct.n_features_in_


@pytest.mark.parametrize("candidates", [None, [PCALeverage(), MaxVariance(), RandomSubset(random_state=0)]])
def test_no_candidate_is_fitted_twice(candidates, monkeypatch):
    """The winner has seen all rows when it was tried; ties, which fits to halves break, are left alone."""
    monkeypatch.setattr(ties, "is_tied", lambda *_: False)
    fits = []
    fit_to = UnsupervisedSelector._set_fitted
    monkeypatch.setattr(
        UnsupervisedSelector,
        "_set_fitted",
        lambda self, *given: fits.append(type(self).__name__) or fit_to(self, *given),
    )
    X = scale(load_wine().data)
    selector = AutoSelector(4, candidates=candidates, n_clusters=3, max_samples=100, random_state=0).fit(X)
    # As many as candidates, and AutoSelector itself; two rows of the report are for comparison.
    assert len(fits) == len(selector.report_) - 1
    assert fits[-1] == "AutoSelector"


def test_own_candidates_by_scores_ranking_or_mask():
    class ByRanking(PCALeverage):
        def fit(self, X, y=None):
            super().fit(X)
            del self.scores_
            return self

    X = scale(load_wine().data)
    selector = AutoSelector(
        4,
        candidates=[("leverage", PCALeverage()), ("ranked", ByRanking()), RandomSubset(random_state=0)],
        n_clusters=3,
        random_state=0,
    ).fit(X)
    names = {row["candidate"] for row in selector.report_}
    assert names == {"leverage", "ranked", "2: RandomSubset", ALL_FEATURES, RANDOM_SUBSETS}
    scores = {row["candidate"]: row["criterion"] for row in selector.report_}
    assert scores["leverage"] == scores["ranked"]
    masked = AutoSelector(13, candidates=[VarianceThreshold()], n_clusters=3, random_state=0).fit(X)
    assert masked.support_.all()


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "empty"),
        ([("a", PCALeverage()), ("a", MaxVariance())], "same name"),
        ([object()], "no fit"),
        ([VarianceThreshold()], "mask of 4"),
    ],
)
def test_bad_candidates_are_refused(candidates, message):
    with pytest.raises(ValueError, match=message):
        AutoSelector(4, candidates=candidates, n_clusters=3).fit(scale(load_wine().data))


def test_an_error_names_its_candidate():
    with pytest.raises(ValueError, match="requires y") as caught:
        AutoSelector(4, candidates=[("needs labels", SelectKBest(k=4))]).fit(scale(load_wine().data))
    assert any("needs labels" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": 0},
        {"n_clusters": "many"},
        {"n_clusters": 1000},
        {"time_budget": 0},
        {"max_samples": 0},
        {"goal": "fame"},
        {"clusterer": "ward"},
        {"candidates": "all"},
        {"candidates": "dscofs", "goal": "rebuild"},
    ],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        AutoSelector(4, **parameters).fit(scale(load_wine().data))


def test_time_budget_leaves_candidates_out_and_says_so():
    selector = AutoSelector(4, n_clusters=3, time_budget=1e-9, random_state=0).fit(scale(load_wine().data))
    compared = {ALL_FEATURES, RANDOM_SUBSETS}
    tried = [row for row in selector.report_ if row["note"] != SKIPPED and row["candidate"] not in compared]
    assert len(tried) == 1
    assert tried[0]["selected"]


def test_many_rows_are_sampled_and_the_winner_sees_all():
    X, y = nuisance_data(2, 900)
    selector = AutoSelector(15, n_clusters=6, max_samples=200, random_state=0).fit(X)
    score = evaluate_selection(X, y, selector.support_, n_runs=10, seeding="k-means++")
    assert score.acc_mean > 80
    assert selector.labels_.shape == (900,)
    assert normalized_mutual_info(y, selector.labels_) > 0.8


def test_clusters_are_described_by_selected_columns(fitted_on_nuisance):
    selector, X, y = fitted_on_nuisance
    assert normalized_mutual_info(y, selector.labels_) > 0.8
    assert sum(cluster["size"] for cluster in selector.clusters_) == len(X)
    assert [cluster["cluster"] for cluster in selector.clusters_] == list(range(6))
    chosen = {str(column) for column in np.flatnonzero(selector.support_)}
    for cluster in selector.clusters_:
        assert {name for name, _ in cluster["columns"]} <= chosen
        name, distance = cluster["columns"][0]
        inside = selector.labels_ == cluster["cluster"]
        gap = X[inside, int(name)].mean() - X[~inside, int(name)].mean()
        assert np.sign(gap) == np.sign(distance)


def test_names_of_columns_tell_the_clusters():
    frame = load_wine(as_frame=True).data
    selector = AutoSelector(4, n_clusters=3, random_state=0).fit((frame - frame.mean()) / frame.std())
    told = {name for cluster in selector.clusters_ for name, _ in cluster["columns"]}
    assert told <= set(frame.columns)


def test_noise_is_called_noise():
    X = np.random.default_rng(0).standard_normal((150, 30))
    blind = [RandomSubset(random_state=seed) for seed in (1, 2)]
    selector = AutoSelector(10, candidates=blind, n_clusters=3, random_state=0).fit(X)
    assert selector.verdict_.startswith("No clusters to speak of")
    assert "keep all columns" in selector.verdict_


def test_sparse_data_give_what_dense_ones_give():
    X, y = sparse_clusters()
    stored = AutoSelector(18, n_clusters=3, random_state=0).fit(X)
    dense = AutoSelector(18, n_clusters=3, random_state=0).fit(X.toarray())
    assert normalized_mutual_info(y, stored.labels_) > 0.9
    assert np.sum(stored.support_ & dense.support_) >= 16
    assert np.flatnonzero(stored.support_).max() < 24


def test_dask_arrays_are_sampled():
    dask_array = pytest.importorskip("dask.array")
    X, y = nuisance_data(2, 900)
    lazy = dask_array.from_array(X, chunks=(300, 100))
    selector = AutoSelector(15, n_clusters=6, max_samples=300, random_state=0).fit(lazy)
    score = evaluate_selection(X, y, selector.support_, n_runs=10, seeding="k-means++")
    assert score.acc_mean > 70


def test_columns_for_graph_clustering_are_judged_by_it(fitted_on_nuisance):
    _, X, y = fitted_on_nuisance
    selector = AutoSelector(15, n_clusters=6, clusterer="graph", random_state=0).fit(X)
    found = GraphClustering(6, random_state=0).fit_predict(selector.transform(X))
    assert normalized_mutual_info(y, found) > 0.8
    assert "graph clustering" in selector.verdict_


def test_dscofs_alone_is_chosen_without_labels(fitted_on_nuisance):
    _, X, y = fitted_on_nuisance
    selector = AutoSelector(15, n_clusters=6, candidates="dscofs", random_state=0).fit(X)
    assert isinstance(selector.best_estimator_, DSCOFS)
    chosen = evaluate_selection(X, y, selector.support_, n_runs=20, seeding="k-means++")
    everything = evaluate_selection(X, y, None, n_runs=20, seeding="k-means++")
    assert chosen.acc_mean > everything.acc_mean + 20
    assert len(selector.report_) == 14


def test_columns_for_rebuilding_are_judged_on_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5)) @ rng.standard_normal((5, 40)) + 0.2 * rng.standard_normal((120, 40))
    selector = AutoSelector(5, goal="rebuild", random_state=0).fit(X)
    rows = {row["candidate"]: row["criterion"] for row in selector.report_}
    assert rows["greedy projection, all features"] > rows[RANDOM_SUBSETS]
    assert rows[ALL_FEATURES] > 0.95
    assert not hasattr(selector, "labels_")
    assert "rebuilds" in selector.verdict_
    assert "all columns carry more" not in selector.verdict_


def test_hopeless_candidates_get_fewer_runs():
    X, _ = nuisance_data()
    selector = AutoSelector(15, n_clusters=6, random_state=0).fit(X)
    stopped = [row for row in selector.report_ if "stopped early" in row["note"]]
    assert stopped
    assert all(row["criterion"] < selector.report_[0]["criterion"] - 0.02 for row in stopped)


def test_progress_names_candidates_and_the_time_left(caplog):
    with caplog.at_level("INFO", logger="ufselect"):
        AutoSelector(4, n_clusters=3, random_state=0, verbose=True).fit(scale(load_wine().data))
    assert sum("s left" in record.getMessage() for record in caplog.records) == 6


def test_the_number_of_columns_for_rebuilding_is_chosen_on_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6)) @ rng.standard_normal((6, 40)) + 0.05 * rng.standard_normal((150, 40))
    selector = AutoSelector("auto", goal="rebuild", random_state=0).fit(X)
    assert selector.support_.sum() == pytest.approx(6, abs=1)
    (chosen,) = (row for row in selector.count_curve_ if row["chosen"])
    assert chosen["count"] == selector.support_.sum()
    with pytest.raises(ValueError, match='serves goal="rebuild"'):
        AutoSelector("auto").fit(X)


@pytest.mark.parametrize("n_rows", [2, 3, 4, 6])
@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_a_handful_of_rows_gets_an_answer(n_rows, clusterer):
    X = np.random.default_rng(n_rows).standard_normal((n_rows, 6))
    selector = AutoSelector(3, clusterer=clusterer, random_state=0).fit(X)
    assert selector.support_.sum() == 3
    assert selector.verdict_.startswith("No clusters to speak of")


def test_two_rows_cannot_be_held_out_and_left():
    with pytest.raises(ValueError, match="needs at least 3 of them, not 2"):
        AutoSelector(2, goal="rebuild").fit(np.eye(2, 4))


@pytest.mark.parametrize("setting", [{"n_clusters": 3}, {"clusterer": "graph"}])
def test_settings_without_effect_are_refused(setting):
    with pytest.raises(ValueError, match='serves goal="clusters" alone'):
        AutoSelector(2, goal="rebuild", **setting).fit(np.eye(5, 4))
