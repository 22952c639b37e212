"""The trust-region X-step: derivatives against oracles, descent, and its thrift."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.common import CountingGram
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect.gram import FormedGram, gram_operator
from ufselect.selectors.dscofs import DSCOFS
from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers import DoubleSparsePCA, ProximalAlternatingMinimisation, StiefelNewton, iterate
from ufselect.solvers.dscofs.model import StiefelModel, norm
from ufselect.solvers.dscofs.start import best_random_start, pca_start
from ufselect.solvers.dscofs.truncated_cg import truncated_cg


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((15, 9))
    S = factor.T @ factor
    X = np.linalg.qr(rng.standard_normal((9, 3)))[0]
    B = rng.standard_normal((9, 3))
    return StiefelModel.at(FormedGram(S, 16), B, X, S @ X)


def tangent_direction(model, seed):
    rng = np.random.default_rng(seed)
    return model.tangent(rng.standard_normal(model.X.shape))


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


def test_truncated_cg_solves_the_newton_equation_inside_and_stops_at_the_edge(model):
    solution = StiefelNewton().minimise(model)
    near = stiefel.project(solution + 1e-3 * tangent_direction(model, 3))
    model = StiefelModel.at(model.gram, model.linear, near, model.gram.matmat(near))
    inside = truncated_cg(model, radius=10.0, goal=1e-12, max_products=100)
    residual = model.gradient + model.hessian(inside.direction, inside.product)
    assert not inside.reached_edge
    assert norm(residual) <= 0.1 * norm(model.gradient)
    np.testing.assert_allclose(inside.product, model.gram.matmat(inside.direction), atol=1e-10)
    edge = truncated_cg(model, radius=1e-6, goal=1e-12, max_products=100)
    assert edge.reached_edge
    assert norm(edge.direction) == pytest.approx(1e-6)
    assert edge.decrease > 0


@settings(max_examples=30)
@given(structured_data(), st.sampled_from([1e-6, 1e-2, 1.0, 1e3]), st.integers(0, 1000))
def test_the_step_is_stationary_and_never_worse(data, weight, seed):
    rng = np.random.default_rng(seed)
    gram = gram_operator(data)
    m = min(2, data.shape[1] - 1)
    X = np.linalg.qr(rng.standard_normal((data.shape[1], m)))[0]
    product = gram.matmat(X)
    B = weight * rng.standard_normal(X.shape)
    before = StiefelModel.at(gram, B, X, product)
    found = StiefelNewton().minimise(before)
    after = StiefelModel.at(gram, B, found, gram.matmat(found))
    slack = 1e-12 * (abs(before.objective) + norm(after.ascent))
    assert stiefel.contains(found, 1e-10)
    assert after.objective <= before.objective + slack
    assert norm(after.gradient) <= 1e-6 * (norm(before.gradient) + norm(after.ascent))


@settings(max_examples=25)
@given(structured_data(), st.sampled_from([1e-4, 0.1, 10.0]), st.integers(0, 100))
def test_the_outer_objective_never_rises(data, mu, seed):
    gram = gram_operator(data)
    spectrum = gram.eigenpairs(1)
    unit = float(spectrum.values[0])
    problem = DoubleSparsePCA(gram, 2, 2, mu * unit, mu * unit, 1e-3 * unit, 1e-3, unit)
    start = best_random_start(gram, 1, 2, np.random.default_rng(seed))
    result = iterate(ProximalAlternatingMinimisation(problem, start, StiefelNewton()), max_iter=10, tol=1e-10)
    assert np.all(np.diff(result.objective_history) <= 0)


@pytest.mark.parametrize("mu", [1.0, 100.0])
def test_twenty_times_fewer_products_than_the_power_step_on_warppie(real, mu):
    """From the PCA start, where small penalties make the power step crawl; to 1e-8 or rounding."""
    data, _ = real("warppie10p")
    gram = CountingGram(gram_operator(data))
    spectrum = gram.eigenpairs(10)
    weight = mu * gram.scale**-2
    X = pca_start(spectrum).point
    product = gram.matmat(X)
    B = weight * (entry_sparse.project(X, 484)[0] + row_sparse.project(X, 100)[0])
    first = StiefelModel.at(gram, B, X, product)
    gram.n_products = 0
    found = StiefelNewton().minimise(first)
    spent = gram.n_products
    reached = norm(StiefelModel.at(gram, B, found, gram.matmat(found)).gradient)
    rounding = 64 * np.finfo(float).eps * norm(first.ascent)
    assert reached <= max(1e-8 * norm(first.gradient), 2 * rounding)
    for _ in range(20 * spent):
        X = stiefel.project(product + B)
        product = gram.matmat(X)
    assert norm(StiefelModel.at(gram, B, X, product).gradient) > 100 * reached


@pytest.mark.parametrize("x_solver", ["newton", "rotated", "auto"])
def test_the_selector_runs_with_it_and_ends_no_higher_for_small_penalties(x_solver):
    rng = np.random.default_rng(1)
    data = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 30)) + 0.3 * rng.standard_normal((80, 30))
    settings = {"n_components": 4, "mu_row": 1e-4, "mu_entry": 1e-4, "tol": 1e-9, "max_iter": 2000}
    found = DSCOFS(5, x_solver=x_solver, **settings).fit(data)
    power = DSCOFS(5, x_solver="power", **settings).fit(data)
    assert np.all(np.diff(found.objective_history_) <= 0)
    assert found.objective_history_[-1] <= power.objective_history_[-1] * (1 - 1e-9)
