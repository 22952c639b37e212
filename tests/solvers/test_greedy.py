"""Greedy choices against brute-force evaluation of their criteria."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect.gram import gram_operator
from ufselect.solvers.greedy import greedy_determinant, greedy_reconstruction, greedy_score_projection
from ufselect.solvers.rebuild.placement import Placement


def explained(A, chosen, target):
    """Squared norm of the target's projection onto the chosen columns, by least squares."""
    fit = A[:, chosen] @ np.linalg.lstsq(A[:, chosen], target, rcond=None)[0]
    return float(np.square(fit).sum())


def greedy_by_brute_force(A, target, count):
    chosen = []
    for _ in range(count):
        rest = [j for j in range(A.shape[1]) if j not in chosen]
        chosen.append(max(rest, key=lambda j: explained(A, [*chosen, j], target)))
    return chosen


def centred_data(seed, n, d):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * rng.uniform(0.5, 3, d)
    return A - A.mean(axis=0)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(30, 9), (8, 14)]))
def test_projection_equals_brute_force(seed, shape):
    A = centred_data(seed, *shape)
    gram = gram_operator(A)
    everything = np.ones(A.shape[1], dtype=bool)
    spectrum = gram.eigenpairs(3)
    order, gains = greedy_reconstruction(gram, Placement(everything, 5))
    assert order.tolist() == greedy_by_brute_force(A, A, 5)
    by_lstsq = [explained(A, [*order, j], A) - explained(A, order, A) for j in range(A.shape[1])]
    np.testing.assert_allclose(gains * gram.scale**2, by_lstsq, atol=1e-8 * np.square(A).sum())
    U = np.linalg.svd(A)[0][:, :3]
    order, gains = greedy_score_projection(gram, spectrum, Placement(everything, 5))
    assert order.tolist() == greedy_by_brute_force(A, U, 5)
    by_lstsq = [explained(A, [*order, j], U) - explained(A, order, U) for j in range(A.shape[1])]
    np.testing.assert_allclose(gains, by_lstsq, atol=1e-8)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), ridge=st.floats(1e-2, 1e2))
def test_determinant_equals_brute_force_and_gains_fall(seed, ridge):
    rows = np.random.default_rng(seed).standard_normal((10, 3))

    def value(chosen):
        return np.linalg.slogdet(ridge * np.eye(3) + rows[chosen].T @ rows[chosen])[1]

    order, gains = greedy_determinant(rows, 6, ridge)
    for step in range(6):
        done = order[:step].tolist()
        rest = [j for j in range(10) if j not in done]
        increases = {j: value([*done, j]) - value(done) for j in rest}
        assert increases[order[step]] == pytest.approx(max(increases.values()), abs=1e-9)
        assert gains[order[step]] == pytest.approx(increases[order[step]], abs=1e-9)
    assert np.all(np.diff(gains[order]) <= 1e-12)
    rest = np.setdiff1d(np.arange(10), order)
    final = [value([*order, j]) - value(order) for j in rest]
    np.testing.assert_allclose(gains[rest], final, atol=1e-9)


def test_only_allowed_features_are_chosen_and_the_span_ends_the_choice():
    A = centred_data(1, 6, 12)
    allowed = np.arange(12) >= 4
    order, _ = greedy_reconstruction(gram_operator(A), Placement(allowed, 8))
    assert order.size == 5  # the rank of six centred samples
    assert np.all(allowed[order])
