"""NDFS and RUFS against transcriptions of their rules, against skfeature and BFGS, and their own promises."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.published.oracle import EPS, heat_graph, nearest

from ufselect import NDFS, RUFS

SHAPES = pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
BOTH = pytest.mark.parametrize("selector", [NDFS, RUFS])


def clusters(n=45, d=12, n_clusters=3):
    """Return rows of well separated clusters, centred and of mean squared norm 1, and their labels."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % n_clusters
    centres = np.zeros((n_clusters, d))
    centres[:, :4] = 6 * rng.standard_normal((n_clusters, 4))
    X = centres[labels] + rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1))), labels


def start(labels):
    indicator = np.eye(labels.max() + 1)[labels]
    raised = indicator / np.sqrt(indicator.sum(axis=0)) + 0.02
    return raised / np.linalg.norm(raised, axis=0)


def heat_laplacian(X, k):
    """Transcribe the normalised Laplacian of the graph of nearest neighbours."""
    S = heat_graph(X, k)
    roots = np.diag(1 / np.sqrt(S.sum(axis=1)))
    return np.eye(len(X)) - roots @ S @ roots


def norms(matrix):
    return np.sqrt(np.sum(matrix**2, axis=1) + EPS)


def literal_ndfs(X, L, F, alpha, beta, gamma, n_steps):
    """Transcribe the published iteration with explicit inverses; return W, F and the objectives."""
    n, d = X.shape
    W = np.linalg.inv(X.T @ X + beta * np.eye(d)) @ X.T @ F
    history = []

    def note():
        history.append(
            np.trace(F.T @ L @ F)
            + alpha * (np.linalg.norm(X @ W - F) ** 2 + beta * norms(W).sum())
            + gamma / 2 * np.linalg.norm(F.T @ F - np.eye(F.shape[1])) ** 2
        )

    note()
    for _ in range(n_steps):
        G = np.diag(0.5 / norms(W))
        inverse = np.linalg.inv(X.T @ X + beta * G)
        M = L + alpha * (np.eye(n) - X @ inverse @ X.T)
        F = F * (gamma * F) / (M @ F + gamma * F @ F.T @ F)
        F = F / np.linalg.norm(F, axis=0)
        W = inverse @ X.T @ F
        note()
    return W, F, np.array(history)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@SHAPES
@pytest.mark.parametrize(("alpha", "beta", "gamma"), [(1.0, 0.1, 1e8), (0.1, 0.01, 1e3), (5.0, 0.3, 1e4)])
def test_ndfs_follows_the_published_rules(shape, alpha, beta, gamma):
    X, labels = clusters(*shape)
    L = heat_laplacian(X, 4)
    W, _, objectives = literal_ndfs(X, L, start(labels), alpha, beta, gamma, 8)
    fitted = NDFS(5, n_clusters=3, n_neighbors=4, alpha=alpha, beta=beta, gamma=gamma, max_iter=8, tol=0)
    fitted.fit(3.0 * X + 7.0)  # units and shifts do not matter
    np.testing.assert_allclose(fitted.objective_history_, objectives, rtol=1e-7)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(W, axis=1), atol=1e-7)


@SHAPES
def test_ndfs_agrees_with_skfeature(shape):
    """Its Laplacian is no Laplacian, but a matrix can be passed for which its formula gives ours."""
    ndfs = pytest.importorskip("skfeature.function.sparse_learning_based.NDFS").ndfs
    X, _ = clusters(*shape)
    n = len(X)
    L = heat_laplacian(X, 5)
    rows = L.sum(axis=1)
    sums = rows.sum() / (n - 1) - rows
    given = sparse.csc_matrix(np.tile(sums, (n, 1)) - L)
    theirs = ndfs(X.copy(), mode="raw", W=given, n_clusters=3, alpha=1.0, beta=0.1, gamma=1e8)
    ours = NDFS(5, n_clusters=3, alpha=1.0, beta=0.1, tol=1e-6, max_iter=500, random_state=0).fit(X)
    expected = np.linalg.norm(np.asarray(theirs), axis=1)
    np.testing.assert_allclose(ours.scores_, expected, atol=0.02 * expected.max())
    assert set(np.argsort(-ours.scores_)[:4]) == set(np.argsort(-expected)[:4])


def local_laplacian(X, k):
    """Transcribe the local learning of each row from its neighbours."""
    near, distances = nearest(X, k)
    t = np.mean(np.take_along_axis(distances, near, axis=1))
    np.fill_diagonal(distances, 0)
    kernel = np.exp(-(distances**2) / (2 * t**2))
    A = np.zeros_like(distances)
    for i, members in enumerate(near):
        A[i, members] = kernel[i, members] @ np.linalg.inv(kernel[np.ix_(members, members)] + np.eye(k))
    return (np.eye(len(X)) - A).T @ (np.eye(len(X)) - A)


def objective(X, L, G, F, W, nu, alpha, beta, zeta):
    return (
        norms(X - G @ F).sum()
        + nu * np.trace(G.T @ L @ G)
        + alpha * norms(X @ W - G).sum()
        + beta * norms(W).sum()
        + zeta / 4 * np.linalg.norm(G.T @ G - np.eye(G.shape[1])) ** 2
    )


def literal_rufs(X, L, G, nu, alpha, beta, zeta, n_steps):
    """Transcribe the four steps of the notes with explicit inverses."""
    d = X.shape[1]
    F = np.linalg.inv(G.T @ G) @ G.T @ X
    W = np.linalg.inv(X.T @ X + beta / alpha * np.eye(d)) @ X.T @ G
    history = [objective(X, L, G, F, W, nu, alpha, beta, zeta)]
    for _ in range(n_steps):
        B, D = np.diag(0.5 / norms(X @ W - G)), np.diag(0.5 / norms(W))
        W = np.linalg.inv(alpha * X.T @ B @ X + beta * D) @ X.T @ (alpha * B) @ G
        B, C = np.diag(0.5 / norms(X @ W - G)), np.diag(0.5 / norms(X - G @ F))
        H = C @ (G @ F - X) @ F.T + nu * L @ G + alpha * B @ (G - X @ W)
        G = G * (zeta / 2 * G) / (H + zeta / 2 * G @ G.T @ G)
        G = G / np.linalg.norm(G, axis=0)
        C = np.diag(0.5 / norms(X - G @ F))
        F = np.linalg.inv(G.T @ C @ G) @ G.T @ C @ X
        history.append(objective(X, L, G, F, W, nu, alpha, beta, zeta))
    return W, np.array(history)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@SHAPES
@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.3, 1e7), (0.5, 2.0, 1.0, 1e4)])
def test_rufs_follows_its_definition(shape, weights):
    X, labels = clusters(*shape)
    W, history = literal_rufs(X, local_laplacian(X, 4), start(labels), *weights, 6)
    nu, alpha, beta, zeta = weights
    fitted = RUFS(5, n_clusters=3, n_neighbors=4, nu=nu, alpha=alpha, beta=beta, zeta=zeta, tol=0, max_iter=6)
    fitted.fit(3.0 * X + 7.0)  # units and shifts do not matter
    np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-6)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(W, axis=1), atol=1e-6)


@BOTH
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
@given(st.integers(8, 40), st.integers(2, 50), st.integers(0, 1000), st.sampled_from([1e-2, 1.0, 1e3, 1e8]))
def test_the_objective_never_rises_and_sparse_data_give_the_same(selector, n, d, seed, weight):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[0] += 1.0
    settings = {"gamma" if selector is NDFS else "zeta": weight, "n_clusters": 3, "max_iter": 6, "tol": 0}
    fitted = selector(1, n_neighbors=3, random_state=0, **settings).fit(X)
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    alike = selector(1, n_neighbors=3, random_state=0, **settings).fit(sparse.csr_array(X))
    np.testing.assert_allclose(alike.scores_, fitted.scores_, atol=1e-6)


@BOTH
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_fewer_clusters_than_asked_for(selector):
    """K-means finds no more clusters than there are different rows."""
    rows = np.repeat(np.random.default_rng(0).standard_normal((3, 6)), 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(selector(3, n_clusters=6, random_state=0).fit(rows).scores_).all()
