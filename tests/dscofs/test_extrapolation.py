"""Extrapolation: its formulas, the supports that steer it, and what it must never do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect._solver.iterate import iterate
from ufselect.dscofs.pam import (
    DEPTH,
    EARLY_ONSET,
    MOMENTUM,
    ProximalAlternatingMinimisation,
    Trail,
)
from ufselect.dscofs.problem import DoubleSparsePCA
from ufselect.dscofs.start import Start
from ufselect.dscofs.x_steps import power_step, rotated_power_step
from ufselect.gram import FormedGram


def random_problem(seed, n_features=12, n_components=3, n_rows=5, n_entries=12, mu=0.1, rank=12):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((rank, n_features)) * np.geomspace(1, 0.1, rank)[:, None]
    S = factor.T @ factor
    top = float(np.linalg.eigvalsh(S)[-1])
    problem = DoubleSparsePCA(
        FormedGram(S, rank + 1), n_rows, n_entries, mu * top, mu * top, 1e-3 * top, 1e-3, top
    )
    point = np.linalg.qr(rng.standard_normal((n_features, n_components)))[0]
    return problem, Start(point)


def begin(point, image):
    return Trail(image - point, image - point)


def literal_anderson(points, images):
    """The mixing weights by least squares on the residuals, from the whole history."""
    residuals = [image - point for point, image in zip(points, images, strict=True)]
    columns = np.column_stack([(b - a).ravel() for a, b in pairwise(residuals)])
    weights = np.linalg.lstsq(columns, residuals[-1].ravel(), rcond=None)[0]
    changes = [b - a for a, b in pairwise(images)]
    return images[-1] - sum(w * c for w, c in zip(weights, changes, strict=True))


def test_mixing_equals_the_literal_least_squares():
    rng = np.random.default_rng(0)
    points = [rng.standard_normal((6, 2)) for _ in range(4)]
    images = [rng.standard_normal((6, 2)) for _ in range(4)]
    trail = begin(points[0], images[0])
    for k in range(1, 4):
        trail = trail.follow(points[k], images[k], images[k - 1], is_smooth=True)
    expected = literal_anderson(points, images)
    np.testing.assert_allclose(trail.extrapolate(images[-1]), expected, rtol=1e-6, atol=1e-8)


def test_mixing_forgets_all_but_the_last_differences():
    rng = np.random.default_rng(1)
    points = [rng.standard_normal((8, 2)) for _ in range(DEPTH + 4)]
    images = [rng.standard_normal((8, 2)) for _ in range(DEPTH + 4)]
    trail = begin(points[0], images[0])
    for k in range(1, len(points)):
        trail = trail.follow(points[k], images[k], images[k - 1], is_smooth=True)
    expected = literal_anderson(points[-DEPTH - 1 :], images[-DEPTH - 1 :])
    np.testing.assert_allclose(trail.extrapolate(images[-1]), expected, rtol=1e-6, atol=1e-8)


def test_mixing_solves_a_linear_map_in_as_many_steps_as_dimensions():
    slopes = np.array([[0.99], [0.9], [0.5], [-0.8]])
    point = np.ones((4, 1))
    image = slopes * point + 1
    trail = begin(point, image)
    for _ in range(5):
        point = trail.extrapolate(image) if trail.n_steps else image
        last, image = image, slopes * point + 1
        trail = trail.follow(point, image, last, is_smooth=True)
    np.testing.assert_allclose(image, 1 / (1 - slopes), rtol=1e-3)


def test_a_step_across_pieces_leaves_momentum_only():
    rng = np.random.default_rng(2)
    a, b, c, d = rng.standard_normal((4, 5, 2))
    trail = begin(a, b).follow(b, c, b, is_smooth=True).follow(c, d, c, is_smooth=False)
    np.testing.assert_allclose(trail.extrapolate(d), d + MOMENTUM * (d - c))


def test_identical_residuals_do_not_divide_by_zero():
    image = np.ones((3, 1))
    trail = begin(image, image).follow(np.zeros((3, 1)), image, image, is_smooth=True)
    np.testing.assert_array_equal(trail.extrapolate(image), image)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-4, 0.1, 10.0]),
    st.sampled_from([1, 5, 12]),
    st.sampled_from([3, 12, 36]),
    st.sampled_from([power_step, rotated_power_step]),
)
def test_objective_never_rises_and_constraints_hold(seed, mu, n_rows, n_entries, x_step):
    problem, start = random_problem(seed, mu=mu, n_rows=n_rows, n_entries=n_entries)
    method = ProximalAlternatingMinimisation(problem, start, x_step, onset=EARLY_ONSET)
    result = iterate(method, max_iter=60, tol=0.0)
    state = result.state
    assert np.all(np.diff(result.objective_history) <= 0)
    np.testing.assert_allclose(state.X.T @ state.X, np.eye(3), atol=1e-12)
    assert np.count_nonzero(state.Y) <= n_entries
    assert np.count_nonzero(state.Z.any(axis=1)) <= n_rows
    expected = (
        -np.trace(state.X.T @ problem.gram.matrix @ state.X)
        + problem.mu_entry * np.sum((state.X - state.Y) ** 2)
        + problem.mu_row * np.sum((state.X - state.Z) ** 2)
    )
    assert state.objective == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_extrapolation_ends_at_a_point_that_plain_steps_leave_alone(seed):
    problem, start = random_problem(seed)
    fast = iterate(
        ProximalAlternatingMinimisation(problem, start, power_step, onset=EARLY_ONSET),
        max_iter=3000,
        tol=1e-15,
    )
    onward = iterate(
        ProximalAlternatingMinimisation(
            problem, Start(fast.state.X, fast.state.product, is_informed=True), power_step, onset=0.0
        ),
        max_iter=500,
        tol=0.0,
    )
    assert onward.objective_history[-1] == pytest.approx(fast.objective_history[-1], rel=1e-8)
    np.testing.assert_allclose(onward.state.X, fast.state.X, atol=1e-3)


def test_extrapolation_needs_fewer_steps_than_plain_steps():
    counts = {EARLY_ONSET: 0, 0.0: 0}
    for seed in range(5):
        problem, start = random_problem(seed, n_features=60, n_rows=15, n_entries=60, rank=60)
        for onset in counts:
            method = ProximalAlternatingMinimisation(problem, start, power_step, onset)
            counts[onset] += iterate(method, max_iter=5000, tol=1e-9).n_iter
    assert counts[EARLY_ONSET] < 0.6 * counts[0.0]
