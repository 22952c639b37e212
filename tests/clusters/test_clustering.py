"""GraphClustering: its clusters and their number, new rows, many rows, sparse data, outliers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.clusters.examples import clusters_under_nuisance, planted, sparse_clusters

from ufselect import DSCOFS, GraphClustering
from ufselect.exceptions import ConstantDataError
from ufselect.metrics import clustering_accuracy


@parametrize_with_checks([GraphClustering(random_state=0)])
def test_it_is_a_scikit_learn_clusterer(estimator, check):
    check(estimator)


def test_a_strong_nuisance_is_seen_through_and_new_rows_follow():
    X, y = clusters_under_nuisance(3, 300)
    clusterer = GraphClustering(4, random_state=0).fit(X[:200])
    assert adjusted_rand_score(y[:200], clusterer.labels_) > 0.9
    assert adjusted_rand_score(y[200:], clusterer.predict(X[200:])) > 0.9
    sampled = GraphClustering(4, max_samples=200, random_state=0).fit(X)  # the rest follow
    assert adjusted_rand_score(y, sampled.labels_) > 0.9


def test_rows_that_were_clustered_keep_their_cluster():
    X = load_digits().data[:400]
    clusterer = GraphClustering(10, random_state=0).fit(X)
    assert np.array_equal(clusterer.predict(X), clusterer.labels_)


def test_sparse_rows_stay_sparse_and_mix_with_dense_ones():
    X, y = sparse_clusters()
    stored = GraphClustering(3, random_state=0).fit(X)
    dense = GraphClustering(3, random_state=0).fit(X.toarray())
    assert clustering_accuracy(y, stored.labels_) > 0.9
    assert np.array_equal(stored.predict(X.toarray()), stored.predict(X))
    assert np.array_equal(dense.predict(X), dense.predict(X.toarray()))


@pytest.mark.parametrize("kind", ["two rows", "one cell"])
@pytest.mark.parametrize("seed", range(2))
def test_outliers_hide_no_clusters_and_follow_their_neighbours(kind, seed):
    X, y = planted(seed, apart=2.5)
    rng = np.random.default_rng(seed)
    if kind == "two rows":
        X[[3, 70]] = 60 * rng.standard_normal((2, X.shape[1]))
    else:
        X[3, -1] = 1e4
    clusterer = GraphClustering(4, random_state=0).fit(X)
    kept = np.delete(np.arange(len(X)), [3, 70])
    assert adjusted_rand_score(y[kept], clusterer.labels_[kept]) > 0.9
    assert set(clusterer.labels_) == {0, 1, 2, 3}


@pytest.mark.parametrize("unit", [1e-160, 1e150])
def test_the_unit_of_the_data_does_not_matter(unit):
    X = sparse_clusters()[0]
    found = GraphClustering(3, random_state=0).fit(X * unit)
    assert adjusted_rand_score(GraphClustering(3, random_state=0).fit(X).labels_, found.labels_) == 1
    np.testing.assert_array_equal(found.predict(X * unit), found.labels_)


def test_clusters_are_those_of_spectral_clustering_on_the_graph():
    """Neighbours in 4, 6 and 8 whitened scores, which a dominant nuisance asks for."""
    X, y = clusters_under_nuisance(3)
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    directed = [kneighbors_graph(U[:, :width], 5).toarray() for width in (4, 6, 7)]
    graph = np.mean([np.maximum(each, each.T) for each in directed], axis=0)
    other = SpectralClustering(4, affinity="precomputed", random_state=0).fit(graph)
    labels = GraphClustering(4, random_state=0).fit_predict(X)
    assert adjusted_rand_score(other.labels_, labels) > 0.95
    assert adjusted_rand_score(y, labels) > 0.9


@pytest.mark.parametrize("sizes", [(180, 20), (190, 10), (100, 50, 20, 10), (950, 50)])
@pytest.mark.parametrize("seed", range(2))
def test_small_clusters_that_lie_apart_are_kept_and_large_ones_not_halved(sizes, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((y.size, 30))
    X[:, :5] += 8 * rng.standard_normal((len(sizes), 5))[y]
    labels = GraphClustering(len(sizes), random_state=seed).fit_predict(X)
    assert clustering_accuracy(y, labels) == 1


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n_wild=st.integers(0, 3), alike=st.booleans(), is_sparse=st.booleans())
def test_rows_far_apart_from_all_others_are_set_aside(seed, n_wild, alike, is_sparse):
    """A guide shares them with the clusters, and says which rows it used."""
    rng = np.random.default_rng(seed)
    X = planted(seed)[0]
    wild = np.sort(rng.choice(len(X), n_wild, replace=False))
    directions = rng.standard_normal((1 if alike else n_wild, X.shape[1]))
    X[wild] = 50 * (directions + 0.01 * rng.standard_normal((n_wild, X.shape[1])))
    used = DSCOFS(5, guide="graph", n_components=3).fit(sparse.csr_array(X) if is_sparse else X).guide_rows_
    found = np.setdiff1d(np.arange(len(X)), used)
    # three rows side by side are a small cluster rather than outliers
    assert set(found) <= set(wild) if alike and n_wild == 3 else np.array_equal(found, wild)


def test_constant_data_are_refused():
    with pytest.raises(ConstantDataError):
        GraphClustering(2).fit(np.ones((20, 3)))


def count_in(X):
    return GraphClustering(random_state=0).fit(X).n_clusters_


@pytest.mark.parametrize("n_clusters", [3, 5, 10])
@pytest.mark.parametrize(("n", "d"), [(200, 10), (400, 50)])
def test_well_separated_clusters_are_counted(n_clusters, n, d):
    assert count_in(make_blobs(n, d, centers=n_clusters, cluster_std=0.7, random_state=0)[0]) == n_clusters


def test_clusters_in_some_of_the_columns_are_counted_in_nine_of_ten_draws():
    given = np.repeat(range(2, 7), 4)
    found = [count_in(planted(k, 150, c=c)[0]) for k, c in enumerate(given)]
    assert np.mean(found == given) >= 0.9


def test_the_number_does_not_depend_on_the_seed_nor_on_the_number_of_rows():
    X = planted(3, 120, c=6, apart=1.2)[0]
    assert len({GraphClustering(random_state=seed).fit(X).n_clusters_ for seed in range(4)}) == 1
    assert count_in(make_blobs(1000, 20, centers=10, random_state=0)[0]) == 10


def test_clusters_of_unequal_sizes_and_other_shapes_than_balls_are_counted():
    assert count_in(make_blobs([200, 60, 30], centers=[[0, 0], [10, 0], [0, 10]], random_state=0)[0]) == 3
    assert count_in(make_moons(400, noise=0.04, random_state=0)[0]) in (2, 3)
    assert count_in(make_circles(400, noise=0.04, factor=0.5, random_state=0)[0]) in (2, 3)


@pytest.mark.parametrize(
    ("load", "low", "high"), [(load_iris, 2, 3), (load_wine, 2, 4), (load_digits, 8, 13)]
)
def test_classes_of_known_data_are_counted_nearly(load, low, high):
    assert low <= count_in(load().data) <= high


@pytest.mark.parametrize(("n", "d"), [(200, 2), (200, 10), (100, 40), (7, 3)])
@pytest.mark.parametrize("seed", range(2))
def test_one_blob_is_one_cluster(n, d, seed):
    clusterer = GraphClustering(random_state=0).fit(np.random.default_rng(seed).standard_normal((n, d)))
    assert (clusterer.n_clusters_, clusterer.n_clusters_range_) == (1, [1, 1])
    assert not clusterer.labels_.any()


def test_a_number_comes_with_its_range():
    X = make_blobs(240, 15, centers=3, cluster_std=0.7, random_state=3)[0]
    for n_clusters, expected in ((np.int64(7), 7), ("auto", 3)):
        clusterer = GraphClustering(n_clusters, random_state=0).fit(X)
        assert clusterer.n_clusters_ == expected
        assert clusterer.n_clusters_range_ == [expected, expected]


@pytest.mark.parametrize(
    ("value", "message"), [(0, "at least 1"), ("many", "auto"), (True, "auto"), (999, "smaller number")]
)
def test_other_numbers_are_refused(value, message):
    X = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(ValueError, match=message):
        GraphClustering(value).fit(X)
    with pytest.raises(ValueError, match="max_samples"):
        GraphClustering(2, max_samples=0).fit(X)
