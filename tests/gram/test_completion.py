"""Missing entries filled in by a low-rank fit."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.gram import RowInfo, gram_operator


def units(gram):
    return gram.to_dense() * gram.scale**2


def low_rank(n, d, rank=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + noise * rng.standard_normal(
        (n, d)
    )


def with_gaps(X, share, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("shape", [(300, 20), (40, 80)], ids=["tall", "wide"])
def test_nearer_to_complete_data_than_mean_filling(shape):
    X = low_rank(*shape) + 3
    gapped = with_gaps(X, 0.2)
    truth = units(gram_operator(X))
    filled = units(gram_operator(np.where(np.isnan(gapped), np.nanmean(gapped, axis=0), gapped)))
    gram = gram_operator(gapped)
    assert gram.missing.route == "completed"
    assert gram.missing.share == pytest.approx(0.2, abs=0.02)
    assert np.linalg.norm(units(gram) - truth) < 0.6 * np.linalg.norm(filled - truth)


@pytest.mark.parametrize("shape", [(2000, 8), (60, 200)], ids=["tall", "wide"])
def test_unpredictable_features_keep_their_variance(shape):
    """Noise cannot be filled in; uncorrected, a feature half missing would have half its variance."""
    X = np.random.default_rng(0).standard_normal(shape)
    gapped = X.copy()
    gapped[: shape[0] // 2, 0] = np.nan
    gram = gram_operator(gapped)
    found = gram.diag()[0] * gram.scale**2 / shape[0]
    assert found == pytest.approx(np.nanvar(gapped[:, 0]), rel=0.1)


def test_integer_weights_are_repeated_rows():
    X = with_gaps(low_rank(40, 6), 0.15)
    weights = np.random.default_rng(2).integers(1, 4, 40)
    found = gram_operator(X, rows=RowInfo(weights.astype(float)))
    expected = gram_operator(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(units(found), units(expected), rtol=1e-8, atol=1e-8)
    assert found.n_samples == expected.n_samples


def test_order_of_rows_and_units_do_not_matter():
    X = with_gaps(low_rank(50, 7), 0.1)
    reference = units(gram_operator(X))
    np.testing.assert_allclose(units(gram_operator(X[::-1])), reference, rtol=1e-8, atol=1e-8)
    stretch = 2.0 ** np.arange(-3, 4)
    np.testing.assert_allclose(
        units(gram_operator(X * stretch)), reference * np.outer(stretch, stretch), rtol=1e-8, atol=1e-8
    )


def test_batches_are_centred_before_gaps_are_filled():
    X = with_gaps(low_rank(60, 6), 0.1)
    labels = np.repeat([0, 1], 30)
    shifted = X + 50 * labels[:, None]
    rows = RowInfo(np.ones(60), labels)
    np.testing.assert_allclose(
        units(gram_operator(shifted, rows=rows)),
        units(gram_operator(X, rows=rows)),
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize("X", [[[1.0, np.nan], [2.0, np.nan], [4.0, np.nan]], [[np.nan], [1.0], [3.0]]])
def test_tiny_tables_and_empty_columns(X):
    gram = gram_operator(np.array(X))
    S = units(gram)
    assert np.all(np.isfinite(S))
    if len(X[0]) == 2:
        assert S[1, 1] == 0


def test_float32_stays():
    X = with_gaps(low_rank(50, 7), 0.1).astype(np.float32)
    gram = gram_operator(X)
    assert gram.dtype == np.float32
    np.testing.assert_allclose(units(gram), units(gram_operator(X.astype(float))), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("shape", [(3000, 30), (60, 2500)], ids=["tall", "wide"])
def test_few_gaps_are_filled_from_some_of_the_rows_and_columns(shape):
    X = low_rank(*shape)
    gapped = X.copy()
    gapped[[3, 7, 11], [5, 2, 5]] = np.nan
    truth, found = units(gram_operator(X)), units(gram_operator(gapped))
    filled = units(gram_operator(np.where(np.isnan(gapped), np.nanmean(gapped, axis=0), gapped)))
    assert np.linalg.norm(found - truth) < 0.5 * np.linalg.norm(filled - truth)
    whole = np.setdiff1d(np.arange(shape[1]), [2, 5])[:20]
    np.testing.assert_allclose(found[np.ix_(whole, whole)], truth[np.ix_(whole, whole)], rtol=1e-9, atol=1e-9)
