"""How many columns are enough: the share of the variance explained on held-out rows, by their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect._columns import Units
from ufselect.gram import GramOperator, RowInfo, gram_operator
from ufselect.reconstruct.ridge import LEAST_ROWS, dense, ridge_units, value_folds


def count_curve(
    X: Any,
    path: Callable[[GramOperator, int], NDArray],
    *,
    units: Units | None = None,
    rows: RowInfo | None = None,
) -> tuple[int, dict[str, NDArray]]:
    r"""Return how many columns are enough, and the curve by which that was found, as in ``count_curve_``.

    The count is the smallest whose value is within 0.01 of the largest: the share of the variance explained
    less the share of units measured. Beyond it a unit adds hardly more than if nothing had anything in
    common. Two random orders of units and the principal components of each fold are beside it.

    A fifth of the rows of X is held out in turn; given the Gram operator of the others and a number, ``path``
    returns that many units, best first: up to half of them, with at most 100 columns and fewer than the rows
    of a fold.
    """
    n_samples, n_features = X.shape
    if n_samples < LEAST_ROWS:
        raise ValueError(
            f'n_features_to_select="auto" holds out rows and needs at least {LEAST_ROWS} of them, not '
            f"{n_samples}; give a number."
        )
    units = Units.single(n_features) if units is None else units
    out = value_folds(X, rows)
    most_columns = min(100, n_samples - max(fold.size for fold in out) - 2)
    fits = np.cumsum(np.sort(units.sizes)[::-1]) <= most_columns
    max_count = max(1, min(units.count // 2, int(fits.sum())))
    # every count up to 20, then steps of 10 %
    steps = np.append(np.arange(1, 20), np.ceil(20 * 1.1 ** np.arange(100)))
    counts = np.unique(np.minimum(steps, max_count)).astype(int)
    known, random, components, rng = [], [], [], np.random.default_rng(0)
    for gram, held_out in fold_data(X, rows, out):
        parts = [units.members(int(unit)) for unit in path(gram, max_count)]
        known.append(_known_by_count(gram, held_out, parts, counts))
        varying = np.unique(units.codes[np.asarray(gram.diag() > 0)])
        for _ in range(2):
            parts = [units.members(int(unit)) for unit in rng.permutation(varying)[:max_count]]
            random.append(_known_by_count(gram, held_out, parts, counts))
        vectors = gram.eigenpairs(min(max_count, min(gram.shape[0], gram.n_samples - 1))).vectors
        seen = np.square(held_out @ np.asarray(vectors, dtype=np.float64)).sum(axis=0)
        seen = np.cumsum(seen) / max(np.square(held_out).sum(), 1e-300)
        components.append(seen[np.minimum(counts, seen.size) - 1])
    score, beside = (np.mean(shares, axis=0).max(axis=1) for shares in (known, random))  # of the best ridge
    value = score - counts / units.count
    enough = int(np.argmax(value >= value.max() - 0.01))
    return int(counts[enough]), {
        "n_features": counts,
        "score": score,
        "random": beside,
        "components": np.mean(components, axis=0),
        "chosen": np.arange(counts.size) == enough,
    }


def fold_data(X: Any, rows: RowInfo | None, folds: list[NDArray]) -> Iterator[tuple[GramOperator, NDArray]]:
    """Yield S of the other rows, and held-out rows less the mean of the others, in units of S.

    A held-out row of weight w is multiplied by the root of w; the mean is that of its own batch.
    """
    info = RowInfo(np.ones(X.shape[0])) if rows is None else rows
    for fold in folds:
        is_out = np.isin(np.arange(X.shape[0]), fold)
        stay, known = info.of(~is_out), np.unique(info.batches[~is_out])
        # 500 held-out rows are enough for an error known to a few per cent
        out = np.flatnonzero(is_out & np.isin(info.batches, known))[:500]
        kept = X[~is_out]
        gram = gram_operator(kept, rows=stay.scaled())
        if rows is None:
            centres = np.asarray(gram.mean, dtype=np.float64)
        else:
            centres = stay.means(kept)[np.searchsorted(known, info.batches[out])]
        yield gram, info.of(out).rooted((dense(X[out]) - centres) / gram.scale)


def _known_by_count(gram: GramOperator, held_out: NDArray, parts: list[NDArray], counts: NDArray) -> NDArray:
    """Return the share of the variance of all columns explained, a row per count and a column per ridge.

    The maps from the first column, the first two and so on follow from one Cholesky factor, each by one more
    term.
    """
    columns, ends = np.concatenate(parts), np.cumsum([part.size for part in parts])
    ends = ends[np.minimum(counts, ends.size) - 1]
    cross = np.asarray(gram.columns(columns), dtype=np.float64).T
    units = np.diag(ridge_units(cross[:, columns].diagonal()))
    squares = np.einsum("ij,ij->j", held_out, held_out)
    known = []
    # little more than rounding, some, and much
    for ridge in (max(1e-10, 100 * np.finfo(gram.dtype).eps), 1e-3, 0.1):
        root = linalg.cholesky(cross[:, columns] + ridge * units, lower=True, check_finite=False)
        fitted = linalg.solve_triangular(root, cross, lower=True, check_finite=False)
        seen = linalg.solve_triangular(root, held_out[:, columns].T, lower=True, check_finite=False)
        overlaps = np.tril(2 * (seen @ seen.T))
        overlaps[np.diag_indices(columns.size)] /= 2
        left = squares + np.cumsum(fitted * (overlaps @ fitted - 2 * (seen @ held_out)), axis=0)
        others = left.sum(axis=1) - np.tril(left[:, columns]).sum(axis=1)
        known.append(1 - others[ends - 1] / np.maximum(squares.sum(), 1e-300))
    return np.array(known).T
