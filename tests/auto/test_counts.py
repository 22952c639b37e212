"""The number of clusters, given or found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles, make_moons

from ufselect.auto import counts as module
from ufselect.auto.counts import ComparedGraphs, CutShares, apart_count, cluster_count
from ufselect.auto.rows import rows_of
from ufselect.selectors.dimension import auto_n_components


def blobs(n_clusters, n=240, d=15, seed=None):
    seed = n_clusters if seed is None else seed
    return rows_of(make_blobs(n, d, centers=n_clusters, cluster_std=0.7, random_state=seed)[0])


@pytest.mark.parametrize("n_clusters", [3, 5, 10])
@pytest.mark.parametrize(("n", "d"), [(200, 10), (400, 20), (400, 50)])
@pytest.mark.parametrize("seed", [0, 1])
def test_well_separated_clusters_are_counted(n_clusters, n, d, seed):
    assert cluster_count("auto", blobs(n_clusters, n, d, seed), 0) == n_clusters


def test_clusters_of_many_rows_are_counted():
    X = make_blobs(1000, 20, centers=10, random_state=0)[0]
    assert cluster_count("auto", rows_of(X), 0) == 10


def test_clusters_of_unequal_sizes_are_counted():
    X = make_blobs([200, 60, 30], centers=[[0, 0], [10, 0], [0, 10]], random_state=0)[0]
    assert cluster_count("auto", rows_of(X), 0) == 3


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_clusters_that_are_no_balls_are_counted(make):
    options = {"factor": 0.5} if make is make_circles else {}
    X = make(400, noise=0.04, random_state=0, **options)[0]
    assert cluster_count("auto", rows_of(X), 0) in (2, 3)


@pytest.mark.parametrize(
    ("load", "low", "high"), [(load_iris, 2, 3), (load_wine, 2, 4), (load_digits, 8, 13)]
)
def test_classes_of_known_data_are_counted_nearly(load, low, high):
    assert low <= cluster_count("auto", rows_of(load().data), 0) <= high


@pytest.mark.parametrize(("n", "d"), [(200, 2), (200, 10), (100, 40)])
@pytest.mark.parametrize("seed", range(4))
def test_one_blob_is_one_cluster(n, d, seed):
    rows = rows_of(np.random.default_rng(seed).standard_normal((n, d)))
    assert cluster_count("auto", rows, 0) == 1


def test_shares_are_one_up_to_the_number_of_separated_clusters_and_fall_beyond():
    shares = ComparedGraphs(blobs(5), 0).shares()
    inside = shares.counts <= 5
    np.testing.assert_allclose(shares.last[inside], 1, atol=0.02)
    np.testing.assert_allclose(shares.mean[inside], 1, atol=0.01)
    assert shares.last[~inside].max() < 0.7
    assert (np.diff(shares.mean[shares.counts >= 5]) < 0.02).all()


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 100)
    assert max(ComparedGraphs(blobs(4, 2000), 0).counts) == 23
    assert cluster_count("auto", blobs(4, 2000), 0) == 4


def shares(mean, last):
    return CutShares(np.arange(2, 2 + len(mean)), np.array(mean), np.array(last))


def touching_blobs(seed=0):
    return rows_of(make_blobs(400, 12, centers=2.8 * np.eye(6, 12), random_state=seed)[0])


@pytest.mark.parametrize(
    "rows",
    [blobs(3), blobs(10, 400), touching_blobs(), rows_of(load_digits().data), rows_of(load_wine().data)]
    + [rows_of(np.random.default_rng(1).standard_normal((350, d))) for d in (2, 20)],
)
def test_looking_no_further_than_what_decides_finds_the_same_number(rows, monkeypatch):
    near: list[int] = []

    def nearest(graphs, counts, seed):
        near[:] = counts
        return counts[0]

    monkeypatch.setattr(module, "steady_count", nearest)
    found = cluster_count("auto", rows, 0)
    spanned = auto_n_components(rows.gram) + 1
    shares = ComparedGraphs(rows, 0).shares()
    if shares.mean.max() < module.NO_CLUSTERS:
        assert found == 1
    elif shares.mean.max() < module.APART:
        assert found == (near[0] if near else spanned)
    else:
        assert found == apart_count(shares, lambda: near[0] if near else spanned)


def test_without_a_number_near_the_directions_spanned_these_decide(monkeypatch):
    monkeypatch.setattr(module, "auto_n_components", lambda gram: 199)
    assert cluster_count("auto", touching_blobs(), 0) == 200


def test_the_fall_of_the_eigenvalues_ends_clusters_that_lie_apart():
    assert apart_count(shares([1.0, 1.0, 0.7], [1.0, 1.0, 0.2]), lambda: 7) == 3
    # a fall after which shares rise again ends nothing, nor does the end of the grid
    assert apart_count(shares([1.0, 0.9, 0.9], [1.0, 0.5, 0.95]), lambda: 5) == 5
    assert apart_count(shares([1.0, 0.95, 0.93], [1.0, 0.93, 0.9]), lambda: 4) == 4
    # the first of two falls leaves the cleaner cut
    assert apart_count(shares([1.0, 1.0, 0.8, 0.7], [1.0, 1.0, 0.7, 0.3]), lambda: 2) == 3


def test_a_given_number_is_taken_as_it_is():
    assert cluster_count(np.int64(7), blobs(3), 0) == 7


def test_few_rows_have_few_clusters():
    """Four samples a cluster are the least that are looked at."""
    rows = rows_of(np.random.default_rng(0).standard_normal((7, 3)))
    assert cluster_count("auto", rows, 0) == 1


@pytest.mark.parametrize(
    ("value", "message"), [(0, "at least 1"), ("many", "auto"), (True, "auto"), (999, "fewer")]
)
def test_other_values_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        cluster_count(value, blobs(3), 0)
