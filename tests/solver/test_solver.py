"""Solvers that several methods share, where a fit does not show their digits: eigenvectors, sets, steps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse
from tests.strategies import COARSE, matrices

from ufselect._columns import UnitRequest, Units
from ufselect._solver.iterate import iterate
from ufselect._solver.reweighted import (
    EPSILON,
    FactoredQuadratic,
    FormedQuadratic,
    ReweightedEigenproblem,
)
from ufselect.dscofs.algorithm import largest, project_entries, project_rows
from ufselect.gram import gram_operator
from ufselect.gram.spectrum import is_orthonormal, polar_factor
from ufselect.published.spcafs import NegativeGram

FORMS = ["formed", "products", "factored"]


def low_rank(n, d, seed=0, rank=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 0.3 * rng.standard_normal((n, d))


def dense_lowest(matrix, count):
    return linalg.eigh(matrix)[1][:, :count]


def projector(vectors):
    return vectors @ vectors.T


def forms(n=12, d=40):
    """Return −S and FᵀF in every representation, with the dense matrix each stands for."""
    A = low_rank(n, d)
    A -= A.mean(axis=0)
    S = A.T @ A
    largest = linalg.eigvalsh(S)[-1]
    operator = gram_operator(sparse.csr_array(A))
    return {
        "formed": (FormedQuadratic(-S, -largest), -S),
        "products": (NegativeGram(operator, -largest / operator.scale**2), -S / operator.scale**2),
        "factored": (FactoredQuadratic(A), S),
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spread", [0.0, 2.0, 4.0])
def test_lowest_vectors_are_those_of_the_dense_matrix(form, spread):
    matrix, dense = forms()[form]
    rng = np.random.default_rng(1)
    diagonal = np.abs(dense).max() * 10 ** rng.uniform(-1, spread - 0.5, 40)
    found = matrix.lowest(diagonal, 3, rng.standard_normal((40, 3)))[:, :3]
    expected = dense_lowest(dense + np.diag(diagonal), 3)
    np.testing.assert_allclose(projector(found), projector(expected), atol=1e-6)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)


def test_the_vectors_of_a_large_formed_matrix_are_the_lowest():
    # Beyond the order that a dense solver is used for: the residuals say that they are eigenvectors, the
    # number of eigenvalues below, from the signs of a factorisation, that none is missing.
    factor = np.random.default_rng(2).standard_normal((40, 1600))
    dense = factor.T @ factor
    diagonal = 100 * np.random.default_rng(3).uniform(0.1, 10, 1600)
    found = FormedQuadratic(dense).lowest(diagonal, 4, np.eye(1600)[:, :4])[:, :4]
    total = dense + np.diag(diagonal)
    values = np.einsum("ij,ij->j", found, total @ found)
    np.testing.assert_allclose(total @ found, found * values, atol=1e-5 * values[-1])
    pivots = linalg.ldl(total - (values[-1] * (1 + 1e-6)) * np.eye(1600))[1]
    assert np.count_nonzero(linalg.eigvalsh(pivots) < 0) == 4


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["formed", "factored"]), n_light=st.integers(1, 39))
def test_rows_under_a_heavy_diagonal_are_eliminated_without_loss(seed, kind, n_light):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((80 if kind == "formed" else 20, 40)) / np.sqrt(40)
    dense = factor.T @ factor
    matrix = FormedQuadratic(dense) if kind == "formed" else FactoredQuadratic(factor)
    diagonal = np.full(40, 1e6) * rng.uniform(1, 100, 40)
    diagonal[rng.permutation(40)[:n_light]] = rng.uniform(0.5, 3, n_light)
    start = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    found = matrix.lowest(diagonal, 3, start)[:, :3]
    values, vectors = np.linalg.eigh(dense + np.diag(diagonal))
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    quotients = np.trace(found.T @ (dense + np.diag(diagonal)) @ found)
    assert quotients == pytest.approx(values[:3].sum(), rel=1e-7)
    if n_light >= 3 and values[3] - values[2] > 1e-2:
        np.testing.assert_allclose(projector(found), projector(vectors[:, :3]), atol=1e-5)
        norms, expected = np.linalg.norm(found, axis=1), np.linalg.norm(vectors[:, :3], axis=1)
        # with more light rows nothing is eliminated, and the vectors are accurate to about 1e-8
        atol = 1e-12 if n_light <= matrix.max_light else 1e-8
        np.testing.assert_allclose(norms, expected, rtol=1e-3, atol=atol)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("p", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 100.0])
def test_the_objective_never_rises_and_is_that_of_the_result(form, p, gamma):
    matrix, dense = forms()[form]
    gamma *= np.abs(dense).max()
    method = ReweightedEigenproblem(matrix, 3, gamma, p, vectors=dense_lowest(dense, 3), unit=1.0)
    result = iterate(method, max_iter=30, tol=0.0)
    history = result.objective_history
    assert np.all(np.diff(history) <= 0)
    W = result.state.vectors[:, :3]
    direct = np.trace(W.T @ dense @ W) + gamma * np.sum((np.sum(W**2, axis=1) + EPSILON) ** (p / 2))
    assert history[-1] == pytest.approx(direct, rel=1e-10)


@given(matrices(elements=COARSE), st.integers(0, 10))
def test_row_projection_keeps_exactly_the_count_and_is_nearest(matrix, count):
    rules = UnitRequest.single(count, len(matrix))
    projected, kept = project_rows(matrix, rules)
    assert kept.mask.sum() == min(count, matrix.shape[0])
    assert np.count_nonzero(projected.any(axis=1)) <= count
    distance = np.linalg.norm(matrix - projected)
    rows = range(matrix.shape[0])
    best = min(
        np.linalg.norm(np.delete(matrix, kept, axis=0))
        for kept in combinations(rows, min(count, matrix.shape[0]))
    )
    assert distance == pytest.approx(best, abs=1e-12)
    np.testing.assert_array_equal(project_rows(projected, rules)[0], projected)


@given(matrices(elements=COARSE), st.data())
def test_group_projection_keeps_fixed_groups_and_is_nearest(matrix, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(matrix), max_size=len(matrix)))
    units = Units(np.unique(labels, return_inverse=True)[1])
    count = data.draw(st.integers(1, units.count))
    n_fixed = data.draw(st.integers(0, count))
    fixed = np.array(data.draw(st.permutations(range(units.count)))[:n_fixed], dtype=np.intp)
    rules = UnitRequest(count, units, fixed)
    projected, kept = project_rows(matrix, rules)
    assert kept.mask.sum() == count
    assert kept.mask[fixed].all()
    assert not projected[~kept.mask[units.codes]].any()
    distances = [
        np.linalg.norm(matrix[~np.isin(units.codes, chosen)])
        for chosen in combinations(range(units.count), count)
        if set(fixed) <= set(chosen)
    ]
    assert np.linalg.norm(matrix - projected) == pytest.approx(min(distances), abs=1e-12)
    again, same = project_rows(matrix, rules, kept)  # with a hint
    np.testing.assert_array_equal(again, projected)
    np.testing.assert_array_equal(same.mask, kept.mask)


@given(matrices(max_rows=4, max_columns=3, elements=COARSE), st.integers(0, 12))
def test_entry_projection_keeps_exactly_the_count_and_is_nearest(matrix, count):
    projected, kept = project_entries(matrix, count)
    assert kept.mask.sum() == min(count, matrix.size)
    assert np.count_nonzero(projected) <= count
    dropped = np.sort(np.abs(matrix), axis=None)[: max(matrix.size - count, 0)]
    assert np.linalg.norm(matrix - projected) == pytest.approx(np.linalg.norm(dropped))
    np.testing.assert_array_equal(project_entries(projected, count)[0], projected)


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


def test_ties_go_to_the_lower_index_whatever_the_memory_order():
    equal = np.ones((3, 2))
    np.testing.assert_array_equal(project_rows(equal, UnitRequest.single(2, 3))[1].mask, [True, True, False])
    expected = [[1, 1], [1, 0], [1, 0]]
    np.testing.assert_array_equal(project_entries(equal, 4)[0], expected)
    np.testing.assert_array_equal(project_entries(np.asfortranarray(equal), 4)[0], expected)
