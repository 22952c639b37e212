"""Weights and batches of the rows in the Gram matrix, against repeated and separately centred rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies import structured_data

from ufselect.gram import RowInfo, gram_operator, row_info

KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}


def in_units(gram):
    return gram.to_dense() * gram.scale**2


def assert_operator_is(gram, expected):
    """Every way to look at the operator gives the expected matrix."""
    tolerance = {"rtol": 1e-9, "atol": 1e-9 * max(np.abs(expected).max(), 1e-300)}
    unit, order = gram.scale**2, len(expected)
    np.testing.assert_allclose(in_units(gram), expected, **tolerance)
    np.testing.assert_allclose(gram.matmat(np.eye(order)) * unit, expected, **tolerance)
    np.testing.assert_allclose(gram.diag() * unit, expected.diagonal(), **tolerance)
    np.testing.assert_allclose(gram.trace() * unit, expected.trace(), **tolerance)
    some = np.array([0, order - 1])
    np.testing.assert_allclose(gram.columns(some) * unit, expected[:, some], **tolerance)
    np.testing.assert_allclose(gram.subgram(some) * unit, expected[np.ix_(some, some)], **tolerance)


def scatter(X):
    A = X - X.mean(axis=0)
    return A.T @ A


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wide", [False, True])
@given(data=structured_data(), seed=st.integers(0, 1000))
def test_integer_weights_are_repeated_rows(kind, wide, data, seed):
    X = np.hstack([data] * 4) if wide else data
    weights = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    gram = gram_operator(KINDS[kind](X), rows=RowInfo(weights).scaled())
    assert_operator_is(gram, scatter(repeated))
    assert gram.n_samples == len(repeated)


@pytest.mark.parametrize("kind", KINDS)
@given(data=structured_data(max_samples=20), seed=st.integers(0, 1000))
def test_batches_are_centred_by_themselves(kind, data, seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([data, 2 * data[:3] + 100])
    labels = np.array(["a", "b"])[rng.integers(0, 2, len(X))]
    expected = sum(scatter(X[labels == label]) for label in np.unique(labels))
    assert_operator_is(gram_operator(KINDS[kind](X), rows=RowInfo(np.ones(len(X)), labels)), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_batches_together(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5)) * (rng.random((30, 5)) < 0.4)
    weights, labels = rng.integers(1, 4, 30), rng.integers(0, 3, 30)
    repeated, repeated_labels = np.repeat(X, weights, axis=0), np.repeat(labels, weights)
    expected = sum(scatter(repeated[repeated_labels == label]) for label in range(3))
    gram = gram_operator(KINDS[kind](X), rows=RowInfo(weights.astype(float), labels))
    assert_operator_is(gram, expected)
    spectrum = gram.eigenpairs(5)
    np.testing.assert_allclose(spectrum.values * gram.scale**2, np.linalg.eigvalsh(expected)[::-1], rtol=1e-9)


def test_weights_below_one_are_taken_in_proportion():
    rows = RowInfo(np.array([0.1, 0.3, 0.2])).scaled()
    np.testing.assert_allclose(rows.weights, [0.5, 1.5, 1.0])
    assert rows.n_samples == 3
    assert RowInfo(np.full(4, 0.25)).scaled() is None


def test_large_means_cost_no_digits():
    rng = np.random.default_rng(1)
    X = rng.integers(-50, 50, (40, 3)) / 64 + 2.0**40
    weights = rng.integers(1, 4, 40)
    gram = gram_operator(X, rows=RowInfo(weights.astype(float)))
    np.testing.assert_allclose(
        in_units(gram), scatter(np.repeat(X - 2.0**40, weights, axis=0)), rtol=1e-9, atol=1e-6
    )


def test_rows_without_weight_are_left_out():
    X, rows = row_info([1, 0, 2], None, 3).counted(np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(X, [[0, 1], [4, 5]])
    np.testing.assert_array_equal(rows.weights, [1, 2])
    labelled = row_info([1, 0, 2, 1], ["a", "c", "b", "b"], 4).of(slice(1, 4))
    counted, rest = labelled.counted(np.arange(3.0)[:, None])
    np.testing.assert_array_equal(counted, [[1], [2]])
    np.testing.assert_array_equal(rest.labels, ["b", "b"])


@pytest.mark.parametrize("bad", [[1, 2], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], [[1, 1, 1]]])
def test_bad_weights_are_refused(bad):
    with pytest.raises(ValueError, match="sample_weight"):
        row_info(bad, None, 3)
