"""The measure of reconstruction, against `Reconstructor.score`, scikit-learn's PCA and the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.decomposition import PCA

from ufselect import Reconstructor
from ufselect.reconstruct.known_share import KnownShare


def table(seed, n, d, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + noise * rng.standard_normal((n, d))
    return X * rng.uniform(0.1, 3, d) + 10 * rng.standard_normal(d)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([(60, 8), (60, 40), (30, 200)]), st.data())
def test_it_is_the_score_of_the_reconstructor(seed, shape, data):
    X = table(seed, *shape)
    train, test = X[: 2 * len(X) // 3], X[2 * len(X) // 3 :]
    count = data.draw(st.integers(1, shape[1] - 1))
    columns = np.random.default_rng(seed).permutation(shape[1])[:count]
    expected = Reconstructor(columns.tolist(), "ridge").fit(train).score(test)
    assert KnownShare(train, test).of(columns) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("shape", [(90, 8), (60, 40), (60, 300)])
def test_components_are_those_of_all_columns(shape):
    X = table(0, *shape)
    train, test = X[: 2 * len(X) // 3], X[2 * len(X) // 3 :]
    measure, total = KnownShare(train, test), np.square(test - train.mean(axis=0)).sum()
    for count in (1, 3, 8):
        model = PCA(count).fit(train)
        left = test - model.inverse_transform(model.transform(test))
        assert measure.of_components(count) == pytest.approx(1 - np.square(left).sum() / total)


@pytest.mark.parametrize("shape", [(60, 40), (60, 300)])
def test_sparse_rows_and_other_units_of_all_columns_give_the_same(shape):
    X = np.maximum(table(1, *shape), 0) * (np.random.default_rng(1).random(shape) < 0.3)
    dense, thin, small = (KnownShare(kind[:40], kind[40:]) for kind in (X, sparse.csr_array(X), 1e-200 * X))
    columns = np.arange(0, 40, 3)
    assert dense.of(columns) == pytest.approx(thin.of(columns), abs=1e-9)
    assert dense.of(columns) == pytest.approx(small.of(columns), abs=1e-9)
    assert dense.of_components(5) == pytest.approx(thin.of_components(5), abs=1e-9)


def test_all_columns_are_all_and_uncorrelated_ones_only_themselves():
    X = np.random.default_rng(0).standard_normal((4000, 10)) * np.arange(1, 11)
    measure = KnownShare(X[:2000], X[2000:])
    assert measure.of(range(10)) == pytest.approx(1)
    assert measure.of([9, 8]) == pytest.approx((100 + 81) / 385, abs=0.03)
    assert KnownShare(np.ones((9, 3)), np.ones((4, 3))).of([0]) == 1
