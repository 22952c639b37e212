"""The number of clusters, given or found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from ufselect.auto import counts as module
from ufselect.auto.counts import cluster_count, widest_gap_count
from ufselect.auto.rows import rows_of
from ufselect.selectors.dimension import auto_n_components


def blobs(n_clusters, n=240):
    return rows_of(make_blobs(n, 15, centers=n_clusters, cluster_std=0.7, random_state=n_clusters)[0])


@pytest.mark.parametrize("n_clusters", [3, 6, 8])
def test_well_separated_clusters_are_counted(n_clusters):
    count, share = widest_gap_count(blobs(n_clusters), 0)
    assert count == n_clusters
    assert share >= module.PERFECT
    assert cluster_count("auto", blobs(n_clusters), 0) == n_clusters


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 100)
    assert widest_gap_count(blobs(4, 2000), 0)[0] == 4


def test_auto_is_between_the_gap_and_the_directions_that_clusters_span(monkeypatch):
    rows = blobs(6)
    monkeypatch.setattr(module, "widest_gap_count", lambda *_: (24, 0.9))
    spanned = auto_n_components(rows.gram) + 1
    assert cluster_count("auto", rows, 0) == round((24 * spanned) ** 0.5)
    monkeypatch.setattr(module, "widest_gap_count", lambda *_: (24, 0.995))
    assert cluster_count("auto", rows, 0) == 24


def test_a_given_number_is_taken_as_it_is():
    assert cluster_count(np.int64(7), blobs(3), 0) == 7


def test_few_rows_have_few_clusters():
    rows = rows_of(np.random.default_rng(0).standard_normal((5, 3)))
    assert 1 <= cluster_count("auto", rows, 0) <= 5


@pytest.mark.parametrize(
    ("value", "message"), [(0, "at least 1"), ("many", "auto"), (True, "auto"), (999, "fewer")]
)
def test_other_values_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        cluster_count(value, blobs(3), 0)
