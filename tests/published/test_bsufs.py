"""BSUFS: its proximal maps against a grid, its loop against a transcription, and its own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from tests.published.oracle import low_rank

from ufselect import BSUFS

EXPONENTS = [0.0, 0.1, 0.3, 1 / 2, 0.6, 2 / 3, 0.9]


def cost(u, v, weight, q):
    return weight * np.where(u > 0, np.abs(u) ** q, 0.0) + (u - v) ** 2 / 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("q", "p"), [(0.5, 0.5), (2 / 3, 0.0), (0.0, 0.3), (0.3, 0.6)])
def test_the_loop_follows_the_published_steps(q, p):
    """Transcribed entry by entry, with the minimum of each found among its stationary points."""
    A = low_rank(60, 12, rank=4)
    A -= A.mean(axis=0)
    S, tau = A.T @ A, 1e-3
    unit = np.linalg.eigvalsh(S)[-1]
    weight_entry, weight_row, mu_entry, mu_row = np.array([0.03, 0.04, 0.2, 0.1]) * unit
    fitted = BSUFS(
        3,
        n_components=3,
        q=q,
        p=p,
        tau=tau,
        tol=0,
        max_iter=2,
        weight_entry=0.03,
        weight_row=0.04,
        mu_entry=0.2,
        mu_row=0.1,
    ).fit(A + 5)

    def proximal(v, weight, q):
        """Minimise over 0 and the larger root, found by bisection."""
        low = (weight * q * (1 - q)) ** (1 / (2 - q))  # where the slope is least
        if q > 0 and low + weight * q * low ** (q - 1) > v:
            return 0.0
        high = v
        for _ in range(100 if q > 0 else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if middle + weight * q * middle ** (q - 1) < v else (low, middle)
        return high if cost(np.array(high), v, weight, q) < v**2 / 2 else 0.0

    def copies(W, U, V):
        U_new, V_new = np.zeros_like(U), np.zeros_like(V)
        for i, j in np.ndindex(*U.shape):
            v = (W[i, j] + tau * U[i, j]) / (1 + tau)
            weight = weight_entry / (2 * mu_entry * (1 + tau))
            U_new[i, j] = np.sign(v) * proximal(abs(v), weight, q)
        for i in range(len(V)):
            row = (W[i] + tau * V[i]) / (1 + tau)
            weight = weight_row / (2 * mu_row * (1 + tau))
            V_new[i] = row / np.linalg.norm(row) * proximal(np.linalg.norm(row), weight, p)
        return U_new, V_new

    def value(W, U, V):
        entries, rows = np.abs(U[U != 0]), np.linalg.norm(V, axis=1)
        return (
            -np.trace(W.T @ S @ W)
            + weight_entry * np.sum(entries**q)
            + weight_row * np.sum(rows[rows > 0] ** p)
            + mu_entry * np.linalg.norm(W - U) ** 2
            + mu_row * np.linalg.norm(W - V) ** 2
        )

    W = np.linalg.eigh(S)[1][:, :-4:-1]
    U, V = copies(W, W, W)
    expected = [value(W, U, V)]
    for _ in range(2):  # then steps are extrapolated
        W = linalg.polar(S @ W + mu_entry * U + mu_row * V + tau * unit * W)[0]
        U, V = copies(W, U, V)
        expected.append(value(W, U, V))
    np.testing.assert_allclose(fitted.objective_history_, expected, rtol=1e-8)
    assert 0 < np.count_nonzero(U) < U.size
    assert 0 < np.count_nonzero(V.any(axis=1)) < len(V)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    st.integers(5, 40),
    st.integers(3, 30),
    st.integers(0, 1000),
    st.sampled_from(EXPONENTS),
    st.sampled_from(EXPONENTS),
    st.sampled_from(["auto", 1e-3, 0.1]),
)
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_the_objective_never_rises(n, d, seed, q, p, weight):
    X = np.random.default_rng(seed).standard_normal((n, d))
    fitted = BSUFS(2, n_components=2, q=q, p=p, weight_entry=weight, weight_row=weight, tol=0).fit(X)
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("q", [0.0, 0.4, 0.5])
def test_auto_sets_the_threshold_at_the_root_mean_square(q):
    X = low_rank(60, 12, rank=4)
    fitted = BSUFS(3, n_components=3, q=q, p=q, tau=0.0).fit(X)
    loadings = fitted.components_.T
    norms = np.linalg.norm(loadings, axis=1)
    np.testing.assert_array_equal(fitted.entry_sparse_components_.T != 0, np.abs(loadings) > np.sqrt(1 / 12))
    np.testing.assert_array_equal(fitted.row_sparse_components_.any(axis=0), norms > np.sqrt(3 / 12))


def test_without_penalties_it_is_pca():
    X = low_rank(60, 12, rank=4)
    fitted = BSUFS(3, n_components=3, weight_entry=0, weight_row=0).fit(X)
    vectors = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:3]
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(vectors, axis=0), atol=1e-8)


def test_relative_units_do_not_depend_on_those_of_the_data():
    X = low_rank(60, 12, rank=4)
    first = BSUFS(3, n_components=3).fit(X)
    np.testing.assert_allclose(BSUFS(3, n_components=3).fit(1e6 * X + 5).scores_, first.scores_, atol=1e-8)
    largest = np.linalg.norm(X - X.mean(axis=0), ord=2) ** 2
    weights = {"weight_entry": 1e-3, "weight_row": 2e-3, "mu_entry": 0.1, "mu_row": 0.01, "tau": 1e-3}
    relative = BSUFS(3, n_components=3, **weights).fit(X)
    absolute = {name: value * largest for name, value in weights.items() if name != "tau"}
    same = BSUFS(3, n_components=3, penalty_scale="absolute", tau=0.0, **absolute).fit(X)
    np.testing.assert_allclose(same.scores_, relative.scores_, atol=5e-3)  # but for tau
    with pytest.raises(ValueError, match="mu_row=1e\\+200 is too large"):
        BSUFS(3, mu_row=1e200).fit(X)
