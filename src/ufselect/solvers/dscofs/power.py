"""The X-step as one power step."""

from __future__ import annotations

from numpy.typing import NDArray

from ufselect.sets import stiefel
from ufselect.solvers.dscofs.pam import PamState
from ufselect.solvers.dscofs.problem import DoubleSparsePCA


class PowerStep:
    r"""One step :math:`X \leftarrow \mathrm{polar}(SX + B)`.

    On the manifold the X-step maximises :math:`\mathrm{Tr}(X^\top SX) + 2\mathrm{Tr}(X^\top B)`, which is
    convex because S is positive semidefinite. Its linearisation at X is maximised by the polar factor, so
    the step never increases the objective and needs no step size.
    """

    extrapolates = True

    def solve(self, problem: DoubleSparsePCA, state: PamState) -> NDArray:
        """Return the polar factor of the ascent."""
        return stiefel.project(state.ascent)


class RotatedPowerStep:
    r"""A power step, then the best rotation within its span.

    .. math::

        Q = \mathrm{polar}(SX + B), \qquad X \leftarrow Q\,\mathrm{polar}(Q^\top(\mu_1 Y + \mu_2 Z))

    Rotating within a span leaves :math:`\mathrm{Tr}(X^\top SX)` alone, so the best rotation is known in
    closed form and needs no product with S. The power step by itself turns X by a share of about
    :math:`\mu/\lambda` a step, which takes hundreds of steps where the penalties are small beside the
    eigenvalues.
    """

    extrapolates = True

    def solve(self, problem: DoubleSparsePCA, state: PamState) -> NDArray:
        """Return the best point in the span of the ascent."""
        X = stiefel.project(state.ascent)
        if problem.mu_entry == 0:
            return X  # every rotation is as good, since Z turns with X
        return stiefel.turned_towards(X, problem.pull(state.Y, state.Z))
