"""The smoothest vectors of a graph against a dense eigendecomposition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence

from ufselect.gram import spectrum
from ufselect.graphs import graph_laplacian, heat_affinity, nearest_neighbors, smoothest_vectors


def assert_lowest(graph, vectors):
    """Check orthonormality and that the vectors span eigenspaces of the lowest eigenvalues."""
    dense = graph_laplacian(graph).toarray()
    values = np.linalg.eigvalsh(dense)[: vectors.shape[1]]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-10)
    np.testing.assert_allclose(np.diag(vectors.T @ dense @ vectors), values, atol=1e-9)


@pytest.mark.parametrize("n", [30, 400])
def test_a_connected_graph(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    graph = heat_affinity(*nearest_neighbors(X, 8))
    vectors, n_components = smoothest_vectors(graph, 6)
    assert n_components == 1
    assert_lowest(graph, vectors)
    np.testing.assert_allclose(vectors[:, 0], 1 / np.sqrt(n))


def test_components_that_share_their_eigenvalues():
    X = np.random.default_rng(1).standard_normal((300, 2))
    block = heat_affinity(*nearest_neighbors(X, 8))
    graph = sparse.block_diag([block, block, block], format="csr")
    graph = sparse.csr_array(graph)
    vectors, n_components = smoothest_vectors(graph, 8)
    assert n_components == 3
    assert_lowest(graph, vectors)


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_isolated_samples_and_more_components_than_vectors(count):
    graph = sparse.csr_array(np.diag([1.0, 0, 0, 0], 1) + np.diag([1.0, 0, 0, 0], -1))
    vectors, n_components = smoothest_vectors(graph, count)
    assert n_components == 4
    assert vectors.shape == (5, count)
    assert_lowest(graph, vectors)


def test_lanczos_without_convergence_falls_back_on_the_dense_solver(monkeypatch):
    def fail(*args, **kwargs):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty(0))

    monkeypatch.setattr(spectrum, "lanczos_pairs", fail)
    graph = heat_affinity(*nearest_neighbors(np.random.default_rng(2).standard_normal((300, 2)), 8))
    assert_lowest(graph, smoothest_vectors(graph, 4)[0])
