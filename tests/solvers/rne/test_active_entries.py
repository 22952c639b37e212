"""Updates of the active entries alone against those of the whole matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ufselect.solvers.rne.active_entries import ActiveEntries
from ufselect.solvers.rne.embedding import RobustEmbedding


@given(seed=st.integers(0, 10_000), share=st.floats(0.05, 0.9))
def test_active_entries_are_updated_as_the_dense_matrix_is(seed, share):
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((12, 9))
    H = rng.random((9, 5)) * (rng.random((9, 5)) < share)
    gain, loss = rng.random((9, 5)), rng.random((9, 5))
    method = RobustEmbedding(R, 2.0, H)
    expected, _ = method._multiply(H, method.gram.products(H), gain, loss, 3.0)
    active = ActiveEntries(H > 0, method.gram.block)
    entries = active.rows, active.columns
    found = active.multiply(H[entries], gain[entries], loss[entries], 2.0, 3.0)
    np.testing.assert_allclose(found, expected[entries], rtol=1e-5)
    assert active.rows.size == np.count_nonzero(H)
