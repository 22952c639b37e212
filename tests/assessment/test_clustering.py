"""Accuracy and mutual information: cases worked by hand, brute force, scikit-learn."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from ufselect.metrics import clustering_accuracy, normalized_mutual_info

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


@pytest.mark.parametrize(
    ("y_true", "y_pred", "expected"),
    [
        ([0, 0, 1, 1], [1, 1, 0, 0], 1.0),
        ([0, 0, 1, 1], [0, 1, 0, 1], 0.5),
        ([0, 0, 0, 1, 1, 2], [5, 5, 7, 7, 7, 7], 4 / 6),  # fewer clusters than classes
        ([0, 0, 0, 0], [0, 1, 2, 2], 0.5),  # more clusters than classes: one cluster counts
        # A greedy matching takes the cell of 5 first and ends with 5 + 0; the optimum is 4 + 4.
        ([0] * 9 + [1] * 4, [0] * 5 + [1] * 4 + [0] * 4, 8 / 13),
    ],
)
def test_accuracy_worked_by_hand(y_true, y_pred, expected):
    assert clustering_accuracy(y_true, y_pred) == expected


@given(LABEL_PAIRS)
def test_accuracy_is_the_best_over_all_matchings(pair):
    assert clustering_accuracy(*pair) == accuracy_over_all_matchings(*pair)


@given(LABEL_PAIRS)
def test_nmi_agrees_with_scikit_learn(pair):
    expected = normalized_mutual_info_score(*pair, average_method="geometric")
    assert normalized_mutual_info(*pair) == pytest.approx(expected, abs=1e-12)


@given(LABEL_PAIRS, st.randoms(use_true_random=False))
def test_names_of_labels_do_not_matter(pair, random):
    y_true, y_pred = pair
    names = [f"cluster {chr(97 + i)}" for i in range(6)]
    random.shuffle(names)
    renamed = [names[c + 2] for c in y_pred]
    assert clustering_accuracy(y_true, renamed) == clustering_accuracy(y_true, y_pred)
    assert normalized_mutual_info(y_true, renamed) == pytest.approx(
        normalized_mutual_info(y_true, y_pred), abs=1e-14
    )


def test_nmi_worked_by_hand():
    # Classes {2, 2}, clusters {3, 1}: I = log 2 − (3/4) H(1/3), in nats.
    conditional = 0.75 * (np.log(3) - (2 / 3) * np.log(2))
    h_clusters = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    expected = (np.log(2) - conditional) / np.sqrt(np.log(2) * h_clusters)
    assert normalized_mutual_info([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(expected, abs=1e-15)


def test_nmi_of_single_parts():
    assert normalized_mutual_info([1, 1, 1], [4, 4, 4]) == 1.0
    assert normalized_mutual_info([1, 1, 1], [4, 5, 4]) == 0.0
    assert normalized_mutual_info([1, 2, 1], [4, 4, 4]) == 0.0


def test_label_types():
    dates = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    assert clustering_accuracy(dates[[0, 0, 1]], [True, True, False]) == 1.0
    assert clustering_accuracy(np.array(["a", "b"], dtype=object), [2.5, 1.5]) == 1.0
    assert clustering_accuracy([[0], [1], [1]], [0, 1, 1]) == 1.0


@pytest.mark.parametrize("metric", [clustering_accuracy, normalized_mutual_info])
@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([0, 1], [0, 1, 1], "2 labels and y_pred 3"),
        ([], [], "at least one value"),
        ([[0, 1], [1, 0]], [0, 1], "flat array"),
        (np.array([1, "a"], dtype=object), [0, 1], "different types"),
    ],
)
def test_bad_labels_are_refused(metric, y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        metric(y_true, y_pred)
