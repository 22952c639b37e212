"""Similarity and stability of selections."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufselect.metrics import feature_similarity_rate, selection_stability


def test_similarity_of_indices_and_masks():
    a, b = [7, 0, 3, 2], np.array([3, 9, 0, 1])
    mask_a, mask_b = np.isin(np.arange(10), a), np.isin(np.arange(10), b)
    for first in (a, mask_a):
        for second in (b, mask_b):
            assert feature_similarity_rate(first, second) == 0.5
    assert feature_similarity_rate(a, a[::-1]) == 1.0
    assert feature_similarity_rate([0, 1], [2, 3]) == 0.0


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0, 1], [0], "equal size"),
        ([0, 0], [0, 1], "more than once"),
        ([], [], "no feature"),
        ([False, False], [True, False], "no feature"),
        ([True, False], [True, False, False], "2 and 3 entries"),
        ([0.5, 1.0], [0, 1], "integer indices"),
        ([[0, 1]], [0, 1], "flat"),
    ],
)
def test_bad_selections_are_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        feature_similarity_rate(a, b)


def test_stability_worked_by_hand():
    # d = 4, M = 3, frequencies 1, 2/3, 1/3, 0: the s² are 0, 1/3, 1/3, 0, so Φ = 1 − (1/6) / (1/4).
    masks = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]
    assert selection_stability(masks) == pytest.approx(1 / 3, abs=1e-15)
    assert selection_stability(np.array(masks, dtype=bool)) == pytest.approx(1 / 3, abs=1e-15)


@given(st.integers(2, 5), st.integers(2, 8), st.data())
def test_stability_for_equal_sizes_is_the_mean_of_kuncheva(n_selections, n_features, data):
    """For selections of one size the measure is Kuncheva's index averaged over pairs."""
    size = data.draw(st.integers(1, n_features - 1))
    order = [data.draw(st.permutations(range(n_features))) for _ in range(n_selections)]
    masks = np.array([[position < size for position in np.argsort(p)] for p in order])
    chance = size**2 / n_features
    kuncheva = [(np.sum(a & b) - chance) / (size - chance) for a, b in combinations(masks, 2)]
    assert selection_stability(masks) == pytest.approx(np.mean(kuncheva), abs=1e-12)


@given(arrays(bool, st.tuples(st.integers(2, 6), st.integers(1, 7))))
def test_stability_stays_in_its_range(masks):
    value = selection_stability(masks)
    assert -1 / (len(masks) - 1) - 1e-12 <= value <= 1 + 1e-12
    assert (value > 1 - 1e-12) == bool(np.all(masks == masks[0]))


@pytest.mark.parametrize("masks", [np.zeros((3, 4)), np.ones((3, 4))])
def test_identical_empty_or_full_masks_are_stable(masks):
    assert selection_stability(masks) == 1.0


@pytest.mark.parametrize(
    ("masks", "message"),
    [([[1, 0]], "at least two"), ([1, 0], "one mask per row"), ([[0, 2], [1, 3]], "True and False")],
)
def test_bad_masks_are_refused(masks, message):
    with pytest.raises(ValueError, match=message):
        selection_stability(masks)
