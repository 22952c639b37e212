"""The constraint sets: exact counts, best among feasible points, idempotence, ties."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from tests.strategies import COARSE, matrices

from ufselect._columns import UnitRequest, Units
from ufselect._solver.sets import project_entries, project_rows
from ufselect._utils.arrays import is_orthonormal, orthonormality_defect, polar_factor, random_orthonormal


@given(matrices(elements=COARSE), st.integers(0, 10))
def test_row_projection_keeps_exactly_the_count_and_is_nearest(matrix, count):
    projected, kept = project_rows(matrix, count)
    assert kept.mask.sum() == min(count, matrix.shape[0])
    assert np.count_nonzero(projected.any(axis=1)) <= count
    distance = np.linalg.norm(matrix - projected)
    rows = range(matrix.shape[0])
    best = min(
        np.linalg.norm(np.delete(matrix, kept, axis=0))
        for kept in combinations(rows, min(count, matrix.shape[0]))
    )
    assert distance == pytest.approx(best, abs=1e-12)
    np.testing.assert_array_equal(project_rows(projected, count)[0], projected)


@given(matrices(elements=COARSE), st.data())
def test_group_projection_keeps_fixed_groups_and_is_nearest(matrix, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(matrix), max_size=len(matrix)))
    units = Units(np.unique(labels, return_inverse=True)[1])
    count = data.draw(st.integers(1, units.count))
    n_fixed = data.draw(st.integers(0, count))
    fixed = np.array(data.draw(st.permutations(range(units.count)))[:n_fixed], dtype=np.intp)
    rules = UnitRequest(units.count, units, fixed)
    projected, kept = project_rows(matrix, count, rules=rules)
    assert kept.mask.sum() == count
    assert kept.mask[fixed].all()
    assert not projected[~kept.mask[units.codes]].any()
    distances = [
        np.linalg.norm(matrix[~np.isin(units.codes, chosen)])
        for chosen in combinations(range(units.count), count)
        if set(fixed) <= set(chosen)
    ]
    assert np.linalg.norm(matrix - projected) == pytest.approx(min(distances), abs=1e-12)
    again, same = project_rows(matrix, count, kept, rules=rules)  # with a hint
    np.testing.assert_array_equal(again, projected)
    np.testing.assert_array_equal(same.mask, kept.mask)


def test_units_know_their_rows():
    units = Units(np.array([0, 1, 0, 2]))
    assert (units.count, units.sizes.tolist()) == (3, [2, 1, 1])
    assert [(shared.tolist(), rows.tolist()) for shared, rows in units.batches] == [([0], [[0, 2]])]
    assert units.members(0).tolist() == [0, 2]
    assert units.sums(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [4, 2, 4]
    assert units.means(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [2, 2, 4]
    assert units.of_rows(np.array([5, 6, 7])).tolist() == [5, 6, 5, 7]
    assert (units.most_rows(2), units.fewest_rows(2)) == (3, 2)
    assert Units.single(3).is_single


@given(matrices(max_rows=4, max_columns=3, elements=COARSE), st.integers(0, 12))
def test_entry_projection_keeps_exactly_the_count_and_is_nearest(matrix, count):
    projected, kept = project_entries(matrix, count)
    assert kept.mask.sum() == min(count, matrix.size)
    assert np.count_nonzero(projected) <= count
    dropped = np.sort(np.abs(matrix), axis=None)[: max(matrix.size - count, 0)]
    assert np.linalg.norm(matrix - projected) == pytest.approx(np.linalg.norm(dropped))
    np.testing.assert_array_equal(project_entries(projected, count)[0], projected)


def test_ties_go_to_the_lower_index_whatever_the_memory_order():
    equal = np.ones((3, 2))
    np.testing.assert_array_equal(project_rows(equal, 2)[1].mask, [True, True, False])
    expected = [[1, 1], [1, 0], [1, 0]]
    np.testing.assert_array_equal(project_entries(equal, 4)[0], expected)
    np.testing.assert_array_equal(project_entries(np.asfortranarray(equal), 4)[0], expected)


def test_a_set_does_not_contain_what_lies_outside():
    matrix = np.ones((3, 2))
    assert not is_orthonormal(matrix, 1e-6)
    np.testing.assert_array_equal(orthonormality_defect(matrix), [[2, 3], [3, 2]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("condition", [1.0, 1e2, 1e6, 1e12])
def test_polar_factor_is_orthonormal_and_that_of_scipy(condition, dtype):
    rng = np.random.default_rng(1)
    left, _ = np.linalg.qr(rng.standard_normal((30, 5)))
    right, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    matrix = ((left * np.geomspace(1, 1 / condition, 5)) @ right).astype(dtype)
    polar = polar_factor(matrix)
    assert polar.dtype == dtype
    assert is_orthonormal(polar, tol=1e-13 if dtype == np.float64 else 1e-5)
    if condition * np.finfo(dtype).eps < 1e-3:
        expected, _ = linalg.polar(matrix.astype(np.float64))
        np.testing.assert_allclose(polar, expected, atol=20 * condition * np.finfo(dtype).eps)


@given(st.integers(0, 2**32 - 1))
def test_polar_factor_is_nearest_among_sampled_orthonormal_matrices(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((6, 3))
    nearest = np.linalg.norm(matrix - polar_factor(matrix))
    assert nearest == pytest.approx(np.linalg.norm(linalg.svdvals(matrix) - 1))
    for _ in range(20):
        other = random_orthonormal(6, 3, rng)
        assert is_orthonormal(other, tol=1e-12)
        assert nearest <= np.linalg.norm(matrix - other) + 1e-12


def test_polar_factor_of_a_rank_deficient_matrix_is_orthonormal():
    matrix = np.zeros((6, 3))
    matrix[0, 0] = 1.0
    assert is_orthonormal(polar_factor(matrix), tol=1e-12)


def test_the_polar_factor_of_one_column_has_unit_length():
    column = np.array([[3.0], [4.0]])
    np.testing.assert_allclose(polar_factor(column), [[0.6], [0.8]])
    assert polar_factor(column[:, :0]).shape == (2, 0)
