"""The broken-stick rule, ranks, and eigenpairs of a given accuracy."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect import PCALeverage
from ufselect.gram import gram_operator, suggest_n_components


@pytest.mark.parametrize(
    ("n", "d", "rank", "noise"), [(200, 50, 5, 1.0), (100, 400, 8, 0.5), (500, 100, 3, 2.0)]
)
def test_rule_finds_the_known_rank(n, d, rank, noise):
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    assert PCALeverage().fit(signal + noise * rng.standard_normal((n, d))).n_components_ == rank


def test_rule_equals_its_definition():
    values = np.array([5.0, 3.0, 1.0, 0.5, 0.4, 0.1])
    pieces = [sum(1 / i for i in range(k, 7)) / 6 for k in range(1, 7)]
    expected = next(k for k, (v, p) in enumerate(zip(values / 10, pieces, strict=True)) if v <= p)
    assert suggest_n_components(values, 10.0, 6) == expected


def test_rule_keeps_at_least_one_and_asks_for_more_values():
    assert suggest_n_components(np.ones(10), 10.0, 10) == 1
    assert suggest_n_components(np.array([5.0, 4.0]), 10.0, 100) is None


def test_spectrum_is_widened_until_the_rule_decides():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((300, 200))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0]
    pieces = np.cumsum((1 / np.arange(1, 201))[::-1])[::-1]
    variances = np.where(np.arange(200) < 40, pieces, 1e-3 * pieces)
    assert PCALeverage().fit(scores * np.sqrt(variances)).n_components_ == 40


def test_exactly_low_rank_data_keep_their_rank():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((100, 3)) @ np.linalg.qr(rng.standard_normal((80, 3)))[0].T
    assert PCALeverage().fit(data).n_components_ == 3


def test_more_components_than_rank_are_refused():
    data = np.outer(np.arange(10.0), np.arange(1.0, 6.0))
    with pytest.raises(ValueError, match="more than the rank 1"):
        PCALeverage(n_components=2).fit(data)


def test_constant_data_are_refused():
    with pytest.raises(ValueError, match="constant"):
        PCALeverage().fit(np.ones((5, 3)))


def decaying_data(variances, n_samples=500, n_features=400):
    """Centred rows whose scatter has these eigenvalues and zeros."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((n_samples, len(variances)))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0]
    return (scores * np.sqrt(variances)) @ np.linalg.qr(rng.standard_normal((n_features, len(variances))))[
        0
    ].T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(500, 400), (300, 500)])
def test_rank_does_not_shrink_with_the_order_of_the_matrix(dtype, shape):
    """A tenth eigenvalue of 2e-5 is 170 times the rounding of float32, and the eleventh is nothing else."""
    data = decaying_data(np.geomspace(1, 2e-5, 10), *shape)
    assert PCALeverage(n_components=10).fit(data.astype(dtype)).n_components_ == 10
    with pytest.raises(ValueError, match="more than the rank 10"):
        PCALeverage(n_components=11).fit(data.astype(dtype))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("shape", [(500, 400), (1300, 1200), (300, 2000)])
def test_rough_eigenpairs_are_as_exact_as_they_say(shape, copy):
    variances = np.append(np.linspace(3, 1, 12), np.full(200, 0.5))
    exact = gram_operator(data := decaying_data(variances, *shape), copy=copy).eigenpairs(12)
    gram = gram_operator(data, copy=copy)
    rough = gram.eigenpairs(12, tol=1e-4)
    assert rough.vectors.dtype == np.float64
    np.testing.assert_allclose(rough.vectors.T @ rough.vectors, np.eye(12), atol=1e-12)
    residual = gram.matmat(rough.vectors) - rough.vectors * rough.values
    assert np.linalg.norm(residual, axis=0).max() <= 2e-4 * rough.values[0]
    assert np.all(rough.values * (1 + rough.error) >= exact.values * (1 - 1e-12))
    # exact ones replace them when asked for
    np.testing.assert_allclose(gram.eigenpairs(12).values, exact.values, rtol=1e-12)


def test_rough_eigenpairs_below_the_resolution_of_float32_are_found_in_float64():
    variances = np.geomspace(1, 1e-9, 12)
    rough = gram_operator(decaying_data(variances, 600, 500)).eigenpairs(12, tol=1e-4)
    np.testing.assert_allclose(rough.values / rough.values[0], variances, rtol=1e-4)
