"""The reweighted eigenproblem: its weights, its quadratics, its digits, and descent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse

from ufselect._solver.iterate import iterate
from ufselect._solver.reweighted import (
    EPSILON,
    FactoredQuadratic,
    FormedQuadratic,
    ReweightedEigenproblem,
    lowest_eigenvectors,
    row_penalty,
    row_weights,
)
from ufselect.gram import gram_operator
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


@pytest.mark.parametrize("p", [0.3, 1.0, 2.0])
def test_weights_are_the_slopes_of_the_penalty(p):
    squares = np.array([0.2, 1.0, 3.0])
    step = 1e-6
    for j in range(3):
        change = step * (np.arange(3) == j)
        slope = (row_penalty(squares + change, p) - row_penalty(squares - change, p)) / (2 * step)
        assert row_weights(squares, p)[j] == pytest.approx(slope, rel=1e-6)


@given(st.floats(0.05, 2.0), st.lists(st.floats(0, 10), min_size=4, max_size=4), st.integers(0, 99))
def test_weighted_squares_lie_above_the_penalty_and_touch_it(p, old, seed):
    old = np.array(old)
    new = np.random.default_rng(seed).random(4) * 10
    bound = row_penalty(old, p) + row_weights(old, p) @ (new - old)
    assert row_penalty(new, p) <= bound * (1 + 1e-9) + 1e-9
    assert row_penalty(old, p) == pytest.approx(np.sum((old + EPSILON) ** (p / 2)))


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


def test_a_start_far_from_the_answer_is_overcome():
    diagonal = np.arange(1.0, 31.0)
    start = np.eye(30)[:, 10:20] + 1e-6
    found = lowest_eigenvectors(lambda v: 0 * v, lambda v: v, diagonal, start, 2)
    np.testing.assert_allclose(np.abs(found[:2, :2]), np.eye(2), atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_entries_and_products_are_those_of_the_dense_matrix(form):
    matrix, dense = forms()[form]
    size = np.abs(dense).max()
    assert matrix.order == 40
    assert matrix.size == pytest.approx(size)
    np.testing.assert_allclose(matrix.diagonal, dense.diagonal())
    np.testing.assert_allclose(matrix.columns(np.array([3, 30])), dense[:, [3, 30]], atol=1e-12 * size)
    np.testing.assert_allclose(matrix.matmat(np.eye(40)), dense, atol=1e-12 * size)


@pytest.mark.parametrize("form", ["formed", "factored"])
def test_eigenpairs_make_up_the_matrix(form):
    factor = low_rank(12, 40)
    dense = factor.T @ factor
    matrix = FormedQuadratic(dense) if form == "formed" else FactoredQuadratic(factor)
    values, vectors = matrix.eigenpairs()
    assert np.all(np.diff(values) >= 0)
    np.testing.assert_allclose((vectors * values) @ vectors.T, dense, atol=1e-9 * np.trace(dense))


@pytest.mark.parametrize("form", FORMS)
def test_rows_under_a_huge_diagonal_keep_their_digits(form):
    matrix, dense = forms()[form]
    size = np.abs(dense).max()
    start = np.full(40, 1e-30)
    start[:8] = 0.25
    gamma = size
    method = ReweightedEigenproblem(
        matrix, 2, gamma, 0.5, vectors=np.eye(40)[:, :2], squared_norms=start, value=0.0
    )
    found = method.step(method.init()).vectors[:, :2]
    diagonal = gamma * row_weights(start, 0.5)
    assert diagonal.max() > 1e10 * size
    # Eliminate the rows under the large diagonal: a well-scaled problem in the first eight.
    scale = 1 / np.sqrt(diagonal[8:])
    inner = np.eye(32) + scale[:, None] * dense[8:, 8:] * scale
    coupling = dense[:8, 8:] * scale
    reduced = dense[:8, :8] + np.diag(diagonal[:8]) - coupling @ np.linalg.solve(inner, coupling.T)
    _, large_rows = np.linalg.eigh(reduced)
    small_rows = -scale[:, None] * np.linalg.solve(inner, coupling.T @ large_rows[:, :2])
    signs = np.sign(np.sum(large_rows[:, :2] * found[:8], axis=0))
    assert 0 < np.abs(small_rows).max() < 1e-9
    np.testing.assert_allclose(found[8:], small_rows * signs, atol=1e-6 * np.abs(small_rows).max())


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
