"""From scores to a ranking and a selection that honour what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator, absolute_correlations
from ufselect.selectors.wishes import Wanted

# Candidates whose correlations are computed at once: one product with S serves all, some of them in vain.
CANDIDATE_BLOCK = 64


@dataclass(frozen=True)
class Choice:
    """Distinct ranks, 1 for the best, and the mask of the selected columns."""

    ranking: NDArray
    support: NDArray


def choose(
    scores: NDArray, wanted: Wanted, gram: Callable[[], GramOperator], ties: NDArray | None = None
) -> Choice:
    """Rank a method's columns by their scores and select as many units as are wanted.

    Kept units come first. A unit counts with the mean score of its columns; its columns are ranked one
    after the other. With a limit to correlations, a unit waits as `least_redundant` says.

    Parameters
    ----------
    scores : ndarray
        One score per column that the method gets, higher is better.
    wanted : Wanted
        What is asked for.
    gram : callable
        Returns the Gram operator of these columns; called only if correlations matter.
    ties : ndarray, optional
        What decides between columns of equal score, higher first; else the lower index comes first.
    """
    scores = scores if ties is None else _with_ties_broken(scores, ties)
    if wanted.kept.size == 0 and wanted.units.is_single and wanted.max_correlation is None:
        ranking = ranks_from_scores(scores)
        return Choice(ranking, ranking <= wanted.n_selected)
    order = kept_first(_best_first(wanted.units.means(scores)), wanted.kept)
    if wanted.max_correlation is not None:
        order = least_redundant(order, wanted, gram())
    places = wanted.units.of_rows(_places(order))
    ranking = _places(np.lexsort((-scores, places))) + 1
    return Choice(ranking, places < wanted.n_selected)


def _with_ties_broken(scores: NDArray, ties: NDArray) -> NDArray:
    """Return whole numbers in the order of the scores and, where these are equal, of the ties."""
    order = np.lexsort((np.arange(scores.size)[::-1], ties, scores))
    return _places(order).astype(np.float64)


def ranks_from_scores(scores: NDArray) -> NDArray:
    """Return distinct ranks, 1 for the highest score; among equal scores the lower index comes first."""
    return _places(_best_first(scores)) + 1


def kept_first(order: NDArray, kept: NDArray) -> NDArray:
    """Move some units to the front, each part in its order."""
    is_kept = np.isin(order, kept)
    return np.append(order[is_kept], order[~is_kept])


def least_redundant(order: NDArray, wanted: Wanted, gram: GramOperator) -> NDArray:
    """Reorder units so that near copies of better ones wait.

    Units are taken in their order, up to the number wanted. A unit waits if each of its columns is correlated
    above the limit with a column of a unit taken before it. If too few can be taken, a further round begins
    among those that wait. Units that were not taken keep their order, those that wait last. Kept units are
    taken in any case.
    """
    n_kept = wanted.kept.size
    near = _Neighbourhood(wanted, gram)
    taken = near.take(order[:n_kept], n_kept, insist=True)
    left = order[n_kept:]
    while True:
        taken = np.append(taken, near.take(left, wanted.n_selected - taken.size))
        left = left[~np.isin(left, taken)]
        if taken.size == wanted.n_selected:
            waits = near.holds(left)
            return np.concatenate([taken, left[~waits], left[waits]])
        near = _Neighbourhood(wanted, gram)


class _Neighbourhood:
    """The columns that are correlated above the limit with a column of the units taken so far."""

    def __init__(self, wanted: Wanted, gram: GramOperator) -> None:
        self.units = wanted.units
        self.limit = wanted.max_correlation
        self.gram = gram
        self.members = np.zeros(self.units.codes.size, dtype=bool)

    def holds(self, units: NDArray) -> NDArray:
        """Tell for each of some units whether all of its columns are members."""
        return self.units.sums(~self.members)[units] == 0

    def take(self, units: NDArray, count: int, *, insist: bool = False) -> NDArray:
        """Take up to ``count`` units in their order: those that are not held already, or, insisting, all."""
        taken: list[int] = []
        for start in range(0, units.size, CANDIDATE_BLOCK):
            block = units[start : start + CANDIDATE_BLOCK]
            block = block if insist else block[~self.holds(block)]
            for unit, close in self._close_to(block):
                if len(taken) == count:
                    return np.array(taken, dtype=np.intp)
                if insist or not np.all(self.members[self.units.members(unit)]):
                    self.members |= close
                    taken.append(unit)
        return np.array(taken, dtype=np.intp)

    def _close_to(self, units: NDArray) -> Iterator[tuple[int, NDArray]]:
        """Yield each of some units with the mask of the columns that are close to one of its columns."""
        columns = np.flatnonzero(np.isin(self.units.codes, units))
        close = absolute_correlations(self.gram, columns) > self.limit
        owners = self.units.codes[columns]
        for unit in units:
            yield int(unit), np.any(close[:, owners == unit], axis=1)


def _best_first(scores: NDArray) -> NDArray:
    order = np.argsort(-scores)
    ordered = scores[order]
    if np.any(ordered[1:] == ordered[:-1]):  # a stable sort takes ten times as long, so only for ties
        order = np.argsort(-scores, kind="stable")
    return order


def _places(order: NDArray) -> NDArray:
    """Return the place of each element in an order."""
    places = np.empty(order.size, dtype=np.intp)
    places[order] = np.arange(order.size)
    return places
