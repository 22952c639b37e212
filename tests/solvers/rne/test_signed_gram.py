"""The parts of the Gram matrix, kept or built by blocks, against the matrix itself."""

from __future__ import annotations

import numpy as np

from ufselect.solvers.rne import signed_gram
from ufselect.solvers.rne.signed_gram import SignedGram


def test_a_matrix_too_large_to_keep_is_built_by_blocks(monkeypatch):
    rng = np.random.default_rng(2)
    R, H = 0.1 * rng.standard_normal((10, 60)), rng.random((60, 4))
    kept = SignedGram(R)
    monkeypatch.setattr(signed_gram, "FORMED_ORDER", 1)
    monkeypatch.setattr(signed_gram, "BLOCK_BYTES", 4 * 60 * 7)
    built = SignedGram(R)
    G = R.T @ R
    for gram in (kept, built):
        for found, part in zip(gram.products(H), (np.maximum(G, 0), np.maximum(-G, 0)), strict=True):
            np.testing.assert_allclose(found, part @ H, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(gram.block(np.array([3, 8])), G[np.ix_([3, 8], [3, 8])], atol=1e-6)
        np.testing.assert_allclose(gram.pull(R @ H), G @ H, atol=1e-5)
