"""Iterative methods: one driver loop, one method a file."""

from ufselect.solvers.dscofs.newton import StiefelNewton
from ufselect.solvers.dscofs.pam import PamState, ProximalAlternatingMinimisation
from ufselect.solvers.dscofs.pencf import PenCF
from ufselect.solvers.dscofs.power import PowerStep, RotatedPowerStep
from ufselect.solvers.dscofs.problem import DoubleSparsePCA
from ufselect.solvers.iterate import iterate
from ufselect.solvers.result import SolverResult, Status

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
