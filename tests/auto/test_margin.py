"""The margin of the nearest-centre rule against finite differences and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from ufselect._solver.iterate import iterate
from ufselect.clusters.partition import CentreMargin


def problem(seed, n=40, d=9, c=3):
    rng = np.random.default_rng(seed)
    labels = np.append(np.arange(c), rng.integers(c, size=n - c))
    A = rng.standard_normal((n, d)) + rng.standard_normal((c, d))[labels] * rng.uniform(0, 2, d)
    return A - A.mean(axis=0), labels


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_margin_gradient_is_that_of_finite_differences(seed):
    A, labels = problem(seed)
    loss = CentreMargin(A, labels, 2.0, 4)
    weights = np.random.default_rng(seed).uniform(0, 1, 9)
    value, (gradient,) = loss.smooth_gradient((weights, loss.excess(weights)))
    numeric = approx_fprime(weights, lambda w: loss.smooth((w, loss.excess(w))), 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)
    centres = np.array([A[labels == c].mean(axis=0) for c in range(3)])
    total = 0.0
    for row, own in zip(A, labels, strict=True):
        distance = np.square(row - centres) @ weights
        total += sum(np.log1p(np.exp((distance[own] - distance[q]) / 2.0)) for q in range(3) if q != own)
    assert value == pytest.approx(total / 40)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_margin_reaches_the_constrained_optimum(seed):
    A, labels = problem(seed)
    loss = CentreMargin(A, labels, 3.0, 4)
    result = iterate(loss, max_iter=500, tol=1e-12)
    weights, history = result.state.point[0], result.objective_history
    assert np.all(np.diff(history) <= 0)
    assert weights.sum() == pytest.approx(4)
    assert np.all((weights >= 0) & (weights <= 1))
    oracle = minimize(
        lambda w: loss.smooth((w, loss.excess(w))),
        np.full(9, 4 / 9),
        jac=lambda w: loss.smooth_gradient((w, loss.excess(w)))[1][0],
        bounds=[(0, 1)] * 9,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 4},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert history[-1] <= oracle.fun + 1e-5 * abs(oracle.fun)
