"""The figures of the report against literal definitions."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, SelectorMixin, VarianceThreshold, f_classif
from sklearn.linear_model import LinearRegression

from ufselect import (
    DSCOFS,
    AutoSelector,
    MaxVariance,
    ReconstructionSelector,
    Reconstructor,
    RedundancyFilter,
)
from ufselect.report import explain, report_html


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((80, 12))


def test_each_dropped_column_has_the_closest_selected_one(data):
    selector = MaxVariance(4).fit(data)
    e = explain(selector, data, assessment=False)
    among = np.corrcoef(data.T)
    for feature in range(12):
        best = e.ranked[e.closest[feature]]
        assert abs(among[feature, best]) == pytest.approx(np.abs(among[feature, e.ranked]).max())
        assert e.closest_r[feature] == pytest.approx(among[feature, best])
    found = [j for place in range(4) for j in e.represents(place)]
    assert len(found) == len(set(found)) <= 8
    assert not set(found) & set(e.ranked)
    np.testing.assert_allclose(e.among, among[np.ix_(e.ranked, e.ranked)], atol=1e-12)
    assert e.frequencies is None
    flat = np.column_stack([data, np.zeros(80)])
    assert explain(MaxVariance(4).fit(flat), flat, assessment=False).closest_r[-1] == 0


def test_what_is_explained_is_the_adjusted_share_of_a_regression(data):
    e = explain(MaxVariance(4).fit(data), data, assessment=False)
    for j in np.flatnonzero(~e.selected.support):
        share = LinearRegression().fit(data[:, e.ranked], data[:, j]).score(data[:, e.ranked], data[:, j])
        assert e.explained[j] == pytest.approx(1 - (1 - share) * 79 / 75)
    assert np.all(np.isnan(explain(MaxVariance(4).fit(data[:10]), data[:10], assessment=False).explained))


def test_no_matrix_of_all_correlations_is_formed():
    wide = np.random.default_rng(0).standard_normal((20, 4000))
    for selector in (RedundancyFilter(exclude=[0]), MaxVariance(3000)):
        selector.fit(wide)
        tracemalloc.start()
        explain(selector, wide, assessment=False)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * 4000 * 4000 / 2


def test_representatives_of_a_filter_are_its_own(data):
    copies = np.column_stack([data, data[:, :3] + 0.01 * data[:, 3:6]])
    selector = RedundancyFilter(0.95).fit(copies)
    e = explain(selector, copies)
    for j in np.flatnonzero(~selector.support_):
        assert e.ranked[e.closest[j]] == selector.representatives_[j]
    assert (e.goal, e.verdict, e.assessment) == ("redundancy", None, None)
    assert "is correlated above 0.95 with a selected one" in e.message


def test_sparse_frames_and_arrays_say_the_same(data):
    pandas = pytest.importorskip("pandas")
    thin = np.where(data > 0.5, data, 0)
    frame = pandas.DataFrame(thin, columns=[f"c{j}" for j in range(12)])
    selector = DSCOFS(4, n_components=3, entry_sparsity=None)
    dense = explain(selector.fit(thin), thin)
    scarce = explain(selector.fit(sparse.csr_array(thin)), sparse.csr_array(thin))
    framed = explain(selector.fit(frame), frame)
    assert dense.assessment.effect == pytest.approx(scarce.assessment.effect)
    assert dense.means == pytest.approx(scarce.means)
    assert framed.feature_names == list(frame.columns)
    assert dense.feature_names[0] == "feature_1"


def test_only_one_column_all_columns_and_few_rows(data):
    for count, rows in ((1, 80), (12, 80), (2, 4)):
        e = explain(MaxVariance(count).fit(data[:rows]), data[:rows])
        assert f"{count} of 12" in report_html(e)
    assert explain(MaxVariance(12).fit(data), data).message == "All columns are selected."


class MeanAbove(SelectorMixin, BaseEstimator):
    """A selector with the mixin's mask and nothing else."""

    def fit(self, X, y=None):
        self.mask_ = np.asarray(X).mean(axis=0) > 0
        return self

    def _get_support_mask(self):
        return self.mask_


@pytest.mark.parametrize("selector", [VarianceThreshold(3.0), MeanAbove()])
def test_any_selector_without_scores_is_explained(data, selector):
    e = explain(selector.fit(data), data)
    kept = np.flatnonzero(selector.get_support())
    assert 0 < kept.size < 12
    assert e.ranked.tolist() == kept.tolist()
    assert e.selected.scores is None
    assert (e.method, e.assessment.stability) == (type(selector).__name__, None)
    assert "Scores of the method" not in report_html(e)


def test_a_supervised_selector_is_explained_by_its_columns(data):
    y = (data[:, 0] > 0).astype(int)
    selector = SelectKBest(f_classif, k=4).fit(data, y)
    e = explain(selector, data)
    assert e.ranked.tolist() == np.argsort(-selector.scores_)[:4].tolist()
    assert e.frequencies is None
    assert "selected from other rows" not in report_html(e)


def test_scores_that_are_no_numbers_do_not_break_the_page(data):
    flat = np.column_stack([data, np.zeros(80)])
    y = (data[:, 0] > 0).astype(int)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = SelectKBest(f_classif, k=4).fit(flat, y)
    assert np.isnan(selector.scores_[12])
    e = explain(selector, flat)
    assert e.selected.ranking[12] == 13
    assert "NaN" not in re.sub("data-value=.nan.", "", report_html(e))


def test_what_cannot_be_explained_is_refused(data):
    with pytest.raises(TypeError, match="has no get_support"):
        explain(PCA().fit(data), data)
    with pytest.raises(NotFittedError):
        explain(MaxVariance(2), data)
    with pytest.raises(ValueError, match="one name per feature"):
        explain(MaxVariance(2).fit(data), data, feature_names=["a"])
    with pytest.raises(ValueError, match="selects no feature"):
        explain(MeanAbove().fit(data - 100), data)


def test_names_follow_the_order_of_columns_whatever_holds_them():
    pandas = pytest.importorskip("pandas")
    X = np.repeat(np.eye(3), 30, axis=0) @ np.random.default_rng(0).standard_normal((3, 10)) * 5
    X += np.random.default_rng(1).standard_normal(X.shape)
    selector = AutoSelector(5, goal="clusters", n_clusters=3, random_state=0).fit(X)
    names = [f"g{j}" for j in range(10)]
    told = [
        explain(selector, X, feature_names=given, assessment=False).clusters
        for given in (names, pandas.Series(names, index=range(9, -1, -1)))
    ]
    assert told[0] == told[1] != []


def test_correlations_are_those_of_the_rows_that_have_both_values():
    rng = np.random.default_rng(0)
    common = rng.standard_normal(300)
    X = np.column_stack([common + 0.3 * rng.standard_normal(300) for _ in range(4)])
    X[rng.random(X.shape) < 0.3] = np.nan
    found = explain(DSCOFS(1).fit(X), X, assessment=False)
    expected = pandas.DataFrame(X).corr().to_numpy()[found.ranked[0]]
    np.testing.assert_allclose(found.closest_r, expected, atol=1e-10)


def test_substitutes_are_the_best_of_all_other_columns_and_cost_what_is_then_unknown(data):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 9)) + 0.5 * rng.standard_normal((300, 9))
    X = np.column_stack([X, X[:, 0] + 0.01 * rng.standard_normal(300)])
    e = explain(ReconstructionSelector(3, keep=[0], exclude=[8]).fit(X), X)
    train, test = X[:150], X[150:]

    def share(columns):
        return Reconstructor(columns, "ridge").fit(train).score(test)

    for column, (other, cost) in zip(e.ranked, e.substitutes, strict=True):
        rest = [j for j in e.ranked if j != column]
        costs = {j: share(e.ranked) - share([*rest, j]) for j in range(10) if j not in {*e.ranked, 8}}
        assert costs[other] < min(costs.values()) + 0.02
        assert cost == pytest.approx(costs[other], abs=0.03)
        assert column != 0 or other == 9


def test_a_column_that_the_others_determine_needs_no_substitute():
    three = np.random.default_rng(0).standard_normal((60, 3))
    X = np.column_stack([three, three.sum(axis=1)])
    e = explain(ReconstructionSelector(3, keep=[0, 1, 2]).fit(X), X, assessment=True)
    assert all(other == 3 and abs(cost) < 1e-6 for other, cost in e.substitutes)
    assert explain(ReconstructionSelector(3).fit(X), X, assessment=False).substitutes == []
