"""Leading eigenpairs of blocks, and the proxy made of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.dscofs.examples import improve_by_proxy, random_scatter

from ufselect._solver.feature_sparse import loadings_on, proxy_diagonal
from ufselect.gram import FormedGram
from ufselect.gram.spectrum import leading_sum


def test_proxy_is_the_formula_and_never_worsens_a_support():
    S = random_scatter(3)
    gram = FormedGram(S, 16)
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 3)))[0]
    literal = S @ X @ np.linalg.pinv(X.T @ S @ X) @ X.T @ S
    np.testing.assert_allclose(proxy_diagonal(X, S @ X), np.diag(literal), rtol=1e-9)
    for start in combinations(range(12), 4):
        before = leading_sum(S[np.ix_(start, start)], 2)
        support, after = improve_by_proxy(gram, np.array(start), 2)
        assert after >= before * (1 - 1e-12)
        assert support.size == 4


def test_loadings_are_the_leading_eigenvectors_on_the_support():
    S = random_scatter(4)
    X = loadings_on(FormedGram(S, 16), np.array([1, 5, 7, 9]), 2)
    assert np.count_nonzero(X.any(axis=1)) == 4
    np.testing.assert_allclose(X.T @ X, np.eye(2), atol=1e-12)
    expected = leading_sum(S[np.ix_([1, 5, 7, 9], [1, 5, 7, 9])], 2)
    assert np.trace(X.T @ S @ X) == pytest.approx(expected)
