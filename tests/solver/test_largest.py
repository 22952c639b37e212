"""The largest values: exact counts, hinted or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect._solver.sets import largest


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("kind", ["spread", "sorted", "ties", "one large"])
def test_large_arrays_agree_with_sorting(share, kind):
    rng = np.random.default_rng(0)
    size = 12_295
    values = {
        "spread": rng.standard_normal(size),
        "sorted": np.sort(rng.standard_normal(size)),
        "ties": rng.integers(0, 5, size).astype(float),
        "one large": np.r_[np.zeros(size - 1), 1.0],
    }[kind]
    count = int(share * size)
    mask = largest(values, count).mask
    expected = np.zeros(size, dtype=bool)
    expected[np.argsort(-values, kind="stable")[:count]] = True
    np.testing.assert_array_equal(mask, expected)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=40),
    st.integers(0, 41),
    st.integers(0, 2**32 - 1),
)
def test_hinted_support_is_the_exact_one(values, count, seed):
    values = np.array(values, dtype=float)
    rng = np.random.default_rng(seed)
    hint = largest(np.abs(values + rng.normal(0, rng.choice([0, 0.1, 3]), values.size)), count)
    support = largest(values, count, hint)
    np.testing.assert_array_equal(support.mask, largest(values, count).mask)
    if 0 < count <= values.size:
        assert support.threshold == values[support.mask].min()
