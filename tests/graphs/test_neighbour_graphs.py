"""Neighbours, heat-kernel weights and quotients, as Laplacian scores show them, against brute force."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ufselect import LaplacianScore


def brute_force(X, k, t="auto", batch=None):
    """Return the scores from differences of all pairs; ties go by values, weights are relative."""
    n, deviations = len(X), np.abs(X - X.mean(axis=0))
    keys = [np.sum(deviations**power, axis=1) for power in (4, 3, 2)]
    ranks = np.argsort(np.lexsort([np.round(key / max(key.max(), 1e-300), 9) for key in keys]))
    distances = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    batches = [np.arange(n)] if batch is None else [np.flatnonzero(batch == b) for b in np.unique(batch)]
    share = -(-k // len(batches))
    nearest = [
        [
            j
            for rows in batches
            for j in [j for j in rows[np.lexsort((ranks[rows], np.round(distances[i, rows], 9)))] if j != i][
                : min(share, rows.size - 1)
            ]
        ]
        for i in range(n)
    ]
    near = np.take_along_axis(distances, np.array(nearest), axis=1)
    t = near.mean() if t == "auto" else t
    W = np.zeros((n, n))
    exponents = -(near**2 - near.min() ** 2) / (2 * t**2) if t else np.zeros_like(near)
    np.put_along_axis(W, np.array(nearest), np.exp(exponents), axis=1)
    W = np.maximum(W, W.T)
    degrees = W.sum(axis=1)
    centred = X - degrees @ X / degrees.sum()
    variance = degrees @ centred**2
    rough = np.einsum("ij,ijk->k", W, np.square(X[:, None] - X[None])) / 2
    return np.where(variance > 1e-12 * degrees.sum(), -rough / np.where(variance > 0, variance, 1), -3.0)


def scores(X, k=5, **options):
    fit = {"batch": options.pop("batch")} if "batch" in options else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return LaplacianScore(1, n_neighbors=k, **options).fit(X, **fit).scores_


KINDS = {"array": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_matrix}


@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(8, 2), (25, 4), (40, 3), (15, 30)]),
    values=st.sampled_from(["normal", "thin", "integers", "copies"]),
    kind=st.sampled_from(sorted(KINDS)),
    t=st.sampled_from(["auto", 0.7, 3.0]),
    k=st.integers(1, 6),
)
def test_scores_are_those_of_all_pairs(seed, shape, values, kind, t, k):
    """Distances between small integers are exact and tie; copies are neighbours of each other."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    X = np.where(rng.random(shape) < 0.4, X, 0) if values == "thin" else X
    X = rng.integers(-1, 2, shape).astype(float) if values == "integers" else X
    X = X[rng.integers(0, 4, shape[0])] if values == "copies" else X
    np.testing.assert_allclose(scores(KINDS[kind](X), k, bandwidth=t), brute_force(X, k, t), atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_ties_beyond_all_candidates_go_by_index(n_columns, k):
    X = np.random.default_rng(k).integers(-2, 3, (90, n_columns)).astype(float)
    np.testing.assert_allclose(scores(X, k, bandwidth=1.0), brute_force(X, k, 1.0), atol=1e-9)


@pytest.mark.parametrize("kind", ["array", "csr"])
def test_batches_give_equally_many_neighbours(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) + 10
    batch = np.r_[np.zeros(20, dtype=int), np.ones(17, dtype=int), np.full(3, 2)]
    fitted = LaplacianScore(1, n_neighbors=8).fit(KINDS[kind](X), batch=batch)
    assert fitted.n_neighbors_ == 3 + 3 + 2  # the last batch has two others for its own samples
    np.testing.assert_allclose(fitted.scores_, brute_force(X, 8, batch=batch), rtol=1e-6)


@pytest.mark.parametrize("kind", ["array", "csr"])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e150, 1e300])
def test_neither_unit_nor_a_large_mean_costs_digits(kind, unit):
    X = np.round(np.random.default_rng(3).standard_normal((40, 5)) * 1024) / 1024
    expected = brute_force(X, 5)
    np.testing.assert_allclose(scores(KINDS[kind](X * unit)), expected, rtol=1e-7)
    np.testing.assert_allclose(
        scores(KINDS[kind](X + 2.0 ** (28 if kind == "array" else 20))), expected, rtol=1e-7
    )


def test_units_of_columns_from_tiny_to_huge_do_not_overflow():
    X = np.random.default_rng(4).standard_normal((30, 3))
    wide = scores(np.hstack([X, np.full((30, 1), 8e307)]) * [1e-300, 1.0, 1e300, 1.0], bandwidth=1e300)
    assert np.all((wide[:3] <= 0) & (wide[:3] >= -2))
    assert wide[3] == -3  # constant


@pytest.mark.parametrize("t", [1e-310, 1e-30, 1e-3])
def test_a_tiny_bandwidth_leaves_the_nearest_pair(t):
    """Of two rows every feature that varies has the quotient 2."""
    X = 100 * np.random.default_rng(2).standard_normal((20, 3))
    np.testing.assert_allclose(scores(X, 3, bandwidth=t), -2, atol=1e-9)


def test_samples_that_coincide_and_ranges_that_overflow():
    assert scores(np.ones((6, 2)), 2).tolist() == [-3, -3]
    with pytest.raises(ValueError, match="range of the data"):
        scores(np.array([[-1.7e308], [1.7e308], [0.0]]), 1)


def test_single_precision_gives_the_graph_of_the_same_values():
    X = np.random.default_rng(5).uniform(-1, 1, (60, 8)).astype(np.float32)
    for unit in (1e-36, 1.0, 1e38):
        Z = (X * np.float32(unit)).astype(np.float32)
        np.testing.assert_allclose(scores(Z), brute_force(Z.astype(float) / unit, 5), rtol=1e-5)
