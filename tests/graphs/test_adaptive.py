"""Learned neighbour weights against their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufselect.graphs import adaptive_weights, mean_graph, project_to_simplex

POINTS = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(-100, 100, width=32)
)


@given(points=POINTS)
def test_projection_onto_the_simplex_meets_the_optimality_conditions(points):
    found = project_to_simplex(points)
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for row, point in zip(found, points, strict=True):
        shifts = point - row  # one common shift where positive, no larger elsewhere
        used = row > 0
        assert np.ptp(shifts[used]) < 1e-9
        assert np.all(shifts[~used] <= shifts[used].max() + 1e-9)


@given(points=POINTS, seed=st.integers(0, 1000))
def test_no_other_point_of_the_simplex_is_nearer(points, seed):
    found = project_to_simplex(points)
    other = np.random.default_rng(seed).dirichlet(np.ones(points.shape[1]), points.shape[0])
    distance = np.linalg.norm(points - found, axis=1)
    assert np.all(distance <= np.linalg.norm(points - other, axis=1) + 1e-9)


def test_points_of_the_simplex_stay_and_huge_values_are_no_trouble():
    np.testing.assert_allclose(project_to_simplex(np.array([[0.2, 0.3, 0.5]])), [[0.2, 0.3, 0.5]])
    np.testing.assert_array_equal(project_to_simplex(np.array([[1e300, -1e300, 0.0]])), [[1, 0, 0]])


def test_adaptive_weights_solve_the_regularised_problem():
    squared = np.sort(np.random.default_rng(0).random((20, 6)), axis=1)
    weights, regularisers = adaptive_weights(squared)
    expected = project_to_simplex(-squared / (2 * regularisers[:, None]))
    np.testing.assert_allclose(weights, expected[:, :5], atol=1e-12)
    np.testing.assert_allclose(expected[:, 5], 0, atol=1e-12)
    # The regulariser is the largest that keeps the neighbour beyond the k nearest out.
    beyond = project_to_simplex(-squared / (2.01 * regularisers[:, None]))
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
