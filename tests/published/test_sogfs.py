"""SOGFS: weights, projection and whole fits against transcriptions; the original program's ranking."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from tests.published.oracle import EPS, reference

from ufselect import SOGFS


def squared_distances(points):
    return ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)


def neighbours(squared):
    """Sort each row by distance, the sample itself left out by index."""
    return np.array([[j for j in np.argsort(row, kind="stable") if j != i] for i, row in enumerate(squared)])


def onto_simplex(v):
    """Find the threshold by bisection."""
    low, high = v.min() - 1, v.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(v - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(v - high, 0)


def laplacian_of(S):
    S = (S + S.T) / 2
    return np.diag(S.sum(axis=0)) - S


def literal_rows(X, gamma, m, c, k):
    """Transcribe the published program with dense matrices and full eigendecompositions."""
    n = len(X)
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X**2).sum(axis=0) + EPS)

    def project(L):
        M = X.T @ L @ X
        M = (M + M.T) / 2
        Q, last = np.ones(X.shape[1]), np.inf
        for _ in range(100):
            W = np.linalg.eigh(M + gamma * np.diag(Q))[1][:, :m]
            rows = np.sqrt((W**2).sum(axis=1) + EPS)
            Q = 0.5 / rows
            value = np.trace(W.T @ M @ W) + gamma * rows.sum()
            if last - value < 1e-9:
                break
            last = value
        return W

    squared = squared_distances(X)
    nearest = neighbours(squared)
    S, regularisers = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        d = squared[i, nearest[i, : k + 1]]
        regularisers[i] = (k * d[k] - d[:k].sum()) / 2
        S[i, nearest[i, :k]] = (d[k] - d[:k]) / (k * d[k] - d[:k].sum())
    r = weight = regularisers.mean()
    L = laplacian_of(S)
    F, W = np.linalg.eigh(L)[1][:, :c], project(L)
    for step in range(1, 51):
        to_f, to_x = squared_distances(F), squared_distances(X @ W)
        if step > 5:
            nearest = neighbours(to_x)
        S = np.zeros((n, n))
        for i in range(n):
            j = nearest[i, :k]
            S[i, j] = onto_simplex(-(to_x[i, j] + weight * to_f[i, j]) / (2 * r))
        L = laplacian_of(S)
        W = project(L)
        values, vectors = np.linalg.eigh(L)
        if values[:c].sum() > 1e-9:
            weight, F = 2 * weight, vectors[:, :c]
        elif values[: c + 1].sum() < 1e-11:
            weight = weight / 2
        elif step > 1:
            break
        else:
            F = vectors[:, :c]
    return np.linalg.norm(W, axis=1), step


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = 6 * rng.standard_normal((3, 4))
    informative = centres[np.repeat([0, 1, 2], 25)] + rng.standard_normal((75, 4))
    return np.hstack([rng.standard_normal((75, 8)), informative])


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_follows_the_published_program_where_its_start_is_determined():
    X, gamma = load_wine().data[::2], 0.05
    expected, n_iter = literal_rows(X, gamma, 3, 3, 5)
    fitted = SOGFS(4, n_clusters=3, n_components=3, gamma=gamma, tol=1e-10).fit(X)
    np.testing.assert_allclose(fitted.scores_, expected, atol=1e-3)
    assert fitted.n_iter_ == n_iter


def test_the_original_program_depends_on_the_order_of_the_features(real):
    # With 73 samples and 325 features its first eigenproblem has a null space of more than 250 dimensions.
    # What the eigensolver returns from it lies at the end of the list of features, whatever they are.
    X, _ = real("lung_discrete")
    program = reference("SOGFS")
    assert min(program["ranking"][:7]) >= 317

    fitted = SOGFS(100, n_clusters=7, n_components=7).fit(X)
    reverse = SOGFS(100, n_clusters=7, n_components=7).fit(X[:, ::-1])
    assert np.intersect1d(np.flatnonzero(fitted.support_), np.flatnonzero(reverse.support_[::-1])).size >= 99
    assert fitted.converged_


def test_attributes(blobs):
    fitted = SOGFS(4, n_clusters=3, n_components=2).fit(blobs)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(2), atol=1e-7)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(fitted.components_, axis=0))
    affinity = fitted.affinity_.toarray()
    np.testing.assert_array_equal(affinity, affinity.T)
    np.testing.assert_allclose(affinity.sum(), 75, rtol=1e-6)
    assert np.all(affinity >= 0)
    assert (fitted.n_clusters_, fitted.n_components_, fitted.n_neighbors_) == (3, 2, 5)


def test_automatic_numbers_need_no_labels(blobs):
    fitted = SOGFS(4).fit(blobs)
    assert fitted.n_components_ >= 1
    assert fitted.n_clusters_ == max(2, fitted.n_components_)


def test_a_graph_that_does_not_split_warns(blobs):
    with pytest.warns(ConvergenceWarning, match="set n_clusters"):
        fitted = SOGFS(4, n_clusters=30, n_components=2, max_iter=2).fit(blobs)
    assert not fitted.converged_
    assert fitted.n_iter_ == 2
