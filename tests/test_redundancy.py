"""RedundancyFilter keeps its guarantees whatever the table."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from ufselect import RedundancyFilter


@parametrize_with_checks([RedundancyFilter()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def copies_of(seed, n_rows=40, n_base=4, n_copies=5):
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((n_rows, n_base))
    chosen = rng.integers(0, n_base, n_copies)
    noise = rng.choice([0.0, 0.05, 0.3, 1.0], n_copies)
    signs = rng.choice([-3.0, 1.0, 10.0], n_copies)
    return np.hstack([base, signs * base[:, chosen] + noise * rng.standard_normal((n_rows, n_copies))])


@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from(["pearson", "spearman"]))
def test_dropped_columns_are_represented_and_selected_ones_are_apart(seed, limit, method):
    X = np.hstack([copies_of(seed + k) for k in range(1 + 9 * (seed % 2))])  # one block of columns, or two
    found = RedundancyFilter(limit, method=method).fit(X)
    r = np.abs(np.corrcoef(X.T) if method == "pearson" else stats.spearmanr(X).statistic)
    np.fill_diagonal(r, 0)
    selected = found.support_
    assert np.all(r[np.ix_(selected, selected)] <= limit + 1e-9)
    assert np.all(r[np.ix_(~selected, selected)].max(axis=1, initial=0) > limit - 1e-9)
    for dropped, (other, value) in found.represented_by_.items():
        assert selected[other]
        assert abs(value) == pytest.approx(r[dropped, selected].max(), abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.9]))
def test_with_missing_values_pairs_are_compared_by_the_rows_that_have_both(seed, limit):
    X = copies_of(seed, n_rows=60)
    X[np.random.default_rng(seed).random(X.shape) < 0.15] = np.nan
    found = RedundancyFilter(limit).fit(X)
    r = pd.DataFrame(X).corr(min_periods=3).fillna(0).abs().to_numpy(copy=True)
    np.fill_diagonal(r, 0)
    selected = found.support_
    assert np.all(r[np.ix_(selected, selected)] <= limit + 1e-9)
    assert np.all(r[np.ix_(~selected, selected)].max(axis=1, initial=0) > limit - 1e-9)
    assert found.missing_.route == "pairwise"


def test_no_matrix_of_all_correlations_is_formed():
    X = np.random.default_rng(0).standard_normal((20, 2000))
    X[:, 1::2] = X[:, ::2]
    tracemalloc.start()
    found = RedundancyFilter().fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.support_.sum() == 1000
    assert peak < 8 * 2000**2 / 2


@given(st.integers(0, 10**6), st.permutations(range(9)))
def test_the_order_of_columns_does_not_matter(seed, order):
    frame = pd.DataFrame(copies_of(seed), columns=list("abcdefghi"))
    first = RedundancyFilter().fit(frame)
    second = RedundancyFilter().fit(frame.iloc[:, list(order)])
    assert set(first.get_feature_names_out()) == set(second.get_feature_names_out())


def test_exact_copies_go_by_variance_then_by_name():
    a = np.random.default_rng(0).standard_normal(30)
    frame = pd.DataFrame({"b": a, "a": a, "large": 2 * a})
    assert RedundancyFilter().fit(frame).represented_by_ == {"b": ("large", 1.0), "a": ("large", 1.0)}
    assert list(RedundancyFilter().fit(frame[["b", "a"]]).get_feature_names_out()) == ["a"]
    assert list(RedundancyFilter(prefer="first").fit(frame).get_feature_names_out()) == ["b"]
    assert list(RedundancyFilter(prefer=[0, 1, 0]).fit(frame).get_feature_names_out()) == ["a"]


def test_keep_and_exclude():
    a, c = np.random.default_rng(0).standard_normal((2, 50))
    frame = pd.DataFrame({"a": a, "twice": 2 * a, "thrice": 3 * a, "c": c})
    found = RedundancyFilter(keep=["a"], exclude=["thrice"]).fit(frame)
    assert list(found.get_feature_names_out()) == ["a", "c"]
    assert found.represented_by_ == {"twice": ("a", 1.0)}
    both = RedundancyFilter(keep=["a", "twice"]).fit(frame)
    assert list(both.get_feature_names_out()) == ["a", "twice", "c"]


def test_constant_columns_correlate_with_nothing():
    X = np.column_stack([np.ones(20), np.arange(20.0), 3 + 2 * np.arange(20.0)])
    assert RedundancyFilter().fit(X).support_.tolist() == [True, False, True]


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_sparse_float32_and_missing_values_agree_with_dense(method):
    rng = np.random.default_rng(3)
    X = rng.poisson(0.6, (80, 6)).astype(float) * rng.choice([-1.0, 1.0], (80, 6))
    X = np.hstack([X, 2 * X[:, :3]])
    X[:, 6] += 0.1 * rng.standard_normal(80) * (X[:, 6] != 0)
    dense = RedundancyFilter(method=method).fit(X)
    assert 3 <= dense.support_.sum() < 9
    for other in (sparse.csr_array(X), X.astype(np.float32)):
        np.testing.assert_array_equal(RedundancyFilter(method=method).fit(other).support_, dense.support_)
    holes = X.copy()
    holes[0, 0] = np.nan
    np.testing.assert_array_equal(RedundancyFilter(method=method).fit(holes).support_, dense.support_)


def test_dask_selects_the_same_and_ranks_need_memory():
    dask = pytest.importorskip("dask.array")
    X = copies_of(5, n_rows=100)
    lazy = dask.from_array(X, chunks=(25, 9))
    np.testing.assert_array_equal(RedundancyFilter().fit(lazy).support_, RedundancyFilter().fit(X).support_)
    for wrong in (RedundancyFilter(method="spearman"), RedundancyFilter(1.0)):
        with pytest.raises(TypeError, match="in memory"):
            wrong.fit(lazy)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_only_exact_repeats_are_dropped_at_a_limit_of_one(container):
    X = np.random.default_rng(0).poisson(0.7, (30, 5)).astype(float)
    repeats = np.hstack([X, 2 * X, X[:, :2], np.nextafter(X, 9)])
    found = RedundancyFilter(1.0).fit(container(repeats))
    assert np.flatnonzero(~found.support_).tolist() == [10, 11]
    assert found.representatives_[10:12].tolist() == [0, 1]


def test_monotone_copies_are_found_by_ranks_alone():
    a = np.random.default_rng(0).standard_normal(200)
    X = np.column_stack([a, np.exp(4 * a)])
    assert RedundancyFilter().fit(X).support_.all()
    assert RedundancyFilter(method="spearman").fit(X).support_.sum() == 1


@pytest.mark.parametrize("wrong", [{"max_correlation": 1.1}, {"method": "kendall"}, {"prefer": "last"}])
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RedundancyFilter(**wrong).fit(np.eye(5))
