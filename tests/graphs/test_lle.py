"""Reconstruction weights against scikit-learn and the constrained minimum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold._locally_linear import barycenter_weights

from ufselect.graphs import lle, lle_weights, nearest_neighbors


@pytest.mark.parametrize("shape", [(40, 12), (40, 3)])
@pytest.mark.parametrize("ridge", [1e-3, 1e-1])
def test_equals_scikit_learns_barycentre_weights(shape, ridge):
    X = np.random.default_rng(0).standard_normal(shape)
    neighbors, _ = nearest_neighbors(X, 5)
    found = lle_weights(X, neighbors, ridge).toarray()
    expected = barycenter_weights(X, X, neighbors, reg=ridge)
    np.testing.assert_allclose(np.take_along_axis(found, neighbors, axis=1), expected, rtol=1e-8)
    assert np.count_nonzero(found) == neighbors.size


def test_without_a_ridge_no_other_weights_of_sum_one_fit_better():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 8))
    neighbors, _ = nearest_neighbors(X, 4)
    weights = np.take_along_axis(lle_weights(X, neighbors).toarray(), neighbors, axis=1)
    for i in range(20):
        best = np.linalg.norm(X[i] - weights[i] @ X[neighbors[i]])
        for _ in range(20):
            other = weights[i] + 0.01 * rng.standard_normal(4)
            assert np.linalg.norm(X[i] - other / other.sum() @ X[neighbors[i]]) >= best


def test_more_neighbours_than_features_get_the_usual_ridge():
    X = np.random.default_rng(2).standard_normal((30, 2))
    neighbors, _ = nearest_neighbors(X, 5)
    np.testing.assert_allclose(lle_weights(X, neighbors).toarray(), lle_weights(X, neighbors, 1e-3).toarray())


def test_rows_sum_to_one():
    X = np.random.default_rng(3).standard_normal((50, 10))
    weights = lle_weights(X, nearest_neighbors(X, 6)[0])
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)


def test_duplicates_give_finite_weights_and_exact_reconstruction():
    base = np.random.default_rng(4).standard_normal((6, 10))
    X = np.vstack([base, base, base])
    weights = lle_weights(X, nearest_neighbors(X, 4)[0])
    assert np.all(np.isfinite(weights.data))
    np.testing.assert_allclose(weights @ X, X, atol=1e-6)


def test_samples_that_all_coincide_get_equal_weights():
    weights = lle_weights(np.ones((6, 3)), nearest_neighbors(np.ones((6, 3)), 3)[0])
    np.testing.assert_allclose(weights.data, 1 / 3)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_weights_do_not_depend_on_the_unit(factor):
    X = np.random.default_rng(5).standard_normal((20, 7))
    neighbors, _ = nearest_neighbors(X, 4)
    expected = lle_weights(X, neighbors).toarray()
    np.testing.assert_allclose(lle_weights(factor * X, neighbors).toarray(), expected, rtol=1e-9)


def test_blocks_do_not_change_the_result(monkeypatch):
    X = np.random.default_rng(6).standard_normal((30, 7))
    neighbors, _ = nearest_neighbors(X, 4)
    expected = lle_weights(X, neighbors).toarray()
    monkeypatch.setattr(lle, "BLOCK_BYTES", 1000)
    np.testing.assert_allclose(lle_weights(X, neighbors).toarray(), expected, rtol=1e-12)
