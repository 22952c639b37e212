"""The bound on falsely selected features, against its definition and against draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.assessment.stable_selector import error_bound, smallest_threshold


def test_published_values():
    """Shah & Samworth 2013: q² / ((2τ − 1) p), and C(τ, B) on both sides of ¾ for θ = 0.1, B = 50."""
    assert error_bound(0.9, 10, 100, 50).worst_case == pytest.approx(1 / 0.8)
    assert error_bound(0.7, 10, 100, 50).unimodal == pytest.approx(1 / (2 * (0.4 - 0.01)))
    assert error_bound(0.9, 10, 100, 50).unimodal == pytest.approx(4 * (0.1 + 0.01) / 1.02)
    assert error_bound(0.75, 10, 100, 50).unimodal == pytest.approx(1 / (2 * (0.5 - 0.01)))  # ¾ is below


def test_nothing_is_promised_at_one_half():
    assert error_bound(0.5, 10, 100, 50).worst_case == np.inf


def test_unimodal_bound_is_not_used_where_its_theorem_fails():
    wide = error_bound(0.9, 60, 100, 50)  # θ = 0.6 > 1/√3
    assert wide.unimodal == wide.worst_case
    low = error_bound(0.51, 30, 100, 50)  # τ ≤ ½ + 1/(2B) + ¾θ²
    assert low.unimodal == low.worst_case


@given(st.integers(1, 40), st.integers(40, 200), st.integers(2, 60), st.floats(0.05, 5.0, allow_nan=False))
def test_smallest_threshold_is_smallest(n_selected, n_features, n_pairs, max_false):
    found = smallest_threshold(max_false, n_selected, n_features, n_pairs)
    below = found.threshold - 1 / (2 * n_pairs)
    if found.unimodal > max_false:
        assert found.threshold == 1
    if below > 0.5:
        assert error_bound(below, n_selected, n_features, n_pairs).unimodal > max_false


def test_bounds_hold_for_blind_draws():
    """Of independent draws of q of p features, every feature has low selection probability."""
    rng = np.random.default_rng(0)
    p, q, n_pairs = 20, 6, 5
    kept = np.zeros(2 * n_pairs + 1)
    for _ in range(400):
        counts = np.zeros(p, dtype=int)
        for _ in range(2 * n_pairs):
            counts[rng.permutation(p)[:q]] += 1
        kept += [(counts >= least).sum() for least in range(2 * n_pairs + 1)]
    for least in range(n_pairs + 1, 2 * n_pairs + 1):
        bound = error_bound(least / (2 * n_pairs), q, p, n_pairs)
        assert kept[least] / 400 <= bound.unimodal <= bound.worst_case
