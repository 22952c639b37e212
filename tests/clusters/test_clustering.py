"""GraphClustering: scikit-learn's checks, new rows, many rows, sparse data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.clusters.examples import clusters_under_nuisance, planted, sparse_clusters

from ufselect import GraphClustering
from ufselect.metrics import clustering_accuracy


@parametrize_with_checks([GraphClustering(random_state=0)])
def test_it_is_a_scikit_learn_clusterer(estimator, check):
    check(estimator)


def test_a_strong_nuisance_is_seen_through_and_new_rows_follow():
    X, y = clusters_under_nuisance(3, 300)
    clusterer = GraphClustering(4, random_state=0).fit(X[:200])
    assert adjusted_rand_score(y[:200], clusterer.labels_) > 0.9
    assert adjusted_rand_score(y[200:], clusterer.predict(X[200:])) > 0.9


def test_rows_that_were_clustered_keep_their_cluster():
    X = load_digits().data[:400]
    clusterer = GraphClustering(10, random_state=0).fit(X)
    assert np.array_equal(clusterer.predict(X), clusterer.labels_)


def test_the_number_of_clusters_is_found_and_reported():
    X, y = make_blobs(300, 12, centers=6, cluster_std=1.0, random_state=0)
    clusterer = GraphClustering(random_state=0).fit(X)
    assert clusterer.n_clusters_ == 6
    assert adjusted_rand_score(y, clusterer.labels_) > 0.95


def test_noise_is_one_cluster():
    X = np.random.default_rng(0).standard_normal((200, 10))
    clusterer = GraphClustering(random_state=0).fit(X)
    assert (clusterer.n_clusters_, clusterer.n_clusters_range_) == (1, [1, 1])
    assert not clusterer.labels_.any()


def test_of_many_rows_a_sample_is_clustered_and_the_rest_follow():
    X, y = clusters_under_nuisance(1, 1500)
    clusterer = GraphClustering(4, max_samples=200, random_state=0).fit(X)
    assert clusterer.labels_.shape == (1500,)
    assert adjusted_rand_score(y, clusterer.labels_) > 0.9


def test_sparse_rows_stay_sparse_and_mix_with_dense_ones():
    X, y = sparse_clusters()
    stored = GraphClustering(3, random_state=0).fit(X)
    dense = GraphClustering(3, random_state=0).fit(X.toarray())
    assert clustering_accuracy(y, stored.labels_) > 0.9
    assert np.array_equal(stored.predict(X.toarray()), stored.predict(X))
    assert np.array_equal(dense.predict(X), dense.predict(X.toarray()))


def test_the_seed_is_the_only_randomness():
    X = load_digits().data[:300]
    first, second = (GraphClustering(10, random_state=3).fit_predict(X) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("parameters", [{"n_clusters": 0}, {"n_clusters": "few"}, {"max_samples": 0}])
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        GraphClustering(**parameters).fit(load_digits().data[:50])


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
