"""The number of clusters, given or found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from ufselect.auto import counts as module
from ufselect.auto.counts import cluster_counts, widest_gap_count
from ufselect.auto.rows import rows_of
from ufselect.selectors.dimension import auto_n_components


def blobs(n_clusters, n=240):
    return rows_of(make_blobs(n, 15, centers=n_clusters, cluster_std=0.7, random_state=n_clusters)[0])


@pytest.mark.parametrize("n_clusters", [3, 6, 8])
def test_well_separated_clusters_are_counted(n_clusters):
    assert widest_gap_count(blobs(n_clusters), 0) == n_clusters


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 100)
    assert widest_gap_count(blobs(4, 2000), 0) == 4


def test_auto_judges_by_the_gap_and_by_the_directions_that_clusters_span():
    rows = blobs(6)
    counts = cluster_counts("auto", rows, 0)
    assert counts[0] == 6
    assert counts[-1] == auto_n_components(rows.gram) + 1


def test_a_given_number_is_taken_as_it_is():
    assert cluster_counts(np.int64(7), blobs(3), 0) == (7,)


def test_few_rows_have_few_clusters():
    rows = rows_of(np.random.default_rng(0).standard_normal((5, 3)))
    assert all(1 <= count <= 5 for count in cluster_counts("auto", rows, 0))


@pytest.mark.parametrize(
    ("value", "message"), [(0, "at least 1"), ("many", "auto"), (True, "auto"), (999, "fewer")]
)
def test_other_values_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        cluster_counts(value, blobs(3), 0)
