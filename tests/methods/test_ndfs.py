"""NDFS against a transcription of its update rules, against skfeature, and its own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from ufselect import NDFS
from ufselect.graphs import heat_affinity, nearest_neighbors
from ufselect.methods._pseudo_labels import (
    CentredRows,
    RowSparseRegression,
    multiplicative_step,
    normalised,
    orthogonality_penalty,
    row_norms,
)
from ufselect.methods.ndfs import NonnegativeSpectralAnalysis, normalised_laplacian

EPS = np.finfo(float).eps


def clusters(n=45, d=12, seed=0, n_clusters=3, apart=6.0):
    """Return rows of well separated clusters, centred and of mean squared norm 1, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_clusters
    centres = np.zeros((n_clusters, d))
    centres[:, :4] = apart * rng.standard_normal((n_clusters, 4))
    X = centres[labels] + rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1))), labels


def start(labels):
    indicator = np.eye(labels.max() + 1)[labels]
    return normalised(indicator / np.sqrt(indicator.sum(axis=0)) + 0.02)


def dense_laplacian(X, k):
    """Transcribe the normalised Laplacian of the heat kernel, of mean bandwidth, of nearest neighbours."""
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1, kind="stable")[:, :k]
    S = np.zeros_like(distances)
    t = np.mean(np.take_along_axis(distances, near, axis=1))
    for i, others in enumerate(near):
        S[i, others] = np.exp(-(distances[i, others] ** 2) / (2 * t**2))
    S = np.maximum(S, S.T)
    roots = np.diag(1 / np.sqrt(S.sum(axis=1)))
    return np.eye(len(X)) - roots @ S @ roots


def literal(X, L, F, alpha, beta, gamma, n_steps):
    """Transcribe the published iteration with explicit inverses; return W, F and the objectives."""
    n, d = X.shape
    W = np.linalg.inv(X.T @ X + beta * np.eye(d)) @ X.T @ F
    history = []

    def note():
        history.append(
            np.trace(F.T @ L @ F)
            + alpha * (np.linalg.norm(X @ W - F) ** 2 + beta * np.sqrt(np.sum(W**2, axis=1) + EPS).sum())
            + gamma / 2 * np.linalg.norm(F.T @ F - np.eye(F.shape[1])) ** 2
        )

    note()
    for _ in range(n_steps):
        G = np.diag(0.5 / np.sqrt(np.sum(W**2, axis=1) + EPS))
        inverse = np.linalg.inv(X.T @ X + beta * G)
        M = L + alpha * (np.eye(n) - X @ inverse @ X.T)
        F = F * (gamma * F) / (M @ F + gamma * F @ F.T @ F)
        F = F / np.linalg.norm(F, axis=0)
        W = inverse @ X.T @ F
        note()
    return W, F, np.array(history)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
@pytest.mark.parametrize(("alpha", "beta", "gamma"), [(1.0, 0.1, 1e8), (0.1, 0.01, 1e3), (5.0, 0.3, 1e4)])
def test_follows_the_published_rules(shape, alpha, beta, gamma):
    X, labels = clusters(*shape)
    L = dense_laplacian(X, 4)
    method = NonnegativeSpectralAnalysis(
        CentredRows(X), sparse.csr_array(L), start(labels), alpha, beta, gamma
    )
    state, history = method.init(), []
    for _ in range(8):
        history.append(state.objective)
        state = method.step(state)
    W, F, objectives = literal(X, L, start(labels), alpha, beta, gamma, 8)
    np.testing.assert_allclose(history, objectives[:-1], rtol=1e-7)
    np.testing.assert_allclose(state.labels, F, atol=1e-8)
    np.testing.assert_allclose(state.coefficients, W, atol=1e-7)
    fitted = NDFS(5, n_clusters=3, n_neighbors=4, alpha=alpha, beta=beta, gamma=gamma, max_iter=8, tol=0)
    fitted.fit(3.0 * X + 7.0)  # units and shifts do not matter
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(W, axis=1), atol=1e-7)


def test_laplacian_is_the_definition():
    X, _ = clusters(30, 5)
    found = normalised_laplacian(heat_affinity(*nearest_neighbors(X, 4)))
    np.testing.assert_allclose(found.toarray(), dense_laplacian(X, 4), atol=1e-12)


@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
def test_agrees_with_skfeature(shape):
    """Its Laplacian is no Laplacian, but a matrix can be passed for which its formula gives ours."""
    ndfs = pytest.importorskip("skfeature.function.sparse_learning_based.NDFS").ndfs
    X, _ = clusters(*shape)
    n = len(X)
    L = dense_laplacian(X, 5)
    rows = L.sum(axis=1)
    sums = rows.sum() / (n - 1) - rows
    given = sparse.csc_matrix(np.tile(sums, (n, 1)) - L)
    theirs = ndfs(X.copy(), mode="raw", W=given, n_clusters=3, alpha=1.0, beta=0.1, gamma=1e8)
    ours = NDFS(5, n_clusters=3, alpha=1.0, beta=0.1, tol=1e-6, max_iter=500, random_state=0).fit(X)
    expected = np.linalg.norm(np.asarray(theirs), axis=1)
    np.testing.assert_allclose(ours.scores_, expected, atol=0.02 * expected.max())
    assert set(np.argsort(-ours.scores_)[:4]) == set(np.argsort(-expected)[:4])


@given(st.integers(6, 40), st.integers(2, 50), st.integers(0, 1000), st.sampled_from([1e-2, 1.0, 1e3, 1e8]))
def test_the_objective_never_rises(n, d, seed, gamma):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    rows = CentredRows(X)
    laplacian = normalised_laplacian(heat_affinity(*nearest_neighbors(X, 3)))
    labels = start(rng.permutation(np.arange(n) % 3))
    method = NonnegativeSpectralAnalysis(rows, laplacian, labels, 1.0, 0.1, gamma)
    state = method.init()
    for _ in range(6):
        new = method.step(state)
        assert new.objective <= state.objective
        assert np.all(new.labels >= 0)
        state = new


@given(st.integers(5, 30), st.integers(2, 30), st.integers(0, 1000), st.booleans())
def test_regression_minimises_its_quadratic(n, d, seed, is_sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[0] += 1.0
    F, norms, weights = rng.standard_normal((n, 2)), rng.random(d) + 1e-3, rng.random(n) + 0.1
    rows = CentredRows(sparse.csr_array(X) if is_sparse else X)
    A = X - X.mean(axis=0)
    A /= np.sqrt(np.mean(np.sum(A**2, axis=1)))
    expected = np.linalg.solve(
        A.T @ (weights[:, None] * A) + 0.3 * np.diag(0.5 / norms), A.T @ (weights[:, None] * F)
    )
    found = RowSparseRegression(rows, norms, 0.3, weights).solve(F)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(rows.times(found), A @ expected, atol=1e-9)
    np.testing.assert_allclose(rows.squared_norms(), np.sum(A**2, axis=1), atol=1e-9)


def test_a_step_that_would_raise_the_value_is_shortened():
    rng = np.random.default_rng(3)
    target = rng.random((20, 2))
    labels = normalised(rng.random((20, 2)) + 0.1)

    def value(F):
        return 500 * float(np.sum((F - target) ** 2)) + 0.5 * orthogonality_penalty(F)

    moved = multiplicative_step(labels, 500 * (labels - target), 1.0, value)
    assert value(moved) < value(labels)
    assert np.all(moved >= 0)


def test_finds_the_features_that_make_the_clusters():
    X, labels = clusters(90, 30)
    fitted = NDFS(4, n_clusters=3, random_state=0).fit(X)
    assert set(np.flatnonzero(fitted.support_)) <= {0, 1, 2, 3}
    pairs = set(zip(fitted.labels_, labels, strict=True))
    assert len(pairs) == 3  # the same clusters, whatever their numbers


@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
def test_sparse_data_give_the_same_scores(shape):
    X, _ = clusters(*shape)
    X = np.where(np.abs(X) > 0.2, X, 0.0)
    dense = NDFS(4, n_clusters=3, random_state=0).fit(X)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        np.testing.assert_allclose(
            NDFS(4, n_clusters=3, random_state=0).fit(kind(X)).scores_, dense.scores_, atol=1e-8
        )


@pytest.mark.parametrize("shape", [(45, 12), (24, 60)])
def test_constant_and_duplicate_columns_do_no_harm(shape):
    X, _ = clusters(*shape)
    more = np.column_stack([np.full(len(X), 1e3), X, X[:, 0], np.zeros(len(X))])
    fitted = NDFS(5, n_clusters=3, random_state=0).fit(more)
    assert np.all(fitted.scores_[[0, -1]] == 0)
    assert fitted.scores_[1] == pytest.approx(fitted.scores_[-2], rel=1e-6)


def test_more_clusters_than_rows_are_refused():
    X, _ = clusters(10, 4)
    with pytest.raises(ValueError, match="n_clusters=11 is more than the 10 rows"):
        NDFS(2, n_clusters=11).fit(X)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_rows_that_repeat_leave_clusters_empty_and_scores_finite():
    X = np.repeat(np.arange(6.0).reshape(2, 3), 5, axis=0)
    assert np.all(np.isfinite(NDFS(1, n_clusters=4, n_neighbors=2, random_state=0).fit(X).scores_))


def test_row_norms_are_those_of_the_objective():
    assert row_norms(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [5.0, np.sqrt(EPS)]
