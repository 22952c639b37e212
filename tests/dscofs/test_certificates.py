"""Bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dscofs.examples import brute_force, captured_variance, upper_bound

from ufselect import DSCOFS, ConstrainedDSCOFS
from ufselect.dscofs.algorithm import optimality_gap, optimality_message, spectral_bound
from ufselect.gram import Spectrum, gram_operator


def test_spectral_bound_is_the_linear_programme():
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    factor = rng.standard_normal((12, 8))
    values, vectors = np.linalg.eigh(factor.T @ factor)
    values, vectors = values[::-1], vectors[:, ::-1]
    for r, m in ((2, 1), (3, 2), (5, 4)):
        caps = np.sort(vectors**2, axis=0)[-r:].sum(axis=0)
        programme = linprog(-values, A_ub=np.ones((1, 8)), b_ub=[m], bounds=[(0, cap) for cap in caps])
        whole = spectral_bound(Spectrum(values, vectors), r, m, is_complete=True)
        assert whole == pytest.approx(-programme.fun, rel=1e-8)
        part = spectral_bound(Spectrum(values[:m], vectors[:, :m]), r, m, is_complete=False)
        assert part >= whole - 1e-12


def test_one_sparse_direction_makes_the_spectral_bound_sharper_than_the_others():
    rng = np.random.default_rng(0)
    dense = rng.standard_normal(30)
    S = np.outer(dense, dense) + 0.01 * np.eye(30)
    bound = upper_bound(S, 5, 1, 2)
    assert bound < 0.9 * min(np.linalg.eigvalsh(S)[-1], np.sort(np.diag(S))[-5:].sum() * 2)
    assert bound >= brute_force(S[:12, :12], 5, 1)


def test_words():
    assert optimality_message(0.031) == "within 3.1 % of the best possible"
    assert "best possible" in optimality_message(0.0)
    assert optimality_gap(1.0, 0.0) == 0.0
    assert optimality_gap(2.0, 1.0) == 0.0
    assert optimality_gap(0.75, 1.0) == 0.25


@pytest.mark.parametrize("selector", [DSCOFS, ConstrainedDSCOFS])
def test_the_selectors_gap_is_a_true_claim(selector):
    rng = np.random.default_rng(2)
    data = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 10)) + 0.3 * rng.standard_normal((50, 10))
    selector = selector(4, n_components=2, entry_sparsity=None).fit(data)
    gram = gram_operator(data)
    best = brute_force(gram.to_dense(), 4, 2)
    captured = captured_variance(gram, np.flatnonzero(selector.support_), 2)
    assert captured >= (1 - selector.optimality_gap_) * best - 1e-9
    assert selector.optimality_message_.endswith(("of the best possible", "to within 0.05 %"))


def test_the_gap_does_not_depend_on_the_unit_of_the_data():
    rng = np.random.default_rng(3)
    data = rng.standard_normal((40, 12)) * np.linspace(1, 3, 12)
    gaps = [
        DSCOFS(4, n_components=2, entry_sparsity=None).fit(data * unit).optimality_gap_
        for unit in (1e-150, 1.0, 1e150)
    ]
    np.testing.assert_allclose(gaps, gaps[1], rtol=1e-9)
