"""The entries that the default keeps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from ufselect import DSCOFS, dscofs_path
from ufselect.dscofs.estimator import entry_count


@given(d=st.integers(10, 399), m=st.integers(1, 9))
def test_the_default_can_bind_wherever_more_than_one_row_is_selected(d, m):
    r = max(1, round(0.1 * d))
    count = entry_count("auto", d, m, r)
    assert m <= count
    assert count < r * m or r == 1


@pytest.mark.parametrize("X", [load_digits().data, scale(load_wine().data), load_digits().data[:, 2:12]])
def test_the_default_never_warns_about_itself(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DSCOFS().fit(X)


def test_a_path_resolves_the_default_for_every_count():
    X = load_digits().data
    path = dscofs_path(X, (10, 20), ("auto",), n_components=5, warm_start=False)
    for count in (10, 20):
        alone = DSCOFS(count, n_components=5).fit(X)
        assert np.array_equal(path.support(count, "auto"), alone.support_)
    assert path.entries_bind.all()
