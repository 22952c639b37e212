"""The local quadratic of UDFS against loops over samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.solvers import udfs
from ufselect.solvers.udfs import (
    local_scatter_laplacian,
    local_scatter_quadratic,
    mean_lowest_rows,
)


def dense_laplacian(X, neighborhoods, reg):
    """Transcribe L sample by sample."""
    n, size = neighborhoods.shape
    H = np.eye(size) - 1 / size
    L = np.zeros((n, n))
    for members in neighborhoods:
        local = H @ X[members]
        L[np.ix_(members, members)] += H @ np.linalg.inv(local @ local.T + reg * np.eye(size)) @ H
    return L


def example(n=30, d=7, size=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    others = np.array([rng.choice(np.delete(np.arange(n), i), size - 1, replace=False) for i in range(n)])
    return X - X.mean(axis=0), np.column_stack([np.arange(n), others])


@pytest.mark.parametrize("reg", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("size", [2, 4, 9])
def test_laplacian_is_the_sum_over_neighbourhoods(monkeypatch, size, reg):
    X, neighborhoods = example(size=size)
    monkeypatch.setattr(udfs, "BLOCK_BYTES", 2000)  # several blocks of samples
    found = local_scatter_laplacian(X, neighborhoods, reg).toarray()
    np.testing.assert_allclose(found, dense_laplacian(X, neighborhoods, reg), atol=1e-10 / reg)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-10 / reg)


def test_a_singular_scatter_with_the_smallest_regulariser_stays_finite():
    X, neighborhoods = example()
    X[:] = X[0]
    assert np.all(np.isfinite(local_scatter_laplacian(X, neighborhoods, 1e-300).toarray()))
    X[15:] += 1.0
    laplacian = local_scatter_laplacian(X, neighborhoods, 1e-300)
    assert np.all(np.isfinite(local_scatter_quadratic(X, laplacian).matmat(np.eye(7))))


@pytest.mark.parametrize("shape", [(30, 7), (12, 40)])
def test_both_forms_are_the_product(shape):
    X, neighborhoods = example(*shape)
    laplacian = local_scatter_laplacian(X, neighborhoods, 1.0)
    matrix = local_scatter_quadratic(X, laplacian)
    assert matrix.order == shape[1]
    np.testing.assert_allclose(matrix.matmat(np.eye(shape[1])), X.T @ laplacian.toarray() @ X, atol=1e-9)


def test_determined_eigenvectors_give_their_own_rows():
    X, neighborhoods = example()
    matrix = local_scatter_quadratic(X, local_scatter_laplacian(X, neighborhoods, 1.0))
    start = mean_lowest_rows(matrix, 3)
    values, vectors = np.linalg.eigh(matrix.matmat(np.eye(7)))
    np.testing.assert_allclose(start.squared_norms, np.sum(vectors[:, :3] ** 2, axis=1), atol=1e-9)
    assert start.value == pytest.approx(values[:3].sum())
    assert set(np.flatnonzero(start.likely_vectors.sum(axis=1))) == set(np.argsort(-start.squared_norms)[:3])


def test_undetermined_eigenvectors_give_the_mean_over_all_choices():
    X, neighborhoods = example(12, 40)
    matrix = local_scatter_quadratic(X, local_scatter_laplacian(X, neighborhoods, 1.0))
    start = mean_lowest_rows(matrix, 5)
    null = np.linalg.eigh(matrix.matmat(np.eye(40)))[1][:, : 40 - 11]
    rng = np.random.default_rng(0)
    draws = [np.sum((null @ np.linalg.qr(rng.standard_normal((29, 5)))[0]) ** 2, axis=1) for _ in range(4000)]
    np.testing.assert_allclose(start.squared_norms, np.mean(draws, axis=0), atol=0.01)
    assert start.squared_norms.sum() == pytest.approx(5)
    assert start.value == pytest.approx(0, abs=1e-9)


@given(st.integers(3, 14), st.integers(2, 20), st.integers(0, 1000), st.booleans())
def test_rows_add_up_to_the_number_of_vectors(n, d, seed, duplicate):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if duplicate:
        X[:, -1] = X[:, 0]
    X -= X.mean(axis=0)
    neighborhoods = np.column_stack([np.arange(n), np.roll(np.arange(n), 1)])
    matrix = local_scatter_quadratic(X, local_scatter_laplacian(X, neighborhoods, 1.0))
    for count in {1, (d + 1) // 2, d}:
        start = mean_lowest_rows(matrix, count)
        assert start.squared_norms.sum() == pytest.approx(count)
        assert np.all((start.squared_norms >= 0) & (start.squared_norms <= 1))
        values = np.linalg.eigvalsh(matrix.matmat(np.eye(d)))
        assert start.value == pytest.approx(values[:count].sum(), abs=1e-7)
