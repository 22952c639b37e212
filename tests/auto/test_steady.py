"""The number of clusters that cuts from several starts agree on."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from ufselect.auto import counts
from ufselect.auto import steady as module
from ufselect.auto.counts import cluster_count, cut_shares
from ufselect.auto.cut import cut_runs, diffusion_coordinates, walk_pairs
from ufselect.auto.rows import rows_of
from ufselect.auto.steady import MOST, TIED, steadiness, steady_count


def touching():
    """Six clusters of 50 rows whose centres are four standard deviations apart, so that edges join them."""
    return rows_of(make_blobs(300, 12, centers=2.8 * np.eye(6, 12), random_state=0)[0])


def test_steadiness_is_the_mean_rand_index_of_pairs_of_cuts():
    graph = cut_shares(touching(), 0).graphs[3]
    runs = cut_runs(diffusion_coordinates(*walk_pairs(graph, 5)), 5, 7, module.N_CUTS)
    pairs = [adjusted_rand_score(one, other) for one, other in combinations(runs, 2)]
    assert steadiness(graph, 5, 7) == pytest.approx(np.mean(pairs))


def test_cuts_agree_best_with_the_right_number():
    shares = cut_shares(touching(), 0)
    found = {int(c): steadiness(g, int(c), 0) for g, c in zip(shares.graphs, shares.counts, strict=True)}
    assert max(found, key=found.get) == 6
    # found from a number that is too small as well as from one that is too large
    assert steady_count(shares.graphs, shares.counts, 5, 0) == 6
    assert steady_count(shares.graphs, shares.counts, 8, 0) == 6


def test_clusters_that_touch_are_counted_near_the_directions_that_they_span(monkeypatch):
    monkeypatch.setattr(counts, "auto_n_components", lambda gram: 8)
    assert cluster_count("auto", touching(), 0) == 6


def counted(monkeypatch, values, spanned):
    monkeypatch.setattr(module, "steadiness", lambda graph, count, seed: values[count])
    numbers = np.array(list(values))
    return steady_count([None] * numbers.size, numbers, spanned, 0)


def test_the_middle_of_those_that_tie_is_taken(monkeypatch):
    near = 0.9 - 0.9 * TIED
    assert counted(monkeypatch, {4: near, 5: 0.5, 6: near, 7: 0.9}, 5) == 6
    assert counted(monkeypatch, {4: 0.9, 5: 0.5, 6: 0.5, 7: near}, 5) == 4
    assert counted(monkeypatch, {4: 0.9 - 1.1 * TIED, 5: 0.5, 6: 0.5, 7: 0.9}, 5) == 7


def test_numbers_far_from_the_directions_that_clusters_span_do_not_count(monkeypatch):
    steadier = {2: 1.0, 5: 0.6, 6: 0.8, 9: 1.0}
    assert counted(monkeypatch, steadier, 6) == 9
    assert counted(monkeypatch, steadier, 5) == 6
    assert counted(monkeypatch, {2: 1.0}, 50) == 50
    assert MOST * 6 == 9
