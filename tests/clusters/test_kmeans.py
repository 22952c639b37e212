"""The batched K-means against scikit-learn's, run by run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from ufselect.clusters.kmeans import (
    distance_preserving_coordinates,
    kmeans_runs,
    lloyd,
    nearest,
    starting_samples,
)


def blobs(n_samples, n_features, seed=0):
    return make_blobs(n_samples, n_features, centers=6, cluster_std=3.0, random_state=seed)[0]


@pytest.mark.parametrize(("seeding", "trials"), [("k-means++", 1), ("greedy-k-means++", None)])
@pytest.mark.parametrize("n_clusters", [1, 2, 7, 20])
def test_seeding_chooses_the_samples_of_scikit_learn(seeding, trials, n_clusters):
    X = blobs(80, 5)
    samples = starting_samples(X, n_clusters, range(10), seeding)
    for seed in range(10):
        _, expected = kmeans_plusplus(X, n_clusters, n_local_trials=trials, random_state=seed)
        np.testing.assert_array_equal(samples[seed], expected)


@given(st.integers(1, 12), st.integers(0, 1000))
def test_random_seeding_draws_distinct_samples(n_clusters, seed):
    samples = starting_samples(np.zeros((12, 1)), n_clusters, [seed, seed + 1], "random")
    assert samples.shape == (2, n_clusters)
    assert all(len(set(row)) == n_clusters for row in samples.tolist())


def test_random_seeding_is_uniform():
    samples = starting_samples(np.zeros((5, 1)), 2, range(4000), "random")
    counts = np.bincount(samples.ravel(), minlength=5)
    np.testing.assert_allclose(counts, 1600, atol=5 * np.sqrt(1600))


@pytest.mark.parametrize("shape", [(120, 2), (90, 15), (30, 200)])
@pytest.mark.parametrize("seeding", ["random", "k-means++", "greedy-k-means++"])
@pytest.mark.parametrize("n_clusters", [1, 2, 6, 13])
def test_labels_are_those_of_scikit_learn(shape, seeding, n_clusters):
    X = blobs(*shape) + 1e4
    coordinates = distance_preserving_coordinates(X)
    seeds = list(range(8))
    samples = starting_samples(coordinates, n_clusters, seeds, seeding)
    labels = kmeans_runs(X, n_clusters, seeds, seeding)
    for run in seeds:
        expected = KMeans(n_clusters, init=X[samples[run]], n_init=1).fit(X).labels_
        np.testing.assert_array_equal(labels[run], expected)


def test_empty_cluster_moves_to_the_farthest_point():
    X = blobs(60, 3)
    start = np.concatenate([X[:3], [[1e3, 1e3, 1e3]]])
    expected = KMeans(4, init=start, n_init=1).fit(X).labels_
    mean = X.mean(axis=0)
    tol = 1e-4 * X.var(axis=0).mean()
    labels = lloyd(X - mean, np.array([X[:4] - mean, start - mean]), tol)[1]
    assert len(set(labels.tolist())) == 4
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("seeding", ["random", "k-means++", "greedy-k-means++"])
def test_fewer_distinct_points_than_clusters(seeding):
    X = np.repeat([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], 10, axis=0)
    labels = kmeans_runs(X, 5, range(20), seeding)
    for run in labels:
        groups = [set(run[i : i + 10].tolist()) for i in (0, 10, 20)]
        assert all(len(group) == 1 for group in groups)
        assert len(set().union(*groups)) == 3


def test_all_points_equal():
    assert np.all(kmeans_runs(np.full((6, 2), 3.5), 3, [0, 1], "k-means++") == 0)


def test_batches_of_runs_and_blocks_of_rows_change_nothing():
    X = blobs(70, 6)
    whole = kmeans_runs(X, 5, range(12), "k-means++")
    in_batches = kmeans_runs(X, 5, range(12), "k-means++", centre_entries=5 * 70 * 3)
    np.testing.assert_array_equal(in_batches, whole)
    centres = np.random.default_rng(0).standard_normal((3, 5, 6))
    np.testing.assert_array_equal(nearest(X, centres, block_entries=64), nearest(X, centres))


def test_iteration_limit_is_that_of_scikit_learn():
    X = blobs(200, 4)
    centred = X - X.mean(axis=0)
    expected = KMeans(9, init=centred[:9], n_init=1, max_iter=3).fit(centred).labels_
    np.testing.assert_array_equal(lloyd(centred, centred[None, :9], 0.0, max_iter=3)[0], expected)


@pytest.mark.parametrize("factor", [1e-170, 1e170])
def test_units_do_not_matter(factor):
    X = blobs(50, 4)
    np.testing.assert_array_equal(
        kmeans_runs(X * factor, 4, range(5), "k-means++"), kmeans_runs(X, 4, range(5), "k-means++")
    )


def test_coordinates_of_wide_data_keep_distances():
    X = blobs(20, 300)
    coordinates = distance_preserving_coordinates(X)
    assert coordinates.shape == (20, 20)
    ratio = cdist(coordinates, coordinates)[0, 1] / cdist(X, X)[0, 1]
    assert np.log2(ratio) == pytest.approx(round(np.log2(ratio)), abs=1e-12)
    np.testing.assert_allclose(cdist(coordinates, coordinates), ratio * cdist(X, X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(300, 8), (40, 90)])
def test_single_precision_finds_the_same_clusters(shape):
    X = make_blobs(*shape, centers=5, random_state=3)[0] + 1e3
    exact, single = (kmeans_runs(X, 5, range(6), "k-means++", is_exact=choice) for choice in (True, False))
    for one, other in zip(exact, single, strict=True):
        assert adjusted_rand_score(one, other) == 1


def far_point():
    return np.vstack([make_blobs(200, 4, centers=4, random_state=0)[0], np.full((1, 4), 1e9)])


def two_halves():
    blobs = make_blobs(200, 4, centers=5, cluster_std=0.3, random_state=0)[0]
    return np.vstack([blobs, blobs + 1e5])


def large_unit():
    blobs = make_blobs(200, 4, centers=5, random_state=0)[0]
    return np.column_stack([blobs, 1e6 * (np.arange(200) % 2)])


@pytest.mark.parametrize("make", [far_point, two_halves, large_unit])
def test_single_precision_is_given_up_where_it_would_blur_the_clusters(make):
    exact, other = (
        kmeans_runs(make(), 10, range(4), "k-means++", is_exact=choice) for choice in (True, False)
    )
    np.testing.assert_array_equal(exact, other)
