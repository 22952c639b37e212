"""Kept columns and groups inside the criteria: against brute force, other libraries and real data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dscofs.examples import captured_variance

from ufselect import DSCOFS, FSPCA, ConstrainedDSCOFS, GreedyProjection, MaxVariance
from ufselect._columns import UnitRequest, Units
from ufselect._solver.feature_sparse import FeatureSparsePCA
from ufselect._solver.iterate import iterate
from ufselect.dscofs.pam import ProximalAlternatingMinimisation
from ufselect.dscofs.problem import DoubleSparsePCA
from ufselect.dscofs.start import pca_start
from ufselect.dscofs.x_steps import make_x_step
from ufselect.gram import gram_operator

UNITS = Units(np.array([0, 1, 0, 2, 3, 3, 3, 4, 5, 5]))


def make_data(seed, n=60, d=10):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((n, d))


def best_units(gram, units, count, fixed, n_components):
    """Return the largest variance along m axes over all choices of units, by brute force."""
    return max(
        captured_variance(gram, np.flatnonzero(np.isin(units.codes, chosen)), n_components)
        for chosen in combinations(range(units.count), count)
        if set(fixed) <= set(chosen)
    )


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), fixed=st.sampled_from([[], [1], [9, 4]]))
def test_constrained_selection_with_kept_columns_is_the_best_of_all(seed, fixed):
    X = make_data(seed)
    fitted = ConstrainedDSCOFS(4, n_components=2, keep=fixed).fit(X)
    gram = gram_operator(X)
    best = best_units(gram, Units.single(10), 4, fixed, 2)
    selected = np.flatnonzero(fitted.support_)
    assert set(fixed) <= set(selected)
    assert captured_variance(gram, selected, 2) == pytest.approx(best, rel=1e-9)
    assert fitted.is_proven_optimal_


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), keep=st.sampled_from([[], [1], [0]]))
def test_feature_sparse_pca_of_rank_m_finds_the_best_groups(seed, keep):
    """For a matrix of rank m the first choice is optimal; with noise the objective never rises."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 10))
    gram = gram_operator(X)
    rules = UnitRequest(UNITS.count, UNITS, np.array(keep, dtype=np.intp))
    spectrum = gram.eigenpairs(2)
    state = FeatureSparsePCA(gram, 2, 3, np.square(spectrum.vectors) @ spectrum.values, rules).init()
    best = best_units(gram, UNITS, 3, keep, 2)
    assert -state.objective == pytest.approx(best, rel=1e-9)
    noisy = FSPCA(
        3, n_components=2, feature_groups=UNITS.codes, keep=UNITS.members(keep[0]) if keep else None
    )
    assert np.all(np.diff(noisy.fit(make_data(seed)).objective_history_) <= 0)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 5),
    fixed=st.sampled_from([[], [3], [4]]),
    mu=st.sampled_from([0.01, 0.3, 3.0]),
)
def test_block_sparse_objective_never_rises_and_its_groups_are_kept(seed, count, fixed, mu):
    gram = gram_operator(make_data(seed))
    spectrum = gram.eigenpairs(2)
    unit = float(spectrum.values[0])
    rules = UnitRequest(UNITS.count, UNITS, np.array(fixed[:count], dtype=np.intp))
    problem = DoubleSparsePCA(gram, count, 20, mu * unit, 0.0, 1e-3 * unit, 1e-3, unit, rules=rules)
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), make_x_step("power", problem))
    result = iterate(method, max_iter=60, tol=1e-8)
    assert np.all(np.diff(result.objective_history) <= 1e-12 * unit)
    nonzero = result.state.Z.any(axis=1)
    kept = np.flatnonzero(result.state.rows.mask)
    assert kept.size == count
    assert set(rules.kept) <= set(kept)
    assert not nonzero[~np.isin(UNITS.codes, kept)].any()


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), kept=st.sampled_from([[], [1], [3, 4]]))
def test_constrained_selection_of_groups_is_the_best_of_all_and_says_so(seed, kept):
    """Block-row sparsity itself: exchanges and branch and bound reach the brute-force optimum."""
    X = make_data(seed)
    gram = gram_operator(X)
    keep = [int(UNITS.members(unit)[0]) for unit in kept]
    fitted = ConstrainedDSCOFS(3, n_components=2, feature_groups=UNITS.codes, keep=keep).fit(X)
    selected = np.flatnonzero(fitted.support_)
    assert set(kept) <= set(UNITS.codes[selected])
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
    fitted = DSCOFS(3, n_components=2, entry_sparsity=None, feature_groups=UNITS.codes).fit(X)
    norms = np.linalg.norm(fitted.components_, axis=0)
    expected = np.sqrt(np.bincount(UNITS.codes, weights=norms**2))
    np.testing.assert_allclose(fitted.scores_, expected[UNITS.codes])


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
