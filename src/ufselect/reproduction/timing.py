"""How long the one fit takes that a figure of a method stands for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ufselect.common.threads import one_blas_thread
from ufselect.evaluation.fitting import fit_program, make_selector
from ufselect.evaluation.keys import Params, data_key
from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.rows import Row
from ufselect.evaluation.runner import Runner
from ufselect.selectors import DSCOFS


@dataclass(frozen=True)
class TimingTask:
    """One fit of DSCOFS by itself."""

    method: str
    params: Params
    n_features: int

    @property
    def key(self) -> str:
        """Name in the store."""
        return f"{self.method} {self.params} {self.n_features} features"

    @property
    def title(self) -> str:
        """What is running, for people."""
        return f"the time of one fit of {self.method}"

    @property
    def program(self) -> str:
        """The code that the fit runs through."""
        return fit_program(DSCOFS, __name__)


def seconds_of_fits(
    runner: Runner, problem: Problem, methods: Mapping[str, Method], rows: Sequence[Row]
) -> dict[str, float]:
    """Return the CPU seconds of the one fit that each row stands for, by method.

    A row of a method whose fit serves all counts carries that already; a path's does not, so it is refitted.
    """
    tasks = {
        row.method: TimingTask(row.method, row.params, row.n_features)
        for row in rows
        if methods[row.method].selector is DSCOFS
    }
    data = data_key(problem.X, problem.y)
    found = runner.remember(data, "timing", list(tasks.values()), _seconds, problem.name, problem.X)
    return {row.method: found[tasks[row.method].key] if row.method in tasks else row.seconds for row in rows}


def _seconds(X: NDArray, task: TimingTask) -> float:
    selector: Any = make_selector(DSCOFS, task.params, 0, task.n_features)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        selector.fit(X)
        return time.process_time() - start
