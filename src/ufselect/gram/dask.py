"""Dask arrays and data frames as a source of blocks: one task graph per pass, merged on the workers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import check_frame, check_sparse, with_gaps
from ufselect.gram.accumulate import Probe, Record, block_moments, merge_moments
from ufselect.gram.rows import RowInfo, mean_and_scale, power_of_two_near, working_dtype

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
    """The blocks of a dask array or data frame.

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
        names = _names(array.chunks[0])
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
        parts = list(records.to_delayed().ravel())
        while len(parts) > 1:
            groups = [parts[start : start + MERGE_AT_ONCE] for start in range(0, len(parts), MERGE_AT_ONCE)]
            parts = [merge(group, shared_probe) for group in groups]
        return self.compute(parts[0])

    def sample(self, rows: NDArray | slice) -> Any:
        """Return some rows in memory."""
        self.count_rows()
        sampled = self.compute(self.array[rows])
        check_sparse(sampled, "X")
        check_width(sampled, self.n_features, "A part of X")
        sampled = sparse.csr_array(sampled) if sparse.issparse(sampled) else with_gaps(sampled)
        return sampled.astype(self.dtype, copy=False)

    def centred_columns(self) -> tuple[Any, float]:
        """Return A / scale in float64, with all rows in each block, and the scale: one pass."""
        array = self.array.rechunk({0: -1, 1: "auto"}, block_size_limit=_block_bytes())
        centred = array.map_blocks(lambda block: block - mean_and_scale(block)[0], dtype=np.float64)
        scale = power_of_two_near(float(self.compute(abs(centred).max())), self.dtype)
        return centred / scale, scale

    def compute(self, request: Any) -> Any:
        """Compute what is made of the data; if a block cannot be read, raise an error that names it."""
        dask = import_dask()
        try:
            return dask.compute(request)[0]
        except Exception as error:
            blocks = self._row_blocks()
            names = _names(blocks.chunks[0])
            is_from_scheduler = type(error).__module__.split(".")[0] == "distributed"
            if is_from_scheduler or str(error).startswith(tuple(names)):
                raise
            shape_of = dask.delayed(np.shape)  # reads a block and keeps nothing of it
            for name, block in zip(names, blocks.to_delayed().ravel(), strict=True):
                try:
                    dask.compute(shape_of(block))
                except Exception:
                    reason = str(error).rstrip(".")
                    raise ValueError(f"{name} cannot be read: {reason}; write that part again.") from error
            raise

    def _row_blocks(self) -> Any:
        """Return the array with all features in one chunk; rows are split if chunks become too large."""
        array = self.array.rechunk({1: -1}) if self.array.numblocks[1] > 1 else self.array
        row_bytes = self.n_features * array.dtype.itemsize
        if array is self.array or self.is_sparse or not max(array.chunks[0]) * row_bytes > _block_bytes():
            return array
        return array.rechunk({0: "auto"}, block_size_limit=_block_bytes())


def _block_bytes() -> int:
    """Return how large a block that is made by joining chunks may be."""
    return int(max(1, min(TARGET_BYTES, smallest_share_of_memory())))


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


def _names(sizes: Sequence[float]) -> list[str]:
    """Return what to call each block in a message: with its place, if sizes are known."""
    if any(np.isnan(sizes)):
        return [f"Block {index} of X" for index in range(len(sizes))]
    stops = np.cumsum(sizes).astype(int)
    return [
        f"Block {index} of X (rows {stop - int(size)} to {stop - 1})"
        for index, (size, stop) in enumerate(zip(sizes, stops, strict=True))
    ]


def check_width(block: Any, n_features: int, name: str) -> None:
    """Raise a ValueError, which begins with ``name``, for a block with other columns than dask expects."""
    if np.shape(block)[1:] != (n_features,):
        raise ValueError(
            f"{name} has the shape {np.shape(block)}, but dask expects {n_features} columns; give it the "
            "right chunks."
        )
