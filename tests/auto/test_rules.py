"""Rules that pick features for a partition, against brute force and finite differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime, minimize

from ufselect.auto.reference import Reference, centred_basis
from ufselect.auto.rules import RULES, scatters, trace_ratio, variance_ratio
from ufselect.gram import gram_operator
from ufselect.solvers import capped_simplex
from ufselect.solvers.centre_margin import CentreMargin, minimise_margin


def problem(seed, n=40, d=9, c=3):
    rng = np.random.default_rng(seed)
    labels = np.append(np.arange(c), rng.integers(c, size=n - c))
    A = rng.standard_normal((n, d)) + rng.standard_normal((c, d))[labels] * rng.uniform(0, 2, d)
    A -= A.mean(axis=0)
    graph = sparse.csr_array((labels[:, None] == labels[None, :]).astype(float))
    return Reference(A, gram_operator(A), graph, centred_basis(np.eye(c)[labels]), labels, 0.0, 1.0)


@given(seed=st.integers(0, 10**6))
def test_scatters_add_up_and_match_their_definition(seed):
    reference = problem(seed)
    between, within = scatters(reference.A, reference.labels)
    np.testing.assert_allclose(between + within, np.square(reference.A).sum(axis=0))
    direct = sum(
        np.square(reference.A[reference.labels == c] - reference.A[reference.labels == c].mean(axis=0)).sum(
            axis=0
        )
        for c in range(3)
    )
    np.testing.assert_allclose(within, direct)


@given(seed=st.integers(0, 10**6))
def test_trace_ratio_is_the_best_of_all_subsets(seed):
    reference = problem(seed)
    between, within = scatters(reference.A, reference.labels)
    best = max(combinations(range(9), 4), key=lambda c: between[list(c)].sum() / within[list(c)].sum())
    chosen = np.argsort(-trace_ratio(reference, 4))[:4]
    assert sorted(chosen) == list(best)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_margin_gradient_is_that_of_finite_differences(seed):
    reference = problem(seed)
    loss = CentreMargin(reference.A, reference.labels, 2.0)
    weights = np.random.default_rng(seed).uniform(0, 1, 9)
    value, gradient = loss.value_and_gradient(weights)
    numeric = approx_fprime(weights, lambda w: loss.value_and_gradient(w)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)
    centres = np.array([reference.A[reference.labels == c].mean(axis=0) for c in range(3)])
    total = 0.0
    for row, own in zip(reference.A, reference.labels, strict=True):
        distance = np.square(row - centres) @ weights
        total += sum(np.log1p(np.exp((distance[own] - distance[q]) / 2.0)) for q in range(3) if q != own)
    assert value == pytest.approx(total / 40)
    own = np.mean(
        [np.square(r - centres[q]) @ weights for r, q in zip(reference.A, reference.labels, strict=True)]
    )
    assert loss.own_distance(weights) == pytest.approx(own)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_margin_reaches_the_constrained_optimum(seed):
    reference = problem(seed)
    loss = CentreMargin(reference.A, reference.labels, 3.0)
    start = np.full(9, 4 / 9)
    result = minimise_margin(loss, start, 4, max_iter=500, tol=1e-12)
    assert np.all(np.diff(result.objective_history) <= 0)
    assert result.weights.sum() == pytest.approx(4)
    assert np.all((result.weights >= 0) & (result.weights <= 1))
    oracle = minimize(
        lambda w: loss.value_and_gradient(w)[0],
        start,
        jac=lambda w: loss.value_and_gradient(w)[1],
        bounds=[(0, 1)] * 9,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 4},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert result.objective_history[-1] <= oracle.fun + 1e-5 * abs(oracle.fun)


@given(
    point=st.lists(st.floats(-5, 5), min_size=2, max_size=12),
    share=st.floats(0.05, 1.0),
    seed=st.integers(0, 10**6),
)
def test_projection_onto_the_capped_simplex_is_nearest(point, share, seed):
    point = np.array(point)
    total = share * point.size
    nearest = capped_simplex.project(point, total)
    assert nearest.sum() == pytest.approx(total, abs=1e-6)
    assert np.all((nearest >= 0) & (nearest <= 1))
    other = capped_simplex.project(np.random.default_rng(seed).standard_normal(point.size), total)
    assert np.linalg.norm(point - nearest) <= np.linalg.norm(point - other) + 1e-6


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_the_features_that_carry_the_clusters(rule):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    A = rng.standard_normal((90, 20))
    A[:, [3, 8, 12, 17]] += 4 * np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]])[labels]
    A -= A.mean(axis=0)
    same = sparse.csr_array((labels[:, None] == labels[None, :]).astype(float))
    reference = Reference(A, gram_operator(A), same, centred_basis(np.eye(3)[labels]), labels, 0.0, 1.0)
    scores = RULES[rule](reference, 4)
    # Two directions tell three clusters apart, so a rule that avoids redundancy may take less than all four.
    assert len(set(np.argsort(-scores)[:2]) & {3, 8, 12, 17}) == 2
    if rule in ("trace-ratio", "variance-ratio", "margin"):
        assert set(np.argsort(-scores)[:4]) == {3, 8, 12, 17}


def test_variance_ratio_of_a_constant_feature_is_zero():
    reference = problem(0)
    reference.A[:, 2] = 0
    assert variance_ratio(reference, 3)[2] == 0
