"""Heat-kernel affinities against the dense formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ufselect.graphs import heat_affinity, nearest_neighbors


def dense_affinity(X, k, t):
    """Transcribe the definition: the larger weight of the two directions."""
    n = X.shape[0]
    squared = cdist(X, X) ** 2
    weights = np.zeros((n, n))
    for i in range(n):
        nearest = [j for j in np.argsort(squared[i], kind="stable") if j != i][:k]
        weights[i, nearest] = np.exp(-squared[i, nearest] / (2 * t**2))
    return np.maximum(weights, weights.T)


@pytest.mark.parametrize("t", [0.5, 1.0, 10.0])
def test_equals_the_definition_up_to_its_largest_weight(t):
    X = np.random.default_rng(0).standard_normal((40, 4))
    expected = dense_affinity(X, 5, t)
    found = heat_affinity(*nearest_neighbors(X, 5), t)
    np.testing.assert_allclose(found.toarray(), expected / expected.max(), rtol=1e-10, atol=1e-300)


def test_default_bandwidth_is_the_mean_distance():
    X = np.random.default_rng(1).standard_normal((30, 3))
    indices, distances = nearest_neighbors(X, 4)
    found = heat_affinity(indices, distances)
    np.testing.assert_allclose(found.toarray(), heat_affinity(indices, distances, distances.mean()).toarray())


@pytest.mark.parametrize("t", [1e-310, 1e-30, 1e-3])
def test_a_tiny_bandwidth_leaves_the_nearest_pair(t):
    X = 100 * np.random.default_rng(2).standard_normal((20, 3))
    indices, distances = nearest_neighbors(X, 3)
    graph = heat_affinity(indices, distances, t)
    assert graph.max() == 1.0
    i = int(np.argmin(distances[:, 0]))
    assert graph[i, indices[i, 0]] == 1.0
    assert np.all(np.isfinite(graph.data))


def test_samples_that_all_coincide_are_joined_with_equal_weights():
    graph = heat_affinity(*nearest_neighbors(np.ones((6, 2)), 2))
    np.testing.assert_array_equal(graph.data, 1.0)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_the_automatic_graph_does_not_depend_on_the_unit(factor):
    X = np.random.default_rng(3).standard_normal((25, 3))
    expected = heat_affinity(*nearest_neighbors(X, 4)).toarray()
    np.testing.assert_allclose(
        heat_affinity(*nearest_neighbors(factor * X, 4)).toarray(), expected, rtol=1e-9
    )


def test_the_graph_is_sparse_and_symmetric():
    graph = heat_affinity(*nearest_neighbors(np.random.default_rng(4).standard_normal((200, 5)), 3))
    assert graph.nnz <= 2 * 3 * 200
    assert abs(graph - graph.T).max() == 0
    np.testing.assert_array_equal(graph.diagonal(), 0)


def test_distances_near_the_limit_of_double_do_not_overflow():
    indices, distances = np.array([[1], [0], [1]]), np.array([[1.5e308], [1.5e308], [1.7e308]])
    with np.errstate(over="raise"):
        graph = heat_affinity(indices, distances)
    np.testing.assert_allclose(graph.toarray(), heat_affinity(indices, distances / 1e308).toarray())
