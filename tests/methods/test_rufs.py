"""RUFS: each step against its definition and against BFGS, as published, and its own promises."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from ufselect import RUFS
from ufselect.graphs import nearest_neighbors
from ufselect.methods._pseudo_labels import CentredRows, normalised
from ufselect.methods.rufs import RobustLabelRegression, local_learning_laplacian

EPS = np.finfo(float).eps


def clusters(n=45, d=12, seed=0, n_clusters=3):
    """Return rows of well separated clusters, centred and of mean squared norm 1, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_clusters
    centres = np.zeros((n_clusters, d))
    centres[:, :4] = 6 * rng.standard_normal((n_clusters, 4))
    X = centres[labels] + rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1))), labels


def start(labels):
    indicator = np.eye(labels.max() + 1)[labels]
    return normalised(indicator / np.sqrt(indicator.sum(axis=0)) + 0.02)


def dense_laplacian(X, k):
    """Transcribe the local learning of each row from its neighbours."""
    distances = cdist(X, X)
    others = distances + np.diag(np.full(len(X), np.inf))
    near = np.argsort(others, axis=1, kind="stable")[:, :k]
    t = np.mean(np.take_along_axis(distances, near, axis=1))
    kernel = np.exp(-(distances**2) / (2 * t**2))
    A = np.zeros_like(distances)
    for i, members in enumerate(near):
        A[i, members] = kernel[i, members] @ np.linalg.inv(kernel[np.ix_(members, members)] + np.eye(k))
    return (np.eye(len(X)) - A).T @ (np.eye(len(X)) - A)


def norms(matrix):
    return np.sqrt(np.sum(matrix**2, axis=1) + EPS)


def objective(X, L, G, F, W, nu, alpha, beta, zeta):
    return (
        norms(X - G @ F).sum()
        + nu * np.trace(G.T @ L @ G)
        + alpha * norms(X @ W - G).sum()
        + beta * norms(W).sum()
        + zeta / 4 * np.linalg.norm(G.T @ G - np.eye(G.shape[1])) ** 2
    )


def literal(X, L, G, nu, alpha, beta, zeta, n_steps):
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
@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.3, 1e7), (0.5, 2.0, 1.0, 1e4)])
def test_follows_its_definition(shape, weights):
    X, labels = clusters(*shape)
    W, history = literal(X, dense_laplacian(X, 4), start(labels), *weights, 6)
    nu, alpha, beta, zeta = weights
    fitted = RUFS(5, n_clusters=3, n_neighbors=4, nu=nu, alpha=alpha, beta=beta, zeta=zeta, tol=0, max_iter=6)
    fitted.fit(3.0 * X + 7.0)  # units and shifts do not matter
    np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-6)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(W, axis=1), atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 6), (16, 30)])
def test_coefficients_and_centres_end_where_bfgs_does(shape):
    """For fixed labels the problem is convex, and the published method finds its minimum."""
    X, labels = clusters(*shape)
    G = np.eye(3)[labels] / np.sqrt(np.bincount(labels))
    method = RobustLabelRegression(CentredRows(X), sparse.csr_array((len(X), len(X))), G, 0.0, 1.0, 0.3, 1e12)
    state = method.init()
    for _ in range(300):
        state = method.step(state)
    d = X.shape[1]

    def split(flat):
        return flat[: 3 * d].reshape(3, d), flat[3 * d :].reshape(d, 3)

    def value(flat):
        F, W = split(flat)
        first, second = X - G @ F, X @ W - G
        f = norms(first).sum() + norms(second).sum() + 0.3 * norms(W).sum()
        to_F = -G.T @ (first / norms(first)[:, None])
        to_W = X.T @ (second / norms(second)[:, None]) + 0.3 * W / norms(W)[:, None]
        return f, np.concatenate([to_F.ravel(), to_W.ravel()])

    begin = np.concatenate([(G.T @ X).ravel(), np.zeros(3 * d)])
    best = optimize.minimize(value, begin, jac=True, method="L-BFGS-B", options={"maxiter": 5000}).fun
    np.testing.assert_allclose(state.labels, G, atol=1e-8)  # orthogonality holds them
    assert state.objective <= best * (1 + 1e-4)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_local_learning_is_the_definition(is_sparse):
    X, _ = clusters(30, 5)
    data = sparse.csr_array(X) if is_sparse else X
    found = local_learning_laplacian(data, *nearest_neighbors(X, 4))
    np.testing.assert_allclose(found.toarray(), dense_laplacian(X, 4), atol=1e-10)


def test_rows_that_coincide_have_a_laplacian():
    found = local_learning_laplacian(np.ones((6, 2)), *nearest_neighbors(np.ones((6, 2)), 3))
    assert np.all(np.isfinite(found.toarray()))


@given(st.integers(6, 40), st.integers(2, 50), st.integers(0, 1000), st.sampled_from([1e-2, 1.0, 1e3, 1e7]))
def test_the_objective_never_rises(n, d, seed, zeta):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    rows = CentredRows(X)
    laplacian = local_learning_laplacian(rows.data, *nearest_neighbors(rows.data, 3))
    labels = start(rng.permutation(np.arange(n) % 3))
    method = RobustLabelRegression(rows, laplacian, labels, 1.0, 1.0, 0.3, zeta)
    state = method.init()
    assert state.objective == pytest.approx(
        objective(
            rows.data, laplacian.toarray(), labels, state.centres, state.coefficients, 1.0, 1.0, 0.3, zeta
        )
    )
    for _ in range(6):
        new = method.step(state)
        assert new.objective <= state.objective
        assert np.all(new.labels >= 0)
        state = new


def test_finds_the_features_that_make_the_clusters():
    X, labels = clusters(90, 30)
    fitted = RUFS(4, n_clusters=3, random_state=0).fit(X)
    assert set(np.flatnonzero(fitted.support_)) == {0, 1, 2, 3}
    assert len(set(zip(fitted.labels_, labels, strict=True))) == 3  # up to their numbers


@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
def test_sparse_data_give_the_same_scores(shape):
    X, _ = clusters(*shape)
    X = np.where(np.abs(X) > 0.2, X, 0.0)
    dense = RUFS(4, n_clusters=3, random_state=0).fit(X)
    found = RUFS(4, n_clusters=3, random_state=0).fit(sparse.csr_array(X))
    np.testing.assert_allclose(found.scores_, dense.scores_, atol=1e-6)


@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
def test_constant_and_duplicate_columns_do_no_harm(shape):
    X, _ = clusters(*shape)
    more = np.column_stack([np.full(len(X), 1e3), X, X[:, 0], np.zeros(len(X))])
    fitted = RUFS(5, n_clusters=3, random_state=0).fit(more)
    assert np.all(fitted.scores_[[0, -1]] == 0)
    assert fitted.scores_[1] == pytest.approx(fitted.scores_[-2], rel=1e-6)


def test_fewer_clusters_than_asked_for():
    """K-means finds no more clusters than there are different rows."""
    rows = np.repeat(np.random.default_rng(0).standard_normal((3, 6)), 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(RUFS(3, n_clusters=6, random_state=0).fit(rows).scores_).all()
