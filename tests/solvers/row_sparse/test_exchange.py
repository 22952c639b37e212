"""Exchanges of rows against all exchanges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.row_sparse.examples import random_scatter

from ufselect.gram import FormedGram
from ufselect.solvers.leading import leading_sum
from ufselect.solvers.row_sparse.exchange import improve_by_swaps


@pytest.mark.parametrize("seed", range(4))
def test_no_single_exchange_helps_after_the_swaps(seed):
    S = random_scatter(seed)
    support, captured = improve_by_swaps(FormedGram(S, 16), np.arange(4), 2)
    assert captured == pytest.approx(leading_sum(S[np.ix_(support, support)], 2))
    others = sorted(set(range(12)) - set(support))
    exchanged = [
        leading_sum(S[np.ix_(c, c)], 2)
        for i in range(4)
        for j in others
        for c in [[*np.delete(support, i), j]]
    ]
    assert max(exchanged) <= captured * (1 + 1e-8)


def test_swaps_handle_one_row_and_all_rows():
    S = random_scatter(0)
    support, captured = improve_by_swaps(FormedGram(S, 16), np.array([0]), 1)
    assert support == [np.diag(S).argmax()]
    assert captured == pytest.approx(np.diag(S).max())
    everything, total = improve_by_swaps(FormedGram(S, 16), np.arange(12), 3)
    np.testing.assert_array_equal(everything, np.arange(12))
    assert total == pytest.approx(np.linalg.eigvalsh(S)[-3:].sum())
