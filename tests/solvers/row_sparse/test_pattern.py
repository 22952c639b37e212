"""Orthonormal matrices with a pattern: feasibility and ascent."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.row_sparse.examples import random_scatter

from ufselect.solvers.row_sparse.pattern import ascend, restore


@pytest.mark.parametrize("seed", range(5))
def test_restoring_keeps_the_pattern_and_ascent_never_loses(seed):
    rng = np.random.default_rng(seed)
    pattern = rng.random((10, 3)) < 0.6
    near = np.linalg.qr(rng.standard_normal((10, 3)))[0]
    found = restore(near, pattern)
    assert found is not None
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    assert not np.any(found[~pattern])
    S = random_scatter(seed, order=10)
    better = ascend(S, found, pattern)
    np.testing.assert_allclose(better.T @ better, np.eye(3), atol=1e-12)
    assert not np.any(better[~pattern])
    assert np.vdot(better, S @ better) >= np.vdot(found, S @ found)


def test_ascent_over_a_full_pattern_finds_the_principal_axes():
    S = random_scatter(1, order=8)
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 2)))[0]
    X = ascend(S, start, np.ones((8, 2), dtype=bool))
    assert np.vdot(X, S @ X) == pytest.approx(np.linalg.eigvalsh(S)[-2:].sum(), rel=1e-3)


def test_an_impossible_pattern_is_noticed():
    pattern = np.zeros((4, 2), dtype=bool)
    pattern[0] = True  # two columns in one row cannot be orthonormal
    assert restore(np.ones((4, 2)), pattern) is None
