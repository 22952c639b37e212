r"""Matrices with at most r non-zero rows, :math:`\{Z : \|Z\|_{2,0} \le r\}`, or r non-zero groups of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.largest import Support, largest
from ufselect.sets.units import RowRules


def project(
    matrix: NDArray,
    n_rows: int,
    last: Support | None = None,
    out: NDArray | None = None,
    rules: RowRules | None = None,
) -> tuple[NDArray, Support]:
    r"""Return a nearest matrix with at most ``n_rows`` non-zero rows, and which rows it keeps.

    With rules, groups :math:`G_1, G_2, \dots` of rows count instead of rows, and some are kept in any case:
    the set is :math:`\{Z : Z_{G_k} = 0 \text{ for all } k \notin K, |K| \le r, F \subseteq K\}`. The nearest
    matrix keeps the fixed groups F and, of the others, those of largest :math:`\|Z_{G_k}\|_F`; the support
    is then one of groups.

    Ties go to the lower index. ``last`` is the support of a similar matrix, if there is one;
    ``out`` is where the result goes, which may be ``matrix`` itself.
    """
    squares = np.einsum("ij,ij->i", matrix, matrix)
    if rules is None:
        support = largest(squares, n_rows, last)
        return np.multiply(matrix, support.mask[:, None], out=out), support
    support = largest(rules.weights(squares), n_rows, last)
    return np.multiply(matrix, rules.units.of_rows(support.mask)[:, None], out=out), support


def distance(matrix: NDArray, n_rows: int, rules: RowRules | None = None) -> float:
    """Return the Frobenius distance to the set."""
    return float(np.linalg.norm(matrix - project(matrix, n_rows, rules=rules)[0]))
