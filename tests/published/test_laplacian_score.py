"""The Laplacian score against its definition, the original program and degenerate graphs."""

from __future__ import annotations

import numpy as np
from tests.published.oracle import heat_graph, reference

from ufselect import LaplacianScore


def dense_scores(X, W):
    D = np.diag(W.sum(axis=1))
    centred = X - (D.sum(axis=0) @ X) / D.sum()
    return np.diag(centred.T @ (D - W) @ centred) / np.diag(centred.T @ D @ centred)


def test_agrees_with_the_original_program_but_for_ties(real):
    """All values are −2, 0 or 2, so that many distances are equal; the program orders them by index."""
    X, _ = real("lung_discrete")
    ranking = reference("LapScore_tauto")["ranking"]
    scores = dense_scores(X, heat_graph(X, 5, by_index=True))
    np.testing.assert_array_equal(np.argsort(scores, kind="stable"), ranking)
    assert np.isin(np.flatnonzero(LaplacianScore(100).fit(X).support_), ranking[:100]).sum() >= 99


def test_with_vanishing_weights_the_original_program_ranks_by_the_numerator_alone(real):
    # With t = 1 all its weights are near 1e-28. It replaces denominators below 1e-12 by 10⁴, so that its
    # ranking is not that of the score; the score itself is scale-free and has a definite value.
    X, _ = real("lung_discrete")
    expected = reference("LapScore")
    W = heat_graph(X, 5, 1.0, by_index=True)
    degrees = W.sum(axis=1)
    total = degrees @ X
    denominators = degrees @ X**2 - total**2 / degrees.sum()
    assert np.all(denominators < 1e-12)
    numerators = np.einsum("ij,ij->j", X, W @ X) - total**2 / degrees.sum()
    by_numerator = np.argsort(-numerators, kind="stable")
    assert np.count_nonzero(by_numerator == expected["ranking"]) >= 320  # of 325; near ties may swap

    scores = LaplacianScore(bandwidth=1.0).fit(X).scores_
    np.testing.assert_allclose(-scores, dense_scores(X, W / W.max()), atol=1e-9)


def test_another_real_set_matches_the_dense_definition(real):
    X, _ = real("warppie10p")
    np.testing.assert_allclose(-LaplacianScore().fit(X).scores_, dense_scores_by_feature(X), rtol=1e-7)


def dense_scores_by_feature(X):
    W = heat_graph(X, 5)
    degrees = W.sum(axis=1)
    centred = X - degrees @ X / degrees.sum()
    variance = degrees @ centred**2
    return (variance - np.einsum("ij,ij->j", centred, W @ centred)) / variance
