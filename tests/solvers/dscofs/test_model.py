"""The model of the X-step: derivatives against oracles."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.dscofs.examples import tangent_direction

from ufselect.sets import stiefel


def value(model, X):
    S = model.gram.matrix
    return -np.trace(X.T @ S @ X) - 2 * np.trace(X.T @ model.linear)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_hessian_match_finite_differences(model, seed):
    direction = tangent_direction(model, seed)

    def along(t):  # the polar retraction is of second order, so φ'' along it is the Hessian's form
        return value(model, stiefel.project(model.X + t * direction))

    h = 1e-4
    slope = (along(h) - along(-h)) / (2 * h)
    bend = (along(h) - 2 * along(0) + along(-h)) / h**2
    hessian = model.hessian(direction, model.gram.matmat(direction))
    assert model.objective == pytest.approx(value(model, model.X))
    assert np.vdot(model.gradient, direction) == pytest.approx(slope, rel=1e-6)
    assert np.vdot(direction, hessian) == pytest.approx(bend, rel=1e-4)


def test_gradient_and_hessian_match_pymanopt(model):
    manifolds = pytest.importorskip("pymanopt.manifolds", reason="pymanopt is not installed")
    manifold = manifolds.Stiefel(*model.X.shape)
    S, X = model.gram.matrix, model.X
    euclidean = -2 * (S @ X + model.linear)
    direction = tangent_direction(model, 5)
    np.testing.assert_allclose(
        model.gradient, manifold.euclidean_to_riemannian_gradient(X, euclidean), atol=1e-12
    )
    expected = manifold.euclidean_to_riemannian_hessian(X, euclidean, -2 * S @ direction, direction)
    np.testing.assert_allclose(model.hessian(direction, S @ direction), expected, atol=1e-11)


def test_moving_needs_no_new_product(model):
    direction = tangent_direction(model, 1)
    moved = model.moved(direction, model.gram.matmat(direction))
    np.testing.assert_allclose(moved.X, stiefel.project(model.X + direction), atol=1e-12)
    np.testing.assert_allclose(moved.product, model.gram.matmat(moved.X), atol=1e-11)


def test_rotation_is_the_best_with_the_same_span(model):
    best = model.rotated()
    np.testing.assert_allclose(best.X @ best.X.T, model.X @ model.X.T, atol=1e-12)
    np.testing.assert_allclose(best.product, model.gram.matmat(best.X), atol=1e-11)
    rng = np.random.default_rng(0)
    for _ in range(50):
        rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert value(model, model.X @ rotation) >= best.objective - 1e-10


def test_preconditioner_is_symmetric_positive_and_exact_on_rotations(model):
    model = model.rotated()
    first, second = tangent_direction(model, 1), tangent_direction(model, 2)
    left = np.vdot(model.tangent(model.precondition(first)), second)
    right = np.vdot(first, model.tangent(model.precondition(second)))
    assert left == pytest.approx(right)
    assert np.vdot(first, model.precondition(first)) > 0
    skew = np.array([[0, 1, -2], [-1, 0, 0.5], [2, -0.5, 0]])
    rotation = model.X @ skew
    bent = model.hessian(rotation, model.gram.matmat(rotation))
    along = model.X.T @ model.precondition(model.X @ (model.X.T @ bent))
    np.testing.assert_allclose(0.5 * (along - along.T), skew, atol=1e-9)
