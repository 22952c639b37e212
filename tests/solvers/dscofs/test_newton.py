"""The trust-region X-step: descent, and its thrift."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.common import CountingGram
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect.gram import gram_operator
from ufselect.selectors.dscofs import DSCOFS
from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers import DoubleSparsePCA, ProximalAlternatingMinimisation, StiefelNewton, iterate
from ufselect.solvers.dscofs.model import StiefelModel, norm
from ufselect.solvers.dscofs.start import best_random_start, pca_start


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
