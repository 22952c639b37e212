"""SPEC against its definition by a full eigendecomposition, and against scikit-feature's program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.published.oracle import heat_graph

from ufselect import SPEC, LaplacianScore


def spec_by_definition(X, W, ranking, c):
    degrees = W.sum(axis=1)
    values, vectors = np.linalg.eigh(np.eye(len(W)) - W / np.sqrt(np.outer(degrees, degrees)))
    found = []
    for f in X.T:
        scaled = np.sqrt(degrees) * f
        alpha = vectors.T @ (scaled / np.linalg.norm(scaled))
        if ranking == "leading":
            found.append(np.sum((2 - values[1:c]) * alpha[1:c] ** 2))
        elif ranking == "smoothness":
            found.append(-np.sum(values * alpha**2))
        else:
            found.append(-np.sum(values[1:] * alpha[1:] ** 2) / (1 - alpha[0] ** 2))
    return np.array(found)


@pytest.fixture
def clusters():
    rng = np.random.default_rng(0)
    centres = 0.7 * rng.standard_normal((3, 9))
    return 1 + centres[np.repeat([0, 1, 2], 20)] + rng.standard_normal((60, 9))


@pytest.mark.parametrize("ranking", ["leading", "normalized", "smoothness"])
@pytest.mark.parametrize("k", [8, 59])
def test_scores_are_those_of_the_definition(ranking, k, clusters):
    fitted = SPEC(ranking=ranking, n_clusters=4, n_neighbors=k).fit(clusters)
    expected = spec_by_definition(clusters, heat_graph(clusters, k), ranking, 4)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-8)


def test_without_the_mean_it_is_the_laplacian_score(clusters):
    expected = LaplacianScore().fit(clusters).scores_
    np.testing.assert_allclose(SPEC(ranking="normalized").fit(clusters).scores_, expected, rtol=1e-12)


@pytest.mark.parametrize(("ranking", "style"), [("smoothness", -1), ("normalized", 0), ("leading", 4)])
def test_agrees_with_scikit_feature(ranking, style, clusters):
    spec = pytest.importorskip("skfeature.function.similarity_based.SPEC").spec
    expected = spec(clusters, mode="raw", style=style, W=heat_graph(clusters, 8))
    scores = SPEC(ranking=ranking, n_clusters=4, n_neighbors=8).fit(clusters).scores_
    np.testing.assert_allclose(np.abs(scores), expected, rtol=1e-8)


@pytest.mark.parametrize("ranking", ["leading", "normalized", "smoothness"])
def test_sparse_constant_and_duplicate_columns(ranking, clusters):
    X = np.where(clusters > 1, clusters, 0.0)
    X[:, 2], X[:, 5], X[:, 7] = 3.0, 0.0, X[:, 1]
    fitted = SPEC(ranking=ranking, n_clusters=3).fit(X)
    assert set(fitted.ranking_[[2, 5]]) == {8, 9}
    assert fitted.scores_[7] == pytest.approx(fitted.scores_[1], rel=1e-12)
    stored = SPEC(ranking=ranking, n_clusters=3).fit(sparse.csr_array(X))
    np.testing.assert_allclose(stored.scores_, fitted.scores_, rtol=1e-8)


@pytest.mark.parametrize("n_parts", [1, 2, 4])
def test_eigenvectors_leave_out_the_trivial_one_also_of_a_graph_in_parts(n_parts):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3)) + 100 * np.repeat(np.arange(n_parts), 40 // n_parts)[:, None]
    W = heat_graph(X, 5)
    degrees = W.sum(axis=1)
    values, vectors = np.linalg.eigh(np.eye(40) - W / np.sqrt(np.outer(degrees, degrees)))
    scaled = np.sqrt(degrees)[:, None] * X
    scaled /= np.linalg.norm(scaled, axis=0)
    trivial = np.sqrt(degrees / degrees.sum())
    expected = (2 - values[:6]) @ (vectors[:, :6].T @ scaled) ** 2 - 2 * (trivial @ scaled) ** 2
    np.testing.assert_allclose(SPEC(1, n_clusters=6).fit(X).scores_, expected, atol=1e-9)
