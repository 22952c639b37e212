"""The constrained problem: exact feasibility, and nothing simple that beats it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.row_sparse.examples import improve_by_proxy
from tests.strategies import structured_data

from ufselect import ConstrainedDSCOFS
from ufselect.gram import gram_operator
from ufselect.solvers.leading import captured_variance, leading_sum
from ufselect.solvers.row_sparse.exchange import improve_by_swaps


def fit(data, count, **settings):
    return ConstrainedDSCOFS(count, **settings).fit(data)


@pytest.mark.filterwarnings("ignore:The loadings rest on")  # one component has no use for two rows
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
