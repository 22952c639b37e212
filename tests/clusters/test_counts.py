"""The number of clusters, given or found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles, make_moons
from tests.clusters.examples import planted

from ufselect.clusters.counts import cluster_range, range_note, steadiest
from ufselect.graphs.scores import rows_of


def blobs(n_clusters, n=240, d=15, seed=None):
    seed = n_clusters if seed is None else seed
    return rows_of(make_blobs(n, d, centers=n_clusters, cluster_std=0.7, random_state=seed)[0])


def count_of(n_clusters, rows, seed):
    return cluster_range(n_clusters, rows, seed)[0]


@pytest.mark.parametrize("n_clusters", [3, 5, 10])
@pytest.mark.parametrize(("n", "d"), [(200, 10), (400, 50)])
def test_well_separated_clusters_are_counted(n_clusters, n, d):
    assert count_of("auto", blobs(n_clusters, n, d, 0), 0) == n_clusters


def test_clusters_in_some_of_the_columns_are_counted_in_nine_of_ten_draws():
    asked = np.repeat(range(2, 7), 8)
    found = [count_of("auto", rows_of(planted(k, 150, c=c)[0]), 0) for k, c in enumerate(asked)]
    assert np.mean(found == asked) >= 0.9


def test_the_count_does_not_hang_on_the_seed():
    X = planted(3, 120, c=6, apart=1.2)[0]
    assert len({cluster_range("auto", rows_of(X), seed) for seed in range(4)}) == 1


def test_clusters_of_many_rows_are_counted():
    X = make_blobs(1000, 20, centers=10, random_state=0)[0]
    assert count_of("auto", rows_of(X), 0) == 10


def test_clusters_of_unequal_sizes_are_counted():
    X = make_blobs([200, 60, 30], centers=[[0, 0], [10, 0], [0, 10]], random_state=0)[0]
    assert count_of("auto", rows_of(X), 0) == 3


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_clusters_that_are_no_balls_are_counted(make):
    options = {"factor": 0.5} if make is make_circles else {}
    X = make(400, noise=0.04, random_state=0, **options)[0]
    assert count_of("auto", rows_of(X), 0) in (2, 3)


@pytest.mark.parametrize(
    ("load", "low", "high"), [(load_iris, 2, 3), (load_wine, 2, 4), (load_digits, 8, 13)]
)
def test_classes_of_known_data_are_counted_nearly(load, low, high):
    assert low <= count_of("auto", rows_of(load().data), 0) <= high


@pytest.mark.parametrize(("n", "d"), [(200, 2), (200, 10), (100, 40)])
@pytest.mark.parametrize("seed", range(2))
def test_one_blob_is_one_cluster(n, d, seed):
    rows = rows_of(np.random.default_rng(seed).standard_normal((n, d)))
    assert count_of("auto", rows, 0) == 1


def test_a_given_number_is_taken_as_it_is():
    assert count_of(np.int64(7), blobs(3), 0) == 7


def test_a_number_that_is_not_sure_comes_with_its_range():
    assert cluster_range(7, blobs(3), 0) == (7, 7, 7)
    assert cluster_range("auto", blobs(3), 0) == (3, 3, 3)
    assert range_note(3, 3) == []
    assert "between 2 and 5" in range_note(2, 5)[0]


def test_numbers_whose_cuts_agree_as_well_are_tied():
    """Two clusters of two parts each: four parts are found from every start, three are not."""
    centres = np.repeat([[0, 0], [1, 0], [10, 10], [11, 10]], 20, axis=0)
    points = centres + 0.01 * np.random.default_rng(0).standard_normal((80, 2))
    vectors = np.hstack([np.ones((80, 1)), points - points.mean(axis=0), np.zeros((80, 3))])
    assert steadiest(lambda count: (np.ones(6), vectors), [3, 4], 0) == (4, 4, 4)


def test_few_rows_have_few_clusters():
    """Four samples a cluster are the least that are looked at."""
    rows = rows_of(np.random.default_rng(0).standard_normal((7, 3)))
    assert count_of("auto", rows, 0) == 1


@pytest.mark.parametrize(
    ("value", "message"), [(0, "at least 1"), ("many", "auto"), (True, "auto"), (999, "smaller number")]
)
def test_other_values_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        count_of(value, blobs(3), 0)
