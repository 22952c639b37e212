"""Rivals with the settings that the paper names for them, beside our defaults for the same methods."""

from __future__ import annotations

from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.spaces import published_points
from ufselect.reproduction.paper_grid import N_STARTS
from ufselect.selectors import RNE, TSFS, LaplacianScore

LAPSCORE_AS_RUN, RNE_AS_RUN = "LaplacianScoreT1", "RNEAlpha1000"
# Which of our rows repeats the paper's own setting of a method; for the others the method itself does.
AS_RUN = {"LaplacianScore": LAPSCORE_AS_RUN, "RNE": RNE_AS_RUN}
# From 1 on no feature is left and the ranking stays that of the gradient at zero.
LARGEST_PENALTY = 1.0


def rivals_as_run(problem: Problem) -> list[Method]:
    """Return LapScore with t = 1, and RNE with the α = 10³ of its authors from some random starts."""
    width = max(problem.counts)
    return [
        Method(LAPSCORE_AS_RUN, "LapScore, t = 1", LaplacianScore, (Params({"bandwidth": 1.0}),)),
        Method(
            RNE_AS_RUN,
            "RNE, α = 10³",
            RNE,
            (Params({"alpha": 1e3, "n_components": width}),),
            N_STARTS,
            starts_apart=True,
        ),
    ]


def teacher_student(problem: Problem) -> Method:
    """Return TSFS over the published penalties that differ, from some seeds of its embedding."""
    points = tuple(point for point in published_points(TSFS, problem) if point["gamma"] <= LARGEST_PENALTY)
    return Method("TSFS", "TSFS", TSFS, points, N_STARTS, starts_apart=True)
