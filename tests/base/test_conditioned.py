"""Kept columns and groups inside the criteria: against brute force, other libraries and real data."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect import DSCOFS, FSPCA, ConstrainedDSCOFS, GreedyProjection, MaxVariance
from ufselect.gram import gram_operator

UNITS = np.array([0, 1, 0, 2, 3, 3, 3, 4, 5, 5])


def captured_variance(gram, columns, m):
    return np.linalg.eigvalsh(gram.subgram(columns))[-m:].sum()


def make_data(seed, n=60, d=10):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((n, d))


def best_units(gram, units, count, fixed, n_components):
    """Return the largest variance along m axes over all choices of units, by brute force."""
    return max(
        captured_variance(gram, np.flatnonzero(np.isin(units, chosen)), n_components)
        for chosen in combinations(range(units.max() + 1), count)
        if set(fixed) <= set(chosen)
    )


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), fixed=st.sampled_from([[], [1], [9, 4]]))
def test_constrained_selection_with_kept_columns_is_the_best_of_all(seed, fixed):
    X = make_data(seed)
    fitted = ConstrainedDSCOFS(4, n_components=2, keep=fixed).fit(X)
    gram = gram_operator(X)
    best = best_units(gram, np.arange(10), 4, fixed, 2)
    selected = np.flatnonzero(fitted.support_)
    assert set(fixed) <= set(selected)
    assert captured_variance(gram, selected, 2) == pytest.approx(best, rel=1e-9)
    assert fitted.is_proven_optimal_


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), keep=st.sampled_from([[], [1], [0]]))
def test_feature_sparse_pca_of_rank_m_finds_the_best_groups(seed, keep):
    """For a matrix of rank m the first choice is optimal; with noise the objective never rises."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 10))
    members = np.flatnonzero(keep[0] == UNITS) if keep else None
    options = {"n_components": 2, "feature_groups": UNITS, "keep": members}
    fitted = FSPCA(3, refine=False, **options).fit(X)
    best = best_units(gram_operator(X), UNITS, 3, keep, 2)
    assert captured_variance(gram_operator(X), np.flatnonzero(fitted.support_), 2) == pytest.approx(
        best, rel=1e-9
    )
    assert np.all(np.diff(FSPCA(3, **options).fit(make_data(seed)).objective_history_) <= 0)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 5),
    fixed=st.sampled_from([[], [3], [4]]),
    mu=st.sampled_from([0.01, 0.3, 3.0]),
)
def test_block_sparse_objective_never_rises_and_its_groups_are_kept(seed, count, fixed, mu):
    kept = fixed[:count]
    columns = np.flatnonzero(np.isin(UNITS, kept))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = DSCOFS(
            count,
            n_components=2,
            entry_sparsity=20,
            mu_row=mu,
            mu_entry=0.0,
            tol=1e-8,
            max_iter=60,
            feature_groups=UNITS,
            keep=columns,
        ).fit(make_data(seed))
    history = fitted.objective_history_
    assert np.all(np.diff(history) <= 1e-12 * np.abs(history).max())
    nonzero = np.unique(UNITS[fitted.row_sparse_components_.any(axis=0)])
    assert nonzero.size <= count
    assert set(kept) <= set(UNITS[fitted.support_])


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), kept=st.sampled_from([[], [1], [3, 4]]))
def test_constrained_selection_of_groups_is_the_best_of_all_and_says_so(seed, kept):
    """Block-row sparsity itself: exchanges and branch and bound reach the brute-force optimum."""
    X = make_data(seed)
    gram = gram_operator(X)
    keep = [int(np.flatnonzero(unit == UNITS)[0]) for unit in kept]
    fitted = ConstrainedDSCOFS(3, n_components=2, feature_groups=UNITS, keep=keep).fit(X)
    selected = np.flatnonzero(fitted.support_)
    assert set(kept) <= set(UNITS[selected])
    best = best_units(gram, UNITS, 3, kept, 2)
    assert captured_variance(gram, selected, 2) == pytest.approx(best, rel=1e-9)
    assert fitted.is_proven_optimal_


def test_groups_of_many_features_come_with_a_bound():
    """Beyond fifty features there is no search for a proof; the gap is what the bounds allow."""
    X = make_data(0, 100, 60)
    groups = np.arange(60) // 3
    fitted = ConstrainedDSCOFS(4, n_components=2, feature_groups=groups).fit(X)
    assert 0 < fitted.optimality_gap_ < 1
    assert "within" in fitted.optimality_message_
    reached = captured_variance(gram_operator(X), np.flatnonzero(fitted.support_), 2)
    rival = FSPCA(4, n_components=2, feature_groups=groups).fit(X)
    assert reached >= captured_variance(gram_operator(X), np.flatnonzero(rival.support_), 2) * (1 - 1e-9)


def test_dscofs_ranks_groups_by_the_norm_of_their_rows():
    X = make_data(1)
    fitted = DSCOFS(3, n_components=2, entry_sparsity=None, feature_groups=UNITS).fit(X)
    norms = np.linalg.norm(fitted.components_, axis=0)
    expected = np.sqrt(np.bincount(UNITS, weights=norms**2))
    np.testing.assert_allclose(fitted.scores_, expected[UNITS])


def test_kept_columns_pull_the_loadings_of_dscofs():
    """The rows of kept columns are never penalised, so their loadings are larger than without."""
    X = make_data(2)
    plain = DSCOFS(3, n_components=2, entry_sparsity=None, mu_row=1.0).fit(X)
    worst = np.argsort(plain.ranking_)[-2:]
    kept = DSCOFS(3, n_components=2, entry_sparsity=None, mu_row=1.0, keep=worst).fit(X)
    assert np.all(kept.scores_[worst] > 2 * plain.scores_[worst])


@pytest.mark.parametrize("seed", range(5))
def test_same_columns_as_fastcan_with_included_and_excluded_ones(seed):
    """The criterion of target="scores" is fastcan's with principal-component scores as the target."""
    fastcan = pytest.importorskip("fastcan")
    X = make_data(seed, 80, 20)
    include, exclude = [11, 4], [0, 7]
    left = np.setdiff1d(np.arange(20), exclude)
    scores = np.linalg.svd((X - X.mean(axis=0))[:, left], full_matrices=False)[0][:, :3]
    rival = fastcan.FastCan(8, indices_include=include, indices_exclude=exclude, tol=1e-7, verbose=0)
    expected = rival.fit(X, scores).indices_
    fitted = GreedyProjection(8, n_components=3, keep=include, exclude=exclude).fit(X)
    assert set(np.flatnonzero(fitted.support_)) == set(expected)
    order = np.argsort(fitted.ranking_)[2:8]
    assert order.tolist() == [column for column in expected if column not in include]


def reconstructed(X, columns):
    """Share of the variance of all columns that a linear map of some explains."""
    A = X - X.mean(axis=0)
    Q = np.linalg.qr(A[:, columns])[0]
    return float(np.square(Q.T @ A).sum() / np.square(A).sum())


def test_extending_a_panel_reconstructs_more_than_appending_the_best(real):
    X = real("isolet")[0][:600]
    X = X[:, X.std(axis=0) > 0][:, :300]
    panel = np.flatnonzero(MaxVariance(50).fit(X).support_)
    alone = np.argsort(GreedyProjection(100, target="features").fit(X).ranking_)
    appended = np.append(panel, alone[~np.isin(alone, panel)][:50])
    extended = np.flatnonzero(GreedyProjection(100, target="features", keep=panel).fit(X).support_)
    assert set(panel) <= set(extended)
    assert reconstructed(X, extended) > reconstructed(X, appended)
