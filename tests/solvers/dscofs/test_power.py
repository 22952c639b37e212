"""The power steps."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.common import CountingGram
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect.gram import gram_operator
from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers import (
    DoubleSparsePCA,
    PamState,
    PowerStep,
    ProximalAlternatingMinimisation,
    RotatedPowerStep,
    iterate,
)
from ufselect.solvers.dscofs.pam import EARLY_ONSET
from ufselect.solvers.dscofs.start import pca_start
from ufselect.solvers.dscofs.x_steps import make_x_solver


def state_of(problem, X, Y, Z):
    product = problem.gram.matmat(X)
    ascent = problem.ascent(X, product, Y, Z)
    return PamState(X, Y, Z, product, ascent, problem.objective(X, product, Y, Z), None, None)


def objective(problem, X, state):
    return problem.objective(X, problem.gram.matmat(X), state.Y, state.Z)


@given(structured_data(), st.sampled_from([1e-12, 1e-4, 1.0, 1e3]), st.integers(0, 1000))
def test_the_rotation_is_the_best_of_the_span_and_never_worse_than_the_power_step(data, mu, seed):
    rng = np.random.default_rng(seed)
    gram = gram_operator(data)
    m = min(2, data.shape[1])
    problem = DoubleSparsePCA(gram, 2, 3, mu, 2 * mu, 0.1 * mu, 0.0, 1.0)
    X = stiefel.random_point(data.shape[1], m, rng)
    state = state_of(problem, X, entry_sparse.project(X, 3)[0], row_sparse.project(X, 2)[0])
    plain = PowerStep().solve(problem, state)
    turned = RotatedPowerStep().solve(problem, state)
    slack = 1e-10 * (mu + float(gram.trace()))
    assert stiefel.contains(turned, 1e-10)
    np.testing.assert_allclose(turned @ turned.T, plain @ plain.T, atol=1e-8)
    best = objective(problem, turned, state)
    assert best <= objective(problem, plain, state) + slack
    assert best <= state.objective + slack
    for _ in range(5):
        other = turned @ stiefel.random_point(m, m, rng)
        assert best <= objective(problem, other, state) + slack


@pytest.mark.parametrize("mu_row", [0.0, 1.0])
def test_without_an_entry_penalty_nothing_is_turned(mu_row):
    """Row norms do not change with a rotation, so there is nothing to gain."""
    rng = np.random.default_rng(0)
    gram = gram_operator(rng.standard_normal((30, 8)))
    problem = DoubleSparsePCA(gram, 3, 24, mu_row, 0.0, 0.1, 0.0, 1.0, leading_variance=1e9)
    assert isinstance(make_x_solver("auto", problem), PowerStep)
    X = stiefel.random_point(8, 3, rng)
    state = state_of(problem, X, X, X)
    steps = [kind().solve(problem, state) for kind in (PowerStep, RotatedPowerStep)]
    np.testing.assert_array_equal(*steps)


@pytest.mark.parametrize("mu", [1e-6, 1e-4])
def test_small_penalties_settle_in_a_tenth_of_the_products_on_real_data(real, mu):
    data, _ = real("usps")
    gram = CountingGram(gram_operator(data))
    spectrum = gram.eigenpairs(10)
    unit = float(spectrum.values[0])
    problem = DoubleSparsePCA(gram, 100, 256, mu * unit, mu * unit, 1e-3 * mu * unit, 1e-3 * mu, unit)
    gram.n_products = 0
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), RotatedPowerStep(), EARLY_ONSET)
    settled = iterate(method, max_iter=1000, tol=1e-14)
    spent, gram.n_products = gram.n_products, 0
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), PowerStep(), EARLY_ONSET)
    objectives = [method.init()]
    while gram.n_products < 10 * spent:
        objectives.append(method.step(objectives[-1]))
    gain = objectives[0].objective - settled.objective_history[-1]
    assert objectives[-1].objective > settled.objective_history[-1] + 1e-3 * gain
