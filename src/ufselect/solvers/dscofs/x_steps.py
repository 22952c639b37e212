"""The X-step solvers by name, and the choice among them."""

from __future__ import annotations

from ufselect.solvers.dscofs.newton import StiefelNewton
from ufselect.solvers.dscofs.pam import XSolver
from ufselect.solvers.dscofs.pencf import PenCF
from ufselect.solvers.dscofs.power import PowerStep, RotatedPowerStep
from ufselect.solvers.dscofs.problem import DoubleSparsePCA

X_SOLVER_NAMES = ("auto", "power", "rotated", "newton", "pencf")
# Between two outer iterations the supports move, so a tenfold fall of the gradient is enough; a hundredfold
# one took up to twice the products and ended no lower.
INEXACT = 0.1
# Penalties that together stay below this share of the mean leading eigenvalue leave the rotation of X nearly
# free, and finding it at once saves up to nine products in ten. Above, the rotation that suits the last Y and
# Z best holds on to them. On seven data sets the two kinds of step are about equal between 0.1 and 0.2.
SMALL_PENALTY = 0.1


def make_x_solver(name: str, problem: DoubleSparsePCA) -> XSolver:
    """Return the X-step solver of that name; ``"auto"`` rotates the power step where penalties are small."""
    if name == "auto":
        small = SMALL_PENALTY * problem.leading_variance
        turns = problem.mu_entry > 0 and problem.mu_entry + problem.mu_row <= small
        name = "rotated" if turns else "power"
    if name == "newton":
        return StiefelNewton(tol=INEXACT)
    if name == "pencf":
        return PenCF()
    return RotatedPowerStep() if name == "rotated" else PowerStep()
