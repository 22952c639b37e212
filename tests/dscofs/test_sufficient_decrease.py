"""Theorem 3.1 (a): every plain step lowers the objective by what the steps of X, Y and Z are worth."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ufselect._utils.arrays import random_orthonormal
from ufselect.dscofs.pam import ProximalAlternatingMinimisation
from ufselect.dscofs.problem import DoubleSparsePCA
from ufselect.dscofs.start import Start
from ufselect.dscofs.x_steps import power_step
from ufselect.gram import gram_operator

NEVER = 0.0  # no decrease is that small, so that extrapolation does not set in


def random_problem(seed, mu_row, mu_entry, tau):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 15)) + 0.3 * rng.standard_normal((40, 15))
    gram = gram_operator(data)
    unit = float(gram.eigenpairs(1).values[0])
    problem = DoubleSparsePCA(gram, 6, 14, mu_row * unit, mu_entry * unit, tau * unit, tau, unit)
    return problem, Start(random_orthonormal(15, 3, rng), None, is_informed=True)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1e-3, 0.1, 10.0]),
    st.sampled_from([0.0, 1e-3, 0.1, 10.0]),
    st.sampled_from([0.0, 1e-3, 0.5]),
)
def test_plain_steps_decrease_by_what_the_theorem_promises(seed, mu_row, mu_entry, tau):
    problem, start = random_problem(seed, mu_row, mu_entry, tau)
    method = ProximalAlternatingMinimisation(problem, start, power_step, NEVER)
    state = method.init()
    for _ in range(12):
        new = method.step(state)
        step = new.X - state.X
        promised = (
            problem.tau * np.vdot(step, step)
            + np.vdot(step, problem.gram.matmat(step))
            + tau * problem.mu_entry * np.square(new.Y - state.Y).sum()
            + tau * problem.mu_row * np.square(new.Z - state.Z).sum()
        )
        rounding = 1e-12 * (problem.unit + abs(state.objective))
        assert state.objective - new.objective >= promised - rounding
        state = new
