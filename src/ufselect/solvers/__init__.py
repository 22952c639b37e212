"""Iterative methods: one driver loop, one method a file."""

from ufselect.solvers.iterate import iterate
from ufselect.solvers.pam import PamState, ProximalAlternatingMinimisation
from ufselect.solvers.problem import DoubleSparsePCA
from ufselect.solvers.result import SolverResult, Status
from ufselect.solvers.stiefel_newton import StiefelNewton
from ufselect.solvers.stiefel_pencf import PenCF
from ufselect.solvers.stiefel_power import PowerStep, RotatedPowerStep

__all__ = [
    "DoubleSparsePCA",
    "PamState",
    "PenCF",
    "PowerStep",
    "ProximalAlternatingMinimisation",
    "RotatedPowerStep",
    "SolverResult",
    "Status",
    "StiefelNewton",
    "iterate",
]
