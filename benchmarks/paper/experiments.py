"""The smaller experiments: stability over samples, the time of one fit, DSCOFS from the inside."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect import DSCOFS
from ufselect._utils.threads import one_blas_thread
from ufselect.compare.methods import Method, Point, Problem, make_selector
from ufselect.compare.runner import Row, Runner, data_key, fit_points
from ufselect.metrics import selection_stability


def bootstrap_stability(
    runner: Runner, problem: Problem, methods: Sequence[Method], n_bootstrap: int
) -> dict[str, float]:
    """Return the stability of each method's selection at its first parameter point and largest count.

    The samples are drawn with replacement and are the same for all methods. A method of which a fit fails
    has no figure.
    """
    key, count = data_key(problem), max(problem.counts)
    calls = {
        method.key: (problem.X, key, method.selector, method.points[0], count, n_bootstrap)
        for method in methods
        if method.selector is not None
    }
    stabilities = runner.call_all(stability, calls, problem.name, "stability", ignore=("X",))
    return {key: value for key, value in stabilities.items() if value is not None}


def stability(X: NDArray, key: str, selector: Any, point: Point, count: int, n_samples: int) -> float | None:
    """Return the stability over bootstrap samples, None where a fit fails."""
    masks = np.zeros((n_samples, X.shape[1]), dtype=bool)
    for number in range(n_samples):
        rng = np.random.default_rng([20, number])  # any seed will do, the same for all methods
        sample = rng.integers(len(X), size=len(X))
        (fit,) = fit_points(X[sample], selector, [point], (count,), number)
        if not fit["features"]:
            return None
        masks[number, list(fit["features"])] = True
    return selection_stability(masks)


def seconds_of_fits(runner: Runner, problem: Problem, rows: Sequence[Row]) -> dict[str, float]:
    """Return the CPU seconds of the one fit that each row stands for, by method.

    A row of a method whose fit serves all counts carries that already; a path's does not, so DSCOFS is
    refitted.
    """
    calls = {
        row["method"]: (problem.X, data_key(problem), row["params"], row["n_features"])
        for row in rows
        if row["method"].startswith("DSCOFS")
    }
    timed = runner.call_all(seconds_of_fit, calls, problem.name, "timing", ignore=("X",))
    return {row["method"]: timed.get(row["method"], row["seconds"]) for row in rows}


def seconds_of_fit(X: NDArray, key: str, params: str, n_features: int) -> float:
    """Return the CPU seconds of one fit of DSCOFS."""
    selector: Any = make_selector(DSCOFS, json.loads(params), 0, n_features)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        selector.fit(X)
        return time.process_time() - start


def dissect(runner: Runner, problem: Problem) -> dict[str, NDArray]:
    """Return loadings of DSCOFS by the kinds of sparsity, and the course of its objective.

    ``none``, ``row``, ``entry`` and ``double`` have the shape (n_features, n_components).
    """
    shape = max(problem.counts), problem.n_components
    calls = {"DSCOFS": (problem.X, data_key(problem), *shape)}
    (dissected,) = runner.call_all(dissection, calls, problem.name, "dissection", ignore=("X",)).values()
    return dissected


def dissection(X: NDArray, key: str, n_selected: int, n_components: int) -> dict[str, NDArray]:
    """Fit DSCOFS with neither, either and both kinds of sparsity, and to the end from a random start."""
    n_features = X.shape[1]
    settings: dict[str, Any] = {"n_components": n_components}
    # A tenth of the entries, few enough for the picture to differ from that of row sparsity alone; on a
    # handful of features one a component, since no fewer are orthonormal.
    n_entries = max(n_components, int(0.1 * n_features * n_components))
    with warnings.catch_warnings():
        # Fits without one of the constraints are the point here, not an oversight.
        warnings.simplefilter("ignore")
        free = DSCOFS(n_features, entry_sparsity=None, mu_row=0.0, **settings).fit(X)
        rows = DSCOFS(n_selected, entry_sparsity=None, **settings).fit(X)
        entries = DSCOFS(n_features, entry_sparsity=n_entries, **settings).fit(X)
        both = DSCOFS(n_selected, entry_sparsity=n_entries, **settings).fit(X)
        # The default tolerance would cut off the tail of the curve.
        random = DSCOFS(n_selected, init="random", random_state=0, tol=1e-6, **settings).fit(X)
    kept = (both.entry_sparse_components_ != 0) & (both.row_sparse_components_ != 0)
    return {
        "none": free.components_.T,
        "row": rows.row_sparse_components_.T,
        "entry": entries.entry_sparse_components_.T,
        "double": np.where(kept, both.components_, 0.0).T,
        "objective": np.asarray(random.objective_history_),
    }
