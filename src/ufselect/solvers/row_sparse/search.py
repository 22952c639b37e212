"""Which rows to keep: monotone search for the best support of row-sparse PCA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import GramOperator
from ufselect.solvers.row_sparse.certificates import captured_variance, leading_sum

RELATIVE_GAIN = 1e-9  # smaller gains are rounding
SHORTLIST = 2  # entering rows tried exactly for each leaving row
LONG_LIST = 8  # the same before giving up for good
MAX_PROXY_STEPS = 50
Report = Callable[[float], None]


def loadings_on(gram: GramOperator, support: NDArray, n_components: int) -> NDArray:
    """Return the best orthonormal loadings that vanish off the support, n_features × m."""
    block = gram.subgram(support)
    order = block.shape[0]
    _, vectors = linalg.eigh(block, subset_by_index=[order - n_components, order - 1], check_finite=False)
    X = np.zeros((gram.shape[0], n_components), dtype=gram.dtype, order="F")
    X[support] = vectors[:, ::-1]
    return X


def proxy_diagonal(X: NDArray, product: NDArray) -> NDArray:
    r"""Return the diagonal of :math:`SX(X^\top SX)^{+}X^\top S \preceq S`, given ``product = S @ X``."""
    values, vectors = np.linalg.eigh(X.T @ product)
    cutoff = max(float(values[-1]), 0.0) * values.size * np.finfo(values.dtype).eps
    keep = values > cutoff
    scores = (product @ vectors[:, keep]) / np.sqrt(values[keep])
    return np.einsum("ij,ij->i", scores, scores)


def improve_by_proxy(gram: GramOperator, support: NDArray, n_components: int) -> tuple[NDArray, float]:
    """Move to the rows with the largest proxy diagonal while that helps; return the support and its value.

    The proxy is a lower bound of S that is tight on the current support, so a better proxy is a better
    support (the iteration of Tian, Nie, Wang and Li, 2020).
    """
    captured = captured_variance(gram, support, n_components)
    for _ in range(MAX_PROXY_STEPS):
        X = loadings_on(gram, support, n_components)
        scores = proxy_diagonal(X, gram.matmat(X))
        proposed = np.sort(np.argsort(-scores, kind="stable")[: support.size])
        reached = captured_variance(gram, proposed, n_components)
        if reached <= captured * (1 + RELATIVE_GAIN):
            break
        support, captured = proposed, reached
    return support, captured


def improve_by_swaps(
    gram: GramOperator,
    support: NDArray,
    n_components: int,
    *,
    shortlist: int = LONG_LIST,
    report: Report | None = None,
    max_rounds: int = 20,
) -> tuple[NDArray, float]:
    r"""Exchange one row at a time until no exchange helps; return the support and its value.

    For each leaving row the loadings of the remaining ones give a proxy whose diagonal :math:`q_j` bounds
    from below what each entering row j adds; the few best are tried exactly.
    """
    kept = np.array(support)
    columns = _columns(gram, kept)
    captured = leading_sum(columns[kept], n_components)
    tried = min(SHORTLIST, shortlist)
    for _ in range(max_rounds):
        before = captured
        for leaving in _by_weight(columns[kept], n_components):
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
    m = min(n_components, others.size)
    if m == 0:
        scores = gram.diag().astype(np.float64)
    else:
        order = others.size
        values, vectors = linalg.eigh(block, subset_by_index=[order - m, order - 1], check_finite=False)
        keep = values > max(float(values[-1]), 0.0) * order * np.finfo(values.dtype).eps
        products = columns[:, others] @ (vectors[:, keep] / np.sqrt(values[keep]))
        scores = np.einsum("ij,ij->i", products, products)
    scores[kept] = -np.inf
    candidates = np.argsort(-scores)[: min(shortlist, scores.size - kept.size)]
    if candidates.size == 0:
        return None
    added = _columns(gram, candidates)
    best = None
    for position, entering in enumerate(candidates):
        edge = added[kept[others], position]
        grown = np.block([[block, edge[:, None]], [edge[None, :], added[entering, position]]])
        reached = leading_sum(grown, n_components)
        if reached > captured * (1 + RELATIVE_GAIN):
            captured = reached
            best = (int(entering), added[:, position], reached)
    return best


def _columns(gram: GramOperator, indices: NDArray) -> NDArray:
    """Return the named columns of S in double precision."""
    picks = np.zeros((gram.shape[0], indices.size), dtype=gram.dtype, order="F")
    picks[indices, np.arange(indices.size)] = 1
    return np.array(gram.matmat(picks), dtype=np.float64, order="F")


def _by_weight(block: NDArray, n_components: int) -> NDArray:
    """Order the rows of a block by their weight in its leading eigenvectors, lightest first."""
    order = block.shape[0]
    count = min(n_components, order)
    values, vectors = linalg.eigh(block, subset_by_index=[order - count, order - 1], check_finite=False)
    return np.argsort(vectors**2 @ np.maximum(values, 0), kind="stable")
