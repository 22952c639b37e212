r"""The centred Gram matrix of data that come in blocks: one record per block, merged without losing digits.

For two sets of rows with counts n₁, n₂, means c₁, c₂ and centred Gram matrices S₁, S₂ [1]_,

.. math:: S = S_1 + S_2 + \frac{n_1 n_2}{n_1 + n_2}\, (c_2 - c_1)(c_2 - c_1)^\top .

Each block is centred at its own mean before anything is squared, so that no digits are lost to large means.
With batches, each one of a block is centred and merged by itself. The same rule holds for S times a fixed
matrix, which is what data of very many features are reduced to.

References
----------
.. [1] T. F. Chan, G. H. Golub, R. J. LeVeque (1983), "Algorithms for computing the sample variance: analysis
   and recommendations", The American Statistician 37(3).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse

from ufselect._utils.validation import (
    ColumnTable,
    canonical_csr,
    check_array,
    check_frame,
    check_sparse,
    column_names,
    has_missing,
    listed,
    readable_table,
    table_schema,
    tabular,
    with_gaps,
)
from ufselect.gram.missing import PairwiseSums, merge_sums, pairwise_gram, pairwise_sums
from ufselect.gram.operator import FormedGram, column_means
from ufselect.gram.rows import (
    NOT_FINITE,
    RowInfo,
    mean_and_scale,
    power_of_two_near,
    refuse_infinity,
    row_blocks,
    row_info,
    working_dtype,
)

PANEL = 256  # rows: the square on the diagonal, which is stored in full, is then a small part of a large S
# Adding to S costs as much as the product of about a hundred rows, so many rows are centred at once.
CENTRED_BYTES = 2**23


class WholeGram:
    """All of S, as one vector of panels of `PANEL` rows from the diagonal to the right.

    S is symmetric, so this takes half the memory and half the traffic between machines.
    """

    def zeros(self, n_features: int) -> NDArray:
        starts = np.arange(0, n_features, PANEL)
        return np.zeros(int(np.minimum(PANEL, n_features - starts) @ (n_features - starts)))

    def add_rows(self, second: NDArray, centred: NDArray) -> None:
        for start, stop, panel in panels(second, centred.shape[1]):
            # A matrix with its own transpose takes half the work of a general product.
            columns, width = centred[:, start:stop], stop - start
            panel[:, :width] += columns.T @ columns
            panel[:, width:] += columns.T @ centred[:, stop:]

    def add_sparse(self, second: NDArray, block: sparse.csr_array, mean: NDArray) -> None:
        """Add XᵀX − n c cᵀ for columns that are at most half full, and XᵀA for the others, which are few.

        The squared mean of a column is at most its filled share times its mean square. So at most half of
        what was summed is subtracted, and at most one binary digit lost.
        """
        n_samples, n_features = block.shape
        filled = np.flatnonzero(np.bincount(block.indices, minlength=n_features) > n_samples / 2)
        cross, thin = np.zeros((n_features, filled.size)), block.astype(np.float64)
        if filled.size:
            thin.data[np.isin(thin.indices, filled)] = 0.0
            thin.eliminate_zeros()
            for rows in row_blocks(n_samples, filled.size * 8):
                centred = block[rows][:, filled].toarray() - mean[filled]
                cross += thin[rows].T @ centred
                cross[filled] += centred.T @ centred
        columns = thin.tocsc()
        for start, stop, panel in panels(second, n_features):
            product = (columns[:, start:].T @ columns[:, start:stop].tocsr()).toarray().T
            product -= np.outer(n_samples * mean[start:stop], mean[start:])
            first, last = np.searchsorted(filled, [start, stop])
            product[:, filled[first:] - start] = cross[start:stop, first:]
            product[filled[first:last] - start] = cross[start:, first:last].T
            panel += product

    def add_rank_one(self, second: NDArray, direction: NDArray, weight: float) -> None:
        for start, stop, panel in panels(second, direction.size):
            panel += np.outer(weight * direction[start:stop], direction[start:])


def panels(second: NDArray, n_features: int) -> Iterator[tuple[int, int, NDArray]]:
    """Yield (start, stop, S[start:stop, start:]) as views into the vector of panels."""
    offset = 0
    for start in range(0, n_features, PANEL):
        stop = min(start + PANEL, n_features)
        shape = (stop - start, n_features - start)
        yield start, stop, second[offset : offset + shape[0] * shape[1]].reshape(shape)
        offset += shape[0] * shape[1]


class GramTimes:
    """S times fixed columns and, in a last column, the diagonal of S; zero without ``with_diagonal``.

    The diagonal of sparse data takes a third of a pass, and one pass tells it.
    """

    def __init__(self, vectors: NDArray, with_diagonal: bool = True) -> None:
        self.vectors = vectors
        self.with_diagonal = with_diagonal

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.vectors.nbytes

    def zeros(self, n_features: int) -> NDArray:
        return np.zeros((n_features, self.vectors.shape[1] + 1))

    def add_rows(self, second: NDArray, centred: NDArray) -> None:
        vectors = self.vectors.astype(centred.dtype, copy=False)
        second[:, :-1] += ((centred @ vectors).T @ centred).T
        if self.with_diagonal:
            second[:, -1] += np.einsum("ij,ij->j", centred, centred)

    def add_sparse(self, second: NDArray, block: sparse.csr_array, mean: NDArray) -> None:
        """Add Xᵀ(W − mean(W)) with W = XV, in which the correction for the left factor vanishes."""
        vectors = self.vectors.astype(block.dtype, copy=False)
        scores = block @ vectors
        scores -= (mean @ self.vectors).astype(block.dtype)
        scores -= scores.mean(axis=0, dtype=np.float64).astype(block.dtype)
        second[:, :-1] += block.T @ scores
        if self.with_diagonal:  # the squares of stored entries about the mean, and of the zeros
            squares = (block.data - mean[block.indices]) ** 2
            stored = np.bincount(block.indices, weights=squares, minlength=mean.size)
            n_zeros = block.shape[0] - np.bincount(block.indices, minlength=mean.size)
            second[:, -1] += stored + n_zeros * mean**2

    def add_rank_one(self, second: NDArray, direction: NDArray, weight: float) -> None:
        second[:, :-1] += np.outer(weight * direction, direction @ self.vectors)
        if self.with_diagonal:
            second[:, -1] += weight * direction**2


Probe: TypeAlias = WholeGram | GramTimes  # which part of S is accumulated


@dataclass(frozen=True)
class Moments:
    """What a set of rows contributes: count, column means and second moments about them."""

    n_samples: int
    # total weight and mean of the rows of each batch, by its label; by None if there are no batches
    centres: Mapping[Hashable, tuple[float, NDArray]]
    scale: float  # power of two in whose square ``second`` is given
    second: NDArray  # laid out by the probe that made it, in float64 like all sums
    dtype: np.dtype  # the working type of the data

    def __sizeof__(self) -> int:
        """Tell a scheduler how much memory the record holds."""
        means = sum(mean.nbytes for _, mean in self.centres.values())
        return object.__sizeof__(self) + means + self.second.nbytes

    @property
    def weight(self) -> float:
        """Total weight of the rows."""
        return sum(weight for weight, _ in self.centres.values())

    @property
    def n_counted(self) -> int:
        """Number of samples that the rows count as."""
        return max(self.n_samples, round(self.weight))

    @property
    def mean(self) -> NDArray:
        """Mean of all rows."""
        weights, means = zip(*self.centres.values(), strict=True)
        return np.array(weights) / sum(weights) @ np.array(means)

    @property
    def common_mean(self) -> NDArray | None:
        """The mean about which all rows were centred; None if each batch was centred about its own."""
        return self.centres[None][1] if None in self.centres else None


Record: TypeAlias = Moments | PairwiseSums


def block_moments(block: Any, probe: Probe, name: str = "X", rows: RowInfo | None = None) -> Record | None:
    """Reduce one block of rows, dense or sparse; a block without rows that count gives None.

    If all of S is accumulated, NaN marks a missing value and gives pairwise sums. Infinity, and NaN with
    batches or if a part of S is accumulated, raise an error that begins with ``name``.
    """
    check_sparse(block, name)
    is_sparse = sparse.issparse(block)
    block = block if is_sparse else with_gaps(block)
    if rows is not None:
        block, rows = rows.counted(block.tocsr() if is_sparse else block)
    if block.shape[0] == 0:
        return None
    values = block.data if is_sparse else block
    if isinstance(probe, WholeGram) and values.dtype.kind == "f" and has_missing(values):
        if rows is not None and rows.labels is not None:
            raise ValueError(
                f"{name} has missing values, which are supported with batches only in memory; pass X as an "
                "array, or fill them in first."
            )
        refuse_infinity(values, name)
        return pairwise_sums(block, None if rows is None else rows.weights)
    dtype = working_dtype(block.dtype, name)
    if rows is not None:
        few = row_blocks(block.shape[0], block.shape[1] * dtype.itemsize, CENTRED_BYTES)
        parts = (_weighted_moments(block[part], probe, name, dtype, rows.of(part)) for part in few)
        return merge_moments(parts, probe)
    return (_sparse_moments if is_sparse else _dense_moments)(block, probe, name, dtype)


def _dense_moments(block: NDArray, probe: Probe, name: str, dtype: np.dtype) -> Moments:
    mean, scale = mean_and_scale(block, name)
    centre = mean.astype(dtype)
    second = probe.zeros(block.shape[1])
    for rows in row_blocks(block.shape[0], block.shape[1] * dtype.itemsize, CENTRED_BYTES):
        centred = np.subtract(block[rows], centre, order="C")
        centred *= 1 / scale
        probe.add_rows(second, centred)
    return Moments(block.shape[0], {None: (block.shape[0], mean)}, scale, second, dtype)


def _sparse_moments(block: Any, probe: Probe, name: str, dtype: np.dtype) -> Moments:
    block = canonical_csr(block)
    if not np.all(np.isfinite(block.data)):
        raise ValueError(NOT_FINITE.format(name))
    data = block.data.astype(dtype)
    scale = power_of_two_near(float(np.abs(data).max(initial=0.0)), dtype)
    scaled = sparse.csr_array((data * dtype.type(1 / scale), block.indices, block.indptr), shape=block.shape)
    scaled.has_canonical_format = True
    mean = column_means(scaled)
    second = probe.zeros(block.shape[1])
    probe.add_sparse(second, scaled, mean)
    return Moments(block.shape[0], {None: (block.shape[0], mean * scale)}, scale, second, dtype)


def _weighted_moments(block: Any, probe: Probe, name: str, dtype: np.dtype, info: RowInfo) -> Moments:
    """Reduce few rows with weights or batches; sparse ones are made dense."""
    rows = np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=dtype)
    if not np.all(np.isfinite(rows)):
        raise ValueError(NOT_FINITE.format(name))
    # About the first row of each batch, so that no digits are lost to large means or far batches.
    first = np.unique(info.batches, return_index=True)[1]
    with np.errstate(over="ignore"):
        deviations = rows - rows[first][info.batches]
    offsets = info.means(deviations)
    deviations -= info.expand(offsets).astype(dtype)
    deviations = info.rooted(deviations)
    scale = power_of_two_near(float(np.abs(deviations).max(initial=0.0)), dtype)
    second = probe.zeros(rows.shape[1])
    probe.add_rows(second, deviations * dtype.type(1 / scale))
    labels = [None] if info.labels is None else info.labels[first].tolist()
    centres = zip(info.batch_weights[:, 0].tolist(), rows[first] + offsets, strict=True)
    return Moments(len(rows), dict(zip(labels, centres, strict=True)), scale, second, dtype)


def merge_moments(parts: Iterable[Record | None], probe: Probe) -> Record | None:
    """Merge the records of disjoint sets of rows; the order changes only the rounding."""
    return reduce(lambda first, second: _merge_two(first, second, probe), parts, None)


def _merge_two(first: Record | None, second: Record | None, probe: Probe) -> Record | None:
    if first is None or second is None:
        return first if second is None else second
    has_batches = [isinstance(record, Moments) and None not in record.centres for record in (first, second)]
    if any(has_batches) and not all(has_batches):
        raise ValueError(
            "Some rows come with a batch label and others without; give labels for all rows or for none."
        )
    if isinstance(first, PairwiseSums) or isinstance(second, PairwiseSums):
        return merge_sums(_as_pairwise(first), _as_pairwise(second))
    shared = first.centres.keys() & second.centres.keys()
    with np.errstate(over="ignore"):
        shifts = {label: second.centres[label][1] - first.centres[label][1] for label in shared}
    furthest = max((float(np.abs(shift).max(initial=0.0)) for shift in shifts.values()), default=0.0)
    scales = [record.scale for record in (first, second) if record.second.any()]  # constant rows have none
    scale = max([*scales, power_of_two_near(furthest)] if furthest else scales, default=1.0)
    moments = first.second * min(1.0, first.scale / scale) ** 2
    moments += second.second * min(1.0, second.scale / scale) ** 2
    centres = {**first.centres, **second.centres}
    for label, shift in shifts.items():
        one, other = first.centres[label][0], second.centres[label][0]
        part = other / (one + other)
        if shift.any():
            probe.add_rank_one(moments, shift / scale, one * part)
        centres[label] = (one + other, first.centres[label][1] + shift * part)
    dtype = np.result_type(first.dtype, second.dtype)
    return Moments(first.n_samples + second.n_samples, centres, scale, moments, dtype)


def _as_pairwise(record: Record) -> PairwiseSums:
    if isinstance(record, PairwiseSums):
        return record
    products = _whole_matrix(record, np.dtype(np.float64))
    weights, sums = np.full_like(products, record.weight), np.zeros_like(products)
    return PairwiseSums(
        record.n_samples, record.weight, 0, record.mean, record.scale, weights, sums, products, record.dtype
    )


def formed_gram(record: Record) -> FormedGram:
    """Return the full matrix S of a record made with `WholeGram`, in the working type of the data."""
    if isinstance(record, PairwiseSums):
        return pairwise_gram([record])
    matrix = _whole_matrix(record, record.dtype)
    if record.n_counted != record.weight:
        matrix *= record.n_counted / record.weight
    return FormedGram(matrix, record.n_counted, record.scale, record.common_mean)


def _whole_matrix(moments: Moments, dtype: np.dtype) -> NDArray:
    n_features = moments.mean.size
    matrix = np.empty((n_features, n_features), dtype=dtype)
    for start, stop, panel in panels(moments.second, n_features):
        matrix[start:stop, start:] = panel
        matrix[stop:, start:stop] = matrix[start:stop, stop:].T
    return matrix


class GramAccumulator:
    """Accumulate the centred Gram matrix of data that arrive in batches.

    The accumulator can be given to the ``fit`` of every selector that works through the Gram matrix. It can
    be pickled, so that each worker of any engine fills one and :meth:`merge` adds them up. Its memory is that
    of one n_features × n_features matrix, whatever the number of samples.

    Attributes
    ----------
    n_samples, n_features : int
        Sizes of the data seen so far.
    feature_names : ndarray of shape (n_features,) or None
        Names of the columns, from the first frame.

    See Also
    --------
    reduce_data : Reduce a dask collection, memory map or lazy table in one call.
    ufselect.gram_from_covariance : Use covariances that another engine computed.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.gram import GramAccumulator
    >>> accumulator = GramAccumulator()
    >>> for batch in np.array_split(np.arange(12.0).reshape(6, 2), 3):
    ...     accumulator = accumulator.update(batch)
    >>> accumulator.n_samples, accumulator.mean.tolist()
    (6, [5.0, 6.0])
    """

    is_reduced = True

    def __init__(self) -> None:
        self.moments: Record | None = None
        self.feature_names: NDArray | None = None

    def update(
        self, batch: Any, sample_weight: NDArray | None = None, labels: NDArray | None = None
    ) -> GramAccumulator:
        """Add a batch of rows: an array, sparse matrix or frame; NaN or NA marks a missing value.

        A frame must have its columns in the order of earlier ones. On an error nothing changes.

        Each row counts ``sample_weight`` times, with 0 not at all. With ``labels``, such as donor, day or
        plate, the rows of each label are centred by themselves, over all updates.
        """
        names = column_names(batch)
        if not sparse.issparse(batch):
            batch = tabular(batch, "The batch")
            if names is not None:  # what pandas and Arrow call NA or null becomes NaN
                batch = check_array(batch, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0)
                batch = batch if batch.dtype == np.float32 else batch.astype(np.float64, copy=False)
            batch = with_gaps(batch)
        if batch.ndim != 2:
            raise ValueError(f"A batch must have two dimensions, not {batch.ndim}.")
        if self.moments is not None and batch.shape[1] != self.n_features:
            raise ValueError(
                f"This batch has {batch.shape[1]} features, but earlier ones had {self.n_features}."
            )
        names = self._common_names(names)
        rows = row_info(sample_weight, labels, batch.shape[0], is_part=True)
        record = block_moments(batch, WholeGram(), "The batch", rows)
        self.moments, self.feature_names = merge_moments([self.moments, record], WholeGram()), names
        return self

    def merge(self, other: GramAccumulator) -> GramAccumulator:
        """Add what another accumulator has collected from other rows."""
        if self.moments is not None and other.moments is not None and self.n_features != other.n_features:
            raise ValueError(f"Cannot merge {self.n_features} features with {other.n_features}.")
        names = self._common_names(other.feature_names)
        self.moments, self.feature_names = merge_moments([self.moments, other.moments], WholeGram()), names
        return self

    def _common_names(self, names: NDArray | None) -> NDArray | None:
        """Return the common column names, refusing those that contradict the ones seen before."""
        known = self.feature_names
        if known is None or names is None or np.array_equal(known, names):
            return names if known is None else known
        if sorted(known) == sorted(names):
            raise ValueError(
                f"The columns are in another order than before; order them as {listed(known.tolist())}."
            )
        others = [name for name in names if name not in set(known)] or list(names)
        raise ValueError(
            f"The columns differ from those before: {listed(others)}; give the same for all rows."
        )

    @property
    def n_samples(self) -> int:
        return 0 if self.moments is None else self.moments.n_samples

    @property
    def n_features(self) -> int:
        return 0 if self.moments is None else self.moments.mean.size

    @property
    def mean(self) -> NDArray:
        """Column means of the rows seen so far."""
        return self._collected().mean.copy()

    def gram(self) -> FormedGram:
        """Return S of the rows seen so far."""
        gram = formed_gram(self._collected())
        gram.feature_names = self.feature_names
        return gram

    def _collected(self) -> Record:
        if self.moments is None:
            raise ValueError("The accumulator has seen no rows yet; call update first.")
        return self.moments


def accumulate_table(table: Any, batch_bytes: int = 2**26) -> GramAccumulator:
    """Read a polars LazyFrame or a pyarrow dataset in batches of rows, once; it is never whole in memory."""
    check_frame(table)
    n_rows = max(1, batch_bytes // (8 * len(table_schema(table))))
    if hasattr(table, "scanner"):
        dataset = import_module("pyarrow.dataset")
        # With read-ahead, the default, a table is in memory several times.
        options: dict[str, Any] = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
        if isinstance(getattr(table, "format", None), dataset.ParquetFileFormat):
            options["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(pre_buffer=False)
        batches = table.to_batches(batch_size=n_rows, **options)
    elif hasattr(table, "collect_batches"):
        batches = table.collect_batches(chunk_size=n_rows)
    else:
        raise TypeError("Reading a LazyFrame in batches needs polars 1.34 or later; else pass X.collect().")
    accumulator = GramAccumulator()
    with readable_table():
        for batch in batches:
            accumulator.update(batch)
    return accumulator


def gram_from_covariance(
    covariance: ArrayLike,
    n_samples: int,
    mean: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
) -> FormedGram:
    """Make the input of a selector's ``fit`` from a covariance matrix instead of rows.

    Use it if the rows are elsewhere: in SQL (``covar_samp``), Spark or polars, or with a partner who may not
    share them. Every selector that works through the Gram matrix accepts the result, and so do
    :class:`~ufselect.RedundancyFilter` and, with ``mean``, :class:`~ufselect.Reconstructor`.

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features)
        Covariances of the columns, as sums of products divided by ``n_samples - 1``. A data frame gives the
        names of its columns.
    n_samples : int
        Number of rows behind them.
    mean : array-like of shape (n_features,), optional
        Means of the columns.
    feature_names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    GramOperator
        Input of a selector's ``fit``.

    Raises
    ------
    ValueError
        If ``covariance`` is not square, not symmetric, or not positive semidefinite.

    See Also
    --------
    ufselect.gram.GramAccumulator : Accumulate the matrix from batches of rows, also with missing values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import DSCOFS, gram_from_covariance
    >>> flowers = load_iris(as_frame=True).data
    >>> gram = gram_from_covariance(flowers.cov(), n_samples=len(flowers))
    >>> DSCOFS(2).fit(gram).get_feature_names_out().tolist()
    ['sepal length (cm)', 'petal length (cm)']
    """
    names = column_names(covariance) if feature_names is None else np.asarray(feature_names, dtype=object)
    matrix = np.array(tabular(covariance, "covariance"))
    matrix = matrix.astype(working_dtype(matrix.dtype, "covariance"), copy=False)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"covariance must be a square matrix, not of shape {matrix.shape}.")
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 2:
        raise ValueError(f"n_samples must be an integer of at least 2, not {n_samples!r}.")
    n_features = len(matrix)
    if names is not None and names.shape != (n_features,):
        raise ValueError(f"feature_names must have {n_features} entries, one per column of the covariance.")
    means = None if mean is None else ColumnTable(n_features, names).numbers("mean", mean)
    if not np.isfinite(matrix).all() or not (means is None or np.isfinite(means).all()):
        raise ValueError("covariance or mean has NaN or infinity; drop columns without values.")
    variances = matrix.diagonal().astype(np.float64)
    if variances.min() < 0:
        raise ValueError(f"Column {int(variances.argmin())} of the covariance has a negative variance.")
    scale = power_of_two_near(float(np.sqrt(variances.max())), matrix.dtype)
    matrix *= scale**-2
    # In units of the standard deviations, so that small columns are checked as closely as large ones.
    deviations = np.sqrt(variances) / scale
    weights = np.divide(1.0, deviations, out=np.zeros(n_features), where=deviations > 0)
    tolerance = 1e-8 if matrix.dtype == np.float64 else 1e-4
    correlations = matrix * weights[:, None] * weights
    if np.abs(matrix - matrix.T).max() > tolerance or np.abs(correlations - correlations.T).max() > tolerance:
        raise ValueError("covariance is not symmetric; give both triangles of the matrix.")
    if matrix[variances == 0].any():
        raise ValueError("covariance has a column of variance 0 that covaries with others; compute it again.")
    correlations[np.diag_indices(n_features)] += n_features * tolerance
    try:
        linalg.cholesky(correlations, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise ValueError(
            "covariance has negative eigenvalues, so it is not a covariance matrix. If values are missing, "
            "use complete rows only, or add up batches with ufselect.gram.GramAccumulator."
        ) from error
    matrix += matrix.T.copy()
    matrix *= (n_samples - 1) / 2
    gram = FormedGram(matrix, int(n_samples), scale, means)
    gram.feature_names = names
    return gram
