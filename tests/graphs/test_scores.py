"""Graphs of neighbours in scores against literal computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from ufselect.graphs.scores import (
    centred_basis,
    score_graph,
    score_neighbours,
    score_widths,
    smooth_vectors,
)


def test_graph_is_the_mean_of_symmetric_neighbour_graphs():
    scores = np.random.default_rng(0).standard_normal((300, 6))
    expected = np.zeros((300, 300))
    for width in (2, 6, 6):
        directed = kneighbors_graph(scores[:, :width], 4).toarray()
        expected += np.maximum(directed, directed.T) / 3
    np.testing.assert_allclose(score_graph(scores, [2, 6, 6], 4).toarray(), expected)


def test_neighbours_at_equal_distances_are_as_many_as_asked_for():
    scores = np.array([[a, b, 0.0] for a in range(6) for b in range(6)])
    scores = np.vstack([scores, scores[:3]])
    squared = np.square(scores[:, None] - scores[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    for width in (2, 3):
        neighbours = score_neighbours(scores, width, 5)
        assert all(len(set(row)) == 5 for row in neighbours.tolist())
        found = np.sort(np.take_along_axis(squared, neighbours, axis=1), axis=1)
        np.testing.assert_array_equal(found, np.sort(squared, axis=1)[:, :5])


def test_few_samples_have_half_of_the_others_as_neighbours():
    """Joined with all, they would all be alike."""
    graph = score_graph(np.array([0.0, 1.0, 2.1, 10.0, 11.0, 12.1])[:, None], [1], 10).toarray()
    np.testing.assert_array_equal(graph, np.kron(np.eye(2), 1 - np.eye(3)))
    np.testing.assert_array_equal(score_graph(np.arange(2.0)[:, None], [1]).toarray(), 1 - np.eye(2))


def test_widths_respect_the_rank():
    assert score_widths(10, 100) == [10, 15, 20]
    assert score_widths(10, 12) == [10, 12, 12]


@pytest.mark.parametrize("n_samples", [150, 500])
def test_smooth_vectors_solve_the_generalised_eigenproblem(n_samples):
    """Below 300 samples the dense solver works, beyond it Lanczos."""
    graph = score_graph(np.random.default_rng(2).standard_normal((n_samples, 3)), [3])
    values, vectors = smooth_vectors(graph, 4)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    np.testing.assert_allclose(graph @ vectors, degrees[:, None] * vectors * values, atol=1e-4)
    dense = np.linalg.eigvalsh(graph.toarray() / np.sqrt(np.outer(degrees, degrees)))[::-1]
    np.testing.assert_allclose(values, dense[:4], atol=1e-6)


def test_components_of_a_graph_are_its_smoothest_vectors():
    blocks = [sparse.coo_array(1 - np.eye(size)) for size in (5, 7)]
    graph = sparse.block_diag(blocks, format="csr")
    values, vectors = smooth_vectors(graph, 2)
    np.testing.assert_allclose(values, 1)
    basis = centred_basis(vectors)
    assert basis.shape == (12, 1)
    np.testing.assert_allclose(basis[:5], basis[0, 0], atol=1e-12)
    np.testing.assert_allclose(basis[5:], basis[5, 0], atol=1e-12)


def far_apart(n_groups, size=60):
    rng = np.random.default_rng(5)
    return rng.standard_normal((n_groups * size, 3)) + 100 * np.arange(n_groups).repeat(size)[:, None]


@pytest.mark.parametrize(("n_groups", "size", "count"), [(7, 60, 3), (7, 60, 7), (7, 60, 12), (2, 350, 5)])
def test_every_component_has_its_vector(n_groups, size, count):
    """Lanczos' method on the whole graph finds one vector of an eigenvalue that several components share."""
    graph = score_graph(far_apart(n_groups, size), [3])
    values, vectors = smooth_vectors(graph, count)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    dense = np.linalg.eigvalsh(graph.toarray() / np.sqrt(np.outer(degrees, degrees)))[::-1]
    np.testing.assert_allclose(values, dense[:count], atol=1e-6)
    np.testing.assert_allclose(graph @ vectors, degrees[:, None] * vectors * values, atol=1e-4)
    gram = vectors.T @ (degrees[:, None] * vectors)
    np.testing.assert_allclose(gram, np.eye(count), atol=1e-6)
    assert np.abs(vectors).max(axis=1).min() > 0
