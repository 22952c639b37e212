"""The gap of DSCOFS: a bound on what the best selection could add, which holds and is worth having."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect import DSCOFS, gram_from_covariance


def fit(S, n_features, n_components, **settings):
    selector = DSCOFS(n_features, n_components=n_components, entry_sparsity=None, **settings)
    return selector.fit(gram_from_covariance(S, 20))


def leading(S, chosen, m):
    return np.linalg.eigvalsh(S[np.ix_(chosen, chosen)])[-m:].sum()


def bound(selector, S):
    """Return what the gap says that no selection can have more of."""
    found = leading(S, np.flatnonzero(selector.support_), selector.n_components_)
    return found / (1 - selector.optimality_gap_)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(2, 9),
    r=st.integers(1, 9),
    m=st.integers(1, 4),
    slope=st.sampled_from([1, 30]),
    repeat=st.booleans(),
)
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_no_selection_has_more_than_the_bound_and_the_bound_is_no_looser_than_the_obvious(
    seed, d, r, m, slope, repeat
):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((d + 2, d)) * np.geomspace(1, slope, d)
    if repeat:
        factor[:, -1] = factor[:, 0]
    S, r = factor.T @ factor, min(r, d)
    m = min(m, r, np.linalg.matrix_rank(S))
    limit = bound(fit(S, r, m), S)
    slack = 1e-9 * np.trace(S)
    assert limit >= max(leading(S, chosen, m) for chosen in combinations(range(d), r)) - slack
    # DSCOFS knows the leading eigenvalues to the tolerance of its iterations.
    assert limit <= leading(S, range(d), m) * (1 + 1e-3)
    assert limit <= np.sort(np.diag(S))[-r:].sum() * (1 + 1e-3)


def test_one_dense_direction_makes_the_bound_sharper_than_the_obvious():
    """Few rows hold only a part of it, however much they and the leading eigenvalues have in sum."""
    dense = np.random.default_rng(0).standard_normal(30)
    S = 100 * np.outer(dense, dense) / np.sum(dense**2) + 10 * np.eye(30)
    limit = bound(fit(S, 5, 2), S)
    assert limit <= 0.8 * min(leading(S, range(30), 2), np.sort(np.diag(S))[-5:].sum())
    assert limit >= leading(S, np.argsort(-(dense**2))[:5], 2) * (1 - 1e-9)


def test_with_groups_the_gap_compares_with_as_many_groups():
    data = np.random.default_rng(0).standard_normal((40, 9)) * np.linspace(1, 3, 9)
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 3, 3])
    selector = DSCOFS(2, n_components=1, feature_groups=groups, entry_sparsity=None).fit(data)
    S = np.cov(data, rowvar=False)
    best = max(leading(S, np.flatnonzero(np.isin(groups, c)), 1) for c in combinations(range(4), 2))
    assert best * (1 - 1e-9) <= bound(selector, S) <= leading(S, range(9), 1) * (1 + 1e-3)


def test_the_message_says_the_gap():
    rng = np.random.default_rng(2)
    data = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 10)) + 0.3 * rng.standard_normal((50, 10))
    part, whole = (DSCOFS(count, n_components=2).fit(data) for count in (4, 10))
    assert part.optimality_message_ == f"within {100 * part.optimality_gap_:.1f} % of the best possible"
    assert whole.optimality_message_ == "provably the best possible, to within 0.05 %"


def test_the_gap_does_not_depend_on_the_unit_of_the_data():
    data = np.random.default_rng(3).standard_normal((40, 12)) * np.linspace(1, 3, 12)
    gaps = [
        DSCOFS(4, n_components=2, entry_sparsity=None).fit(data * unit).optimality_gap_
        for unit in (1e-150, 1.0, 1e150)
    ]
    np.testing.assert_allclose(gaps, gaps[1], rtol=1e-9)
