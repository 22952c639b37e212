"""Split rows so that those that belong together stay on one side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ufselect._utils.validation import check_array, is_missing
from ufselect.gram import gram_operator
from ufselect.gram.rows import power_of_two_near


@dataclass(frozen=True)
class RowSample:
    """Rows of a table as numbers, with missing values replaced by means, and how they can be held out."""

    rows: NDArray  # their places in the table
    data: Any  # dense, or sparse by rows, in a unit of a power of two in which squares are safe
    units: NDArray  # rows of the same number stay on one side
    is_ordered: bool  # sides must be contiguous runs
    notes: list[str]


def row_samples(table: Any, groups: Any, most: int, rng: np.random.Generator) -> Iterator[RowSample]:
    """Yield samples of at most ``most`` rows without end, others each time."""
    n_rows = table.shape[0]
    while True:
        rows = np.arange(n_rows)
        if n_rows > most:
            rows = np.sort(rng.choice(n_rows, most, replace=False))
        data = table if n_rows <= most else _safe_indexing(table, rows)
        if sparse.issparse(data):
            data = data.astype(np.float64)
            data = data / power_of_two_near(float(np.abs(data.data).max(initial=0.0)))
        else:
            data = check_array(data, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
            data = data / power_of_two_near(float(np.nanmax(np.abs(data), initial=0.0)))
            missing = np.isnan(data)
            means = np.where(missing, 0, data).sum(axis=0) / np.maximum(np.sum(~missing, axis=0), 1)
            data = np.where(missing, means, data)
        some = None if groups is None else np.asarray(groups)[rows]
        yield RowSample(rows, data, *row_units(leading_scores(data), some))


def is_constant(data: Any) -> NDArray:
    """Return which columns of dense or sparse data do not vary."""
    low, high = data.min(axis=0), data.max(axis=0)
    return (low.toarray() == high.toarray()).ravel() if sparse.issparse(data) else low == high


def leading_scores(data: Any) -> NDArray:
    """Return up to 20 principal-component scores of the rows."""
    gram = gram_operator(data)
    vectors = np.asarray(gram.eigenpairs(min(20, data.shape[1], data.shape[0] - 1)).vectors, dtype=np.float64)
    return np.asarray(data @ vectors) - np.asarray(gram.mean, dtype=np.float64) @ vectors


def far_rows(data: Any) -> NDArray:
    """Return rows whose nearest neighbour is more than twice as far as that of any other row.

    They are at most a twentieth of all rows; several of them may be told together.
    """
    distances = euclidean_distances(data)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    order = np.argsort(-nearest, kind="stable")[: len(nearest) // 20 + 1]
    is_gap = nearest[order[:-1]] > 2 * nearest[order[1:]]
    return np.sort(order[: np.max(np.flatnonzero(is_gap), initial=-1) + 1])


def row_units(scores: NDArray, groups: Any = None) -> tuple[NDArray, bool, list[str]]:
    """Return which rows stay together, whether sides must be contiguous runs, and what to say about it.

    Rows with the same number stay on one side of every split. They are guessed from leading
    principal-component scores, unless ``groups`` are given.
    """
    n_rows = len(scores)
    if groups is not None:
        check_consistent_length(scores, groups)
        if any(map(is_missing, np.ravel(groups).tolist())):
            raise ValueError("groups has missing labels; give every row a group.")
        units = np.unique(column_or_1d(np.asarray(groups)), return_inverse=True)[1]
        if units.max() < 3:
            raise ValueError("groups has fewer than four groups; give smaller groups, or leave it out.")
        return units, False, [f"Rows of one of the {units.max() + 1} groups were held out together."]
    if is_order_dependent(scores):
        length = 4 * settling_lag(scores)
        is_short = n_rows >= 8 * length
        runs = (
            f"runs of {length} rows were held out together" if is_short else "contiguous runs were held out"
        )
        note = f"Neighbouring rows resemble each other, so {runs}; if their order is arbitrary, shuffle them."
        return (np.arange(n_rows) // length if is_short else np.arange(n_rows)), not is_short, [note]
    units = near_duplicates(scores)
    n_together = n_rows - int(units.max()) - 1
    note = f"{n_together} rows are near-duplicates; each was held out together with its twin."
    return units, False, [note] if n_together > n_rows / 20 else []  # a few are alike by chance


def is_order_dependent(scores: NDArray) -> bool:
    """Tell whether a row is nearer to the next one than to the fifth after it.

    This holds in a drifting series. In a table sorted by class, whose rows are independent, both are mostly
    of its own class and equally far; the exceptions do not move the median.
    """
    n_rows = len(scores)
    if n_rows < 20:
        return False
    near, far = (np.linalg.norm(scores[gap : n_rows - 5 + gap] - scores[:-5], axis=1) for gap in (1, 5))
    # Among independent rows either is nearer in half of the cases, within three standard errors, and a little
    # more because neighbouring triples depend on each other.
    is_nearer = np.mean(near < far) > 0.5 + 1.8 / np.sqrt(n_rows - 5)
    return bool(is_nearer and np.median(near) < 0.95 * np.median(far))


def settling_lag(scores: NDArray) -> int:
    """Return the lag, a power of two, beyond which rows hardly become less alike."""
    lag = 1
    while 2 * lag < len(scores) // 2:
        near, far = (
            np.median(np.linalg.norm(scores[gap:] - scores[:-gap], axis=1)) for gap in (lag, 2 * lag)
        )
        if near >= 0.9 * far:
            break
        lag *= 2
    return lag


def near_duplicates(scores: NDArray) -> NDArray:
    """Number the rows so that near-duplicates, such as replicates of a measurement, have one number.

    Two rows are near-duplicates if they are less than half as far from each other as from their tenth
    neighbours. In few dimensions that is common, and long chains of such rows are not replicates: if a chain
    has more than a twentieth of all rows, none are joined.
    """
    n_rows = len(scores)
    alone = np.arange(n_rows)
    spread = scores.var(axis=0)  # squared sum over sum of squares: the effective number of directions
    if n_rows < 30 or spread.sum() ** 2 <= 5 * np.square(spread).sum():
        return alone
    # The first neighbour is the row itself. No other thread is started for so few rows.
    distances, neighbours = (found[:, 1:] for found in KDTree(scores).query(scores, 11))
    reach = distances[:, -1]
    rows = np.repeat(alone, 10)
    close = distances.ravel() < 0.5 * np.minimum(reach[rows], reach[neighbours.ravel()])
    joined = sparse.coo_array(
        (np.ones(np.count_nonzero(close)), (rows[close], neighbours.ravel()[close])), shape=(n_rows, n_rows)
    )
    units = connected_components(joined, directed=False)[1]
    return alone if np.bincount(units).max() > max(5, n_rows // 20) else units


def row_splits(
    units: NDArray, is_ordered: bool, n_parts: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield training and held-out rows: each of ``n_parts`` parts is held out once."""
    n_rows, n_units = units.size, int(units.max()) + 1
    if is_ordered:
        parts = (np.arange(n_rows) - rng.integers(n_rows)) % n_rows * n_parts // n_rows
    else:
        parts = (rng.permutation(n_units) % n_parts)[units]
    for part in range(n_parts):
        yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)


SEED_LIMIT = 2**31 - 1  # every random_state accepts seeds below it
