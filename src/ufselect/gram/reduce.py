"""Reduce data outside memory once to a Gram operator; all iterations are local afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.validation import (
    ENTRIES_IN_MEMORY,
    generator,
    is_dask,
    is_lazy_table,
    table_schema,
    warn_user,
)
from ufselect.exceptions import ApproximationWarning
from ufselect.gram.accumulate import (
    GramAccumulator,
    Moments,
    Probe,
    Record,
    WholeGram,
    accumulate_table,
    block_moments,
    formed_gram,
    merge_moments,
)
from ufselect.gram.dask import DaskBlocks
from ufselect.gram.operator import GramOperator, LowRankGram, gram_operator
from ufselect.gram.rows import RowInfo, refuse_infinity, row_blocks, row_info, working_dtype
from ufselect.gram.sketch import (
    GramTimes,
    SampleGram,
    block_rotated,
    block_sample_gram,
    krylov_gram,
    merge_sample_grams,
    rotated_gram,
)

# Order up to which S or the sample Gram matrix is formed: 800 MB in float64.
MAX_ORDER = 10_000
# Memory for data that are gathered here, or for the factor that represents them.
LOCAL_BYTES = 2**31
# Read from a disk at once: large enough that its latency does not matter, small compared with any memory.
LOCAL_BLOCK_BYTES = 2**26


@dataclass(frozen=True)
class ReductionSummary:
    """How data were reduced, and with what error.

    Attributes
    ----------
    route : {"formed", "gathered", "rotated", "sketched", "given"}
        See `ReducedData`.
    n_passes : int
        How often the data were read.
    subspace_error : float
        Upper estimate of the sine of the angle between the leading subspace used and the true one;
        0 if the reduction is exact, 1 if nothing is known.
    missing_share : float
        Share of the total variance that a low-rank factor leaves out.

    See Also
    --------
    reduce_data : Reduce data that are not in memory.
    """

    route: str
    n_passes: int
    subspace_error: float
    missing_share: float


@dataclass(frozen=True)
class ReducedData:
    """A Gram operator and how it was computed; a selector's ``fit`` accepts it instead of the data.

    Attributes
    ----------
    gram : GramOperator
        The operator.
    n_passes : int
        How often the data were read.
    route : {"formed", "gathered", "rotated", "sketched", "given"}
        How it was computed: S was formed; the data were small enough for memory; a factor from the sample
        Gram matrix; a randomised low-rank factor; or an operator was given.

    See Also
    --------
    reduce_data : Make this record from data that are not in memory.
    """

    is_reduced: ClassVar[bool] = True

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

    @property
    def feature_names(self) -> NDArray | None:
        """Names of the features, where they are known."""
        return self.gram.feature_names

    def summary(self, n_components: int | None) -> ReductionSummary:
        """Return how the data were reduced; warn if a ranking by ``n_components`` cannot be trusted.

        Parameters
        ----------
        n_components : int or None
            Number of leading eigenvectors that a result uses; None if it uses only the diagonal of S.
        """
        error = missing_share = 0.0
        if n_components is not None and isinstance(self.gram, LowRankGram):
            error, missing_share = self.gram.subspace_error(n_components), self.gram.missing_share()
        if error > 0.1:  # sine of the angle to the true leading subspace
            warn_user(
                f"The low-rank factor of X may miss its {n_components} leading components (estimated error "
                f"{error:.2g} of 1), so the ranking cannot be trusted. Use fewer components, or select at "
                f"most {MAX_ORDER} features with MaxVariance first.",
                ApproximationWarning,
            )
        return ReductionSummary(self.route, self.n_passes, error, missing_share)


class LocalBlocks:
    """An array that need not be in memory, such as a memory-mapped one; only slices of it are read."""

    is_sparse = False

    def __init__(self, array: Any) -> None:
        if array.ndim != 2:
            raise ValueError(f"X must have two dimensions, not {array.ndim}.")
        self.array = array
        self.dtype = working_dtype(array.dtype)
        self.n_features = int(array.shape[1])
        self.rows: RowInfo | None = None

    def has_room_for(self, record_bytes: int) -> bool:
        """Tell whether records of that size fit where the blocks are; here S is formed in any case."""
        return True

    def count_rows(self) -> int:
        """Return the number of samples, reading the data only if it is not known otherwise."""
        return int(self.array.shape[0])

    def moments(self, probe: Probe) -> Record | None:
        """Reduce all blocks of rows: one pass."""
        row_bytes = self.n_features * self.array.dtype.itemsize
        parts = (
            block_moments(
                self.array[part],
                probe,
                f"X (rows {part.start} to {part.stop - 1})",
                None if self.rows is None else self.rows.of(part),
            )
            for part in row_blocks(self.count_rows(), row_bytes, LOCAL_BLOCK_BYTES, min_rows=1)
        )
        return merge_moments(parts, probe)

    def gather(self) -> NDArray:
        """Return the data as an array or CSR matrix in memory."""
        gathered = np.asarray(self.array, dtype=self.dtype)
        refuse_infinity(gathered, "X")
        return gathered

    def sample(self, rows: NDArray) -> NDArray:
        """Return some rows in memory."""
        return np.asarray(self.array[rows], dtype=self.dtype)

    def sample_gram(self) -> SampleGram:
        """Return the sample Gram matrix of all features: one pass."""
        total: list[SampleGram] = []
        for columns in self._column_slices():
            name = f"X (features {columns.start} to {columns.stop - 1})"
            total.append(block_sample_gram(self.array[:, columns], columns.start, name))
            total = [merge_sample_grams(total)]
        return total[0]

    def rotated(self, rotation: NDArray, scale: float) -> Iterator[tuple[int, NDArray]]:
        """Yield (first feature, rotationᵀ A / scale) for each block of features: one pass."""
        for columns in self._column_slices():
            yield columns.start, block_rotated(self.array[:, columns], rotation, scale)

    def _column_slices(self) -> Iterator[slice]:
        column_bytes = self.count_rows() * self.array.dtype.itemsize
        return row_blocks(self.n_features, column_bytes, LOCAL_BLOCK_BYTES, min_rows=1)


def block_source(X: Any) -> LocalBlocks | DaskBlocks:
    """Return the blocks of a dask collection or a memory-mapped array.

    See Also
    --------
    reduce_data : Reduce data in blocks to what a selector's ``fit`` accepts.
    """
    return DaskBlocks(X) if is_dask(X) else LocalBlocks(X)


def in_memory_if_small(X: Any) -> Any:
    """Return dask data or a lazy table of at most 20 million entries in memory, others as they are."""
    if is_dask(X):
        source = DaskBlocks(X)
        return X.compute() if source.count_rows() * source.n_features <= ENTRIES_IN_MEMORY else X
    if not is_lazy_table(X):
        return X
    if hasattr(X, "count_rows"):
        n_rows, read = X.count_rows, X.to_table
    else:
        n_rows, read = X.select(import_module("polars").len()).collect().item, X.collect
    return read() if n_rows() * len(table_schema(X)) <= ENTRIES_IN_MEMORY else X


def sample_rows(
    X: Any, random_state: Any, max_rows: int = 10_000, max_bytes: int = 2**30
) -> tuple[Any, NDArray, int]:
    """Return some rows of a dask collection in memory, in order, with their places and the number of all.

    Neighbour graphs take n² d operations, so the rows are bounded, and for wide data their memory.
    """
    source = block_source(X)
    n_rows = source.count_rows()
    count = min(n_rows, max_rows, max(2, max_bytes // (source.n_features * source.dtype.itemsize)))
    rows = np.sort(generator(random_state).choice(n_rows, count, replace=False))
    return source.sample(rows), rows, n_rows


def reduce_data(
    X: Any, n_components: int | None = None, *, sample_weight: Any = None, batch: Any = None
) -> ReducedData:
    """Reduce data that are not in memory to their Gram operator.

    Use it to read the data once and fit several selectors to the result; a single ``fit`` accepts the data
    themselves.

    Parameters
    ----------
    X : dask array or data frame, memory map, LazyFrame, pyarrow dataset, GramAccumulator or GramOperator
        The data, of shape (n_samples, n_features).
    n_components : int, optional
        Number of leading eigenpairs that will be used, if known.
    sample_weight, batch : array-like of shape (n_samples,), optional
        Sample weights, and the batch of each row, as in a selector's ``fit``; only for dask collections and
        memory maps.

    Returns
    -------
    ReducedData
        Can be given to ``fit`` instead of the data, any number of times.

    Raises
    ------
    ValueError
        If there are fewer than two rows, if a block holds infinity, or if it holds NaN and S is not formed.

    See Also
    --------
    GramAccumulator : Add batches of rows from any other source.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import MaxVariance
    >>> from ufselect.gram import GramAccumulator, reduce_data
    >>> reduced = reduce_data(GramAccumulator().update(np.diag([1.0, 3.0, 2.0])))
    >>> reduced.shape, reduced.route
    ((3, 3), 'formed')
    >>> MaxVariance(n_features_to_select=1).fit(reduced).get_support()
    array([False,  True, False])
    """
    given = {"sample_weight": sample_weight, "batch": batch}
    names = " and ".join(name for name, value in given.items() if value is not None)
    if is_lazy_table(X) and not names:
        X = accumulate_table(X)
    if names and (is_lazy_table(X) or isinstance(X, (ReducedData, GramAccumulator, GramOperator))):
        raise TypeError(
            f"{names} cannot be given for a {type(X).__name__}, whose rows are not in memory; give them with "
            "the rows to GramAccumulator.update or to ufselect.gram.reduce_data."
        )
    if isinstance(X, ReducedData):
        return X
    if isinstance(X, GramAccumulator):
        _counted(X.moments)
        return ReducedData(X.gram(), 1, "formed")
    if isinstance(X, GramOperator):
        return ReducedData(X, 0, "given")
    if not is_dask(X) and not isinstance(X, np.ndarray):
        raise TypeError(
            f"X is of type {type(X).__name__}; reduce_data takes dask collections, memory maps, lazy tables "
            "and accumulators. Pass rows in memory to fit."
        )
    source = block_source(X)
    if names:
        source.rows = row_info(sample_weight, batch, source.count_rows())
    n_features = source.n_features
    # One triangle of S in float64. Workers with too little memory for that would die without a message.
    if n_features <= MAX_ORDER and source.has_room_for(4 * n_features * n_features):
        return ReducedData(formed_gram(_counted(source.moments(WholeGram()))), 1, "formed")
    n_samples, column_bytes = source.count_rows(), n_features * source.dtype.itemsize
    if n_samples <= MAX_ORDER and n_samples * column_bytes <= LOCAL_BYTES:
        data, rows = source.gather(), source.rows
        if rows is not None:
            data, rows = rows.counted(data)
        return ReducedData(gram_operator(data, rows=rows and rows.scaled()), 1, "gathered")
    if n_samples <= MAX_ORDER and not source.is_sparse and source.rows is None:
        return ReducedData(rotated_gram(source, max(1, LOCAL_BYTES // column_bytes)), 2, "rotated")

    def multiply(probe: GramTimes) -> Moments:
        moments = _counted(source.moments(probe))
        assert isinstance(moments, Moments)  # pairwise sums arise only if all of S is accumulated
        shrink = moments.weight / moments.n_counted  # to weights with a mean of one
        return replace(moments, n_samples=moments.n_counted, second=moments.second / shrink)

    sketched, n_passes = krylov_gram(multiply, n_features, n_components)
    return ReducedData(sketched, n_passes, "sketched")


def _counted(moments: Record | None) -> Record:
    n_samples = 0 if moments is None else moments.n_samples
    if moments is None or n_samples < 2:
        raise ValueError(f"X has {n_samples} sample(s), but a minimum of 2 is required.")
    return moments
