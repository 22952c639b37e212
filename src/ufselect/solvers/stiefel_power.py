"""The X-step as one power step."""

from __future__ import annotations

from numpy.typing import NDArray

from ufselect.sets import stiefel
from ufselect.solvers.problem import DoubleSparsePCA


class PowerStep:
    r"""One step :math:`X \leftarrow \mathrm{polar}(SX + B)`.

    On the manifold the X-step maximises :math:`\mathrm{Tr}(X^\top SX) + 2\mathrm{Tr}(X^\top B)`, which is
    convex because S is positive semidefinite. Its linearisation at X is maximised by the polar factor, so
    the step never increases the objective and needs no step size.
    """

    extrapolates = True

    def solve(self, problem: DoubleSparsePCA, X: NDArray, product: NDArray, ascent: NDArray) -> NDArray:
        """Return the next X, given ``ascent = S @ X + B``."""
        return stiefel.project(ascent)
