"""One reduction of data that are not in memory to what fits into it; all iterations are local afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.accumulate import (
    BatchMoments,
    GramAccumulator,
    Moments,
    PairwiseSums,
    Record,
    block_moments,
    formed_gram,
    merge_moments,
    n_samples_of,
)
from ufselect.blocks.dask import DaskBlocks, is_dask
from ufselect.blocks.probes import Probe, WholeGram
from ufselect.blocks.rotate import (
    ColumnBlocks,
    SampleGram,
    block_rotated,
    block_sample_gram,
    merge_sample_grams,
    rotated_gram,
)
from ufselect.blocks.sketch import GramTimes, TruncatedGram, krylov_gram
from ufselect.common.row_blocks import row_blocks
from ufselect.gram.base import GramOperator
from ufselect.gram.centring import refuse_infinity, working_dtype
from ufselect.gram.factory import gram_operator
from ufselect.gram.row_details import RowDetails, row_details

# Order up to which S or the sample Gram matrix is formed: 800 MB in float64.
MAX_ORDER = 10_000
# Memory for data that are brought here, or for the factor that stands for them.
LOCAL_BYTES = 2**31
# Read from a disk at once: large enough that its latency does not count, small beside any memory.
LOCAL_BLOCK_BYTES = 2**26


@dataclass(frozen=True)
class ReductionSummary:
    """How data were reduced, and the error of it.

    Attributes
    ----------
    route : {"formed", "gathered", "rotated", "sketched", "given"}
        See `ReducedData`.
    n_passes : int
        How often the data were read.
    subspace_error : float
        Upper estimate of the sine of the angle between the leading subspace used and the true one;
        0 where the reduction is exact, 1 where nothing is known.
    missing_share : float
        Share of the total variance that a low-rank factor leaves out.
    """

    route: str
    n_passes: int
    subspace_error: float
    missing_share: float


@dataclass(frozen=True)
class ReducedData:
    """A Gram operator, and how it came out of the data; a selector's fit takes it instead of them.

    Attributes
    ----------
    gram : GramOperator
        The operator.
    n_passes : int
        How often the data were read.
    route : {"formed", "gathered", "rotated", "sketched", "given"}
        How: S formed; data small enough to be brought into memory; a factor from the sample Gram matrix;
        a randomised low-rank factor; an operator that was there already.
    """

    gram: GramOperator
    n_passes: int
    route: str

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features) of the data behind the operator."""
        return (self.gram.n_samples, self.gram.shape[0])

    @property
    def dtype(self) -> np.dtype:
        """The working type of the data."""
        return self.gram.dtype

    def summary(self, n_components: int | None) -> ReductionSummary:
        """Return how the data were reduced and what that cost in accuracy.

        Parameters
        ----------
        n_components : int or None
            Leading eigenvectors that a result rests on; None if it rests on the diagonal of S alone.
        """
        if n_components is None or not isinstance(self.gram, TruncatedGram):
            return ReductionSummary(self.route, self.n_passes, 0.0, 0.0)
        error = self.gram.subspace_error(n_components)
        return ReductionSummary(self.route, self.n_passes, error, self.gram.missing_share())


class BlockSource(ColumnBlocks, Protocol):
    """Data that are read block by block, in memory or elsewhere."""

    dtype: np.dtype
    n_features: int
    is_sparse: bool
    details: RowDetails | None  # weights and batches of the rows

    def has_room_for(self, record_bytes: int) -> bool:
        """Tell whether records of that size can be merged where the blocks are."""

    def count_rows(self) -> int:
        """Return the number of samples, reading the data for it only if there is no other way."""

    def moments(self, probe: Probe) -> Record | None:
        """Reduce all blocks of rows: one pass."""

    def gather(self) -> Any:
        """Return the data as an array or CSR matrix in memory."""

    def sample(self, rows: NDArray) -> Any:
        """Return some rows in memory."""


def reduce_blocks(source: BlockSource, n_components: int | None = None) -> ReducedData:
    """Reduce the data of a source by the route that suits their shape.

    Parameters
    ----------
    source : BlockSource
        The data.
    n_components : int, optional
        Leading eigenpairs that will be asked for, where known; widens a randomised factor.

    Raises
    ------
    ValueError
        If there are fewer than two rows, or a block holds infinity, or NaN where it is not reduced to S as a
        whole.
    """
    n_features = source.n_features
    # One triangle of S in float64. Workers with too little memory for that would die without a word.
    if n_features <= MAX_ORDER and source.has_room_for(4 * n_features * n_features):
        moments = _counted(source.moments(WholeGram()))
        return ReducedData(formed_gram(moments), 1, "formed")
    n_samples = source.count_rows()
    if n_samples <= MAX_ORDER and n_samples * n_features * source.dtype.itemsize <= LOCAL_BYTES:
        return ReducedData(_gathered(source), 1, "gathered")
    if n_samples <= MAX_ORDER and not source.is_sparse and source.details is None:
        max_rank = max(1, LOCAL_BYTES // (n_features * source.dtype.itemsize))
        return ReducedData(rotated_gram(source, n_features, max_rank), 2, "rotated")
    sketched, n_passes = krylov_gram(partial(_product, source), n_features, n_components)
    return ReducedData(sketched, n_passes, "sketched")


def _gathered(source: BlockSource) -> GramOperator:
    data = source.gather()
    if source.details is None:
        return gram_operator(data)
    counted, layout = source.details.laid_out(data)
    return gram_operator(counted, layout=layout)


def _product(source: BlockSource, probe: GramTimes) -> Moments | BatchMoments:
    moments = _counted(source.moments(probe))
    assert not isinstance(moments, PairwiseSums)  # they come of the whole matrix alone
    n_samples = n_samples_of(moments)
    shrink = moments.weight / n_samples  # to weights with a mean of one
    return replace(moments, n_samples=n_samples, second=moments.second / shrink)


def _counted(moments: Record | None) -> Record:
    n_samples = 0 if moments is None else moments.n_samples
    if moments is None or n_samples < 2:
        raise ValueError(f"X has {n_samples} sample(s), but a minimum of 2 is required.")
    return moments


class LocalBlocks:
    """An array that need not be in memory, such as a memory-mapped one, read slice by slice.

    Parameters
    ----------
    array : array-like with slicing, of shape (n_samples, n_features)
        Only slices of it are read, never the whole.
    """

    is_sparse = False

    def __init__(self, array: Any, details: RowDetails | None = None) -> None:
        if array.ndim != 2:
            raise ValueError(f"X must have two dimensions, not {array.ndim}.")
        self.array = array
        self.dtype = working_dtype(array.dtype)
        self.n_features = int(array.shape[1])
        self.details = details

    def has_room_for(self, record_bytes: int) -> bool:
        return True  # S is formed here whatever the route

    def count_rows(self) -> int:
        return int(self.array.shape[0])

    def moments(self, probe: Probe) -> Record | None:
        blocks = row_blocks(
            self.count_rows(), self.n_features * self.array.dtype.itemsize, LOCAL_BLOCK_BYTES, min_rows=1
        )
        return merge_moments(
            (
                block_moments(
                    self.array[rows],
                    probe,
                    f"X (rows {rows.start} to {rows.stop - 1})",
                    None if self.details is None else self.details.of(rows),
                )
                for rows in blocks
            ),
            probe,
        )

    def gather(self) -> NDArray:
        gathered = np.asarray(self.array, dtype=self.dtype)
        refuse_infinity(gathered, "X")
        return gathered

    def sample(self, rows: NDArray) -> NDArray:
        return np.asarray(self.array[rows], dtype=self.dtype)

    def sample_gram(self) -> SampleGram:
        total: list[SampleGram] = []
        for columns in self._column_slices():
            name = f"X (features {columns.start} to {columns.stop - 1})"
            total.append(block_sample_gram(self.array[:, columns], columns.start, name))
            total = [merge_sample_grams(total)]
        return total[0]

    def rotated(self, rotation: NDArray, scale: float) -> Iterator[tuple[int, NDArray]]:
        for columns in self._column_slices():
            yield columns.start, block_rotated(self.array[:, columns], rotation, scale)

    def _column_slices(self) -> Iterator[slice]:
        column_bytes = self.count_rows() * self.array.dtype.itemsize
        return row_blocks(self.n_features, column_bytes, LOCAL_BLOCK_BYTES, min_rows=1)


def block_source(X: Any) -> BlockSource:
    """Return the blocks of a dask collection or a memory-mapped array."""
    return DaskBlocks(X) if is_dask(X) else LocalBlocks(X)


def is_out_of_core(X: Any) -> bool:
    """Tell whether X is dask, memory-mapped, accumulated or reduced already, rather than data in memory."""
    if isinstance(X, (np.memmap, GramAccumulator, ReducedData)) or is_dask(X):
        return True
    # Asked for all names of the protocol, a lazy frame would warn at one that it shares.
    return hasattr(X, "matmat") and isinstance(X, GramOperator)


def reduce_data(
    X: Any, n_components: int | None = None, *, sample_weight: Any = None, batch: Any = None
) -> ReducedData:
    """Reduce data that are not in memory to their Gram operator.

    Parameters
    ----------
    X : dask array, dask data frame, numpy.memmap, GramAccumulator, GramOperator or ReducedData
        The data, of shape (n_samples, n_features).
    n_components : int, optional
        Leading eigenpairs that will be asked for, where known.
    sample_weight, batch : array-like of shape (n_samples,), optional
        How often each row counts, and the batch that it belongs to, as in a selector's ``fit``; only for
        dask collections and memory maps.

    Returns
    -------
    ReducedData
        Can be given to ``fit`` instead of the data, any number of times.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import MaxVariance
    >>> from ufselect.blocks import GramAccumulator, reduce_data
    >>> reduced = reduce_data(GramAccumulator().update(np.diag([1.0, 3.0, 2.0])))
    >>> reduced.shape, reduced.route
    ((3, 3), 'formed')
    >>> MaxVariance(n_features_to_select=1).fit(reduced).get_support()
    array([False,  True, False])
    """
    if isinstance(X, ReducedData):
        return X
    if isinstance(X, GramAccumulator):
        return ReducedData(formed_gram(_counted(X.moments)), 1, "formed")
    if isinstance(X, GramOperator):
        return ReducedData(X, 0, "given")
    source = block_source(X)
    if sample_weight is not None or batch is not None:
        source.details = row_details(sample_weight, batch, source.count_rows())
    return reduce_blocks(source, n_components)
