"""Sparse loadings: feasible, near the best of all patterns, better than the obvious."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.dscofs.examples import random_scatter

from ufselect.dscofs.constrained import (
    ascend,
    disjoint_columns,
    largest_pattern,
    restore,
    sparse_loadings,
    sparse_rotation,
)


@pytest.mark.parametrize("n_entries", [3, 5, 20])
def test_disjoint_columns_are_feasible(n_entries):
    S = random_scatter(2, order=8)
    X = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 3)))[0]
    found = disjoint_columns(S, X, n_entries)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    assert np.count_nonzero(found) <= n_entries


def test_a_rotation_keeps_the_span_and_finds_hidden_sparsity():
    """Loadings that are a rotation of a sparse matrix give most of it away."""
    rng = np.random.default_rng(0)
    sparse = np.zeros((30, 3))
    for column in range(3):
        sparse[10 * column : 10 * column + 10, column] = rng.standard_normal(10)
    sparse /= np.linalg.norm(sparse, axis=0)
    X = sparse @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned = sparse_rotation(X, 30)
    np.testing.assert_allclose(turned @ turned.T, X @ X.T, atol=1e-12)
    kept = turned * largest_pattern(turned, 30)
    assert np.linalg.norm(kept) ** 2 >= 0.95 * 3


@pytest.mark.parametrize("seed", range(2))
def test_sparse_loadings_near_the_best_of_all_patterns(seed):
    """With m = 1 the best pattern of s entries is the best support of s rows: searched in full."""
    S = random_scatter(seed, order=9)
    loadings = np.linalg.eigh(S)[1][:, -1:]
    X, values = sparse_loadings(S, loadings, 4)
    best = max(np.linalg.eigvalsh(S[np.ix_(c, c)])[-1] for c in combinations(range(9), 4))
    assert np.count_nonzero(X) <= 4
    assert values[-1] == pytest.approx(np.vdot(X, S @ X))
    assert 0.95 * best <= values[-1] <= best * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_sparse_loadings_are_feasible_and_beat_disjoint_columns(seed):
    S = random_scatter(seed)
    loadings = np.linalg.eigh(S)[1][:, -3:]
    total = np.linalg.eigvalsh(S)[-3:].sum()
    reached = []
    for n_entries in (3, 12, 18, 24, 30, 36):
        X, values = sparse_loadings(S, loadings, n_entries)
        np.testing.assert_allclose(X.T @ X, np.eye(3), atol=1e-12)
        assert np.count_nonzero(X) <= n_entries
        assert np.all(np.diff(values) >= 0)
        reached.append(values[-1])
    assert reached[1] >= np.trace(loadings.T @ S @ loadings) * 0.5
    assert reached[-1] == pytest.approx(total, rel=1e-4)
    assert max(reached) <= total * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_restoring_keeps_the_pattern_and_ascent_never_loses(seed):
    rng = np.random.default_rng(seed)
    pattern = rng.random((10, 3)) < 0.6
    near = np.linalg.qr(rng.standard_normal((10, 3)))[0]
    found = restore(near, pattern)
    assert found is not None
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    assert not np.any(found[~pattern])
    S = random_scatter(seed, order=10)
    better = ascend(S, found, pattern)
    np.testing.assert_allclose(better.T @ better, np.eye(3), atol=1e-12)
    assert not np.any(better[~pattern])
    assert np.vdot(better, S @ better) >= np.vdot(found, S @ found)


def test_ascent_over_a_full_pattern_finds_the_principal_axes():
    S = random_scatter(1, order=8)
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 2)))[0]
    X = ascend(S, start, np.ones((8, 2), dtype=bool))
    assert np.vdot(X, S @ X) == pytest.approx(np.linalg.eigvalsh(S)[-2:].sum(), rel=1e-3)


def test_an_impossible_pattern_is_noticed():
    pattern = np.zeros((4, 2), dtype=bool)
    pattern[0] = True  # two columns in one row cannot be orthonormal
    assert restore(np.ones((4, 2)), pattern) is None
