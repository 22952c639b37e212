"""The choice among the X-steps."""

from __future__ import annotations

import numpy as np

from ufselect.gram import gram_operator
from ufselect.solvers import (
    DoubleSparsePCA,
    PenCF,
    PowerStep,
    RotatedPowerStep,
    StiefelNewton,
)
from ufselect.solvers.dscofs.x_steps import X_SOLVER_NAMES, make_x_solver


def test_auto_rotates_for_small_penalties_only():
    rng = np.random.default_rng(0)
    gram = gram_operator(rng.standard_normal((40, 10)))
    values = gram.eigenpairs(2).values

    def kind(name, share):
        mu = share * float(values.mean())
        return type(make_x_solver(name, DoubleSparsePCA(gram, 3, 10, mu, mu, 0.0, 0.0, 1.0, values.mean())))

    assert [kind("auto", share) for share in (1e-6, 0.04, 0.06, 1.0)] == [RotatedPowerStep] * 2 + [
        PowerStep
    ] * 2
    kinds = {name: kind(name, 1e-6) for name in X_SOLVER_NAMES}
    assert list(kinds.values()) == [RotatedPowerStep, PowerStep, RotatedPowerStep, StiefelNewton, PenCF]
