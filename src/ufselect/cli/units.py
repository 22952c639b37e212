"""Do the columns have comparable units? If not, they are given variance 1 before anything is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.wording import listed
from ufselect.exceptions import TableError

SCALINGS = ("auto", "standard", "none")
LOOK_ROWS = 2000  # enough to know a standard deviation to a few per cent
APART = 10.0  # an order of magnitude is no longer chance
MOSTLY_ONE_VALUE = 0.5  # such columns, as the edge pixels of images, vary little whatever their unit
FAR_APART = 100.0  # two orders are a matter of units however gently spreads rise
STEP = 5.0  # between one column and the next; the largest in images, sounds and expression is 1.2
ENDS = 0.01  # of very many columns, that share at either end may be anything
FEW = 0.1  # share of columns that count as "few"
MOST = 0.9  # share of the variance that counts as "most"
LARGEST = 1e150  # squares of larger numbers, summed, are beyond the range of doubles
COUNT_COLUMNS = 50  # fewer columns of whole numbers are more likely a table of different things
COUNT_ZEROS = 0.2  # counts of rare things are often none


@dataclass(frozen=True)
class Units:
    """How far the spreads of columns lie apart.

    Attributes
    ----------
    spread : ndarray of shape (n_features,)
        Standard deviations.
    ratio : float
        Largest to smallest spread among columns whose values vary throughout.
    share : float
        Share of the total variance that the largest columns hold.
    largest : list of str
        The fewest columns that hold nine tenths of it.
    differ : bool
        Whether some columns decide everything by their unit alone.
    counts : bool
        Whether the table holds raw counts, which differ by their size and not by a unit.
    """

    spread: NDArray
    ratio: float
    share: float
    largest: list[str]
    differ: bool
    counts: bool

    @property
    def is_dominated(self) -> bool:
        """Whether few columns hold most of the variance, whatever the reason."""
        few = max(1, int(FEW * self.spread.size))
        return self.share >= MOST and 0 < len(self.largest) <= few < self.spread.size - 1

    @property
    def sentence(self) -> str:
        """What there is to say if the columns are used as they are."""
        count = len(self.largest)
        return (
            f"{listed(self.largest, 3)} ({count} of {self.spread.size} columns) "
            f"{'hold' if count > 1 else 'holds'} {min(self.share, 0.999):.1%} of the total variance, and "
            f"spreads differ {self.ratio:.0f}-fold"
        )


def look_at_units(data: Any, names: list[str]) -> Units:
    """Compare the spreads of columns on a sample of rows.

    Units differ when spreads of columns that vary throughout lie a hundred times apart, or ten times with a
    clear step. Pixels and expression on a logarithmic scale share a unit: their spreads rise gently, and
    those far below belong to columns that are mostly one value.
    """
    rows = data[:: max(1, -(-data.shape[0] // LOOK_ROWS))]
    rows = _without_gaps(rows.toarray() if sparse.issparse(rows) else np.asarray(rows))
    spread = rows.std(axis=0, dtype=np.float64)
    varied = (spread > 0) & (_share_of_commonest(rows) < MOSTLY_ONE_VALUE)
    counts = _are_counts(rows)
    if varied.sum() < 2:
        return Units(spread, 1.0, 0.0, [], False, counts)
    order = np.argsort(-spread, kind="stable")
    variance = spread[order] ** 2
    held = np.cumsum(variance) / variance.sum()
    few = int(np.searchsorted(held, MOST)) + 1
    ratio = float(spread[varied].max() / spread[varied].min())
    differ = _are_apart(np.sort(spread[varied])) and not counts
    return Units(spread, ratio, float(held[few - 1]), [names[j] for j in order[:few]], differ, counts)


def _without_gaps(rows: NDArray) -> NDArray:
    """Return rows with the mean of the column in place of missing values."""
    gaps = np.isnan(rows)
    if not gaps.any():
        return rows
    filled = np.where(gaps, 0.0, rows)
    means = filled.sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, means, rows)


def _share_of_commonest(rows: NDArray) -> NDArray:
    """Return how much of each column is its median, which is what a mostly constant column holds."""
    middle = np.quantile(rows, 0.5, axis=0, method="lower")
    return (rows == middle).mean(axis=0)


def _are_apart(ordered: NDArray) -> bool:
    """Whether spreads, in rising order, lie far apart, or apart with a clear step below which many lie.

    Spreads of comparable columns rise gently; a few at either end of many columns do not count.
    """
    low, high = np.quantile(ordered, ENDS, method="lower"), np.quantile(ordered, 1 - ENDS, method="higher")
    steps = 1 + np.flatnonzero(ordered[1:] >= STEP * ordered[:-1])
    clear = bool(np.any(steps >= FEW * ordered.size))
    return bool(high >= FAR_APART * low) or bool(ordered[-1] >= APART * ordered[0] and clear)


def _are_counts(rows: NDArray) -> bool:
    """Whether the table holds counts: many columns of whole numbers from 0 on, many of them 0, skewed."""
    if rows.shape[1] < COUNT_COLUMNS or rows.min() < 0 or not np.array_equal(rows, np.rint(rows)):
        return False
    return bool((rows == 0).mean() >= COUNT_ZEROS and rows.max() > APART * max(rows.mean(), 1.0))


def check_range(data: Any, names: list[str]) -> None:
    """Refuse values whose squares are beyond the range of doubles.

    Raises
    ------
    TableError
        Naming the columns.
    """
    if sparse.issparse(data):
        values = abs(data).nanmax(axis=0).toarray().ravel().astype(np.float64)
    else:
        values = np.fmax.reduce(np.abs(data), axis=0).astype(np.float64)
    wild = np.flatnonzero(values > LARGEST)
    if wild.size:
        raise TableError(
            f"Values in {listed([names[j] for j in wild])} reach {values.max():.0e}, beyond what can be "
            "squared; they are mistakes or need another unit: correct them or leave these columns out."
        )
