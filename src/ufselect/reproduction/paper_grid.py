"""DSCOFS as the paper runs it: its own grid, penalties as they are, the best of ten random starts."""

from __future__ import annotations

from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.spaces import published_points
from ufselect.selectors import DSCOFS

PAPER_GRID = "DSCOFSPaperGrid"
# The paper has one; more show how much of its figures is the start's. Labels never choose among them.
N_STARTS = 3


def paper_grid(problem: Problem, n_starts: int = N_STARTS) -> Method:
    """Return DSCOFS with the 441 published points, chosen among anew for each of some starts.

    A start is the best of ten random orthonormal matrices by the variance that it captures.
    """
    points = tuple(published_points(DSCOFS, problem))
    return Method(PAPER_GRID, "DSCOFS, paper's grid", DSCOFS, points, n_starts, starts_apart=True)
