"""Friedman's and Nemenyi's tests for the paper's eight methods, beside its own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ufselect.evaluation.choice import choose
from ufselect.evaluation.rank_test import RankTest, rank_test
from ufselect.evaluation.runner import Outcome
from ufselect.evaluation.tables import Table
from ufselect.registry import all_selectors
from ufselect.reproduction.paper import AVERAGE_RANKS, FRIEDMAN_P, METHODS, TITLES, TOLD_APART, published
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.reproduction.rivals import AS_RUN

EIGHT = METHODS[1:]


def as_the_paper_runs(method: str) -> str:
    """Return the key of the rows that repeat the paper's setting of a method."""
    return PAPER_GRID if method == "DSCOFS" else AS_RUN.get(method, method)


def paper_rank_test(outcomes: Mapping[str, Outcome]) -> RankTest | None:
    """Rank the paper's eight methods by our figures on its data sets; None where one has no figure."""
    names = [name for name in outcomes if name in TITLES]
    rows = [row for name in names for row in outcomes[name].rows]
    chosen = choose(rows, "oracle", "acc")
    keys = [as_the_paper_runs(method) for method in EIGHT]
    if len(names) < 2 or any((name, key) not in chosen for name in names for key in keys):
        return None
    return rank_test(np.array([[chosen[name, key].acc_mean for key in keys] for name in names]), EIGHT)


def printed_rank_test(datasets: Sequence[str]) -> RankTest:
    """Rank the eight methods by the figures that the paper prints for some data sets."""
    figures = [[published("acc", name, method) for method in EIGHT] for name in datasets]
    return rank_test(np.array([[figure.mean for figure in row if figure] for row in figures]), EIGHT)


def paper_ranks_table(test: RankTest, datasets: Sequence[str]) -> Table:
    """Set our ranks beside those of the printed figures on the same sets and those that the paper prints."""
    same, whole = printed_rank_test(datasets), printed_rank_test(list(TITLES))
    body = []
    for place, method in enumerate(EIGHT):
        body.append(
            (
                all_selectors()[method].label,
                f"{test.average_ranks[place]:.2f}",
                f"{same.average_ranks[place]:.2f}",
                f"{AVERAGE_RANKS[method]:g}",
                *("–" if method == "DSCOFS" else _apart(each, place) for each in (test, same)),
                "–" if method == "DSCOFS" else ("yes" if method in TOLD_APART else "no"),
            )
        )
    title = (
        f"Average ranks of the paper's eight methods by ACC. Friedman p: {test.p_value:.2g} here, "
        f"{same.p_value:.2g} by the printed figures on these {len(datasets)} sets, {whole.p_value:.2g} on "
        f"all {len(TITLES)} (printed: {FRIEDMAN_P:g}). Critical difference {test.critical_difference:.2f} "
        f"and {whole.critical_difference:.2f}."
    )
    columns = (
        "Method",
        "Rank here",
        f"Printed figures, {len(datasets)} sets",
        "Printed",
        "Told from DSCOFS here",
        f"By printed figures, {len(datasets)} sets",
        "In the paper",
    )
    return Table("ranks_paper", title, columns, tuple(body))


def _apart(test: RankTest, place: int) -> str:
    """Say whether Nemenyi's test tells a method from DSCOFS, the last of the eight."""
    gap = abs(test.average_ranks[place] - test.average_ranks[-1])
    return "yes" if gap > test.critical_difference else "no"
