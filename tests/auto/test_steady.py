"""The number of clusters that cuts from several starts agree on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from ufselect.auto import counts
from ufselect.auto import steady as module
from ufselect.auto.count_graphs import CountGraphs
from ufselect.auto.counts import ComparedGraphs, cluster_count
from ufselect.auto.rows import rows_of
from ufselect.auto.steady import MOST, TIED, agreement, in_reach, near_counts, steady_count


def touching():
    """Six clusters of 50 rows whose centres are four standard deviations apart, so that edges join them."""
    return rows_of(make_blobs(300, 12, centers=2.8 * np.eye(6, 12), random_state=0)[0])


def test_agreement_is_the_mean_rand_index_with_the_other_partitions():
    runs = np.random.default_rng(0).integers(0, 3, (5, 40))
    expected = [
        np.mean([adjusted_rand_score(run, other) for k, other in enumerate(runs) if k != place])
        for place, run in enumerate(runs)
    ]
    np.testing.assert_allclose(agreement(runs), expected)


@pytest.mark.parametrize("spanned", [5, 8])
def test_cuts_agree_best_with_the_right_number(spanned):
    graphs = ComparedGraphs(touching(), 0)
    assert steady_count(graphs.data, near_counts(graphs.counts, spanned), 0) == 6


def test_clusters_that_touch_are_counted_near_the_directions_that_they_span(monkeypatch):
    monkeypatch.setattr(counts, "auto_n_components", lambda gram: 8)
    assert cluster_count("auto", touching(), 0) == 6


def counted(monkeypatch, values, spread=0.0):
    """Count clusters where the cuts into so many parts agree so far, each a little more or less."""
    taken = dict.fromkeys(values, 0)

    def cuts(graphs, count, seeds):
        taken[count] += len(seeds)
        return np.full((len(seeds), 7), count)

    def agreements(runs):
        return values[int(runs[0, 0])] + spread * np.resize([1.0, -1.0], len(runs))

    monkeypatch.setattr(module, "_cuts", cuts)
    monkeypatch.setattr(module, "agreement", agreements)
    return steady_count(CountGraphs(np.eye(7)), list(values), 0), taken


def test_the_middle_of_those_that_tie_is_taken(monkeypatch):
    near = 0.9 - 0.9 * TIED
    assert counted(monkeypatch, {4: near, 5: 0.5, 6: near, 7: 0.9})[0] == 6
    assert counted(monkeypatch, {4: 0.9, 5: 0.5, 6: 0.5, 7: near})[0] == 4
    assert counted(monkeypatch, {4: 0.9 - 1.1 * TIED, 5: 0.5, 6: 0.5, 7: 0.9})[0] == 7
    # what lies behind by more than a tie is still compared while its error is large, and does not win
    assert counted(monkeypatch, {4: 0.9 - 1.1 * TIED, 5: 0.9}, spread=0.1)[0] == 5


def test_a_number_that_ties_with_its_double_does_not_count(monkeypatch):
    assert counted(monkeypatch, {5: 0.9, 8: 0.5, 10: 0.89})[0] == 10
    assert counted(monkeypatch, {5: 0.9, 6: 0.88, 8: 0.9, 10: 0.89})[0] == 8
    assert counted(monkeypatch, {6: 0.9, 8: 0.5, 10: 0.89})[0] == 6
    assert counted(monkeypatch, {5: 0.9, 10: 0.9 - 1.1 * TIED})[0] == 5


def test_numbers_far_behind_get_no_more_cuts(monkeypatch):
    assert counted(monkeypatch, {4: 0.9, 5: 0.5, 6: 0.9})[1] == {4: 40, 5: 10, 6: 40}
    assert counted(monkeypatch, {4: 0.9, 5: 0.5, 6: 0.6})[1] == {4: 10, 5: 10, 6: 10}
    assert counted(monkeypatch, {4: 0.9, 5: 0.72}, spread=0.1)[1] == {4: 20, 5: 20}


def test_numbers_stay_in_reach_by_two_errors_of_the_difference_beyond_a_tie():
    swing = 0.05 * np.resize([1.0, -1.0], 10)
    error = 2 * swing.std(ddof=1) / np.sqrt(10)
    reach = TIED + 2 * np.hypot(error, error)
    assert in_reach({3: 0.9 + swing, 4: 0.9 - 0.99 * reach + swing}) == [3, 4]
    assert in_reach({3: 0.9 + swing, 4: 0.9 - 1.01 * reach + swing}) == [3]


def test_numbers_far_from_the_directions_that_clusters_span_do_not_count():
    assert near_counts([2, 5, 6, 9], 6) == [5, 6, 9]
    assert near_counts([2, 5, 6, 9], 5) == [5, 6]
    assert near_counts([2], 50) == []
    assert MOST * 6 == 9
