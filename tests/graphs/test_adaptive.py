"""Learned neighbour weights against their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.graphs import adaptive_weights, mean_graph
from ufselect.sets import simplex


def test_adaptive_weights_solve_the_regularised_problem():
    squared = np.sort(np.random.default_rng(0).random((20, 6)), axis=1)
    weights, regularisers = adaptive_weights(squared)
    expected = simplex.project(-squared / (2 * regularisers[:, None]))
    np.testing.assert_allclose(weights, expected[:, :5], atol=1e-12)
    np.testing.assert_allclose(expected[:, 5], 0, atol=1e-12)
    # The regulariser is the largest that keeps the neighbour beyond the k nearest out.
    beyond = simplex.project(-squared / (2.01 * regularisers[:, None]))
    assert np.all(beyond[:, 5] > 0)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_distances_give_equal_weights(value):
    weights, regularisers = adaptive_weights(np.full((3, 5), value))
    np.testing.assert_array_equal(weights, 0.25)
    np.testing.assert_array_equal(regularisers, 0)


def test_mean_graph_is_the_dense_mean_without_small_weights():
    rng = np.random.default_rng(1)
    indices = np.array([rng.permutation(np.delete(np.arange(12), i))[:3] for i in range(12)])
    weights = rng.random((12, 3))
    weights[0, 0] = 0
    weights[5, 1] = 1e-13
    dense = np.zeros((12, 12))
    np.put_along_axis(dense, indices, weights, axis=1)
    expected = (dense + dense.T) / 2
    expected[expected <= 1e-11] = 0
    found = mean_graph(indices, weights, 1e-11)
    np.testing.assert_allclose(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
