"""How much a selection changes when the sample changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.fitting import OK, FitTask, fit_program, run_fit
from ufselect.evaluation.keys import data_key
from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.runner import Runner
from ufselect.metrics import selection_stability

# Any number will do; it keeps the samples the same for all methods and runs.
SEED_OF_SAMPLES = 20


@dataclass(frozen=True)
class StabilityTask:
    """Fits of one method, at its defaults, on bootstrap samples."""

    fit: FitTask
    n_samples: int

    @property
    def key(self) -> str:
        """Name in the store."""
        return f"{self.fit.key} {self.fit.points[0]} {self.fit.counts[0]} features {self.n_samples} samples"

    @property
    def program(self) -> str:
        """The code that the fits run through."""
        return self.fit.program

    @property
    def title(self) -> str:
        """What is running, for people."""
        return f"{self.fit.key} on {self.n_samples} bootstrap samples"


def bootstrap_stability(
    runner: Runner, problem: Problem, methods: Sequence[Method], n_bootstrap: int
) -> dict[str, float]:
    """Return the stability of each method's selection at its first parameter point and largest count.

    The samples are drawn with replacement and are the same for all methods. A method of which a fit fails
    has no figure.
    """
    tasks = [
        StabilityTask(_fit_task(method, max(problem.counts)), n_bootstrap)
        for method in methods
        if method.selector is not None
    ]
    data = data_key(problem.X, problem.y)
    found = runner.remember(data, "stability", tasks, _stability, problem.name, problem.X)
    values = {task.fit.key: found[task.key] for task in tasks}
    return {method: value for method, value in values.items() if isinstance(value, float)}


def _fit_task(method: Method, count: int) -> FitTask:
    program = fit_program(method.selector, __name__, selection_stability.__module__)
    return FitTask(method.key, method.selector, method.points[:1], (count,), 0, program)


def _stability(X: NDArray, task: StabilityTask) -> float | str:
    """Return the stability, or why there is none."""
    masks = np.zeros((task.n_samples, X.shape[1]), dtype=bool)
    for number in range(task.n_samples):
        rng = np.random.default_rng([SEED_OF_SAMPLES, number])
        sample = rng.integers(len(X), size=len(X))
        (row,) = run_fit(X[sample], "", replace(task.fit, seed=number))
        if row.status != OK:
            return row.note
        masks[number, list(row.features)] = True
    return selection_stability(masks)
