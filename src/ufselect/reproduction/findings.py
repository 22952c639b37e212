"""All that a reproduction found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ufselect.evaluation.choice import METRICS, choose
from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem, Protocol
from ufselect.evaluation.rank_test import RankTest
from ufselect.evaluation.rows import Row
from ufselect.evaluation.runner import Outcome
from ufselect.evaluation.tables import Table
from ufselect.reproduction.ablation import Ablation
from ufselect.reproduction.dissection import Dissection
from ufselect.reproduction.paper import TIMED_SET
from ufselect.reproduction.synthetic import ShapeResult

# The paper's largest count: where labels choose nothing, figures are compared there.
TABLE_COUNT = 100
# Raise it when a name in ``summary`` goes or changes its meaning.
SUMMARY_FORMAT = 1


@dataclass(frozen=True)
class Study:
    """All that a reproduction found.

    Attributes
    ----------
    protocol : Protocol
        How scores were computed.
    datasets : tuple of str
        Data sets asked for, in the order of the tables.
    unavailable : dict of str to str
        Data sets that could not be had, and why.
    problems : dict of str to Problem
        The data.
    outcomes : dict of str to dict of str to Outcome
        By mode and data set.
    methods : dict of str to dict of str to Method
        The methods of the oracle runs, by data set and key.
    tables : list of Table
        Every table, in reading order.
    test, paper_test : RankTest or None
        Ranks over the data sets, of all selectors and of the paper's eight as it runs them; None where there
        are too few.
    ablations : dict of str to dict of str to Ablation
        By data set and model: our space and the published grid.
    stabilities, shapes
        The smaller experiments.
    dissections : dict of str to Dissection
        DSCOFS from the inside, on the data sets that are drawn.
    seconds : dict of str to float
        CPU seconds of the best fit of each method on the data set ``timed``.
    planes : dict of (str, str) to (int, int)
        Features that methods choose on the first draw of each shape.
    images : dict of str to Bunch
        ``image_shape`` and ``image_order`` of the image sets.
    quick : bool
        Whether this was the short version.
    """

    protocol: Protocol
    datasets: tuple[str, ...]
    unavailable: dict[str, str]
    problems: dict[str, Problem] = field(repr=False)
    outcomes: dict[str, dict[str, Outcome]] = field(repr=False)
    methods: dict[str, dict[str, Method]] = field(repr=False)
    tables: list[Table] = field(repr=False)
    test: RankTest | None
    paper_test: RankTest | None
    ablations: dict[str, dict[str, Ablation]]
    stabilities: dict[str, dict[str, float]]
    shapes: list[ShapeResult] = field(repr=False)
    dissections: dict[str, Dissection] = field(repr=False)
    seconds: dict[str, float]
    planes: dict[tuple[str, str], tuple[int, int]] = field(repr=False)
    images: dict[str, Bunch] = field(repr=False)
    quick: bool

    def rows(self, mode: str) -> list[Row]:
        """Return the final rows of a mode over all data sets."""
        return [row for outcome in self.outcomes[mode].values() for row in outcome.rows]

    @property
    def timed(self) -> str:
        """The data set on which fits are timed."""
        return timed_of(self.problems)

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers to look at first: the means over the data sets, by mode, metric and method."""
        means: dict[str, Any] = {}
        for mode in self.outcomes:
            for metric in METRICS:
                chosen = choose(self.rows(mode), mode, metric, TABLE_COUNT)
                for (_, method), row in chosen.items():
                    values = means.setdefault(mode, {}).setdefault(metric, {}).setdefault(method, [])
                    values.append(getattr(row, f"{metric}_mean"))
        averaged = {
            mode: {
                metric: {method: round(float(np.mean(values)), 3) for method, values in by_method.items()}
                for metric, by_method in by_metric.items()
            }
            for mode, by_metric in means.items()
        }
        return {
            "format": SUMMARY_FORMAT,
            "datasets": list(self.problems),
            "unavailable": self.unavailable,
            "means": averaged,
            "friedman_p": None if self.test is None else self.test.p_value,
        }


def timed_of(problems: Mapping[str, Problem]) -> str:
    """Return the data set of the paper's figure of accuracy against time, or else that with most values."""
    if TIMED_SET in problems:
        return TIMED_SET
    return max(problems, key=lambda name: problems[name].X.size)
