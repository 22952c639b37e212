"""Accuracy of a clustering: cases worked by hand, brute force over all matchings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.metrics import clustering_accuracy

LABEL_PAIRS = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(-2, 3), min_size=n, max_size=n),
    )
)


def accuracy_over_all_matchings(y_true, y_pred):
    """Try every injective map between the labels."""
    classes, clusters = sorted(set(y_true)), sorted(set(y_pred))
    padded = classes + [None] * max(0, len(clusters) - len(classes))
    best = 0
    for images in permutations(padded, len(clusters)):
        mapping = dict(zip(clusters, images, strict=True))
        best = max(best, sum(mapping[c] == t for t, c in zip(y_true, y_pred, strict=True)))
    return best / len(y_true)


@given(LABEL_PAIRS)
def test_accuracy_is_the_best_over_all_matchings_whatever_the_labels(pair):
    y_true, y_pred = pair
    expected = accuracy_over_all_matchings(y_true, y_pred)
    assert clustering_accuracy(y_true, y_pred) == expected
    assert clustering_accuracy(y_true, [f"cluster {label}" for label in y_pred]) == expected


def test_a_greedy_matching_is_not_enough():
    """It takes the cell of 5 first and ends with 5 + 0; the optimum is 4 + 4."""
    assert clustering_accuracy([0] * 9 + [1] * 4, [0] * 5 + [1] * 4 + [0] * 4) == 8 / 13


def test_label_types():
    dates = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    assert clustering_accuracy(dates[[0, 0, 1]], [True, True, False]) == 1.0
    assert clustering_accuracy(np.array(["a", "b"], dtype=object), [2.5, 1.5]) == 1.0
    assert clustering_accuracy([[0], [1], [1]], [0, 1, 1]) == 1.0


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([0, 1], [0, 1, 1], "2 labels and y_pred 3"),
        ([], [], "at least one value"),
        ([[0, 1], [1, 0]], [0, 1], "flat array"),
        (np.array([1, "a"], dtype=object), [0, 1], "different types"),
    ],
)
def test_bad_labels_are_refused(y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        clustering_accuracy(y_true, y_pred)
