"""DSCOFS from the inside: its loading matrices and the course of its objective."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ufselect.evaluation.fitting import make_selector
from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.rows import Row
from ufselect.selectors import DSCOFS

SHOWN_SHARE = 0.1


@dataclass(frozen=True)
class Anatomy:
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


def dissect(problem: Problem, n_selected: int) -> Anatomy:
    """Fit DSCOFS on one data set with neither, either and both kinds of sparsity."""
    n_features = problem.X.shape[1]
    settings: dict[str, Any] = {"n_components": problem.n_components}
    with warnings.catch_warnings():
        # Fits without one of the constraints are the point here, not an oversight.
        warnings.simplefilter("ignore")
        free = DSCOFS(n_features, entry_sparsity=None, mu_row=0.0, **settings).fit(problem.X)
        rows = DSCOFS(n_selected, entry_sparsity=None, **settings).fit(problem.X)
        entries = DSCOFS(n_features, entry_sparsity=SHOWN_SHARE, **settings).fit(problem.X)
        both = DSCOFS(n_selected, entry_sparsity=SHOWN_SHARE, **settings).fit(problem.X)
        random = DSCOFS(n_selected, init="random", random_state=0, tol=1e-6, **settings).fit(problem.X)
    kept = (both.entry_sparse_components_ != 0) & (both.row_sparse_components_ != 0)
    return Anatomy(
        matrices={
            "none": free.components_.T,
            "row": rows.row_sparse_components_.T,
            "entry": entries.entry_sparse_components_.T,
            "double": np.where(kept, both.components_, 0.0).T,
        },
        objective=random.objective_history_,
    )


def seconds_of_fit(problem: Problem, method: Method, row: Row) -> float:
    """Return the CPU seconds of the one fit that a row stands for.

    A row of a method whose fit serves all counts carries that already; a path's does not, so it is refitted.
    """
    if method.selector is not DSCOFS:
        return row.seconds
    selector = make_selector(DSCOFS, json.loads(row.params), 0, row.n_features)
    with threadpool_limits(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        selector.fit(problem.X)
        return time.process_time() - start
