"""AutoSelector: what it selects, its assessment, its candidates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale
from tests.clusters.examples import planted, sparse_clusters

from ufselect import (
    AutoSelector,
    GraphClustering,
    MaxVariance,
    PCALeverage,
    RandomSubset,
    ReconstructionSelector,
)
from ufselect.metrics import evaluate_selection

WINE = scale(load_wine().data)


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
    return AutoSelector(15, goal="clusters", n_clusters=6, random_state=0).fit(X), X, y


def test_a_strong_nuisance_is_seen_through(fitted_on_nuisance):
    selector, X, y = fitted_on_nuisance
    chosen = evaluate_selection(X, y, selector.support_, n_runs=20, seeding="k-means++")
    everything = evaluate_selection(X, y, None, n_runs=20, seeding="k-means++")
    assert chosen.acc_mean > everything.acc_mean + 30
    assert np.flatnonzero(selector.support_).max() < 30
    assert selector.verdict_ == "yes"
    assert selector.verdict_ == "yes"


def test_clusters_are_described_by_selected_columns(fitted_on_nuisance):
    selector, X, y = fitted_on_nuisance
    assert adjusted_rand_score(y, selector.labels_) > 0.8
    clusters = selector.clusters_
    assert clusters["size"].tolist() == np.bincount(selector.labels_).tolist()
    assert np.isin(clusters["columns"], np.flatnonzero(selector.support_)).all()
    for label, columns in enumerate(clusters["columns"]):
        inside = selector.labels_ == label
        gaps = X[inside][:, columns].mean(axis=0) - X[~inside][:, columns].mean(axis=0)
        spread = np.sqrt([np.mean([X[selector.labels_ == k, j].var() for k in range(6)]) for j in columns])
        assert np.allclose(clusters["distances"][label], gaps / spread, rtol=0.2)


def test_the_report_has_the_candidate_and_what_it_is_compared_with(fitted_on_nuisance):
    selector, _, _ = fitted_on_nuisance
    report = pd.DataFrame(selector.report_)
    assert report["candidate"].tolist() == ["DSCOFS, guided", "random columns", "all columns"]
    assert report["selected"].tolist() == [True, False, False]
    assert report["criterion"][0] > report["criterion"][1]
    assert selector.stability_ == selector.assessment_.stability


def test_another_seed_selects_nearly_the_same_columns(fitted_on_nuisance):
    first, X, _ = fitted_on_nuisance
    second = AutoSelector(15, goal="clusters", n_clusters=6, random_state=1).fit(X)
    assert np.sum(first.support_ & second.support_) >= 13


def test_columns_for_reconstruction_are_those_of_the_reconstruct_selector():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5)) @ rng.standard_normal((5, 40)) + 0.2 * rng.standard_normal((120, 40))
    selector = AutoSelector(5, goal="reconstruct", random_state=0).fit(X)
    assert np.array_equal(selector.support_, ReconstructionSelector(5).fit(X).support_)
    assert selector.verdict_ == "yes"
    assert selector.labels_ is None


def test_the_number_of_columns_for_reconstruction_is_chosen_on_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6)) @ rng.standard_normal((6, 40)) + 0.05 * rng.standard_normal((150, 40))
    selector = AutoSelector("auto", goal="reconstruct", random_state=0).fit(X)
    assert 6 <= selector.support_.sum() <= 15
    curve = selector.count_curve_
    assert curve["n_features"][curve["chosen"]] == selector.support_.sum()
    with pytest.raises(ValueError, match='works with goal="reconstruct"'):
        AutoSelector("auto", goal="clusters").fit(X)


def test_rows_far_from_all_others_are_used_and_named_when_columns_are_to_reconstruct():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4)) @ rng.standard_normal((4, 60)) + 0.3 * rng.standard_normal((120, 60))
    wild = X.copy()
    wild[[3, 70]] = 60 * rng.standard_normal((2, 60))
    selector = AutoSelector(5, goal="reconstruct", random_state=0).fit(wild)
    assert np.array_equal(selector.support_, ReconstructionSelector(5).fit(wild).support_)
    assert "Rows 3, 70 are more than twice as far from the nearest other row" in selector.assessment_.message
    donors = AutoSelector(5, goal="reconstruct", groups=np.arange(120) % 12, random_state=0).fit(wild)
    assert "12 groups" in donors.assessment_.message


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_outliers_hide_no_clusters():
    X, _ = planted(1)
    X[[3, 70]] = 60 * np.random.default_rng(0).standard_normal((2, 40))
    selector = AutoSelector(6, goal="clusters", n_clusters=4, random_state=0).fit(X)
    assert selector.verdict_ == "yes"
    assert 3 in selector.assessment_.far_rows
    assert np.flatnonzero(selector.support_).max() < 12


def test_columns_for_graph_clustering_are_assessed_by_it():
    X, y = planted(0, 200, 100, apart=2.5)
    selector = AutoSelector(8, goal="clusters", n_clusters=4, clusterer="graph", random_state=0).fit(X)
    found = GraphClustering(4, random_state=0).fit_predict(selector.transform(X))
    assert adjusted_rand_score(y, found) > 0.9
    assert selector.verdict_ == "yes"


def test_the_best_of_given_candidates_is_taken():
    X, _ = planted()
    selector = AutoSelector(
        6, candidates=[("blind", RandomSubset(random_state=0)), PCALeverage()], n_clusters=4, random_state=0
    ).fit(X)
    assert isinstance(selector.best_estimator_, PCALeverage)
    assert selector.report_["candidate"][:2].tolist() == ["1: PCALeverage", "blind"]
    masked = AutoSelector(
        13, goal="clusters", candidates=[VarianceThreshold()], n_clusters=3, random_state=0
    ).fit(WINE)
    assert masked.support_.all()


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "empty"),
        ([("a", PCALeverage()), ("a", MaxVariance())], "same name"),
        ([object()], "is no selector"),
        ([("needs labels", SelectKBest(k=4))], "requires y"),
    ],
)
def test_bad_candidates_are_refused(candidates, message):
    with pytest.raises(ValueError, match=message):
        AutoSelector(4, goal="clusters", candidates=candidates, n_clusters=3).fit(WINE)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": 0},
        {"n_clusters": "many"},
        {"n_clusters": 1000},
        {"max_samples": 0},
        {"goal": "fame"},
        {"clusterer": "ward"},
        {"candidates": "all"},
        {"n_clusters": 3, "goal": "reconstruct"},
        {"clusterer": "graph", "goal": "reconstruct"},
    ],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        AutoSelector(4, **parameters).fit(WINE)


def test_constraints_hold_and_reach_the_candidates():
    selector = AutoSelector(4, goal="clusters", n_clusters=3, keep=[1], exclude=[6], random_state=0).fit(WINE)
    assert selector.support_[1]
    assert not selector.support_[6]
    assert selector.support_.sum() == 4
    assert np.array_equal(selector.best_estimator_.get_support(), selector.support_)


def test_sparse_data_give_what_dense_ones_give():
    X, y = sparse_clusters()
    stored, dense = (
        AutoSelector(18, goal="clusters", n_clusters=3, random_state=0).fit(kind) for kind in (X, X.toarray())
    )
    assert adjusted_rand_score(y, stored.labels_) > 0.9
    assert np.sum(stored.support_ & dense.support_) >= 16
    assert np.sum(np.flatnonzero(stored.support_) < 24) >= 16


def test_many_rows_are_sampled_and_all_are_labelled():
    X, y = nuisance_data(2, 900)
    selector = AutoSelector(15, goal="clusters", n_clusters=6, max_samples=200, random_state=0).fit(X)
    assert selector.labels_.shape == (900,)
    assert adjusted_rand_score(y, selector.labels_) > 0.7


def test_dask_arrays_are_sampled():
    dask_array = pytest.importorskip("dask.array")
    X, y = nuisance_data(2, 900)
    lazy = dask_array.from_array(X, chunks=(300, 100))
    selector = AutoSelector(15, goal="clusters", n_clusters=6, max_samples=300, random_state=0).fit(lazy)
    assert evaluate_selection(X, y, selector.support_, n_runs=10, seeding="k-means++").nmi_mean > 70


@pytest.mark.parametrize("n_rows", [2, 3, 4, 6])
@pytest.mark.parametrize("options", [{}, {"clusterer": "graph"}, {"goal": "reconstruct"}, {"n_clusters": 2}])
def test_a_handful_of_rows_gets_an_answer(n_rows, options):
    X = np.random.default_rng(n_rows).standard_normal((n_rows, 6))
    selector = AutoSelector(3, **{"goal": "clusters", **options}, random_state=0).fit(X)
    assert selector.support_.sum() == 3
    assert selector.verdict_ != "yes"
    assert selector.assessment_.message


def test_a_column_and_its_copy_in_another_unit_are_not_both_selected():
    X, _ = planted()
    X = np.column_stack([X, 32 + 1.8 * X[:, :12]])
    selected = np.flatnonzero(AutoSelector(6, goal="clusters", n_clusters=4, random_state=0).fit(X).support_)
    originals = np.where(selected >= X.shape[1] - 12, selected - (X.shape[1] - 12), selected)
    assert np.unique(originals).size == 6


def test_the_selection_is_that_of_the_best_estimator_with_its_names():
    table = pd.DataFrame(WINE, columns=load_wine().feature_names)
    for candidates, exclude in (([VarianceThreshold(0.5)], None), (None, None), (None, ["alcohol"])):
        selector = AutoSelector(4, candidates=candidates, exclude=exclude, random_state=0).fit(table)
        names = selector.get_feature_names_out().tolist()
        assert selector.best_estimator_.get_feature_names_out().tolist() == names
        assert selector.assessment_.n_selected == len(names)
    with pytest.raises(ValueError, match="'0: VarianceThreshold' has no keep or feature_groups"):
        AutoSelector(4, candidates=[VarianceThreshold(0.5)], keep=["alcohol"]).fit(table)


def test_attributes_of_clusters_do_not_outlast_a_fit_for_them():
    selector = AutoSelector(5, n_clusters=3, random_state=0).fit(WINE)
    assert selector.labels_ is not None
    assert selector.set_params(n_clusters="auto").fit(WINE).labels_ is None
