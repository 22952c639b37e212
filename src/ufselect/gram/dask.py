"""Dask arrays and data frames as a source of blocks: one task graph per pass, merged on the workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import check_frame, check_sparse, with_gaps
from ufselect.gram.accumulate import Probe, Record, block_moments, merge_moments
from ufselect.gram.rows import RowInfo, refuse_infinity, working_dtype
from ufselect.gram.sketch import SampleGram, block_rotated, block_sample_gram, merge_sample_grams

MERGE_AT_ONCE = 4  # records per merge, which bounds how many a worker holds
TARGET_BYTES = 2**27  # per block that is made by joining chunks: within the 50 to 200 MB that dask advises


def is_frame(X: Any) -> bool:
    """Tell whether a dask collection has named columns."""
    return hasattr(X, "to_dask_array") and hasattr(X, "columns")


def check_collection(X: Any) -> None:
    """Raise a TypeError or ValueError for a dask collection that is not known to have rows and columns."""
    if not hasattr(X, "_meta"):
        instead = (
            "pass X.data"
            if type(X).__module__.startswith("xarray")
            else "make an array with dask.array.from_delayed"
        )
        raise TypeError(f"X is a dask {type(X).__name__}; {instead}, or compute it.")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, not {X.ndim}.")
    if not is_frame(X) and np.isnan(X.shape[1]):
        raise ValueError("dask does not know how many columns X has; call X.compute_chunk_sizes() first.")
    if X.shape[1] == 0:
        raise ValueError("X has no columns, but at least 1 is required.")


def smallest_share_of_memory() -> float:
    """Return the bytes that the smallest worker of a cluster has for the data of each of its threads.

    Infinite without a cluster, which alone has known limits.
    """
    if "distributed" not in sys.modules:
        return np.inf
    distributed = sys.modules["distributed"]
    try:
        workers = distributed.get_client().scheduler_info(n_workers=-1)["workers"].values()
    except ValueError:  # dask runs in this process
        return np.inf
    # Beyond 0.6 of its limit a worker begins to write to disk, and its libraries take 2**28.
    shares = [
        max(0.0, 0.6 * worker["memory_limit"] - 2**28) / worker["nthreads"]
        for worker in workers
        if worker["memory_limit"]
    ]
    return min(shares, default=np.inf)


def import_dask(module: str = "dask") -> ModuleType:
    """Import dask or a part of it, or say how to install it."""
    return import_extra(module, "Reading data outside memory", "dask")


class DaskBlocks:
    """The blocks of a dask array or data frame, with the methods of `LocalBlocks`.

    Blocks may be NumPy arrays or SciPy CSR, of any real type; row counts may be unknown. Whatever the
    chunking, a pass works on blocks of rows with all features, or of features with all rows; chunks are
    joined or cut for it on the workers. The collection itself is never changed.
    """

    def __init__(self, X: Any) -> None:
        check_collection(X)
        self.array = X
        if is_frame(X):  # in one type; pandas' own number types become NumPy's
            check_frame(X)
            dtypes = [getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes]
            self.array = X.astype(np.result_type(*dtypes)).to_dask_array()
        self.is_sparse = sparse.issparse(self.array._meta)
        self._check_room_for_blocks()
        self.dtype = working_dtype(self.array.dtype)
        self.n_features = int(self.array.shape[1])
        self.rows: RowInfo | None = None

    def _check_room_for_blocks(self) -> None:
        """Refuse dense blocks that a worker cannot hold, before the first one is read."""
        room = smallest_share_of_memory()
        # Sizes that dask does not know are NaN.
        n_rows, n_columns = (max((n for n in sizes if n >= 0), default=0) for sizes in self.array.chunks)
        block_bytes = n_rows * n_columns * self.array.dtype.itemsize
        if self.is_sparse or block_bytes <= room:
            return
        most_rows = int(n_rows * room // block_bytes)
        advice = f"call X.rechunk(({most_rows}, -1)), or " if most_rows else ""
        raise ValueError(
            f"A block of X takes {block_bytes / 2**20:.0f} MiB, but the smallest worker has "
            f"{room / 2**20:.0f} MiB for the data of each of its threads; {advice}start workers with more "
            "memory."
        )

    def has_room_for(self, record_bytes: int) -> bool:
        # A thread holds the records that it merges, three while they are summed, and as many in transfer.
        return (2 * MERGE_AT_ONCE + 3) * record_bytes <= smallest_share_of_memory()

    def count_rows(self) -> int:
        if np.isnan(self.array.shape[0]):  # a pass over the data if the storage does not know the number
            self.array = self.array.copy().compute_chunk_sizes()
        return int(self.array.shape[0])

    def moments(self, probe: Probe) -> Record | None:
        dask = import_dask()
        array = self._row_blocks()
        names = _names(array.chunks[0], "rows")
        shared_probe = dask.delayed(probe, traverse=False)
        merge = dask.delayed(merge_moments)
        # Weights and labels are split like the blocks, so that each block gets its own.
        known = [] if self.rows is None else [self.rows.weights, self.rows.labels]
        chunks = (tuple(array.chunks[0]), 1)
        from_array = import_dask("dask.array").from_array
        # As a blockwise operation, reading a block and reducing it become one task: a block never travels.
        records = import_dask("dask.array").map_blocks(
            _named_moments,
            array,
            *[from_array(values[:, None], chunks=chunks) for values in known if values is not None],
            n_features=self.n_features,
            probe=shared_probe,
            names=dask.delayed(names, traverse=False),
            dtype=object,
            chunks=((1,) * len(names), (1,)),
            meta=np.empty((0, 0), dtype=object),
        )
        leaves = list(records.to_delayed().ravel())
        blocks = array.to_delayed().ravel()
        return _compute(_tree(leaves, lambda parts: merge(parts, shared_probe)), blocks, names)

    def gather(self) -> Any:
        array = self._row_blocks()
        names = _names(array.chunks[0], "rows")
        blocks = array.to_delayed().ravel()
        check = import_dask().delayed(_checked)
        checked = [
            check(block, self.n_features, self.dtype, name) for block, name in zip(blocks, names, strict=True)
        ]
        parts = list(_compute_in_turn(checked, blocks, names))
        if any(sparse.issparse(part) for part in parts):
            return sparse.csr_array(sparse.vstack(parts, format="csr"))
        return np.concatenate(parts)

    def sample(self, rows: NDArray) -> Any:
        self.count_rows()
        blocks = self._row_blocks()
        names = _names(blocks.chunks[0], "rows")
        sampled = _compute(self.array[rows], blocks.to_delayed().ravel(), names)
        check_width(sampled, self.n_features, "A part of X")
        sampled = sparse.csr_array(sampled) if sparse.issparse(sampled) else with_gaps(sampled)
        return sampled.astype(self.dtype, copy=False)

    def sample_gram(self) -> SampleGram:
        dask = import_dask()
        array, starts = self._column_blocks()
        names = _names(array.chunks[1], "features")
        leaf, merge = dask.delayed(block_sample_gram), dask.delayed(merge_sample_grams)
        blocks = array.to_delayed().ravel()
        leaves = [leaf(block, start, name) for block, start, name in zip(blocks, starts, names, strict=True)]
        return _compute(_tree(leaves, merge), blocks, names)

    def rotated(self, rotation: NDArray, scale: float) -> Iterator[tuple[int, NDArray]]:
        dask = import_dask()
        array, starts = self._column_blocks()
        shared_rotation = dask.delayed(rotation)
        blocks = array.to_delayed().ravel()
        leaf = dask.delayed(block_rotated)
        leaves = [leaf(block, shared_rotation, scale) for block in blocks]
        names = _names(array.chunks[1], "features")
        yield from zip(starts, _compute_in_turn(leaves, blocks, names), strict=True)

    def _row_blocks(self) -> Any:
        """Return the array with all features in one chunk; rows are split if chunks become too large."""
        array = self.array
        if array.numblocks[1] == 1:
            return array
        if self.is_sparse or any(np.isnan(array.chunks[0])):
            return array.rechunk({1: -1})
        return array.rechunk((_cut(array.chunks[0], self.n_features * array.dtype.itemsize), -1))

    def _column_blocks(self) -> tuple[Any, list[int]]:
        """Return the array with all rows in one chunk, and the first feature of each chunk."""
        column_chunks = _cut(self.array.chunks[1], self.count_rows() * self.array.dtype.itemsize)
        array = self.array.rechunk((-1, column_chunks))
        return array, [0, *np.cumsum(column_chunks)[:-1].tolist()]


def _cut(chunks: Sequence[int], line_bytes: int) -> tuple[int, ...]:
    """Split chunks of rows or columns into the fewest nearly equal parts that are not too large."""
    largest = max(1, int(min(TARGET_BYTES, smallest_share_of_memory())) // line_bytes)
    parts = []
    for size in chunks:
        n_parts = -(-size // largest) or 1
        parts += [size // n_parts + (part < size % n_parts) for part in range(n_parts)]
    return tuple(parts)


def _named_moments(
    block: Any,
    *known: NDArray,
    n_features: int,
    probe: Probe,
    names: Sequence[str],
    block_id: tuple[int, int],
) -> Record | None:
    check_width(block, n_features, names[block_id[0]])
    rows = RowInfo(*(values[:, 0] for values in known)) if known else None
    return block_moments(block, probe, names[block_id[0]], rows)


def _names(sizes: Sequence[float], axis: str) -> list[str]:
    """Return what to call each block in a message: with its place, if sizes are known."""
    if any(np.isnan(sizes)):
        return [f"Block {index} of X" for index in range(len(sizes))]
    stops = np.cumsum(sizes).astype(int)
    return [
        f"Block {index} of X ({axis} {stop - int(size)} to {stop - 1})"
        for index, (size, stop) in enumerate(zip(sizes, stops, strict=True))
    ]


def _tree(parts: list, merge: Callable[[list], Any]) -> Any:
    """Merge neighbours four at a time until one is left."""
    while len(parts) > 1:
        parts = [merge(parts[start : start + MERGE_AT_ONCE]) for start in range(0, len(parts), MERGE_AT_ONCE)]
    return parts[0]


def check_width(block: Any, n_features: int, name: str) -> None:
    """Raise a ValueError, which begins with ``name``, for a block with other columns than dask expects."""
    if np.shape(block)[1:] != (n_features,):
        raise ValueError(
            f"{name} has the shape {np.shape(block)}, but dask expects {n_features} columns; give it the "
            "right chunks."
        )


def _checked(block: Any, n_features: int, dtype: np.dtype, name: str) -> Any:
    """Return a block in working precision, refusing infinity and damaged indices; NaN means missing."""
    check_sparse(block, name)
    check_width(block, n_features, name)
    values = block.data if sparse.issparse(block) else with_gaps(block)
    refuse_infinity(values, name)
    return block.astype(dtype) if sparse.issparse(block) else values.astype(dtype, copy=False)


def _compute(request: Any, blocks: Sequence[Any], names: Sequence[str]) -> Any:
    """Compute; if a block cannot be read, raise an error that names it."""
    dask = import_dask()
    try:
        return dask.compute(request)[0]
    except Exception as error:
        is_from_scheduler = type(error).__module__.split(".")[0] == "distributed"
        if is_from_scheduler or str(error).startswith(tuple(names)):
            raise
        unreadable = _first_unreadable(blocks)
        if unreadable is None:
            raise
        reason = str(error).rstrip(".")
        raise ValueError(f"{names[unreadable]} cannot be read: {reason}; write that part again.") from error


def _compute_in_turn(parts: list, blocks: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
    """Yield the result of each part, computing a few at once to bound their memory."""
    for start in range(0, len(parts), 16):
        yield from _compute(parts[start : start + 16], blocks, names)


def _first_unreadable(blocks: Sequence[Any]) -> int | None:
    """Find the first block that fails, by halving; no block is read twice if only one fails."""
    dask = import_dask()
    probe = dask.delayed(np.shape)  # takes a block and keeps nothing of it
    first, stop = 0, len(blocks)
    certain = False
    while stop - first > 1 or not certain:
        middle = first + max(1, (stop - first) // 2)
        try:
            dask.compute([probe(block) for block in blocks[first:middle]])
            first = middle
            if first == stop:
                return None
        except Exception:
            stop, certain = middle, True
    return first
