"""The number of entries kept: s = ⌊α d m⌋."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.selectors.entries import resolve_entry_count


@pytest.mark.parametrize(("share", "d", "m", "count"), [(0.25, 7, 3, 5), (0.1, 30, 1, 3), (0.3, 10, 3, 9)])
def test_a_share_is_rounded_down(share, d, m, count):
    assert resolve_entry_count(share, d, m, n_rows=1) == count


@given(st.integers(1, 9), st.integers(10, 5000), st.integers(1, 40))
def test_shares_of_the_papers_grid_are_those_of_exact_arithmetic(tenths, d, m):
    expected = max(m, math.floor(Fraction(tenths, 10) * d * m))
    assert resolve_entry_count(tenths / 10, d, m, n_rows=1) == expected
