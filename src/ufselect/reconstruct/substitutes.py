"""What to measure instead of a selected column, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import gram_operator
from ufselect.reconstruct.known_share import KnownShare
from ufselect.reconstruct.placement import Placement
from ufselect.reconstruct.ridge import value_folds
from ufselect.reconstruct.search import Problem, Search


def substitutes(X: Any, columns: NDArray, allowed: NDArray) -> list[tuple[int, float]]:
    """Return for each of some columns the best one to take its place, and what that costs.

    The best one is that of least error over all rows, among those ``allowed``. The cost is the share of the
    variance of all columns that is then no longer known on two fifths of the rows, held out from the map. A
    column that the others determine can be left out: its substitute is −1.
    """
    gram = gram_operator(X)
    placement = Placement(allowed & np.asarray(gram.diag() > 0), columns.size)
    search = Search(Problem(gram, placement), 1e-3, leaves_out=False)
    for column in columns:
        search.add(int(column))
    best: dict[int, int] = {}
    for block, gains in search.exchange_gains(search.members):
        others = np.where(np.isfinite(gains.max(axis=0)), gains.argmax(axis=0), -1)
        best |= dict(zip(block, others.tolist(), strict=True))
    is_out = np.isin(np.arange(X.shape[0]), np.concatenate(value_folds(X)[:2]))
    measure = KnownShare(X[~is_out], X[is_out])
    share, found = measure.of(columns), []
    for column in columns.tolist():
        other = best.get(column, -1)
        changed = np.append(columns[columns != column], [other] * (other >= 0)).astype(np.intp)
        found.append((other, share - measure.of(changed) if changed.size else share))
    return found
