"""Barzilai and Borwein's steps on a quadratic, where they are inverse Rayleigh quotients."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect._solver.iterate import barzilai_borwein


def test_both_steps_are_one_over_a_curvature():
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((6, 6))
    H = factor @ factor.T
    s = rng.standard_normal((6, 1))
    y = H @ s
    long, short = (
        barzilai_borwein(s, sign * y, 1e9, is_long=kind) for sign, kind in ((1, True), (-1, False))
    )
    assert long == pytest.approx(np.vdot(s, s) / np.vdot(s, y))
    assert short == pytest.approx(np.vdot(s, y) / np.vdot(y, y))
    assert short <= long
    values = np.linalg.eigvalsh(H)
    assert 1 / values[-1] <= short
    assert long <= 1 / values[0]


@pytest.mark.parametrize("is_long", [True, False])
def test_without_curvature_the_step_is_the_largest(is_long):
    assert barzilai_borwein(np.ones(3), np.zeros(3), 7.0, is_long=is_long) == 7.0
    assert barzilai_borwein(np.ones(3), 1e-3 * np.ones(3), 7.0, is_long=is_long) == 7.0
