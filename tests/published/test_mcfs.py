"""MCFS against a transcription with scikit-learn's regression, and against scikit-feature's program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.linear_model import Lars
from tests.published.oracle import heat_graph

from ufselect import MCFS


@pytest.fixture
def clusters():
    rng = np.random.default_rng(0)
    centres = 0.7 * rng.standard_normal((4, 12))
    return 5 + centres[np.repeat([0, 1, 2, 3], 20)] + rng.standard_normal((80, 12))


def targets(W, c):
    degrees = np.diag(W.sum(axis=1)) / W.sum(axis=1).mean()
    return linalg.eigh(degrees - W / W.sum(axis=1).mean(), degrees)[1][:, 1 : c + 1]


@pytest.mark.parametrize("r", [1, 5, 12])
def test_coefficients_are_those_of_the_definition(r, clusters):
    fitted = MCFS(r, n_clusters=3, n_neighbors=8).fit(clusters)
    expected = [Lars(n_nonzero_coefs=r).fit(clusters, y).coef_ for y in targets(heat_graph(clusters, 8), 3).T]
    np.testing.assert_allclose(np.abs(fitted.components_), np.abs(expected), rtol=1e-6, atol=1e-10)
    entered = np.any(fitted.components_, axis=0)
    np.testing.assert_allclose(fitted.scores_[entered], np.abs(expected).max(axis=0)[entered], rtol=1e-6)
    assert np.all(fitted.scores_[~entered] <= 0)


def test_coefficients_agree_with_scikit_feature(clusters):
    mcfs = pytest.importorskip("skfeature.function.sparse_learning_based.MCFS").mcfs
    W = heat_graph(clusters, 8)
    W = sparse.csr_array(W / W.sum(axis=1).mean())
    # Its ranking takes the largest coefficient, not the largest size, so only the coefficients are compared.
    expected = mcfs(clusters, n_selected_features=5, mode="raw", W=W, n_clusters=3)
    found = MCFS(5, n_clusters=3, n_neighbors=8).fit(clusters).components_
    np.testing.assert_allclose(np.abs(found[::-1].T), np.abs(expected), rtol=1e-6, atol=1e-10)


def test_a_copy_of_a_feature_does_not_enter(clusters):
    X = np.hstack([clusters, clusters[:, :3]])
    fitted = MCFS(8, n_clusters=3).fit(X)
    entered = np.any(fitted.components_, axis=0)
    for one, other in [(0, 12), (1, 13), (2, 14)]:
        assert not np.any(fitted.components_[:, one] * fitted.components_[:, other])
    assert entered.sum() >= 8


def test_more_features_than_samples_can_explain():
    X = np.random.default_rng(2).standard_normal((10, 40))
    fitted = MCFS(30, n_clusters=2).fit(X)
    assert fitted.support_.sum() == 30
    assert np.all(np.count_nonzero(fitted.components_, axis=1) <= 9)


def test_one_feature_of_each_cluster_is_found():
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(4), 30)
    shown = 8.0 * (labels[:, None] == np.arange(3)) + 0.1 * rng.standard_normal((120, 3))
    X = np.hstack([rng.standard_normal((120, 5)), shown])
    assert set(np.flatnonzero(MCFS(3, n_clusters=3).fit(X).support_)) == {5, 6, 7}


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["normal", "zeros and ones"]), r=st.integers(1, 7))
def test_entered_features_are_equally_correlated_with_what_is_left(seed, kind, r):
    """Columns of zeros and ones are often equally correlated with the target, and then enter together."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 7)) if kind == "normal" else rng.integers(0, 2, (40, 7)).astype(float)
    fitted = MCFS(r, n_clusters=2, n_neighbors=12).fit(X)
    A = X - X.mean(axis=0)
    for y, coefficients in zip(targets(heat_graph(X, 12), 2).T, fitted.components_, strict=True):
        y = (y - y.mean()) * np.sign(coefficients @ (A.T @ y))  # eigenvectors have no sign
        correlations = np.abs(A.T @ (y - A @ coefficients))
        np.testing.assert_allclose(correlations[coefficients != 0], correlations.max(), atol=1e-6)
        if r == 7:
            np.testing.assert_allclose(coefficients, np.linalg.lstsq(A, y)[0], atol=1e-6)
