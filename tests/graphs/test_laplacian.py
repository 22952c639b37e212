"""Laplacians and quotients against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from ufselect.graphs import graph_laplacian, incidence, laplacian_quotients


def random_graph(rng, n, density=0.3):
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return sparse.csr_array(upper + upper.T)


def dense_quotients(X, W):
    """Transcribe He, Cai and Niyogi's definition with dense matrices."""
    D = np.diag(W.sum(axis=1))
    L = D - W
    ones = np.ones(X.shape[0])
    scores = []
    for f in X.T:
        centred = f - (f @ D @ ones) / (ones @ D @ ones) * ones
        scores.append((centred @ L @ centred) / (centred @ D @ centred))
    return np.array(scores)


def test_laplacian_equals_scipys():
    graph = random_graph(np.random.default_rng(0), 30)
    np.testing.assert_allclose(
        graph_laplacian(graph).toarray(), csgraph.laplacian(graph.toarray()), atol=1e-14
    )


def test_incidence_is_a_factor_of_the_laplacian():
    graph = random_graph(np.random.default_rng(1), 25)
    B = incidence(graph)
    np.testing.assert_allclose((B.T @ B).toarray(), graph_laplacian(graph).toarray(), atol=1e-14)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quotients_equal_the_dense_definition(kind, dtype):
    rng = np.random.default_rng(2)
    graph = random_graph(rng, 40)
    X = rng.standard_normal((40, 9)).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0
    expected = dense_quotients(X.astype(np.float64), graph.toarray())
    np.testing.assert_allclose(laplacian_quotients(kind(X), graph), expected, rtol=1e-10)


@given(seed=st.integers(0, 10_000), shift=st.floats(-1e3, 1e3), factor=st.floats(0.01, 100))
def test_quotients_lie_between_0_and_2_and_ignore_shift_and_unit(seed, shift, factor):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 12)
    if graph.nnz == 0:
        return
    X = rng.standard_normal((12, 3))
    quotients = laplacian_quotients(X, graph)
    assert np.all((quotients >= 0) & (quotients <= 2 + 1e-12))
    np.testing.assert_allclose(laplacian_quotients(factor * X + shift, graph), quotients, rtol=1e-7)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_feature_that_does_not_vary_on_the_graph_has_no_quotient(kind):
    graph = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=float))
    X = np.array([[1.0, 7.0, 1.0], [2.0, 7.0, 1.0], [3.0, 7.0, 9.0]])
    quotients = laplacian_quotients(kind(X), graph)
    np.testing.assert_array_equal(np.isnan(quotients), [False, True, True])


def test_a_large_mean_costs_few_digits():
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 40)
    X = np.round(rng.standard_normal((40, 5)) * 1024) / 1024
    np.testing.assert_allclose(
        laplacian_quotients(X + 2.0**20, graph), laplacian_quotients(X, graph), rtol=1e-9
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_units_from_tiny_to_huge_do_not_overflow(kind):
    rng = np.random.default_rng(4)
    graph = random_graph(rng, 30)
    X = rng.standard_normal((30, 3))
    expected = laplacian_quotients(X, graph)
    np.testing.assert_allclose(
        laplacian_quotients(kind(X * [1e-300, 1.0, 1e300]), graph), expected, rtol=1e-8
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_constant_near_the_limit_of_double_has_no_quotient(kind):
    graph = random_graph(np.random.default_rng(6), 8)
    X = np.column_stack([np.full(8, 1.7e308), np.arange(8.0)])
    quotients = laplacian_quotients(kind(X), graph)
    assert np.isnan(quotients[0])
    assert quotients[1] == pytest.approx(laplacian_quotients(X[:, 1:], graph)[0])


def test_blocks_do_not_change_the_result():
    rng = np.random.default_rng(5)
    graph = random_graph(rng, 50)
    X = rng.standard_normal((50, 7))
    expected = laplacian_quotients(X, graph)
    np.testing.assert_allclose(laplacian_quotients(X, graph, block_bytes=300), expected, rtol=1e-13)
