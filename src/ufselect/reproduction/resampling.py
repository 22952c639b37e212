"""How much a selection changes when the sample changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.execute import execute
from ufselect.evaluation.fitting import OK, FitTask, run_fit
from ufselect.evaluation.identity import data_hash, software_versions
from ufselect.evaluation.methods import Method
from ufselect.evaluation.progress import watched
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.runner import Runner
from ufselect.metrics import selection_stability

SEED_OF_SAMPLES = 20


@dataclass(frozen=True)
class StabilityTask:
    """Fits of one method, at its defaults, on bootstrap samples."""

    fit: FitTask
    n_samples: int

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
    data, versions = data_hash(problem.X, problem.y), software_versions()
    tasks = [
        StabilityTask(
            FitTask(m.key, m.selector, (json.dumps(m.points[0]),), (max(problem.counts),), 0), n_bootstrap
        )
        for m in methods
        if m.selector is not None
    ]
    found = {t.fit.key: runner.store.extra(data, "stability", _key(t), versions) for t in tasks}
    missing = [task for task in tasks if found[task.fit.key] is None]
    pairs = execute(_stability, (problem.X,), missing, runner.n_jobs, runner.client)
    for task, value in watched(pairs, len(missing), problem.name, "stability", runner.listener):
        runner.store.add_extra(data, "stability", _key(task), versions, value)
        found[task.fit.key] = value
    return {method: float(value) for method, value in found.items() if isinstance(value, float)}


def _stability(X: NDArray, task: StabilityTask) -> float | str:
    """Return the stability, or why there is none."""
    masks = np.zeros((task.n_samples, X.shape[1]), dtype=bool)
    for number in range(task.n_samples):
        rng = np.random.default_rng([SEED_OF_SAMPLES, number])
        sample = rng.integers(len(X), size=len(X))
        fit = FitTask(task.fit.key, task.fit.selector, task.fit.points, task.fit.counts, number)
        (row,) = run_fit(X[sample], "", "", fit)
        if row.status != OK:
            return row.note
        masks[number, row.indices] = True
    return selection_stability(masks)


def _key(task: StabilityTask) -> str:
    return f"{task.fit.key} {task.fit.points[0]} {task.fit.counts[0]} features {task.n_samples} samples"
