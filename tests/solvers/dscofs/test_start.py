"""Starting points against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.gram import gram_operator
from ufselect.sets import stiefel
from ufselect.solvers.dscofs.start import best_random_start, given_start, pca_start


@pytest.fixture
def gram():
    rng = np.random.default_rng(0)
    return gram_operator(rng.standard_normal((30, 8)) * np.geomspace(4, 1, 8))


def captured(gram, point):
    return np.trace(point.T @ gram.matmat(point))


def test_the_random_start_is_the_best_of_its_draws(gram):
    start = best_random_start(gram, 3, 5, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    draws = [stiefel.random_point(8, 3, rng) for _ in range(5)]
    best = max(draws, key=lambda point: captured(gram, point))
    assert np.array_equal(start.point, best)
    np.testing.assert_allclose(start.product, gram.matmat(best))
    assert not start.is_informed


def test_no_draw_gives_no_start(gram):
    with pytest.raises(ValueError, match="n_init=0 must be at least 1"):
        best_random_start(gram, 2, 0, np.random.default_rng(0))


def test_the_start_by_pca_knows_its_product(gram):
    start = pca_start(gram.eigenpairs(3))
    assert start.is_informed
    assert stiefel.contains(start.point, 1e-12)
    np.testing.assert_allclose(start.product, gram.matmat(start.point), atol=1e-10)


def test_part_of_a_start_is_the_nearest_orthonormal_matrix(gram):
    start = best_random_start(gram, 2, 1, np.random.default_rng(2))
    rows = np.array([0, 2, 3, 5])
    u, _, vt = np.linalg.svd(start.point[rows], full_matrices=False)
    np.testing.assert_allclose(start.on(rows).point, u @ vt, atol=1e-12)


def test_a_given_start_is_checked_and_made_exact():
    point = np.linalg.qr(np.random.default_rng(3).standard_normal((6, 2)))[0]
    start = given_start(point.round(4), 6, 2, np.dtype(np.float64))
    assert stiefel.contains(start.point, 1e-12)
    np.testing.assert_allclose(start.point, point, atol=1e-3)
    assert start.product is None
    assert not start.is_informed
    with pytest.raises(ValueError, match=r"shape \(6, 2\); it must be .* = \(6, 3\)"):
        given_start(point, 6, 3, np.dtype(np.float64))
    for bad in (2 * point, np.full((6, 2), np.nan)):
        with pytest.raises(ValueError, match="not orthonormal"):
            given_start(bad, 6, 2, np.dtype(np.float64))
