"""The Gram matrix of pairwise complete rows, against pandas and by pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies import structured_data

from ufselect.gram import GramAccumulator, gram_operator

pd = pytest.importorskip("pandas")


def with_gaps(X, share, seed):
    rng = np.random.default_rng(seed)
    gaps = rng.random(X.shape) < share
    gaps[:2] = False  # two rows stay complete, so that every pair has some
    return np.where(gaps, np.nan, X)


def unrepaired(X):
    """Return S from pandas, whose covariances divide by one less than the number of pairs."""
    observed = (~np.isnan(X)).astype(float)
    pairs = observed.T @ observed
    return pd.DataFrame(X).cov().to_numpy() * (pairs - 1) / pairs * len(X)


def units(gram):
    return gram.to_dense() * gram.scale**2


def streamed(*blocks):
    accumulator = GramAccumulator()
    for block in blocks:
        accumulator.update(block)
    return accumulator.gram()


def assert_is_repaired(gram, raw):
    """S is that of the pairs or, if that has negative eigenvalues, one near it with the same variances."""
    found, size = units(gram), np.abs(raw).max()
    np.testing.assert_allclose(found.diagonal(), raw.diagonal(), atol=1e-7 * size)
    assert np.linalg.eigvalsh(found)[0] >= -1e-9 * size
    change = np.linalg.norm(found - raw) / (np.linalg.norm(raw) or 1)
    assert change == pytest.approx(gram.missing.correction, abs=1e-6)
    assert (change > 1e-6) == (np.linalg.eigvalsh(raw)[0] < -1e-6 * size) or change < 1e-3


@pytest.mark.parametrize("share", [0.03, 0.4])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@given(data=structured_data(), seed=st.integers(0, 1000), cut=st.integers(0, 3))
def test_entries_are_those_of_pandas_also_by_blocks_with_far_apart_means(kind, share, data, seed, cut):
    X = with_gaps(data + 10, share, seed)
    X[cut:] += 1e3 * (cut > 0)
    gram = streamed(kind(X[:cut]), kind(X[cut:]))
    if gram.missing is None:  # no gap was drawn
        return
    assert_is_repaired(gram, unrepaired(X))
    assert gram.missing.share == pytest.approx(np.isnan(X).mean())
    np.testing.assert_allclose(
        units(gram_operator(sparse.csr_array(X))), units(gram), rtol=1e-6, atol=1e-6 * np.nanmax(X) ** 2
    )


def test_contradictory_pairs_are_repaired():
    """Each pair of columns is seen on rows of its own, and the three correlations exclude each other."""
    x = np.random.default_rng(0).standard_normal(60)
    gaps = np.full(20, np.nan)
    X = np.vstack(
        [
            np.column_stack(each)
            for each in ((x[:20], x[:20], gaps), (x[20:40], gaps, -x[20:40]), (gaps, x[40:], x[40:]))
        ]
    )
    gram = streamed(X)
    assert gram.missing.correction > 0.1
    assert_is_repaired(gram, unrepaired(X))


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X = with_gaps(rng.standard_normal((30, 4)), 0.3, 1)
    weights = rng.integers(1, 4, 30)
    expected = units(streamed(np.repeat(X, weights, axis=0)))
    for data in (X, sparse.csr_array(X)):
        found = units(GramAccumulator().update(data, weights.astype(float)).gram())
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_features_without_values_or_common_rows_are_zero():
    X = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, np.nan], [np.nan, 3.0, np.nan], [np.nan, 5.0, np.nan]])
    S = units(gram_operator(sparse.csr_array(X)))
    np.testing.assert_allclose(S, np.diag([4 * 0.25, 4 * 1.0, 0.0]))
