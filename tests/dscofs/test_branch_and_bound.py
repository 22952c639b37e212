"""The search that proves the best subset, and the bounds it rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dscofs.examples import brute_force, upper_bound

from ufselect.dscofs.row_search import BranchAndBound
from ufselect.gram.spectrum import leading_sum


@st.composite
def small_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(2, 9))
    r = draw(st.integers(1, d))
    m = draw(st.integers(1, r))
    rank = draw(st.integers(1, d + 2))
    factor = rng.standard_normal((rank, d)) * np.geomspace(1, draw(st.sampled_from([1, 30])), d)
    if draw(st.booleans()):
        factor[:, -1] = factor[:, 0]
    return factor.T @ factor, r, m


def search(S, r, m, max_nodes=100_000):
    largest = np.argsort(-np.diag(S), kind="stable")[:r]
    return BranchAndBound(S, r, m).run(largest, max_nodes)


@settings(max_examples=60)
@given(small_problems(), st.integers(0, 9))
def test_bounds_hold_and_branch_and_bound_equals_brute_force(problem, extra_pairs):
    S, r, m = problem
    best = brute_force(S, r, m)
    slack = 1e-9 * np.trace(S)
    bound = upper_bound(S, r, m, m + extra_pairs)
    assert bound >= best - slack
    assert bound <= np.sort(np.linalg.eigvalsh(S))[-m:].sum() + slack
    assert bound <= np.sort(np.diag(S))[-r:].sum() + slack
    support, captured, proven = search(S, r, m)
    assert proven == captured
    assert captured == pytest.approx(best, rel=1e-8, abs=slack)
    assert leading_sum(S[np.ix_(support, support)], m) == pytest.approx(captured)
    assert support.size == r


def test_search_is_exact_on_forty_features_and_stops_when_told():
    rng = np.random.default_rng(1)
    factor = rng.standard_normal((60, 40)) * np.geomspace(4, 0.5, 40)
    S = factor.T @ factor
    _, captured, bound = search(S, 4, 2)
    assert bound == captured
    assert captured == pytest.approx(brute_force(S[:16, :16], 4, 2), rel=1e-9)
    _, captured, bound = search(S, 12, 3, max_nodes=5)
    assert bound > captured
