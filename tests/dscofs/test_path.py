"""The path: cold it equals separate fits, warm it agrees with them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from ufselect import DSCOFS, dscofs_path
from ufselect.exceptions import InactiveConstraintWarning

DIGITS = load_digits().data
COUNTS, SHARES = (5, 10, 20), (0.1, 0.4, 0.9, "auto")


@pytest.fixture(scope="module")
def separate():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InactiveConstraintWarning)
        return {
            (r, a): DSCOFS(r, n_components=8, entry_sparsity=a).fit(DIGITS) for r in COUNTS for a in SHARES
        }


def test_cold_path_equals_separate_fits(separate):
    path = dscofs_path(DIGITS, COUNTS, SHARES, n_components=8, warm_start=False)
    for row, r in enumerate(COUNTS):
        for column, a in enumerate(SHARES):
            fitted = separate[r, a]
            np.testing.assert_array_equal(path.support(r, a), fitted.support_)
            np.testing.assert_array_equal(path.ranking(r, a), fitted.ranking_)
            assert path.objective[row, column] == pytest.approx(fitted.objective_history_[-1], rel=1e-12)
            assert path.n_iter[row, column] == fitted.n_iter_
            assert path.converged[row, column] == fitted.converged_
            assert path.entries_bind[row, column] == (fitted.n_entries_ < r * 8)


def test_warm_path_agrees_with_separate_fits(separate):
    path = dscofs_path(DIGITS, COUNTS, SHARES, n_components=8)
    shared = [
        np.count_nonzero(path.support(r, a) & separate[r, a].support_) / r for r in COUNTS for a in SHARES
    ]
    assert np.mean(shared) > 0.9


def test_order_of_the_grid_does_not_matter():
    path = dscofs_path(DIGITS, COUNTS, SHARES, n_components=8)
    reverse = dscofs_path(DIGITS, COUNTS[::-1], SHARES[::-1], n_components=8)
    np.testing.assert_array_equal(path.support(10, 0.4), reverse.support(10, 0.4))


def test_counts_may_be_shares_and_sparsity_none():
    path = dscofs_path(DIGITS, (0.25,), (None,), n_components=3)
    assert path.n_features_to_select == (16,)
    assert path.support(16, None).sum() == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(((), (0.1,)), "at least one"), (((65,), (0.1,)), "between 1 and"), (((5,), (0.0,)), "entry_sparsity")],
)
def test_bad_grids_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        dscofs_path(DIGITS, *arguments, n_components=3)
