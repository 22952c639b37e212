"""Methods as the paper runs them, beside our own settings of the same methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ufselect import DSCOFS, RNE, TSFS, LaplacianScore
from ufselect.compare.methods import Method, Point, Problem, published_points
from ufselect.compare.runner import Row, params_text

PAPER_GRID = "DSCOFSPaperGrid"
ROWS_ONLY, PAPER_ROWS_ONLY = "DSCOFSRowsOnly", "DSCOFSPaperGridRowsOnly"
# Each model with its entry constraint taken out.
TWINS = {"DSCOFS": ROWS_ONLY, PAPER_GRID: PAPER_ROWS_ONLY}
LAPSCORE_AS_RUN, RNE_AS_RUN = "LaplacianScoreT1", "RNEAlpha1000"
# Which of our rows repeats the paper's own setting of a method; for the others the method itself does.
AS_RUN = {"LaplacianScore": LAPSCORE_AS_RUN, "RNE": RNE_AS_RUN, "DSCOFS": PAPER_GRID}
# The paper has one start; more show how much of its figures is the start's. Labels never choose among them.
N_STARTS = 3


def as_the_paper_ran(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without twins, and without our own settings where the paper's are there."""
    there = {row["method"] for row in rows}
    ours = [method for method, as_run in AS_RUN.items() if as_run in there]
    return [row for row in rows if row["method"] not in (*TWINS.values(), *ours)]


def paper_grid(problem: Problem, n_starts: int = N_STARTS) -> Method:
    """Return DSCOFS with the 441 published points, chosen among anew for each of some starts.

    A start is the best of ten random orthonormal matrices by the variance that it captures.
    """
    points = tuple(published_points(DSCOFS, problem))
    return Method(PAPER_GRID, "DSCOFS, paper's grid", DSCOFS, points, n_starts, starts_apart=True)


def rows_only(method: Method) -> Method:
    """Return DSCOFS without the entry constraint, with as many points where the penalties are our own.

    The published grid keeps its own row penalties, since there the paper's budget is the question. Ours has
    twelve, with the eight starts 96 points as with the constraint; its own two penalties are among them, so
    that each point has its twin.
    """
    if method.key == PAPER_GRID:
        points = [without_entries(point) for point in method.points]
        twin = replace(method, key=PAPER_ROWS_ONLY, label="DSCOFS, paper's grid, rows only")
    else:
        penalties = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
        points = [{**without_entries(point), "mu_row": mu} for point in method.points for mu in penalties]
        twin = replace(method, key=ROWS_ONLY, label="DSCOFS, rows only")
    return replace(twin, points=tuple({params_text(point): point for point in points}.values()))


def without_entries(point: Point) -> Point:
    """Return a parameter point without its entry constraint."""
    kept = {name: value for name, value in point.items() if name != "mu_entry"}
    return {**kept, "entry_sparsity": None}


def random_start(method: Method) -> Method:
    """Return a method at its defaults but from random starts, averaged over several."""
    label = f"{method.label}, random start"
    return replace(method, key=f"{method.key}RandomStart", label=label, points=({"init": "random"},))


def rivals_as_run(problem: Problem) -> list[Method]:
    """Return LapScore with t = 1, and RNE with the α = 10³ of its authors from some random starts."""
    rne: Point = {"alpha": 1e3, "n_components": max(problem.counts)}
    return [
        Method(LAPSCORE_AS_RUN, "LapScore, t = 1", LaplacianScore, ({"bandwidth": 1.0},)),
        Method(RNE_AS_RUN, "RNE, α = 10³", RNE, (rne,), N_STARTS, starts_apart=True),
    ]


def teacher_student(problem: Problem) -> Method:
    """Return TSFS over the published penalties that differ, from some seeds of its embedding.

    From 1 on no feature is left and the ranking stays that of the gradient at zero.
    """
    points = tuple(point for point in published_points(TSFS, problem) if point["gamma"] <= 1.0)
    return Method("TSFS", "TSFS", TSFS, points, N_STARTS, starts_apart=True)
