"""Eliminated heavy rows against the full eigenproblem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.solvers.reweighted.quadratic import FactoredQuadratic, FormedQuadratic
from ufselect.solvers.reweighted.reduced_quadratic import ReducedQuadratic


def quadratic(rng, kind, order):
    if kind == "formed":
        factor = rng.standard_normal((2 * order, order)) / np.sqrt(order)
        return FormedQuadratic(factor.T @ factor, floor=0.0)
    return FactoredQuadratic(rng.standard_normal((order // 2, order)) / np.sqrt(order))


def dense(M):
    return M.matmat(np.eye(M.order))


def projector(vectors):
    return vectors @ vectors.T


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["formed", "factored"]), n_light=st.integers(4, 25))
def test_equals_the_full_eigenproblem(seed, kind, n_light):
    rng = np.random.default_rng(seed)
    M = quadratic(rng, kind, 40)
    diagonal = np.full(40, 1e6) * rng.uniform(1, 100, 40)
    diagonal[rng.permutation(40)[:n_light]] = rng.uniform(0.5, 3, n_light)
    start = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    found = ReducedQuadratic(M).lowest(diagonal, 3, start)[:, :3]
    values, vectors = np.linalg.eigh(dense(M) + np.diag(diagonal))
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)
    quotients = np.trace(found.T @ (dense(M) + np.diag(diagonal)) @ found)
    assert quotients == pytest.approx(values[:3].sum(), rel=1e-7)
    if values[3] - values[2] > 1e-2:
        np.testing.assert_allclose(projector(found), projector(vectors[:, :3]), atol=1e-5)
        norms, expected = np.linalg.norm(found, axis=1), np.linalg.norm(vectors[:, :3], axis=1)
        np.testing.assert_allclose(norms, expected, rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("kind", ["formed", "factored"])
def test_without_heavy_rows_the_full_problem_is_solved(kind):
    rng = np.random.default_rng(0)
    M = quadratic(rng, kind, 30)
    diagonal = rng.uniform(0.5, 2, 30)
    start = np.linalg.qr(rng.standard_normal((30, 2)))[0]
    found = ReducedQuadratic(M).lowest(diagonal, 2, start)[:, :2]
    vectors = np.linalg.eigh(dense(M) + np.diag(diagonal))[1][:, :2]
    np.testing.assert_allclose(projector(found), projector(vectors), atol=1e-7)


@pytest.mark.parametrize("kind", ["formed", "factored"])
def test_size_order_and_products_are_those_of_the_quadratic(kind):
    rng = np.random.default_rng(1)
    M = quadratic(rng, kind, 12)
    reduced = ReducedQuadratic(M)
    assert reduced.order == 12
    assert reduced.size == pytest.approx(np.abs(dense(M)).max())
    np.testing.assert_allclose(reduced.matmat(np.eye(12)), dense(M))
