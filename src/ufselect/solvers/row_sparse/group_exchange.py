"""Groups of rows exchanged one at a time, while that carries more variance."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.sets.units import Units
from ufselect.solvers.leading import captured_variance, leading_pairs, quotient_diagonal
from ufselect.solvers.row_sparse.exchange import LONG_LIST, MAX_ROUNDS, RELATIVE_GAIN, Report


def improve_by_group_swaps(
    gram: GramOperator,
    support: NDArray,
    units: Units,
    n_components: int,
    *,
    fixed: Collection[int] = (),
    shortlist: int = LONG_LIST,
    report: Report | None = None,
) -> tuple[NDArray, float]:
    r"""Exchange one group at a time until no exchange helps; return the rows and their value.

    ``support`` has the rows of whole groups, and fixed groups never leave. For each leaving group the
    loadings of the remaining rows give a proxy; the sum of its diagonal :math:`q_j` over a group ranks those
    that may enter, and the few best are tried exactly.
    """
    chosen = np.unique(units.codes[support])
    captured = captured_variance(gram, _rows(units, chosen), n_components)
    for _ in range(MAX_ROUNDS):
        before = captured
        for leaving in [unit for unit in chosen.tolist() if unit not in fixed]:
            others = chosen[chosen != leaving]
            for entering in _candidates(gram, units, chosen, others, n_components, shortlist):
                swapped = np.append(others, entering)
                reached = captured_variance(gram, _rows(units, swapped), n_components)
                if reached > captured * (1 + RELATIVE_GAIN):
                    chosen, captured = np.sort(swapped), reached
        if report is not None:
            report(captured)
        if captured <= before * (1 + RELATIVE_GAIN):
            break
    return _rows(units, chosen), captured


def _rows(units: Units, chosen: NDArray) -> NDArray:
    """Return the rows of some groups in order."""
    return np.flatnonzero(np.isin(units.codes, chosen))


def _candidates(
    gram: GramOperator, units: Units, chosen: NDArray, others: NDArray, n_components: int, shortlist: int
) -> NDArray:
    """Return the groups that promise most beside the others."""
    rows = _rows(units, others)
    if rows.size == 0:
        gains = gram.diag().astype(np.float64)
    else:
        block = np.asarray(gram.subgram(rows), dtype=np.float64)
        gains = quotient_diagonal(np.asarray(gram.columns(rows)), leading_pairs(block, n_components))
    promise = np.array(units.sums(gains))
    promise[chosen] = -np.inf
    return np.argsort(-promise)[: min(shortlist, units.count - chosen.size)]
