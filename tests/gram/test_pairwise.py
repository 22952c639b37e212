"""The Gram matrix of pairwise complete rows, against pandas and by pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies import structured_data

from ufselect.gram import gram_operator
from ufselect.gram.missing import merge_sums, pairwise_gram, pairwise_sums, repair

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


@pytest.mark.parametrize("share", [0.03, 0.4])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@given(data=structured_data(), seed=st.integers(0, 1000))
def test_entries_are_those_of_pandas(kind, share, data, seed):
    X = with_gaps(data + 10, share, seed)
    expected, _ = repair(unrepaired(X))
    found = units(pairwise_gram([pairwise_sums(kind(X))]))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@given(data=structured_data(), seed=st.integers(0, 1000), cut=st.integers(1, 3))
def test_merged_blocks_give_the_whole(data, seed, cut):
    X = with_gaps(data, 0.2, seed)
    X[cut:] += 1e3  # blocks with far apart means
    merged = merge_sums(pairwise_sums(X[:cut]), pairwise_sums(X[cut:]))
    whole = pairwise_sums(X)
    np.testing.assert_allclose(merged.mean, np.nan_to_num(np.nanmean(X, axis=0)), rtol=1e-9)
    expected = units(pairwise_gram([whole]))
    np.testing.assert_allclose(
        units(pairwise_gram([merged])), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
    )


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X = with_gaps(rng.standard_normal((30, 4)), 0.3, 1)
    weights = rng.integers(1, 4, 30)
    expected = units(pairwise_gram([pairwise_sums(np.repeat(X, weights, axis=0))]))
    for data in (X, sparse.csr_array(X)):
        found = units(pairwise_gram([pairwise_sums(data, weights.astype(float))]))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_complete_rows_give_the_gram_matrix_itself():
    X = np.random.default_rng(0).standard_normal((20, 4)) + 5
    gram = pairwise_gram([pairwise_sums(X)])
    np.testing.assert_allclose(units(gram), units(gram_operator(X)), rtol=1e-12, atol=1e-12)
    assert gram.missing.correction == 0


def test_repair_is_semidefinite_and_keeps_the_variances():
    contradictory = np.array([[1.0, 0.9, -0.9], [0.9, 4.0, 1.8], [-0.9, 1.8, 1.0]])
    repaired, change = repair(contradictory)
    assert np.linalg.eigvalsh(contradictory)[0] < -0.1
    assert np.linalg.eigvalsh(repaired)[0] >= -1e-12
    np.testing.assert_allclose(repaired.diagonal(), contradictory.diagonal())
    assert change == pytest.approx(np.linalg.norm(repaired - contradictory) / np.linalg.norm(contradictory))


def test_sparse_data_with_gaps_take_this_route():
    X = with_gaps(np.random.default_rng(0).standard_normal((40, 5)), 0.2, 0)
    gram = gram_operator(sparse.csr_array(X))
    assert gram.missing.route == "pairwise"
    assert gram.missing.share == pytest.approx(np.isnan(X).mean())
    expected, change = repair(unrepaired(X))
    np.testing.assert_allclose(units(gram), expected, rtol=1e-9, atol=1e-9)
    assert gram.missing.correction == pytest.approx(change)


def test_features_without_values_or_common_rows_are_zero():
    X = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, np.nan], [np.nan, 3.0, np.nan], [np.nan, 5.0, np.nan]])
    S = units(gram_operator(sparse.csr_array(X)))
    np.testing.assert_allclose(S, np.diag([4 * 0.25, 4 * 1.0, 0.0]))
