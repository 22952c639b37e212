"""DSCOFS from the inside: its loading matrices and the course of its objective."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.fitting import fit_program
from ufselect.evaluation.keys import data_key
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.runner import Runner
from ufselect.selectors import DSCOFS

# Few enough entries that the picture differs from that of row sparsity alone.
SHOWN_SHARE = 0.1
# Tight enough that the curve shows the tail that the default tolerance cuts off.
SHOWN_TOL = 1e-6


@dataclass(frozen=True)
class Dissection:
    """What figures of DSCOFS show for one data set.

    Attributes
    ----------
    matrices : dict of str to ndarray of shape (n_features, n_components)
        Loadings without sparsity, with row sparsity, with entry sparsity and with both.
    objective : ndarray
        Objective at the start and after each iteration.
    """

    matrices: dict[str, NDArray]
    objective: NDArray


@dataclass(frozen=True)
class DissectionTask:
    """The fits of one data set."""

    n_selected: int
    n_components: int

    title: ClassVar[str] = "DSCOFS with neither, either and both kinds of sparsity"

    @property
    def key(self) -> str:
        """Name in the store."""
        return f"{self.n_selected} features, {self.n_components} components"

    @property
    def program(self) -> str:
        """The code that the fits run through."""
        return fit_program(DSCOFS, __name__)


def dissect(runner: Runner, problem: Problem) -> Dissection:
    """Fit DSCOFS on one data set with neither, either and both kinds of sparsity, or recall the fits."""
    task = DissectionTask(max(problem.counts), problem.n_components)
    data = data_key(problem.X, problem.y)
    (found,) = runner.remember(data, "dissection", [task], _fits, problem.name, problem.X).values()
    return Dissection(
        {kind: np.array(matrix) for kind, matrix in found["matrices"].items()}, np.array(found["objective"])
    )


def _fits(X: NDArray, task: DissectionTask) -> dict[str, Any]:
    n_features, n_selected = X.shape[1], task.n_selected
    settings: dict[str, Any] = {"n_components": task.n_components}
    # On a handful of features the share is raised to one entry per component: no fewer are orthonormal.
    n_entries = max(task.n_components, int(SHOWN_SHARE * n_features * task.n_components))
    with warnings.catch_warnings():
        # Fits without one of the constraints are the point here, not an oversight.
        warnings.simplefilter("ignore")
        free = DSCOFS(n_features, entry_sparsity=None, mu_row=0.0, **settings).fit(X)
        rows = DSCOFS(n_selected, entry_sparsity=None, **settings).fit(X)
        entries = DSCOFS(n_features, entry_sparsity=n_entries, **settings).fit(X)
        both = DSCOFS(n_selected, entry_sparsity=n_entries, **settings).fit(X)
        random = DSCOFS(n_selected, init="random", random_state=0, tol=SHOWN_TOL, **settings).fit(X)
    kept = (both.entry_sparse_components_ != 0) & (both.row_sparse_components_ != 0)
    return {
        "matrices": {
            "none": free.components_.T.tolist(),
            "row": rows.row_sparse_components_.T.tolist(),
            "entry": entries.entry_sparse_components_.T.tolist(),
            "double": np.where(kept, both.components_, 0.0).T.tolist(),
        },
        "objective": np.asarray(random.objective_history_).tolist(),
    }
