"""Nearest neighbours against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from ufselect.graphs import balanced_neighbors, nearest_neighbors


def brute_force(X, k):
    """Sort all differences of each sample by distance, then index."""
    n = X.shape[0]
    indices = np.empty((n, k), dtype=int)
    distances = np.empty((n, k))
    for i in range(n):
        squared = ((X - X[i]) ** 2).sum(axis=1)
        order = [j for j in np.lexsort((np.arange(n), squared)) if j != i][:k]
        indices[i], distances[i] = order, np.sqrt(squared[order])
    return indices, distances


@pytest.mark.parametrize("shape", [(40, 3), (60, 30), (300, 2), (25, 200)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_equals_brute_force(shape, kind):
    X = np.random.default_rng(0).standard_normal(shape)
    X[np.abs(X) < 0.4] = 0
    indices, distances = nearest_neighbors(kind(X), 6)
    expected_indices, expected_distances = brute_force(X, 6)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-12)
    assert indices.dtype == np.intp


@given(
    data=st.data(),
    shape=st.tuples(st.integers(2, 25), st.integers(1, 4)),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_ties_and_duplicates_are_ordered_by_index(data, shape, kind):
    # Small integers: distances are exact and ties abound.
    X = data.draw(arrays(np.float64, shape, elements=st.integers(-1, 1).map(float)))
    k = data.draw(st.integers(1, shape[0] - 1))
    indices, distances = nearest_neighbors(kind(X), k)
    expected_indices, expected_distances = brute_force(X, k)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-15)


def test_duplicates_are_neighbours_but_the_sample_itself_is_not():
    X = np.repeat(np.arange(3.0)[:, None], 4, axis=0)
    indices, distances = nearest_neighbors(X, 3)
    assert not np.any(indices == np.arange(12)[:, None])
    np.testing.assert_array_equal(distances, 0)


def test_large_means_cost_no_digits():
    rng = np.random.default_rng(1)
    X = 1e6 + np.round(1e3 * rng.standard_normal((50, 20))) * 2.0**-10
    indices, distances = nearest_neighbors(X, 5)
    expected_indices, expected_distances = brute_force(X - 1e6, 5)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-13)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_blocks_do_not_change_the_result(kind):
    X = np.random.default_rng(2).integers(0, 3, (70, 6)).astype(float)
    expected = nearest_neighbors(kind(X), 4)
    found = nearest_neighbors(kind(X), 4, block_bytes=4096)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("factor", [1e-200, 1e150, 1e200, 1e307])
def test_squares_neither_overflow_nor_vanish(factor):
    X = np.random.default_rng(3).standard_normal((20, 5))
    expected_indices, expected_distances = brute_force(X, 3)
    indices, distances = nearest_neighbors(X * factor, 3)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances * factor, rtol=1e-12)


@pytest.mark.parametrize("factor", [1e-42, 1.0, 1e38])
def test_float32_gives_the_neighbours_of_the_same_values(factor):
    X = (factor * np.random.default_rng(4).uniform(-1, 1, (60, 8))).astype(np.float32)
    np.testing.assert_array_equal(
        nearest_neighbors(X, 5)[0], brute_force(X.astype(np.float64) / factor, 5)[0]
    )


def test_input_is_left_alone():
    X = np.random.default_rng(5).standard_normal((20, 4))
    before = X.copy()
    nearest_neighbors(X, 3)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("k", [10, 11])
def test_too_few_samples_are_refused(k):
    with pytest.raises(ValueError, match=f"n_neighbors={k} needs more than {k} samples"):
        nearest_neighbors(np.eye(10), k)


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "five"])
def test_a_bad_count_is_refused(k):
    with pytest.raises(ValueError, match="n_neighbors must be an integer"):
        nearest_neighbors(np.eye(10), k)


def test_an_overflowing_range_is_refused():
    with pytest.raises(ValueError, match="range of the data"):
        nearest_neighbors(np.array([[-1.7e308], [1.7e308], [0.0]]), 1)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_balanced_neighbours_are_the_nearest_of_each_batch(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) + 100
    batches = np.r_[np.zeros(20, dtype=int), np.ones(17, dtype=int), np.full(3, 2)]
    indices, distances = balanced_neighbors(kind(X), 8, batches)
    assert indices.shape == (40, 3 + 3 + 2)  # the last batch has two others for its own samples
    for i in range(40):
        far = np.linalg.norm(X - X[i], axis=1)
        far[i] = np.inf
        expected = [np.flatnonzero(batches == b)[np.argsort(far[batches == b])[:3]] for b in range(3)]
        np.testing.assert_array_equal(indices[i], np.concatenate([*expected[:2], expected[2][:2]]))
        np.testing.assert_allclose(distances[i], far[indices[i]], rtol=1e-6)


def test_balanced_neighbours_never_hold_the_sample_itself():
    copies = np.zeros((9, 2))
    indices, _ = balanced_neighbors(copies, 4, np.arange(9) % 2)
    assert not np.any(indices == np.arange(9)[:, None])
