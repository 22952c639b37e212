"""Rows that belong together stay on one side of every split, by what a selector gets to see."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from tests.clusters.examples import planted

from ufselect import assess


class Witness(SelectorMixin, BaseEstimator):
    """Selects two columns, and notes the numbers of the rows in the last one."""

    seen: ClassVar[list[np.ndarray]] = []

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.seen.append(np.round(X[:, -1] * 1e9).astype(int))
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 2


def held_out(X, **options):
    """Return the rows held out from each of twelve fits, and the notes."""
    Witness.seen.clear()
    numbered = np.column_stack([X, 1e-9 * np.arange(len(X))])
    notes = assess(Witness(), numbered, n_random=2, random_state=0, **options).notes
    return [np.setdiff1d(np.arange(len(X)), train) for train in Witness.seen[:12]], " ".join(notes)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=20, max_size=60))
def test_each_row_is_held_out_once_in_three_splits_with_its_group(groups):
    groups = np.array([*range(10), *groups])
    parts, notes = held_out(np.random.default_rng(0).standard_normal((groups.size, 4)), groups=groups)
    assert f"{np.unique(groups).size} groups" in notes
    for first in range(0, 12, 3):
        assert np.sort(np.concatenate(parts[first : first + 3])).tolist() == list(range(groups.size))
    for part in parts:
        assert not np.isin(np.delete(groups, part), groups[part]).any()


def drift(rho, n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n, d))
    for row in range(1, n):
        values[row] = rho * values[row - 1] + np.sqrt(1 - rho**2) * values[row]
    return values


@pytest.mark.parametrize("seed", range(3))
def test_runs_of_a_drift_are_held_out_and_rows_sorted_by_cluster_are_not(seed):
    parts, notes = held_out(drift(0.9, seed=seed))
    assert "Neighbouring rows resemble each other" in notes
    for part in parts:  # a run may go round the end
        assert np.count_nonzero(np.diff(part) > 1) <= len(part) / 4
    assert held_out(np.random.default_rng(seed).standard_normal((200, 5)))[1] == ""
    X, y = planted(seed, 200, 5, 5, apart=5.0)
    assert "Neighbouring" not in held_out(X[np.argsort(y, kind="stable")])[1]


def test_replicates_are_held_out_together():
    rng = np.random.default_rng(0)
    owners = rng.permutation(np.repeat(np.arange(40), 3))
    X = rng.standard_normal((40, 10))[owners] + 0.05 * rng.standard_normal((120, 10))
    parts, notes = held_out(X)
    assert notes.startswith("80 rows are near-duplicates")
    for part in parts:
        assert not np.isin(np.delete(owners, part), owners[part]).any()


def test_groups_must_be_as_many_as_rows_and_at_least_four():
    X = np.random.default_rng(0).standard_normal((24, 6))
    with pytest.raises(ValueError, match="four groups"):
        assess([0], X, groups=np.repeat([0, 1], 12))
    with pytest.raises(ValueError, match="5 entries, but X has 24 rows"):
        assess([0], X, groups=range(5))
