"""The reference partition: whitening, ties, cuts, seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from tests.clusters.examples import clusters_under_nuisance, planted, sparse_clusters

from ufselect.clusters.graph import (
    build_reference,
    consensus,
    diffusion_coordinates,
    rand_agreement,
    walk_pairs,
)
from ufselect.exceptions import ConstantDataError
from ufselect.graphs.score_graph import score_graph
from ufselect.graphs.scores import clarity, clear_powers, leading_scores, outlying_rows, rows_of
from ufselect.metrics import clustering_accuracy


def test_scores_are_left_singular_vectors():
    A = np.random.default_rng(1).standard_normal((30, 10)) * np.linspace(1, 3, 10) + 5
    U, s, _ = np.linalg.svd(A - A.mean(axis=0), full_matrices=False)
    scores, spread, axes = leading_scores(rows_of(A), 4)
    np.testing.assert_allclose(np.abs(scores.T @ U[:, :4]), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(spread, s[:4] / s[0])
    np.testing.assert_allclose(rows_of(A).project(axes), scores, atol=1e-8)


def test_constant_data_are_refused():
    with pytest.raises(ConstantDataError):
        build_reference(rows_of(np.ones((20, 3))), 2, 0)


def test_whitening_is_chosen_under_a_dominant_nuisance_and_finds_the_clusters():
    X, y = clusters_under_nuisance()
    reference = build_reference(rows_of(X), 4, 0)
    assert reference.powers == [0.0]
    assert adjusted_rand_score(y, reference.labels) > 0.9


def test_the_graph_is_the_mean_of_those_in_whitened_and_half_whitened_scores():
    X, _ = clusters_under_nuisance()
    reference = build_reference(rows_of(X), 4, 0, (0.0, 0.5))
    roots = reference.scores * np.sqrt(reference.spread)
    alone = [score_graph(each, reference.widths).toarray() for each in (reference.scores, roots)]
    np.testing.assert_allclose(reference.graph.toarray(), sum(alone) / 2)


def test_partition_equals_scikit_learns_spectral_clustering_on_the_same_graph():
    X, _ = clusters_under_nuisance(3)
    reference = build_reference(rows_of(X), 4, 0)
    other = SpectralClustering(4, affinity="precomputed", random_state=0).fit(reference.graph.toarray())
    assert adjusted_rand_score(other.labels_, reference.labels) > 0.95


def test_diffusion_coordinates_are_those_of_the_random_walk():
    """Four steps of the walk shrink each coordinate by its eigenvalue to the fourth."""
    graph = score_graph(np.random.default_rng(0).standard_normal((60, 3)), [3])
    values, vectors = walk_pairs(graph, 4)
    coordinates = diffusion_coordinates(values, vectors, values.size)
    walk = graph.toarray() / graph.toarray().sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.matrix_power(walk, 4) @ vectors, coordinates, atol=1e-10)
    assert vectors.shape[1] == 6


def test_graphs_are_as_clear_as_their_parts_are_apart():
    """Blocks without edges between them can be cut without loss; joined ones lose what a walk leaks."""
    block = np.ones((20, 20)) - np.eye(20)
    apart = sparse.csr_array(np.kron(np.eye(3), block))
    assert clarity(apart, 3) == pytest.approx(1)
    joined = np.kron(np.eye(3), block) + 0.1 * np.kron(1 - np.eye(3), np.ones((20, 20)))
    degree = joined.sum(axis=1)
    second = np.linalg.eigvalsh(joined / np.sqrt(np.outer(degree, degree)))[[-2, -3]]
    assert clarity(sparse.csr_array(joined), 3) == pytest.approx(second.mean())
    assert clarity(apart, 1) == 0


def test_consensus_of_equal_runs_is_that_run_and_outvotes_a_few_others():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 20)
    same = np.array([rng.permutation(4)[truth] for _ in range(9)])
    assert adjusted_rand_score(truth, consensus(same, 4, 0)) == 1
    mixed = np.vstack([same, rng.integers(4, size=(3, 80))])
    assert adjusted_rand_score(truth, consensus(mixed, 4, 0)) == 1


def test_sparse_rows_have_the_reference_of_dense_ones():
    X, y = sparse_clusters()
    stored, dense = build_reference(rows_of(X), 3, 0), build_reference(rows_of(X.toarray()), 3, 0)
    assert adjusted_rand_score(stored.labels, dense.labels) > 0.95
    assert adjusted_rand_score(stored.labels, y) > 0.9


@settings(max_examples=10)
@given(seed=st.integers(0, 100))
def test_gaussian_data_are_cut_as_cleanly_as_others_with_their_spread(seed):
    X = np.random.default_rng(seed).standard_normal((150, 12)) * np.geomspace(1, 10, 12)
    assert clear_powers(rows_of(X), 3, 9)[1] < 4


def test_planted_clusters_are_cut_more_cleanly_than_gaussian_data():
    assert min(clear_powers(rows_of(planted(seed)[0]), 4, 9)[1] for seed in range(5)) > 4


@pytest.mark.parametrize("sizes", [(180, 20), (190, 10), (100, 50, 20, 10), (950, 50)])
@pytest.mark.parametrize("seed", range(2))
def test_small_clusters_that_lie_apart_are_kept_and_large_ones_not_halved(sizes, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((y.size, 30))
    X[:, :5] += 8 * rng.standard_normal((len(sizes), 5))[y]
    labels = build_reference(rows_of(X), len(sizes), seed).labels
    assert clustering_accuracy(y, labels) == 1


def test_vectors_beyond_the_clusters_count_where_the_eigenvalues_do_not_end_with_them():
    vectors = np.random.default_rng(0).standard_normal((9, 3))
    for values, width in (([1, 1, 0.9], 2), ([1, 0.95, 0.9], 3), ([1, 0.99, 0.96], 2), ([1, 1, 0.999], 3)):
        assert diffusion_coordinates(np.array(values), vectors, 2).shape == (9, width)


@given(seed=st.integers(0, 10**6), c=st.integers(2, 5))
def test_agreements_are_those_of_scikit_learn(seed, c):
    rng = np.random.default_rng(seed)
    reference, runs = rng.integers(c, size=30), rng.integers(c, size=(3, 30))
    reference = np.unique(reference, return_inverse=True)[1]
    rand = [adjusted_rand_score(reference, run) for run in runs]
    np.testing.assert_allclose(rand_agreement(runs, reference), rand, atol=1e-9)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n_wild=st.integers(0, 3), alike=st.booleans())
def test_rows_far_apart_from_all_others_are_named(seed, n_wild, alike):
    rng = np.random.default_rng(seed)
    X = planted(seed)[0]
    wild = np.sort(rng.choice(len(X), n_wild, replace=False))
    directions = rng.standard_normal((1 if alike else n_wild, X.shape[1]))
    X[wild] = 50 * (directions + 0.01 * rng.standard_normal((n_wild, X.shape[1])))
    found = outlying_rows(rows_of(X))
    # three rows side by side are a small cluster rather than outliers
    assert set(found) <= set(wild) if alike and n_wild == 3 else np.array_equal(found, wild)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_rows_without_outliers_are_those_of_the_rest(store):
    X = sparse_clusters()[0].toarray()
    X[5] *= 100
    rows = rows_of(store(X)).without(np.array([5]))
    rest = rows_of(store(np.delete(X, 5, axis=0)))
    vectors = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    np.testing.assert_allclose(
        rows.project(vectors) * rows.unit, rest.project(vectors) * rest.unit, atol=1e-9
    )
    others = rows.project_others(store(X[:9]), vectors) * rows.unit
    np.testing.assert_allclose(others, rest.project_others(store(X[:9]), vectors) * rest.unit, atol=1e-9)
