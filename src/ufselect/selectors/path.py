"""DSCOFS for many feature counts and entry sparsities at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.selectors.choice import choose
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.dscofs_steps import (
    build_problem,
    check_parameters,
    components_asked,
    solve,
    starting_point,
    unit_norms,
)
from ufselect.selectors.gram_selector import gram_source, restricted
from ufselect.selectors.large import summarise_reduction
from ufselect.selectors.wishes import Wishes, check_max_correlation
from ufselect.solvers.dscofs.start import Start

# The grid of the published comparison.
PAPER_COUNTS = tuple(range(10, 101, 10))
PAPER_ENTRY_SHARES = DSCOFS.paper_grid["entry_sparsity"]


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
        Iterations made, whether the stopping rule was met, and whether the entry constraint can bind.
    n_components : int
        Number of components used throughout.
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
    """Fit DSCOFS on a whole grid, sharing the Gram matrix, its decomposition and warm starts.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
        The data, as for the ``fit`` of :class:`DSCOFS`.
    n_features_to_select : sequence of int or float
        Feature counts or shares.
    entry_sparsity : sequence of float, int, "auto" or None
        Values of DSCOFS's parameter of that name.
    warm_start : bool, default=True
        Start each point from the solution for the next larger count at the same entry sparsity. Its steps
        add up along the way, so with the default tolerance points end nearer to settled selections, at
        lower objectives, than separate fits that stop early, and share some 80 to 95 per cent of their
        features. False starts every point as a separate fit would and gives exactly its result.
    **parameters
        Further parameters of :class:`DSCOFS`, ``keep``, ``exclude`` and the like included.

    Returns
    -------
    DSCOFSPath

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import dscofs_path
    >>> path = dscofs_path(load_digits().data, (10, 20), (0.1, 0.3), n_components=10)
    >>> int(path.support(20, 0.1).sum())
    20
    """
    template = DSCOFS(**parameters)
    check_parameters(template)
    check_max_correlation(template.max_correlation)
    source = gram_source(template, X)
    wishes = Wishes.of(template, source.n_features)
    wanted = [wishes.wanted(count) for count in n_features_to_select]
    counts = tuple(each.n_selected for each in wanted)
    sparsities = tuple(entry_sparsity)
    if not counts or not sparsities:
        raise ValueError("n_features_to_select and entry_sparsity must each name at least one value.")

    reduced = source.read()
    gram = restricted(reduced.gram, wanted[0])
    spectrum = component_spectrum(gram, components_asked(template))
    n_components = spectrum.values.size
    summarise_reduction(reduced, n_components)
    first_start = starting_point(template, gram, spectrum, wanted[0])
    selectors = [DSCOFS(**{**parameters, "entry_sparsity": value}) for value in sparsities]

    shape = (len(counts), len(sparsities))
    scores = np.empty((*shape, source.n_features), dtype=gram.dtype)
    rankings, supports = np.empty(scores.shape, dtype=np.intp), np.empty(scores.shape, dtype=bool)
    objective, n_iter = np.empty(shape), np.empty(shape, dtype=np.intp)
    converged, entries_bind = np.empty(shape, dtype=bool), np.empty(shape, dtype=bool)
    for column, selector in enumerate(selectors):
        start = first_start
        # The count changes the problem less than the entry sparsity does, so warm starts follow the counts.
        for row in np.argsort(counts, kind="stable")[::-1]:
            problem = build_problem(selector, gram, spectrum, wanted[row])
            result = solve(selector, problem, start)
            entries_bind[row, column] = problem.n_entries < wanted[row].agenda.capacity * n_components
            norms = unit_norms(result, wanted[row].units)
            choice = choose(norms, wanted[row], lambda: gram)
            scores[row, column] = wanted[row].spread(norms, filler=norms.min())
            rankings[row, column] = wanted[row].spread_ranks(choice.ranking)
            supports[row, column] = wanted[row].spread(choice.support)
            objective[row, column] = result.objective_history[-1] * gram.scale * gram.scale
            n_iter[row, column], converged[row, column] = result.n_iter, result.converged
            if warm_start:
                start = Start(result.state.X, result.state.product, is_informed=True)
    return DSCOFSPath(
        n_features_to_select=counts,
        entry_sparsity=sparsities,
        scores=scores,
        rankings=rankings,
        supports=supports,
        objective=objective,
        n_iter=n_iter,
        converged=converged,
        entries_bind=entries_bind,
        n_components=n_components,
    )
