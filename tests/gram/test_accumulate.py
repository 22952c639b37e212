"""Merging blocks: the centred Gram matrix of the whole, whatever the cuts, means, units and types."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ufselect.gram import GramAccumulator

PANEL = 256  # rows of S that are held together


def exact_gram(X):
    """Centre and multiply in extended precision."""
    wide = np.asarray(X, dtype=np.longdouble)
    centred = wide - wide.mean(axis=0)
    return (centred.T @ centred).astype(np.float64)


def make_rows(n_samples, n_features, seed=0, mean=0.0):
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 3)) @ rng.standard_normal((3, n_features))
    return mixed + 0.5 * rng.standard_normal((n_samples, n_features)) + mean


def units(gram):
    return gram.to_dense() * gram.scale**2


@given(
    seed=st.integers(0, 1000),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    mean=st.sampled_from([0.0, 1e3, -1e7]),
    unit=st.sampled_from([1e-120, 1.0, 1e100]),
)
def test_any_cutting_gives_the_whole(seed, cuts, mean, unit):
    X = make_rows(40, 5, seed, mean) * unit
    accumulator = GramAccumulator()
    for batch in np.split(X, sorted(cuts)):
        accumulator.update(batch)
    expected = exact_gram(X / unit)
    tolerance = 1e-11 * (1 + abs(mean) * 1e-2) * np.abs(expected).max()
    np.testing.assert_allclose(units(accumulator.gram()) / unit / unit, expected, rtol=0, atol=tolerance)
    assert accumulator.n_samples == 40
    np.testing.assert_allclose(accumulator.mean, X.mean(axis=0), rtol=1e-12, atol=1e-12 * unit)


@pytest.mark.parametrize("n_features", [1, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 3])
def test_panels_cover_the_matrix(n_features):
    X = make_rows(30, n_features)
    np.testing.assert_allclose(units(GramAccumulator().update(X).gram()), exact_gram(X), rtol=1e-9, atol=1e-9)


def test_large_means_cost_no_digits_in_float32():
    X = (make_rows(3000, 6, mean=1e4)).astype(np.float32)
    gram = GramAccumulator().update(X[:1000]).update(X[1000:]).gram()
    expected = exact_gram(X)
    assert gram.dtype == np.float32
    assert np.abs(units(gram) - expected).max() < 1e-5 * np.abs(expected).max()


def test_blocks_with_far_apart_means_and_units():
    X = np.vstack([make_rows(20, 4) * 1e-8, make_rows(20, 4, 1, mean=1e6), make_rows(20, 4, 2) * 1e3])
    accumulator = GramAccumulator()
    for batch in np.split(X, 3):
        accumulator.update(batch)
    np.testing.assert_allclose(units(accumulator.gram()), exact_gram(X), rtol=1e-12)


def test_constant_columns_are_exactly_zero():
    X = make_rows(50, 4)
    X[:, 2] = 0.1
    gram = GramAccumulator().update(X[:17]).update(X[17:]).gram().to_dense()
    assert not gram[2].any()
    assert not gram[:, 2].any()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint16])
def test_whole_numbers_are_converted(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype is bool else 100, (60, 7)).astype(dtype)
    gram = GramAccumulator().update(X[:25]).update(X[25:]).gram()
    assert gram.dtype == np.float64
    np.testing.assert_allclose(units(gram), exact_gram(X.astype(float)), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("filled", [0, 1, 40])
def test_sparse_blocks_match_dense_ones(dtype, filled):
    """Columns stored in full may have a large mean and still keep their digits."""
    rng = np.random.default_rng(1)
    X = rng.poisson(0.05, (400, PANEL + 40)).astype(dtype)
    positions = rng.choice(X.shape[1], filled, replace=False)
    X[:, positions] += dtype(1000) + rng.standard_normal((400, filled)).astype(dtype)
    accumulator = GramAccumulator()
    for rows in (slice(0, 150), slice(150, 151), slice(151, 400)):
        accumulator.update(sparse.csr_array(X[rows]))
    expected = exact_gram(X)
    error = np.abs(units(accumulator.gram()) - expected).max() / np.abs(expected).max()
    assert error < (1e-12 if dtype is np.float64 else 1e-6)


def test_sparse_blocks_with_duplicate_entries_are_left_alone():
    block = sparse.csr_array((np.ones(4), np.array([0, 0, 1, 2]), np.array([0, 2, 3, 4])), shape=(3, 3))
    gram = GramAccumulator().update(block).gram()
    np.testing.assert_allclose(units(gram), exact_gram(np.diag([2.0, 1.0, 1.0])), atol=1e-14)
    assert block.nnz == 4


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_bad_values_are_refused_and_change_nothing(bad, as_sparse):
    accumulator = GramAccumulator().update(make_rows(10, 3))
    before = units(accumulator.gram())
    batch = make_rows(5, 3)
    batch[2, 1] = bad
    with pytest.raises(ValueError, match="The batch contains NaN or infinity"):
        accumulator.update(sparse.csr_array(batch) if as_sparse else batch)
    np.testing.assert_array_equal(units(accumulator.gram()), before)


def test_range_overflow_is_said_so():
    with pytest.raises(ValueError, match="range of the data"):
        GramAccumulator().update(np.array([[1.7e308], [-1.7e308]]))


def test_other_widths_and_words_are_refused():
    accumulator = GramAccumulator()
    with pytest.raises(ValueError, match="no rows yet"):
        accumulator.gram()
    accumulator.update(make_rows(5, 3))
    with pytest.raises(ValueError, match="4 features, but earlier ones had 3"):
        accumulator.update(make_rows(5, 4))
    with pytest.raises(ValueError, match="two dimensions"):
        accumulator.update(np.arange(3.0))
    with pytest.raises(ValueError, match="Cannot merge"):
        accumulator.merge(GramAccumulator().update(make_rows(5, 4)))
    with pytest.raises(ValueError, match="The batch holds values that are not numbers"):
        accumulator.update(np.array([["a", "b", "c"]], dtype=object))


def test_accumulators_merge_and_keep_their_parts():
    """A scheduler may merge the same part again after a worker is lost."""
    X = make_rows(50, 5, mean=9.0)
    part = GramAccumulator().update(X[20:])
    before = units(part.gram())
    merged = GramAccumulator().update(X[:20]).merge(part).merge(GramAccumulator())
    np.testing.assert_allclose(units(merged.gram()), exact_gram(X), rtol=1e-9)
    np.testing.assert_array_equal(units(part.gram()), before)
