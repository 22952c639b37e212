"""Splits of rows: what belongs together stays on one side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clusters.examples import planted

from ufselect.assessment.splits import is_order_dependent, near_duplicates, row_splits, row_units


@given(
    units=st.lists(st.integers(0, 9), min_size=20, max_size=60),
    is_ordered=st.booleans(),
    n_parts=st.integers(2, 4),
)
def test_each_row_is_held_out_once_with_its_unit(units, is_ordered, n_parts):
    numbered = np.unique([*range(10), *units], return_inverse=True)[1]
    numbered = np.arange(numbered.size) if is_ordered else numbered
    splits = list(row_splits(numbered, is_ordered, n_parts, np.random.default_rng(0)))
    assert len(splits) == n_parts
    held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=numbered.size)
    assert (held_out == 1).all()
    for train, test in splits:
        assert np.array_equal(np.sort(np.append(train, test)), np.arange(numbered.size))
        assert not set(numbered[train]) & set(numbered[test])
        if is_ordered:  # one run, which may go round the end
            assert np.count_nonzero(np.diff(np.append(test, test[0] + numbered.size)) > 1) <= 1


def drift(rho, n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n, d))
    for row in range(1, n):
        values[row] = rho * values[row - 1] + np.sqrt(1 - rho**2) * values[row]
    return values


@pytest.mark.parametrize("seed", range(5))
def test_drifts_depend_on_order_and_rows_sorted_by_cluster_do_not(seed):
    assert is_order_dependent(drift(0.9, seed=seed))
    assert not is_order_dependent(np.random.default_rng(seed).standard_normal((200, 5)))
    X, y = planted(seed, 200, 5, 5, apart=5.0)
    assert not is_order_dependent(X[np.argsort(y, kind="stable")])


def test_replicates_have_one_number_and_other_rows_their_own():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 10)), 3, axis=0)
    units = near_duplicates(X + 0.05 * rng.standard_normal(X.shape))
    assert np.array_equal(units, np.repeat(np.unique(units[::3], return_index=True)[1].argsort(), 3))
    assert np.unique(near_duplicates(rng.standard_normal((120, 10)))).size == 120


def test_given_groups_are_taken_as_they_are():
    scores = np.random.default_rng(0).standard_normal((24, 6))
    groups = np.repeat(list("abcdef"), 4)
    units, is_ordered, notes = row_units(scores, groups)
    assert np.array_equal(units, np.repeat(np.arange(6), 4))
    assert not is_ordered
    assert "6 groups" in notes[0]
    with pytest.raises(ValueError, match="four groups"):
        row_units(scores, np.repeat([0, 1], 12))
    with pytest.raises(ValueError, match="inconsistent"):
        row_units(scores, groups[:5])
