"""The reweighted eigenproblem: its weights, its digits, and descent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.solvers.reweighted.examples import dense_lowest, forms

from ufselect.solvers import iterate
from ufselect.solvers.reweighted.eigenproblem import EPSILON, ReweightedEigenproblem, row_penalty, row_weights


@pytest.mark.parametrize("p", [0.3, 1.0, 2.0])
def test_weights_are_the_slopes_of_the_penalty(p):
    squares = np.array([0.2, 1.0, 3.0])
    step = 1e-6
    for j in range(3):
        change = step * (np.arange(3) == j)
        slope = (row_penalty(squares + change, p) - row_penalty(squares - change, p)) / (2 * step)
        assert row_weights(squares, p)[j] == pytest.approx(slope, rel=1e-6)


@given(st.floats(0.05, 2.0), st.lists(st.floats(0, 10), min_size=4, max_size=4), st.integers(0, 99))
def test_weighted_squares_lie_above_the_penalty_and_touch_it(p, old, seed):
    old = np.array(old)
    new = np.random.default_rng(seed).random(4) * 10
    bound = row_penalty(old, p) + row_weights(old, p) @ (new - old)
    assert row_penalty(new, p) <= bound * (1 + 1e-9) + 1e-9
    assert row_penalty(old, p) == pytest.approx(np.sum((old + EPSILON) ** (p / 2)))


@pytest.mark.parametrize("form", ["formed", "products", "factored"])
def test_rows_under_a_huge_diagonal_keep_their_digits(form):
    matrix, dense = forms()[form]
    size = np.abs(dense).max()
    start = np.full(40, 1e-30)
    start[:8] = 0.25
    gamma = size
    method = ReweightedEigenproblem(
        matrix, 2, gamma, 0.5, vectors=np.eye(40)[:, :2], squared_norms=start, quadratic_value=0.0
    )
    found = method.step(method.init()).vectors[:, :2]
    diagonal = gamma * row_weights(start, 0.5)
    assert diagonal.max() > 1e10 * size
    # Eliminate the rows under the large diagonal: a well-scaled problem in the first eight.
    scale = 1 / np.sqrt(diagonal[8:])
    inner = np.eye(32) + scale[:, None] * dense[8:, 8:] * scale
    coupling = dense[:8, 8:] * scale
    reduced = dense[:8, :8] + np.diag(diagonal[:8]) - coupling @ np.linalg.solve(inner, coupling.T)
    _, large_rows = np.linalg.eigh(reduced)
    small_rows = -scale[:, None] * np.linalg.solve(inner, coupling.T @ large_rows[:, :2])
    signs = np.sign(np.sum(large_rows[:, :2] * found[:8], axis=0))
    assert 0 < np.abs(small_rows).max() < 1e-9
    np.testing.assert_allclose(found[8:], small_rows * signs, atol=1e-6 * np.abs(small_rows).max())


@pytest.mark.parametrize("form", ["formed", "products", "factored"])
@pytest.mark.parametrize("p", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 100.0])
def test_the_objective_never_rises_and_is_that_of_the_result(form, p, gamma):
    matrix, dense = forms()[form]
    gamma *= np.abs(dense).max()
    W = dense_lowest(dense, 3)
    squares = np.sum(W**2, axis=1)
    value = float(np.trace(W.T @ dense @ W))
    method = ReweightedEigenproblem(
        matrix, 3, gamma, p, vectors=W, squared_norms=squares, quadratic_value=value, unit=1.0
    )
    result = iterate(method, max_iter=30, tol=0.0)
    history = result.objective_history
    assert np.all(np.diff(history) <= 0)
    W = result.state.vectors[:, :3]
    direct = np.trace(W.T @ dense @ W) + gamma * np.sum((np.sum(W**2, axis=1) + EPSILON) ** (p / 2))
    assert history[-1] == pytest.approx(direct, rel=1e-10)
    assert method.residuals(result.state) == {}
