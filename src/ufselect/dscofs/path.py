"""DSCOFS for many feature counts and entry sparsities at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import selection_request
from ufselect.dscofs.algorithm import Start
from ufselect.dscofs.estimator import DSCOFS, row_norms
from ufselect.gram.reduce import reduction_summary

# The grid of the published comparison.
PAPER_COUNTS = tuple(range(10, 101, 10))
PAPER_ENTRY_SHARES = tuple(round(0.1 * k, 1) for k in range(1, 10))


@dataclass(frozen=True)
class DSCOFSPath:
    """The selections of a grid of feature counts × entry sparsities.

    Attributes
    ----------
    n_features_to_select : tuple of int
        Feature counts, the first axis of the arrays.
    entry_sparsity : tuple
        Entry sparsities as given, the second axis.
    scores : ndarray of shape (n_counts, n_sparsities, n_features)
        Row norms of X at each grid point.
    rankings, supports : ndarray of shape (n_counts, n_sparsities, n_features)
        Ranks and masks of selected features at each grid point.
    objective : ndarray of shape (n_counts, n_sparsities)
        Final objective in units of the data squared.
    n_iter, converged, entries_bind : ndarray of shape (n_counts, n_sparsities)
        Iterations, whether the stopping rule was met, and whether the entry constraint can have an effect.
    n_components : int
        Number of components at all grid points.

    See Also
    --------
    dscofs_path : Compute a path.
    ufselect.plotting.SelectionPathDisplay : Plot which features enter and leave along it.
    """

    n_features_to_select: tuple[int, ...]
    entry_sparsity: tuple[float | int | str | None, ...]
    scores: NDArray
    rankings: NDArray
    supports: NDArray
    objective: NDArray
    n_iter: NDArray
    converged: NDArray
    entries_bind: NDArray
    n_components: int

    def ranking(self, n_features_to_select: int, entry_sparsity: float | int | str | None) -> NDArray:
        """Return the ranks at one grid point, 1 for the best feature."""
        return self.rankings[self._place(n_features_to_select, entry_sparsity)]

    def support(self, n_features_to_select: int, entry_sparsity: float | int | str | None) -> NDArray:
        """Return the mask of selected features at one grid point."""
        return self.supports[self._place(n_features_to_select, entry_sparsity)]

    def _place(self, n_features_to_select: int, entry_sparsity: float | int | str | None) -> tuple[int, int]:
        return (
            self.n_features_to_select.index(n_features_to_select),
            self.entry_sparsity.index(entry_sparsity),
        )


def dscofs_path(
    X: Any,
    n_features_to_select: Sequence[int | float] = PAPER_COUNTS,
    entry_sparsity: Sequence[float | int | str | None] = PAPER_ENTRY_SHARES,
    *,
    warm_start: bool = True,
    **parameters: Any,
) -> DSCOFSPath:
    """Fit DSCOFS for many feature counts and entry sparsities, faster than by separate fits.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
        The data, as for the ``fit`` of :class:`DSCOFS`.
    n_features_to_select : sequence of int or float
        Feature counts or shares.
    entry_sparsity : sequence of float, int, "auto" or None
        Values of DSCOFS's parameter of that name.
    warm_start : bool, default=True
        Start each point from the solution for the next larger count at the same entry sparsity. With the
        default tolerance, separate fits stop early; warm-started points continue, end at lower objectives,
        and share some 80 to 95 per cent of their features with separate fits. With False, each point has
        exactly the result of a separate fit.
    **parameters
        Further parameters of :class:`DSCOFS`, such as ``keep`` and ``exclude``.

    Returns
    -------
    DSCOFSPath

    See Also
    --------
    DSCOFS : Fit for one feature count.
    ufselect.plotting.SelectionPathDisplay : Plot which features enter and leave along the path.

    Notes
    -----
    All points share the Gram matrix and its eigendecomposition.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import dscofs_path
    >>> path = dscofs_path(load_digits().data, (10, 20), (0.1, 0.3), n_components=10)
    >>> int(path.support(20, 0.1).sum())
    20
    """
    if len(n_features_to_select) == 0 or len(entry_sparsity) == 0:
        raise ValueError("n_features_to_select and entry_sparsity must each name at least one value.")
    selector = DSCOFS(max(n_features_to_select), **parameters)
    _, request = selector._prepared(X)
    n_features = selector.n_features_in_
    requests = [selection_request(selector, n_features, count) for count in n_features_to_select]
    counts, sparsities = tuple(request.n_selected for request in requests), tuple(entry_sparsity)

    gram = selector._gram(request)
    spectrum = selector._spectrum(gram)
    n_components = spectrum.values.size
    if request.reduced is not None:
        reduction_summary(request.reduced, n_components)
    first_start = selector._start(gram, spectrum, requests[0])

    shape = (len(counts), len(sparsities))
    path = DSCOFSPath(
        n_features_to_select=counts,
        entry_sparsity=sparsities,
        scores=np.empty((*shape, n_features), dtype=gram.dtype),
        rankings=np.empty((*shape, n_features), dtype=np.intp),
        supports=np.empty((*shape, n_features), dtype=bool),
        objective=np.empty(shape),
        n_iter=np.empty(shape, dtype=np.intp),
        converged=np.empty(shape, dtype=bool),
        entries_bind=np.empty(shape, dtype=bool),
        n_components=n_components,
    )
    for column, value in enumerate(sparsities):
        selector.set_params(entry_sparsity=value)._check_parameters()
        start = first_start
        # The count changes the problem less than the entry sparsity does, so warm starts follow the counts.
        for row in np.argsort(counts, kind="stable")[::-1]:
            request, place = requests[row], (row, column)
            problem = selector._problem(gram, spectrum, request)
            result = selector._solve(problem, start)
            scores = row_norms(result.state.X, request.units)
            ranking, support = selector._ranked(scores, request, gram)
            path.scores[place] = request.spread(scores, filler=scores.min())
            path.rankings[place] = request.spread_ranks(ranking)
            path.supports[place] = request.spread(support)
            path.objective[place] = result.objective_history[-1] * gram.scale * gram.scale
            path.n_iter[place], path.converged[place] = result.n_iter, result.converged
            n_rows = request.units.most_rows(request.n_selected)
            path.entries_bind[place] = problem.n_entries < n_rows * n_components
            if warm_start:
                start = Start(result.state.X, is_informed=True)
    return path
