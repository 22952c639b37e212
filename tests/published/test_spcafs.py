"""SPCAFS against its definition, the original program and PCA."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning
from tests.published.oracle import EPS, low_rank, reference

from ufselect import SPCAFS, PCALeverage


def literal(X, m, gamma, p, n_steps):
    """Transcribe the reweighted eigenproblem with dense matrices."""
    A = X - X.mean(axis=0)
    S = A.T @ A
    weights = np.ones(len(S))
    history = []
    for _ in range(n_steps + 1):
        W = linalg.eigh(S - gamma * np.diag(weights))[1][:, -m:]
        squares = np.sum(W**2, axis=1)
        history.append(-np.trace(W.T @ S @ W) + gamma * np.sum((squares + EPS) ** (p / 2)))
        weights = p / 2 * (squares + EPS) ** ((p - 2) / 2)
    return np.sqrt(squares), np.array(history)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(60, 20), (15, 50)])
@pytest.mark.parametrize("p", [0.5, 1.0])
@pytest.mark.parametrize("gamma", [1.0, 30.0])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_follows_the_definition(shape, p, gamma, kind):
    X = low_rank(*shape)
    fitted = SPCAFS(n_components=3, gamma=gamma, p=p, max_iter=8, tol=0.0).fit(kind(X))
    norms, history = literal(X, 3, gamma, p, fitted.n_iter_)
    np.testing.assert_allclose(fitted.scores_, norms, atol=1e-6)
    np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-8)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(3), atol=1e-9)
    assert fitted.n_iter_ >= 3


def test_agrees_with_the_original_program(real):
    X, _ = real("lung_discrete")
    program = reference("SPCAFS_sym")
    fitted = SPCAFS(100, n_components=7, gamma=1.0, p=0.5, tol=1e-12).fit(X)
    ranking = np.argsort(fitted.ranking_)
    assert len(set(ranking[:100]) & set(program["ranking"][:100])) >= 99
    np.testing.assert_allclose(fitted.objective_history_[:3], program["objective"], rtol=1e-10)


def test_another_real_set_matches_the_definition(real):
    X, y = real("usps")
    m = np.unique(y).size
    gamma = 1e-3 * np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    fitted = SPCAFS(100, n_components=m, gamma=gamma, max_iter=5, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        fitted.fit(X)
    norms, history = literal(X, m, gamma, 0.5, 5)
    np.testing.assert_allclose(fitted.objective_history_, history, rtol=1e-9)
    np.testing.assert_allclose(fitted.scores_, norms, atol=1e-5)


def test_without_penalty_it_is_pca_leverage():
    X = low_rank(40, 15)
    fitted = SPCAFS(n_components=4, gamma=0.0).fit(X)
    np.testing.assert_allclose(fitted.scores_, PCALeverage(n_components=4).fit(X).scores_, atol=1e-8)
    assert fitted.converged_


def test_a_large_penalty_leaves_as_many_rows_as_components():
    X = low_rank(40, 15)
    fitted = SPCAFS(n_components=3, gamma=1e5).fit(X)
    small = fitted.scores_[fitted.scores_ < 1e-6]
    assert np.unique(small).size == 12  # the rest is still ranked


def test_a_penalty_beyond_comparison_with_the_data_is_refused():
    with pytest.raises(ValueError, match=r"gamma=1.0 is too large .* rescale X"):
        SPCAFS().fit(1e-200 * low_rank(20, 10))
