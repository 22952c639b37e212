"""UDFS: its parts against loops over samples, its fits against the definition and the original program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from tests.published.oracle import EPS, low_rank, nearest, overlap, reference

from ufselect import UDFS


def dense_laplacian(X, neighborhoods, reg):
    """Transcribe L sample by sample."""
    n, size = neighborhoods.shape
    H = np.eye(size) - 1 / size
    L = np.zeros((n, n))
    for members in neighborhoods:
        local = H @ X[members]
        L[np.ix_(members, members)] += H @ np.linalg.inv(local @ local.T + reg * np.eye(size)) @ H
    return L


def local_matrix(X, k, reg):
    """Return M for the k nearest neighbours."""
    neighborhoods = np.column_stack([np.arange(len(X)), nearest(X, k)[0]])
    M = X.T @ dense_laplacian(X, neighborhoods, reg) @ X
    return (M + M.T) / 2


def literal(M, m, gamma, n_steps, driver="evr", rows=None):
    """Transcribe the reweighted eigenproblem; ``rows`` replaces the first solution."""
    weights = np.ones(len(M)) if rows is None else 0.5 / rows
    history = []
    for _ in range(n_steps):
        W = linalg.eigh(M + gamma * np.diag(weights), driver=driver)[1][:, :m]
        rows = np.sqrt(np.sum(W**2, axis=1) + EPS)
        history.append(np.trace(W.T @ M @ W) + gamma * rows.sum())
        weights = 0.5 / rows
    return rows, np.array(history)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("gamma", "reg", "k"), [(0.1, 10.0, 5), (1.0, 0.1, 1), (10.0, 1.0, 8), (1.0, 1.0, 59)]
)
def test_follows_the_definition(gamma, reg, k):
    X = low_rank(60, 12, 0.5)
    fitted = UDFS(n_clusters=3, n_neighbors=k, gamma=gamma, reg=reg, max_iter=7, tol=0.0).fit(X)
    rows, history = literal(local_matrix(X, k, reg), 3, gamma, fitted.n_iter_ + 1)
    np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-8)
    np.testing.assert_allclose(fitted.scores_, rows, atol=1e-6)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(3), atol=1e-9)


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_a_real_set_with_a_unique_start_matches_the_definition(real):
    X, y = real("usps")
    m = np.unique(y).size
    rows, history = literal(local_matrix(X, 5, 1.0), m, 1.0, 7)
    with pytest.warns(ConvergenceWarning):
        fitted = UDFS(100, n_clusters=m, max_iter=6, tol=0.0).fit(X)
    np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-7)
    assert overlap(fitted.scores_, rows, 100) >= 98


def test_wide_data_match_the_definition_from_the_same_start():
    X = low_rank(15, 40, 0.5)
    M = local_matrix(X, 5, 1.0)
    null = linalg.eigh(M)[1][:, : 40 - 14]
    start = np.sqrt(3 / 26 * np.sum(null**2, axis=1))
    rows, history = literal(M, 3, 1.0, 8, rows=start)
    with pytest.warns(ConvergenceWarning):
        fitted = UDFS(n_clusters=3, max_iter=8, tol=0.0).fit(X)
    np.testing.assert_allclose(fitted.objective_history_[1:], history, rtol=1e-7)
    np.testing.assert_allclose(fitted.scores_, rows, atol=1e-5)


def test_the_original_ranking_of_wide_data_is_rounding_and_ours_is_better(real):
    # M has rank 72 of 325, so that the first solution of the original is any basis of the null space. The
    # same lines with another LAPACK driver, all correct, agree in fewer than half of the first 100 features.
    X, _ = real("lung_discrete")
    program = reference("UDFS")
    M = local_matrix(X, 5, 1.0)
    variants = [literal(M, 7, 1.0, 20, driver) for driver in ("ev", "evd", "evr")]
    original = np.empty(325)
    original[program["ranking"]] = -np.arange(325)
    for rows, history in variants:
        assert overlap(rows, original, 100) < 60
        assert abs(history[-1] / program["objective"][-1] - 1) < 0.1
    with pytest.warns(ConvergenceWarning):
        fitted = UDFS(100, n_clusters=7, max_iter=19, tol=0.0).fit(X)
    assert fitted.objective_history_[-1] < 0.85 * program["objective"][-1]
    shuffled = np.random.default_rng(0).permutation(325)
    with pytest.warns(ConvergenceWarning):
        again = UDFS(100, n_clusters=7, max_iter=19, tol=0.0).fit(X[:, shuffled])
    np.testing.assert_allclose(again.scores_, fitted.scores_[shuffled], atol=1e-6)


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_the_automatic_number_of_clusters_is_at_least_two():
    rng = np.random.default_rng(0)
    one_direction = np.outer(rng.standard_normal(30), rng.standard_normal(8))
    fitted = UDFS().fit(one_direction + 0.01 * rng.standard_normal((30, 8)))
    assert fitted.n_clusters_ == 2
