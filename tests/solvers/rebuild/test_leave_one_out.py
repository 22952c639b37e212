"""The error on rows left out, against fits without each row, and rows repeated."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.rebuild.oracles import brute_force_left_out, table

from ufselect.solvers.rebuild.leave_one_out import FewRows


def centred(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / np.abs(X).max()


def test_the_error_is_that_of_refitting_without_each_row():
    A = centred(table(1, 9, 12))
    penalties = 0.3 * np.square(A).sum(axis=0)
    rows = FewRows.of(A)
    assert rows.error_of(np.array([2, 7, 5]), penalties) == pytest.approx(
        brute_force_left_out(A, penalties, [2, 7, 5])
    )
    assert rows.error_of_nothing() == pytest.approx(brute_force_left_out(A, penalties, []))


def test_a_row_that_nearly_fits_itself_is_left_out_as_by_refitting():
    X = table(1, 12, 12)
    X[0, 3] = 1e3  # no other row has anything like it
    A = centred(X)
    penalties = 1e-9 * np.square(A).sum(axis=0)
    hat = A[:, [3, 8]] @ np.linalg.solve(A[:, [3, 8]].T @ A[:, [3, 8]], A[:, [3, 8]].T)
    assert hat.diagonal().max() + 1 / 12 > 0.9999
    error = FewRows.of(A).error_of(np.array([3, 8]), penalties)
    assert error == pytest.approx(brute_force_left_out(A, penalties, [3, 8]), rel=1e-4)


def test_a_row_of_weight_three_is_left_out_as_one_of_three_rows():
    rng = np.random.default_rng(4)
    rows, weights = rng.standard_normal((6, 9)), np.array([1.0, 3, 1, 2, 1, 1])
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    mean = repeated.mean(axis=0)
    penalties = np.full(9, 0.4)
    few = FewRows.of(np.sqrt(weights)[:, None] * (rows - mean), weights)
    many = FewRows.of(repeated - mean)
    members = np.array([1, 4])
    assert few.error_of(members, penalties) == pytest.approx(many.error_of(members, penalties))
    assert few.error_of_nothing() == pytest.approx(many.error_of_nothing())


def test_rows_are_heavy_tailed_where_few_hold_most_of_the_variance():
    rng = np.random.default_rng(0)
    found = [
        FewRows.of(np.outer(rng.standard_normal(60), rng.random(90))).is_heavy_tailed() for _ in range(200)
    ]
    assert np.mean(found) < 0.05  # one component has the heaviest tails of all normal data
    rows = rng.standard_normal((60, 90))
    rows[:3] *= 8
    assert FewRows.of(rows).is_heavy_tailed()


@pytest.mark.parametrize("height", [1.0, 2.6, 3.4, 8.0])
def test_weighted_rows_have_the_tails_of_repeated_ones(height):
    rng = np.random.default_rng(1)
    rows, times = rng.standard_normal((60, 90)), rng.integers(1, 4, 60)
    rows[:4] *= height
    repeated = FewRows.of(np.repeat(rows, times, axis=0))
    weighted = FewRows.of(np.sqrt(times)[:, None] * rows, times.astype(float))
    assert weighted.is_heavy_tailed() == repeated.is_heavy_tailed()


def test_the_norms_of_columns_come_from_the_products_of_rows():
    A = table(5, 8, 11)
    np.testing.assert_allclose(FewRows.of(A).squared_column_norms(), np.square(A.T @ A).sum(axis=0))
