"""The simplex, plain and capped: optimality conditions, and nothing nearer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufselect._solver.sets import project_capped_simplex, project_simplex

POINTS = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(-100, 100, width=32)
)


@given(points=POINTS)
def test_projection_onto_the_simplex_meets_the_optimality_conditions(points):
    found = project_simplex(points)
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for row, point in zip(found, points, strict=True):
        shifts = point - row  # one common shift where positive, no larger elsewhere
        used = row > 0
        assert np.ptp(shifts[used]) < 1e-9
        assert np.all(shifts[~used] <= shifts[used].max() + 1e-9)


@given(points=POINTS, seed=st.integers(0, 1000))
def test_no_other_point_of_the_simplex_is_nearer(points, seed):
    found = project_simplex(points)
    other = np.random.default_rng(seed).dirichlet(np.ones(points.shape[1]), points.shape[0])
    distance = np.linalg.norm(points - found, axis=1)
    assert np.all(distance <= np.linalg.norm(points - other, axis=1) + 1e-9)


def test_points_of_the_simplex_stay_and_huge_values_are_no_trouble():
    np.testing.assert_allclose(project_simplex(np.array([[0.2, 0.3, 0.5]])), [[0.2, 0.3, 0.5]])
    np.testing.assert_array_equal(project_simplex(np.array([[1e300, -1e300, 0.0]])), [[1, 0, 0]])


@given(
    point=st.lists(st.floats(-5, 5), min_size=2, max_size=12),
    scale=st.sampled_from([1.0, 1e3, 1e6]),
    share=st.floats(0.05, 1.0),
    seed=st.integers(0, 10**6),
)
def test_projection_onto_the_capped_simplex_is_nearest(point, scale, share, seed):
    point = scale * np.array(point)
    total = share * point.size
    nearest = project_capped_simplex(point, total)
    assert nearest.sum() == pytest.approx(total, rel=1e-8)
    assert np.all((nearest >= 0) & (nearest <= 1))
    other = project_capped_simplex(np.random.default_rng(seed).standard_normal(point.size), total)
    assert np.linalg.norm(point - nearest) <= np.linalg.norm(point - other) + 1e-6 * scale


def test_projection_onto_the_capped_simplex_crosses_flat_pieces():
    np.testing.assert_allclose(project_capped_simplex(np.array([0.0, 0.0, 1e3]), 2.0), [0.5, 0.5, 1])
