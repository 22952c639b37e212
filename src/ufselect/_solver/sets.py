"""Projections onto sets: few non-zero entries or rows, and the simplex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import UnitRequest


@dataclass(frozen=True)
class Support:
    """Which values of a flat array are kept, and the smallest of them."""

    mask: NDArray
    threshold: float


def largest(values: NDArray, count: int, last: Support | None = None) -> Support:
    """Mark exactly ``count`` of the largest values of a flat array; among equals the first come first.

    Given the support of similar values, only those above its threshold, or a little below, are ordered: from
    one iteration to the next the threshold hardly moves, which saves up to a fifth of a long run.
    """
    if count >= values.size:
        return Support(np.ones(values.size, dtype=bool), float(values.min(initial=np.inf)))
    if count <= 0:
        return Support(np.zeros(values.size, dtype=bool), np.inf)
    near = values
    if last is not None and last.threshold > 0:
        near = values.compress(values >= 0.97 * last.threshold)
        near = values if near.size < count else near
    threshold = np.partition(near, near.size - count)[near.size - count]
    mask = values >= threshold
    surplus = int(np.count_nonzero(mask)) - count
    if surplus:
        tied = np.flatnonzero(values == threshold)
        mask[tied[tied.size - surplus :]] = False
    return Support(mask, float(threshold))


def project_entries(
    matrix: NDArray, n_entries: int, last: Support | None = None, out: NDArray | None = None
) -> tuple[NDArray, Support]:
    """Return a nearest matrix with at most ``n_entries`` non-zero entries, and which entries it keeps.

    Ties go to the lower column, then row. ``last`` is the support of a similar matrix, if there is one;
    ``out`` is where the result goes, which may be ``matrix`` itself.
    """
    support = largest(np.abs(matrix).ravel(order="F"), n_entries, last)
    return np.multiply(matrix, support.mask.reshape(matrix.shape, order="F"), out=out), support


def project_rows(
    matrix: NDArray,
    n_rows: int,
    last: Support | None = None,
    out: NDArray | None = None,
    rules: UnitRequest | None = None,
) -> tuple[NDArray, Support]:
    r"""Return a nearest matrix with at most ``n_rows`` non-zero rows, and which rows it keeps.

    With rules, groups :math:`G_1, G_2, \dots` of rows count instead of rows, and some are always kept:
    the set is :math:`\{Z : Z_{G_k} = 0 \text{ for all } k \notin K, |K| \le r, F \subseteq K\}`. The nearest
    matrix keeps the fixed groups F and, of the others, those of largest :math:`\|Z_{G_k}\|_F`; the support
    is then one of groups.

    Ties go to the lower index. ``last`` is the support of a similar matrix, if there is one;
    ``out`` is where the result goes, which may be ``matrix`` itself.
    """
    squares = np.einsum("ij,ij->i", matrix, matrix)
    support = largest(squares if rules is None else rules.weights(squares), n_rows, last)
    mask = support.mask if rules is None else rules.units.of_rows(support.mask)
    return np.multiply(matrix, mask[:, None], out=out), support


def project_simplex(points: NDArray) -> NDArray:
    r"""Return the nearest point of the simplex :math:`\{s \ge 0, \sum_j s_j = 1\}` to each row."""
    # A common shift does not change the result, and avoids cancellation.
    points = points - points.max(axis=1, keepdims=True)
    ordered = -np.sort(-points, axis=1)
    counts = np.arange(1, points.shape[1] + 1)
    thresholds = (np.cumsum(ordered, axis=1) - 1) / counts
    n_positive = np.count_nonzero(ordered > thresholds, axis=1)
    threshold = np.take_along_axis(thresholds, n_positive[:, None] - 1, axis=1)
    return np.maximum(points - threshold, 0)
