"""Scaling by the data, logarithms of counts, and the warning about units."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ufselect import DSCOFS, AutoSelector, MaxVariance, RandomSubset, ReconstructionSelector, RedundancyFilter
from ufselect.exceptions import DominatedByUnitsWarning, RepeatedColumnsWarning
from ufselect.preprocessing import AutoScaler, LogCounts


@parametrize_with_checks([AutoScaler(), AutoScaler("standard"), LogCounts()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def people(n=200):
    """A survey: answers from 1 to 7 and an age, whose spread is less than ten times theirs."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(1, 8, (n, 5)), columns=[f"answer{j}" for j in range(5)])
    table["age"] = rng.normal(45, 15, n)
    return table.astype(float)


def test_a_column_with_half_of_the_variance_decides_without_a_tenfold_spread():
    table = people()
    scaler = AutoScaler().fit(table)
    assert scaler.is_scaled_
    assert table.std().max() < 10 * table.std().min()
    assert "age has" in scaler.reason_
    np.testing.assert_allclose(scaler.transform(table), StandardScaler().fit_transform(table))


def test_excluded_columns_do_not_decide():
    table = people().assign(total=lambda t: 1e4 * t["answer0"])
    assert AutoScaler().fit(table).is_scaled_
    assert not AutoScaler(exclude=["total", "age"]).fit(table).is_scaled_
    assert not AutoScaler(exclude=[5, 6]).fit(table).is_scaled_


def test_pixels_share_a_unit_and_measurements_do_not():
    digits = load_digits().data
    scaler = AutoScaler().fit(digits)
    assert not scaler.is_scaled_
    np.testing.assert_array_equal(scaler.transform(digits), digits)
    wine = AutoScaler().fit(load_wine().data)
    assert wine.is_scaled_
    assert "column 12 has 99.8 %" in wine.reason_


def test_counts_are_recognised_and_left_to_logarithms():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.lognormal(-1, 2, 80), (100, 80))
    scaler = AutoScaler().fit(counts)
    assert scaler.looks_like_counts_
    assert not scaler.is_scaled_
    logs = LogCounts().fit_transform(counts)
    filled = counts.sum(axis=1) > 0
    np.testing.assert_allclose(
        np.expm1(logs).sum(axis=1)[filled], np.median(counts.sum(axis=1)[filled]), rtol=1e-9
    )
    np.testing.assert_allclose(LogCounts().fit_transform(sparse.csr_array(counts)).toarray(), logs)


def test_missing_values_weights_and_batches_enter_the_moments():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1, 2, 3, 4]
    X[::7, 1] = np.nan
    weights = rng.integers(1, 4, 60)
    weighted = AutoScaler("standard").fit(X, sample_weight=weights)
    repeated = AutoScaler("standard").fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.scale_, repeated.scale_)
    batch = np.arange(60) % 3
    shifted = X + 100 * batch[:, None]
    dense = AutoScaler("standard").fit(shifted, batch=batch)
    centred = np.array([X[batch == b] - np.nanmean(X[batch == b], axis=0) for b in range(3)]).reshape(60, 4)
    np.testing.assert_allclose(dense.scale_, np.sqrt(np.nanmean(centred**2, axis=0)))
    whole = np.nan_to_num(shifted)
    np.testing.assert_allclose(
        AutoScaler("standard").fit(sparse.csr_array(whole), batch=batch).scale_,
        AutoScaler("standard").fit(whole, batch=batch).scale_,
    )


@pytest.mark.parametrize("given", [{}, {"sample_weight": np.arange(30) % 3}, {"batch": np.arange(30) % 2}])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_a_constant_column_has_exactly_the_deviation_one(given, share_missing):
    """The mean of equal numbers is not one of them up to rounding, by which nothing may be divided."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(30), np.full(30, 0.1), np.full(30, 1e6 + 0.3)])
    X[rng.random(X.shape) < share_missing] = np.nan
    scaler = AutoScaler("standard").fit(X, **given)
    np.testing.assert_array_equal(scaler.scale_[1:], 1)
    assert not np.nan_to_num(scaler.transform(X))[:, 1:].any()


def test_values_beyond_squares_are_refused_by_name():
    table = people()
    table.loc[3, "answer2"] = 1e200
    with pytest.raises(ValueError, match="answer2 are too large"):
        AutoScaler().fit(table)
    with pytest.raises(ValueError, match="counts are too large to be added up"):
        LogCounts().fit(np.full((3, 2), 1.7e308))


@pytest.mark.parametrize("selector", [DSCOFS(3), ReconstructionSelector(3), MaxVariance(3)])
def test_a_selector_warns_of_a_column_that_decides_by_its_unit(selector):
    with pytest.warns(DominatedByUnitsWarning, match="age has 91 %.* AutoScaler"):
        selector.fit(people())


def test_no_warning_where_units_do_not_decide():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReconstructionSelector(3).fit(AutoScaler().fit_transform(people()))
        ReconstructionSelector(3).set_params(exclude=["age"]).fit(people())
        ReconstructionSelector(10).fit(load_digits().data)
        RedundancyFilter().fit(people())
        RandomSubset(3, random_state=0).fit(people())
        ReconstructionSelector(1).fit(people()[["age", "answer1"]])  # one of two always has half
        ReconstructionSelector(2).fit(load_iris().data)  # 68 % in one of four lengths
    assert not AutoScaler().fit(load_iris().data).is_scaled_


def test_one_warning_for_a_selector_that_fits_others():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        AutoSelector(3, goal="clusters", n_clusters=2, random_state=0).fit(people())
    assert sum(issubclass(found.category, DominatedByUnitsWarning) for found in caught) == 1


def test_sparse_data_and_gram_matrices_warn_too():
    from ufselect.gram import gram_operator

    table = people().to_numpy()
    for data in (sparse.csr_array(table), gram_operator(table)):
        with pytest.warns(DominatedByUnitsWarning, match="Column 5"):
            DSCOFS(3).fit(data)


@pytest.mark.parametrize("selector", [DSCOFS(3), MaxVariance(3)])
@pytest.mark.parametrize("kind", ["array", "frame", "sparse"])
def test_a_selector_warns_of_copies_among_its_columns(selector, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    X[:, 0] *= 1.5
    X[:, 4] = -1.001 * X[:, 0] + 5  # the same in another unit
    words = "column 4 and column 0 are correlated above 0.999. Set max_correlation"
    data: object = X
    if kind == "frame":
        data, words = pd.DataFrame(X, columns=list("abcdef")), "repeat each other: e and a "
    elif kind == "sparse":
        data = sparse.csr_array(X)
    with pytest.warns(RepeatedColumnsWarning, match=words):
        selector.fit(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(selector).set_params(max_correlation=0.999).fit(data)
        clone(selector).set_params(exclude=[0]).fit(X)
        clone(selector).set_params(n_features_to_select=6).fit(X)  # all of them are no selection
        AutoSelector(3, goal="clusters", n_clusters=2, random_state=0).fit(X)
        selector.fit(X[:8])  # too few rows to tell
