"""The constrained mode: exact feasibility, and nothing simple that beats it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect.gram import FormedGram, gram_operator
from ufselect.selectors.dscofs import DSCOFS
from ufselect.solvers.row_sparse.certificates import captured_variance, leading_sum
from ufselect.solvers.row_sparse.loadings import disjoint_columns, sparse_loadings, sparse_rotation
from ufselect.solvers.row_sparse.pattern import ascend, largest_pattern, restore
from ufselect.solvers.row_sparse.search import improve_by_proxy, improve_by_swaps, loadings_on, proxy_diagonal


def random_scatter(seed, order=12, rank=15):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((rank, order)) * np.geomspace(1, 5, order)
    return factor.T @ factor


def fit(data, count, **settings):
    return DSCOFS(count, mode="constrained", **settings).fit(data)


@settings(max_examples=30)
@given(structured_data(), st.integers(1, 3), st.integers(0, 20), st.integers(0, 10))
def test_the_result_is_exactly_feasible(data, n_components, extra_entries, extra_rows):
    d = data.shape[1]
    m = min(n_components, d - 1, np.linalg.matrix_rank(data - data.mean(axis=0)))
    r = min(m + extra_rows, d)
    s = min(m + extra_entries, r * m - 1) if r * m > m else None
    selector = fit(data, r, n_components=m, entry_sparsity=s)
    X = selector.components_.T
    np.testing.assert_allclose(X.T @ X, np.eye(m), atol=1e-10)
    assert np.count_nonzero(X.any(axis=1)) <= r
    if s is not None:
        assert np.count_nonzero(X) <= s
    assert set(np.flatnonzero(X.any(axis=1))) <= set(np.flatnonzero(selector.support_))
    assert selector.constraint_residuals_ == {"row": 0.0, "entry": 0.0}
    centred = data - data.mean(axis=0)
    assert -np.trace(X.T @ centred.T @ centred @ X) == pytest.approx(
        selector.objective_history_[-1], rel=1e-8
    )
    assert np.all(np.diff(selector.objective_history_) <= 0)


@pytest.mark.parametrize("seed", range(6))
def test_without_entry_constraint_it_finds_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 9)) + 0.4 * rng.standard_normal((40, 9))
    S = gram_operator(data).to_dense()
    best = max(leading_sum(S[np.ix_(c, c)], 2) for c in combinations(range(9), 4))
    selector = fit(data, 4, n_components=2, entry_sparsity=None)
    reached = captured_variance(gram_operator(data), np.flatnonzero(selector.support_), 2)
    assert reached >= 0.999 * best


@pytest.mark.parametrize("seed", range(4))
def test_no_single_exchange_helps_after_the_swaps(seed):
    S = random_scatter(seed)
    support, captured = improve_by_swaps(FormedGram(S, 16), np.arange(4), 2)
    assert captured == pytest.approx(leading_sum(S[np.ix_(support, support)], 2))
    others = sorted(set(range(12)) - set(support))
    exchanged = [
        leading_sum(S[np.ix_(c, c)], 2)
        for i in range(4)
        for j in others
        for c in [[*np.delete(support, i), j]]
    ]
    assert max(exchanged) <= captured * (1 + 1e-8)


def test_swaps_handle_one_row_and_all_rows():
    S = random_scatter(0)
    support, captured = improve_by_swaps(FormedGram(S, 16), np.array([0]), 1)
    assert support == [np.diag(S).argmax()]
    assert captured == pytest.approx(np.diag(S).max())
    everything, total = improve_by_swaps(FormedGram(S, 16), np.arange(12), 3)
    np.testing.assert_array_equal(everything, np.arange(12))
    assert total == pytest.approx(np.linalg.eigvalsh(S)[-3:].sum())


def test_proxy_is_the_formula_and_never_worsens_a_support():
    S = random_scatter(3)
    gram = FormedGram(S, 16)
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 3)))[0]
    literal = S @ X @ np.linalg.pinv(X.T @ S @ X) @ X.T @ S
    np.testing.assert_allclose(proxy_diagonal(X, S @ X), np.diag(literal), rtol=1e-9)
    for start in combinations(range(12), 4):
        before = leading_sum(S[np.ix_(start, start)], 2)
        support, after = improve_by_proxy(gram, np.array(start), 2)
        assert after >= before * (1 - 1e-12)
        assert support.size == 4


def test_loadings_are_the_leading_eigenvectors_on_the_support():
    S = random_scatter(4)
    X = loadings_on(FormedGram(S, 16), np.array([1, 5, 7, 9]), 2)
    assert np.count_nonzero(X.any(axis=1)) == 4
    np.testing.assert_allclose(X.T @ X, np.eye(2), atol=1e-12)
    expected = leading_sum(S[np.ix_([1, 5, 7, 9], [1, 5, 7, 9])], 2)
    assert np.trace(X.T @ S @ X) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
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


@pytest.mark.parametrize("n_entries", [3, 5, 20])
def test_disjoint_columns_are_feasible(n_entries):
    S = random_scatter(2, order=8)
    X = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 3)))[0]
    found = disjoint_columns(S, X, n_entries)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    assert np.count_nonzero(found) <= n_entries


def test_fewer_features_than_components_are_refused():
    data = np.random.default_rng(0).standard_normal((30, 10))
    with pytest.raises(ValueError, match="cannot hold 4 orthonormal components"):
        fit(data, 3, n_components=4, entry_sparsity=None)


@pytest.mark.parametrize("name", ["lung_discrete", "glioma"])
def test_nothing_simple_beats_it_on_real_data(real, name):
    data, labels = real(name)
    m = np.unique(labels).size
    gram = gram_operator(data)
    selector = fit(data, 30, n_components=m, entry_sparsity=None)
    reached = captured_variance(gram, np.flatnonzero(selector.support_), m)
    rng = np.random.default_rng(0)
    rivals = [captured_variance(gram, rng.choice(data.shape[1], 30, replace=False), m) for _ in range(200)]
    spectrum = gram.eigenpairs(m)
    go = np.argsort(-(spectrum.vectors**2 @ spectrum.values))[:30]
    variance = np.argsort(-gram.diag())[:30]
    rivals += [improve_by_proxy(gram, start, m)[1] for start in (go, variance)]
    rivals.append(improve_by_swaps(gram, variance, m)[1])
    assert reached >= 0.999 * max(rivals)


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


@pytest.mark.parametrize("seed", range(5))
def test_sparse_loadings_near_the_best_of_all_patterns(seed):
    """With m = 1 the best pattern of s entries is the best support of s rows: searched in full."""
    S = random_scatter(seed, order=9)
    loadings = np.linalg.eigh(S)[1][:, -1:]
    X, values = sparse_loadings(S, loadings, 4)
    best = max(np.linalg.eigvalsh(S[np.ix_(c, c)])[-1] for c in combinations(range(9), 4))
    assert np.count_nonzero(X) <= 4
    assert values[-1] == pytest.approx(np.vdot(X, S @ X))
    assert 0.95 * best <= values[-1] <= best * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
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


@pytest.mark.parametrize("name", ["usps", "warppie10p"])
def test_half_of_the_entries_lose_little_variance_on_real_data(real, name):
    data, labels = real(name)
    m = np.unique(labels).size
    gram = gram_operator(data)
    free = fit(data, 30, n_components=m, entry_sparsity=None)
    best = captured_variance(gram, np.flatnonzero(free.support_), m)
    bound = fit(data, 30, n_components=m, entry_sparsity=15 * m)
    X = np.asfortranarray(bound.components_.T)
    assert np.count_nonzero(X) <= 15 * m
    assert np.vdot(X, gram.matmat(X)) >= 0.99 * best
