"""The X-step solvers by name, and the choice among them."""

from __future__ import annotations

from ufselect.solvers.pam import XSolver
from ufselect.solvers.problem import DoubleSparsePCA
from ufselect.solvers.stiefel_newton import StiefelNewton
from ufselect.solvers.stiefel_pencf import PenCF
from ufselect.solvers.stiefel_power import PowerStep

X_SOLVER_NAMES = ("power", "newton", "pencf", "auto")
# Between two outer iterations the supports move, so a tenfold fall of the gradient is enough; a hundredfold
# one took up to twice the products and ended no lower.
INEXACT = 0.1
# Penalties below this share of the mean variance a component can have leave the rotation of X nearly free.
SMALL_PENALTY = 0.01


def make_x_solver(name: str, problem: DoubleSparsePCA, n_components: int) -> XSolver:
    """Return the X-step solver of that name; ``"auto"`` takes Newton for small penalties, else power."""
    if name == "auto":
        small = SMALL_PENALTY * problem.gram.trace() / n_components
        name = "newton" if problem.mu_entry + problem.mu_row <= small else "power"
    if name == "newton":
        return StiefelNewton(tol=INEXACT)
    return PenCF() if name == "pencf" else PowerStep()
