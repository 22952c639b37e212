"""Reduce data outside memory once to a Gram operator; all iterations are local afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

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
    GramTimes,
    Moments,
    Record,
    WholeGram,
    accumulate_table,
    block_moments,
    formed_gram,
    merge_moments,
)
from ufselect.gram.dask import DaskBlocks, import_dask
from ufselect.gram.operator import GramOperator, LowRankGram, gram_operator
from ufselect.gram.rows import RowInfo, refuse_infinity, row_blocks, row_info, working_dtype
from ufselect.gram.spectrum import leading_spectrum

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
        S was formed; the data were small enough for memory; a factor from the sample Gram matrix; a
        randomised low-rank factor; or an operator was given.
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


def reduction_summary(gram: GramOperator, n_components: int | None) -> ReductionSummary:
    """Return how data were reduced; warn if a ranking by so many leading components cannot be trusted.

    ``n_components`` is None if a result uses only the diagonal of S.
    """
    error = missing_share = 0.0
    if n_components is not None and isinstance(gram, LowRankGram):
        error, missing_share = gram.subspace_error(n_components), gram.missing_share()
    if error > 0.1:  # sine of the angle to the true leading subspace
        warn_user(
            f"The low-rank factor of X may miss its {n_components} leading components (estimated error "
            f"{error:.2g} of 1), so the ranking cannot be trusted. Use fewer components, or select at "
            f"most {MAX_ORDER} features with MaxVariance first.",
            ApproximationWarning,
        )
    return ReductionSummary(gram.route, gram.n_passes, error, missing_share)


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
    source = DaskBlocks(X)
    n_rows = source.count_rows()
    count = min(n_rows, max_rows, max(2, max_bytes // (source.n_features * source.dtype.itemsize)))
    rows = np.sort(generator(random_state).choice(n_rows, count, replace=False))
    return source.sample(rows), rows, n_rows


def reduce_data(
    X: Any, n_components: int | None = None, *, sample_weight: Any = None, batch: Any = None
) -> GramOperator:
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
    GramOperator
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
    >>> reduced.n_samples, reduced.route
    (3, 'formed')
    >>> MaxVariance(n_features_to_select=1).fit(reduced).get_support()
    array([False,  True, False])
    """
    given = {"sample_weight": sample_weight, "batch": batch}
    names = " and ".join(name for name, value in given.items() if value is not None)
    if is_lazy_table(X) and not names:
        X = accumulate_table(X)
    if names and (is_lazy_table(X) or isinstance(X, (GramAccumulator, GramOperator))):
        raise TypeError(
            f"{names} cannot be given for a {type(X).__name__}, whose rows are not in memory; give them with "
            "the rows to GramAccumulator.update or to ufselect.gram.reduce_data."
        )
    if isinstance(X, GramOperator):
        return X
    if isinstance(X, GramAccumulator):
        _counted(X.moments)
        return _read(X.gram(), "formed")
    if not is_dask(X) and not isinstance(X, np.ndarray):
        raise TypeError(
            f"X is of type {type(X).__name__}; reduce_data takes dask collections, memory maps, lazy tables "
            "and accumulators. Pass rows in memory to fit."
        )
    if not is_dask(X):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and columns, not {X.ndim}.")
        (n_samples, n_features), rows = X.shape, row_info(sample_weight, batch, len(X))
        blocks = list(row_blocks(n_samples, n_features * X.itemsize, LOCAL_BLOCK_BYTES, min_rows=1))
        if n_features <= MAX_ORDER:
            whole = WholeGram()
            parts = (
                block_moments(
                    X[block], whole, f"X (rows {block.start} to {block.stop - 1})", rows and rows.of(block)
                )
                for block in blocks
            )
            return _read(formed_gram(_counted(merge_moments(parts, whole))), "formed")
        if n_samples <= MAX_ORDER and 8 * X.size <= LOCAL_BYTES:
            return _gathered(X.astype(working_dtype(X.dtype)), rows)
        X = import_dask("dask.array").from_array(X, chunks=(blocks[0].stop, n_features), name=False)
    source = DaskBlocks(X)
    if names:
        source.rows = row_info(sample_weight, batch, source.count_rows())
    n_features = source.n_features
    # One triangle of S in float64. Workers with too little memory for that would die without a message.
    if n_features <= MAX_ORDER and source.has_room_for(4 * n_features * n_features):
        return _read(formed_gram(_counted(source.moments(WholeGram()))), "formed")
    n_samples, column_bytes = source.count_rows(), n_features * source.dtype.itemsize
    if n_samples <= MAX_ORDER and n_samples * column_bytes <= LOCAL_BYTES:
        return _gathered(source.sample(slice(None)), source.rows)
    if n_samples <= MAX_ORDER and not source.is_sparse and source.rows is None:
        return _read(rotated_gram(source, max(1, LOCAL_BYTES // column_bytes)), "rotated", 3)

    def multiply(probe: GramTimes) -> Moments:
        moments = _counted(source.moments(probe))
        assert isinstance(moments, Moments)  # pairwise sums arise only if all of S is accumulated
        shrink = moments.weight / moments.n_counted  # to weights with a mean of one
        return replace(moments, n_samples=moments.n_counted, second=moments.second / shrink)

    sketched, n_passes = krylov_gram(multiply, n_features, n_components)
    return _read(sketched, "sketched", n_passes)


def _read(gram: GramOperator, route: str, n_passes: int = 1) -> GramOperator:
    gram.route, gram.n_passes = route, n_passes
    return gram


def _gathered(data: Any, rows: RowInfo | None) -> GramOperator:
    refuse_infinity(data.data if sparse.issparse(data) else data, "X")
    if rows is not None:
        data, rows = rows.counted(data)
    return _read(gram_operator(data, rows=rows and rows.scaled()), "gathered")


def _counted(moments: Record | None) -> Record:
    n_samples = 0 if moments is None else moments.n_samples
    if moments is None or n_samples < 2:
        raise ValueError(f"X has {n_samples} sample(s), but a minimum of 2 is required.")
    return moments


def rotated_gram(source: DaskBlocks, max_rank: int) -> LowRankGram:
    r"""Build the operator of wide data, with a factor of at most ``max_rank`` rows.

    With :math:`AA^\top = U \Lambda U^\top` and U cut to its k leading columns, :math:`F = U^\top A` gives
    the k leading eigenpairs of S exactly.
    """
    centred, scale = source.centred_columns()
    products, diagonal = source.compute((centred @ centred.T, (centred * centred).sum(axis=0)))
    spectrum = leading_spectrum(products, min(max_rank, len(products)))
    factor = source.compute((spectrum.vectors.T @ centred).astype(source.dtype))
    exact = np.zeros_like(spectrum.values)
    return LowRankGram(factor, len(products), scale, diagonal, ritz_values=spectrum.values, residuals=exact)


def krylov_gram(
    multiply: Callable[[GramTimes], Moments],
    n_features: int,
    n_components: int | None = None,
    *,
    max_passes: int = 3,
) -> tuple[LowRankGram, int]:
    """Build the low-rank operator by block Krylov products, and return it with the number of passes made.

    ``multiply`` makes one pass over the data with a probe. Blocks are wider than ``n_components``, the number
    of leading pairs that will be used. If ``max_passes`` are too few, the estimated error shows it.
    """
    width = min(n_features, max(24, (n_components or 0) + 12))
    rng = np.random.default_rng(20240917)  # fixed, so that the same data give the same factor
    basis = np.linalg.qr(rng.standard_normal((n_features, width)))[0]
    product, diagonal = np.empty((n_features, 0)), np.empty(0)
    fresh = basis
    for n_passes in range(1, max_passes + 1):
        moments = multiply(GramTimes(fresh, with_diagonal=n_passes == 1))
        diagonal = moments.second[:, -1] if n_passes == 1 else diagonal
        image = moments.second[:, :-1]
        product = np.hstack([product, image])
        resolution = n_features * float(np.finfo(moments.dtype).eps)
        if n_passes == max_passes:
            break
        # Orthonormal columns for what the product adds to the basis.
        new = image - basis @ (basis.T @ image)
        new -= basis @ (basis.T @ new)
        directions, sizes, _ = linalg.svd(new, full_matrices=False, check_finite=False)
        least = resolution * max(float(np.linalg.norm(image, 2)), np.finfo(float).tiny)
        kept = directions[:, sizes > least]
        fresh = np.linalg.qr(kept - basis @ (basis.T @ kept))[0]
        if fresh.shape[1] == 0:
            break
        basis = np.hstack([basis, fresh])
    inner = basis.T @ product
    values, rotation = linalg.eigh((inner + inner.T) / 2, check_finite=False)
    values, rotation = values[::-1], rotation[:, ::-1]
    rank = int(np.count_nonzero(values > resolution * max(values[0], 0.0)))
    values, rotation = values[:rank], rotation[:, :rank]
    rotated = product @ rotation
    gram = LowRankGram(
        np.ascontiguousarray((rotated / np.sqrt(values)).T, dtype=moments.dtype),
        moments.n_samples,
        moments.scale,
        np.clip(diagonal, 0, None),
        moments.common_mean,
        ritz_values=values,
        residuals=np.linalg.norm(rotated - (basis @ rotation) * values, axis=0),
    )
    return gram, n_passes
