"""IF-PCA's selection against SciPy's Kolmogorov–Smirnov test and a transcription of Higher Criticism."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from ufselect import IFPCA


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.booleans())
def test_statistics_are_those_of_scipy(seed, has_ties):
    rng = np.random.default_rng(seed)
    X = 1e3 + rng.standard_normal((25, 6)) ** 3
    X = np.round(X) if has_ties else X
    X[0] += 5
    standard = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    expected = [np.sqrt(25) * stats.kstest(column, "norm").statistic for column in standard.T]
    np.testing.assert_allclose(IFPCA(1).fit(X).scores_, expected, rtol=1e-7)
    np.testing.assert_allclose(IFPCA(1).fit(sparse.csr_array(X)).scores_, expected, rtol=1e-7)


def criticism_by_definition(pvalues, n):
    """Transcribe the search over k, the p-values in order."""
    d = len(pvalues)
    best, found = -np.inf, None
    for k, pvalue in enumerate(sorted(pvalues), start=1):
        if k > d / 2 or pvalue <= np.log(d) / d:
            continue
        excess = k / d - pvalue
        value = np.sqrt(d) * excess / np.sqrt(max(np.sqrt(n) * excess, 0) + k / d)
        if value > best:
            best, found = value, k
    return found


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(20, 200), st.sampled_from([10, 100]))
def test_the_count_is_that_of_higher_criticism(seed, d, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: n // 2, : d // 5] += 4.0
    fitted = IFPCA().fit(X)
    expected = criticism_by_definition(fitted.pvalues_, n)
    assume(expected is not None)
    assert fitted.n_influential_ == expected


@pytest.mark.parametrize("n_samples", [20, 300])
def test_pvalues_of_normal_data_are_uniform_and_fall_with_the_score(n_samples):
    X = np.random.default_rng(1).standard_normal((n_samples, 2000))
    X[:2, 0] *= 1e3  # further than any draw reaches
    fitted = IFPCA(5).fit(X)
    assert stats.kstest(fitted.pvalues_, "uniform").statistic < 0.06
    assert np.all((fitted.pvalues_ > 0) & (fitted.pvalues_ <= 1))
    assert np.all(np.diff(fitted.pvalues_[np.argsort(fitted.scores_, kind="stable")]) <= 0)


@pytest.mark.parametrize("seed", range(2))
def test_auto_finds_the_planted_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 1000))
    X[:40, :30] += 10.0
    fitted = IFPCA().fit(X)
    assert fitted.support_[:30].all()
    assert fitted.support_.sum() == fitted.n_influential_ <= 80


def test_a_number_is_kept_to_and_scales_do_not_matter():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, 40)) ** 3
    fitted = IFPCA(7).fit(X)
    assert fitted.support_.sum() == 7
    scaled = IFPCA(7).fit(100 + 8.0 * X)
    np.testing.assert_allclose(scaled.scores_, fitted.scores_, rtol=1e-9)
    huge = IFPCA(7).fit(X * (1.7e308 / np.abs(X).max()))  # differences are no numbers
    np.testing.assert_allclose(huge.scores_, fitted.scores_, rtol=1e-9)


def test_auto_goes_with_constraints():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 300))
    X[:30, :10] += 10.0
    X[:, 50] = 2.0
    fitted = IFPCA(keep=[200], exclude=[0], feature_groups={"pair": [1, 2]}).fit(X)
    assert fitted.support_[[1, 2, 200]].all()
    assert not fitted.support_[0]
    assert fitted.pvalues_.shape == (300,)
    assert fitted.pvalues_[50] == 1
