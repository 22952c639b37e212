"""Quadratics: each representation against the dense definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.solvers.reweighted.examples import dense_lowest, forms, low_rank

from ufselect.gram import gram_operator
from ufselect.solvers.reweighted import quadratic
from ufselect.solvers.reweighted.quadratic import (
    FactoredQuadratic,
    FormedQuadratic,
    NegativeGram,
    negative_gram,
)


def projector(vectors):
    return vectors @ vectors.T


@pytest.mark.parametrize("form", ["formed", "products", "factored"])
@pytest.mark.parametrize("spread", [0.0, 2.0, 4.0])
def test_lowest_vectors_are_those_of_the_dense_matrix(form, spread):
    matrix, dense = forms()[form]
    rng = np.random.default_rng(1)
    diagonal = np.abs(dense).max() * 10 ** rng.uniform(-1, spread - 0.5, 40)
    found = matrix.lowest(diagonal, 3, rng.standard_normal((40, 3)))[:, :3]
    expected = dense_lowest(dense + np.diag(diagonal), 3)
    np.testing.assert_allclose(projector(found), projector(expected), atol=1e-6)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)


def test_large_formed_matrices_are_solved_by_steps(monkeypatch):
    matrix, _ = forms(60, 50)["formed"]
    diagonal = np.random.default_rng(2).uniform(0.1, 10, 50)
    direct = matrix.lowest(diagonal, 4, np.eye(50)[:, :4])
    monkeypatch.setattr(quadratic, "DIRECT_ORDER", 10)
    stepwise = matrix.lowest(diagonal, 4, np.eye(50)[:, :4])
    assert stepwise.shape[1] > direct.shape[1]
    np.testing.assert_allclose(projector(stepwise[:, :4]), projector(direct), atol=1e-6)


def test_the_operator_decides_how_the_gram_matrix_is_held(monkeypatch):
    tall, wide = low_rank(50, 8), low_rank(8, 50)
    assert isinstance(negative_gram(gram_operator(tall), 1.0), FormedQuadratic)
    assert isinstance(negative_gram(gram_operator(wide), 1.0), NegativeGram)
    assert isinstance(negative_gram(gram_operator(sparse.csr_array(tall)), 1.0), FormedQuadratic)
    monkeypatch.setattr(quadratic, "FORMED_ORDER", 5)
    assert isinstance(negative_gram(gram_operator(sparse.csr_array(tall)), 1.0), NegativeGram)
    single = negative_gram(gram_operator(wide.astype(np.float32)), 1.0)
    assert single.matmat(np.eye(50)).dtype == np.float64


@pytest.mark.parametrize("form", ["formed", "factored"])
def test_entries_and_eigenpairs_are_those_of_the_dense_matrix(form):
    factor = low_rank(12, 40)
    dense = factor.T @ factor
    matrix = FormedQuadratic(dense, 0.0) if form == "formed" else FactoredQuadratic(factor)
    np.testing.assert_allclose(matrix.diagonal, dense.diagonal())
    np.testing.assert_allclose(matrix.columns(np.array([3, 30])), dense[:, [3, 30]])
    assert matrix.direct_order == (40 if form == "formed" else 12)
    values, vectors = matrix.eigenpairs()
    assert np.all(np.diff(values) >= 0)
    np.testing.assert_allclose((vectors * values) @ vectors.T, dense, atol=1e-9 * np.trace(dense))
    assert matrix.lowest_distinct(3, 1e-10) is None  # the zero belongs to 28 vectors


def test_lowest_vectors_of_a_formed_matrix_are_given_where_they_are_determined():
    factor = np.random.default_rng(0).standard_normal((30, 8))
    dense = factor.T @ factor
    matrix = FormedQuadratic(dense, 0.0)
    found = matrix.lowest_distinct(3, 1e-10)
    np.testing.assert_allclose(projector(found), projector(dense_lowest(dense, 3)), atol=1e-10)
    assert matrix.lowest_distinct(8, 1e-10) is None
