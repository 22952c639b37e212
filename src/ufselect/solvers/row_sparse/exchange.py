"""Rows exchanged one at a time, while that carries more variance."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.solvers.leading import leading_pairs, leading_sum, quotient_diagonal

RELATIVE_GAIN = 1e-9  # smaller gains are rounding
SHORTLIST = 2  # entering rows tried exactly for each leaving row
LONG_LIST = 8  # the same before giving up for good
MAX_ROUNDS = 20  # a safeguard: exchanges stop by themselves once none helps
Report = Callable[[float], None]


def improve_by_swaps(
    gram: GramOperator,
    support: NDArray,
    n_components: int,
    *,
    fixed: Collection[int] = (),
    shortlist: int = LONG_LIST,
    report: Report | None = None,
) -> tuple[NDArray, float]:
    r"""Exchange one row at a time until no exchange helps; return the support and its value.

    Fixed rows never leave.

    For each leaving row the loadings of the remaining ones give a proxy whose diagonal :math:`q_j` bounds
    from below what each entering row j adds; the few best are tried exactly.
    """
    kept = np.array(support)
    columns = np.array(gram.columns(kept), dtype=np.float64, order="F")
    captured = leading_sum(columns[kept], n_components)
    tried = min(SHORTLIST, shortlist)
    for _ in range(MAX_ROUNDS):
        before = captured
        for leaving in _by_weight(columns[kept], n_components):
            if int(kept[leaving]) in fixed:
                continue
            swap = _best_swap(gram, columns, kept, int(leaving), n_components, captured, tried)
            if swap is not None:
                entering, column, captured = swap
                kept[leaving] = entering
                columns[:, leaving] = column
        if report is not None:
            report(captured)
        if captured <= before * (1 + RELATIVE_GAIN):
            if tried >= shortlist:
                break
            tried = shortlist
    return np.sort(kept), captured


def _best_swap(
    gram: GramOperator,
    columns: NDArray,
    kept: NDArray,
    leaving: int,
    n_components: int,
    captured: float,
    shortlist: int,
) -> tuple[int, NDArray, float] | None:
    """Return the entering row, its column of S and the new value, or None if no exchange helps."""
    others = np.delete(np.arange(kept.size), leaving)
    block = columns[np.ix_(kept[others], others)]
    if others.size == 0:
        scores = gram.diag().astype(np.float64)
    else:
        scores = quotient_diagonal(columns[:, others], leading_pairs(block, n_components))
    scores[kept] = -np.inf
    candidates = np.argsort(-scores)[: min(shortlist, scores.size - kept.size)]
    if candidates.size == 0:
        return None
    added = np.asarray(gram.columns(candidates), dtype=np.float64)
    best = None
    for position, entering in enumerate(candidates):
        edge = added[kept[others], position]
        grown = np.block([[block, edge[:, None]], [edge[None, :], added[entering, position]]])
        reached = leading_sum(grown, n_components)
        if reached > captured * (1 + RELATIVE_GAIN):
            captured = reached
            best = (int(entering), added[:, position], reached)
    return best


def _by_weight(block: NDArray, n_components: int) -> NDArray:
    """Order the rows of a block by their weight in its leading eigenvectors, lightest first."""
    pairs = leading_pairs(block, n_components)
    return np.argsort(pairs.vectors**2 @ np.maximum(pairs.values, 0), kind="stable")
