"""Greedy choices against brute-force evaluation of their criteria."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect import GreedyProjection
from ufselect._columns import UnitRequest, Units
from ufselect.reconstruct.greedy import greedy_determinant


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


def selected(A, count, of_scores, **rules):
    """Return the order of selection, and what each other column would add as a share of what all would."""
    target = "scores" if of_scores else "features"
    selector = GreedyProjection(count, target=target, **{"n_components": 3} if of_scores else {}, **rules)
    selector.fit(A)
    order = np.argsort(selector.ranking_)[: np.count_nonzero(selector.support_)]
    gains = np.where(selector.support_, 0.0, selector.scores_)
    return order, gains / gains.sum()


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(30, 9), (8, 14)]), of_scores=st.booleans())
def test_projection_equals_brute_force(seed, shape, of_scores):
    A = centred_data(seed, *shape)
    target = np.linalg.svd(A)[0][:, :3] if of_scores else A
    order, gains = selected(A, 5, of_scores)
    assert order.tolist() == greedy_by_brute_force(A, target, 5)
    before = explained(A, order, target)
    by_lstsq = np.array([explained(A, [*order, j], target) - before for j in range(A.shape[1])])
    np.testing.assert_allclose(gains, by_lstsq / by_lstsq.sum(), atol=1e-7)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), ridge=st.floats(1e-2, 1e2))
def test_determinant_equals_brute_force_and_gains_fall(seed, ridge):
    rows = np.random.default_rng(seed).standard_normal((10, 3))

    def value(chosen):
        return np.linalg.slogdet(ridge * np.eye(3) + rows[chosen].T @ rows[chosen])[1]

    order, gains = greedy_determinant(rows, UnitRequest.single(6, 10), ridge)
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


UNITS = Units(np.array([0, 1, 0, 2, 3, 3, 3, 4, 5, 5]))


def unit_greedy_by_brute_force(value, first, count):
    """Add the unit after which the value of all chosen features is largest; return units and last gains."""
    chosen = list(first)
    while len(chosen) < count:
        rest = [unit for unit in range(UNITS.count) if unit not in chosen]
        chosen.append(max(rest, key=lambda unit: value([*chosen, unit])))
    gains = [value([*chosen, unit]) - value(chosen) for unit in range(UNITS.count)]
    return chosen, gains


def features_of(units):
    return [int(feature) for unit in units for feature in UNITS.members(unit)]


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), first=st.sampled_from([[], [3], [0, 4]]), of_scores=st.booleans())
def test_groups_and_kept_features_equal_brute_force(seed, first, of_scores):
    A = centred_data(seed, 40, 10)
    target = np.linalg.svd(A)[0][:, :3] if of_scores else A
    expected, _ = unit_greedy_by_brute_force(lambda units: explained(A, features_of(units), target), first, 4)
    order, _ = selected(A, 4, of_scores, feature_groups=UNITS.codes, keep=features_of(first))
    assert list(dict.fromkeys(UNITS.codes[order].tolist())) == expected


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), first=st.sampled_from([[], [3], [4, 0]]), ridge=st.floats(0.1, 10))
def test_determinant_of_groups_equals_brute_force(seed, first, ridge):
    rows = np.random.default_rng(seed).standard_normal((10, 3))

    def value(units):
        chosen = rows[features_of(units)]
        return np.linalg.slogdet(ridge * np.eye(3) + chosen.T @ chosen)[1]

    request = UnitRequest(4, UNITS, np.array(first, dtype=np.intp))
    order, gains = greedy_determinant(rows, request, ridge)
    expected, last = unit_greedy_by_brute_force(value, first, 4)
    assert order.tolist() == expected
    rest = np.setdiff1d(np.arange(UNITS.count), order)
    np.testing.assert_allclose(gains[rest], np.array(last)[rest], atol=1e-9)


def test_a_kept_feature_in_the_span_of_others_is_taken_without_effect():
    A = centred_data(3, 20, 10)
    A[:, 1] = A[:, 0] + A[:, 2]
    order, _ = selected(A, 4, False, keep=[0, 1, 2])
    best = max(range(3, 10), key=lambda j: explained(A, [0, 2, j], A))
    assert order[3] == best
