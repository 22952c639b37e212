r"""The centred Gram matrix of data that come in blocks: one record per block, merged without losing digits.

For two sets of rows with counts n₁, n₂, means c₁, c₂ and centred Gram matrices S₁, S₂ [1]_,

.. math:: S = S_1 + S_2 + \frac{n_1 n_2}{n_1 + n_2}\, (c_2 - c_1)(c_2 - c_1)^\top .

Each block is centred at its own mean before anything is squared, so that no digits are lost to large means.
The same rule holds for S times a fixed matrix, which is what data of very many features are reduced to.

References
----------
.. [1] T. F. Chan, G. H. Golub, R. J. LeVeque (1983), "Algorithms for computing the sample variance: analysis
   and recommendations", The American Statistician 37(3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.blocks.probes import Probe, WholeGram, panels
from ufselect.blocks.within import (
    CENTRED_BYTES,
    ONE_BATCH,
    BatchMoments,
    batch_moments,
    merge_batches,
)
from ufselect.common.containers import with_gaps
from ufselect.common.row_blocks import row_blocks
from ufselect.common.sparse_structure import canonical_csr, check_sparse
from ufselect.gram.centring import (
    NOT_FINITE,
    mean_and_scale,
    power_of_two_near,
    refuse_infinity,
    working_dtype,
)
from ufselect.gram.dense import FormedGram
from ufselect.gram.factory import has_missing
from ufselect.gram.pairwise import PairwiseSums, complete_sums, merge_sums, pairwise_gram, pairwise_sums
from ufselect.gram.row_details import RowDetails, details_of_part
from ufselect.gram.sparse import column_means


@dataclass(frozen=True)
class Moments:
    """What a set of rows contributes: count, column means and second moments about them.

    ``weight`` is the total weight of the rows, which is their number where none are given. ``second`` is in
    units of ``scale ** 2`` and laid out by the probe that made it. All sums are float64; ``dtype`` is the
    working type of the data.
    """

    n_samples: int
    weight: float
    mean: NDArray
    scale: float
    second: NDArray
    dtype: np.dtype

    def __sizeof__(self) -> int:
        """Tell a scheduler how much memory the record holds."""
        return object.__sizeof__(self) + self.mean.nbytes + self.second.nbytes


Record: TypeAlias = Moments | BatchMoments | PairwiseSums


def block_moments(
    block: Any, probe: Probe, name: str = "X", details: RowDetails | None = None
) -> Record | None:
    """Reduce one block of rows, dense or sparse; a block without rows that count gives None.

    Where all of S is accumulated, NaN marks a missing value and gives pairwise sums. ``details`` has weights
    and batches of the rows.

    Raises
    ------
    ValueError
        If the block holds infinity, or NaN where a part of S is accumulated or there are batches; the message
        begins with ``name``.
    """
    check_sparse(block, name)
    block = block if sparse.issparse(block) else with_gaps(block)
    if details is not None:
        block, details = details.counted(block.tocsr() if sparse.issparse(block) else block)
    if block.shape[0] == 0:
        return None
    if isinstance(probe, WholeGram) and _has_gaps(block):
        return _with_gaps(block, name, details)
    if details is not None:
        return _in_batches(block, probe, name, details)
    if sparse.issparse(block):
        return _sparse_moments(block, probe, name)
    return _dense_moments(block, probe, name)


def _with_gaps(block: Any, name: str, details: RowDetails | None) -> PairwiseSums:
    if details is not None and details.labels is not None:
        raise ValueError(
            f"{name} has missing values, which go with batches only in memory; pass X as an array, or fill "
            "them in first."
        )
    refuse_infinity(block.data if sparse.issparse(block) else block, name)
    return pairwise_sums(block, None if details is None else details.weights)


def _in_batches(block: Any, probe: Probe, name: str, details: RowDetails) -> Moments | BatchMoments:
    moments = batch_moments(block, probe, name, details)
    if details.labels is not None:
        return moments
    centre = moments.centres[ONE_BATCH]
    return Moments(
        moments.n_samples, centre.weight, centre.mean, moments.scale, moments.second, moments.dtype
    )


def _has_gaps(block: Any) -> bool:
    values = block.data if sparse.issparse(block) else block
    return values.dtype.kind == "f" and has_missing(values)


def _dense_moments(block: NDArray, probe: Probe, name: str) -> Moments:
    dtype = working_dtype(block.dtype, name)
    mean, scale = mean_and_scale(block, name)
    centre = mean.astype(dtype)
    second = probe.zeros(block.shape[1])
    for rows in row_blocks(block.shape[0], block.shape[1] * dtype.itemsize, CENTRED_BYTES):
        centred = np.subtract(block[rows], centre, order="C")
        centred *= 1 / scale
        probe.add_rows(second, centred)
    return Moments(block.shape[0], block.shape[0], mean, scale, second, dtype)


def _sparse_moments(block: Any, probe: Probe, name: str) -> Moments:
    dtype = working_dtype(block.dtype, name)
    block = canonical_csr(block)
    if not np.all(np.isfinite(block.data)):
        raise ValueError(NOT_FINITE.format(name))
    largest = float(np.abs(block.data.astype(dtype, copy=False)).max(initial=0.0))
    scale = power_of_two_near(largest, dtype)
    scaled = sparse.csr_array(
        (block.data.astype(dtype) * dtype.type(1 / scale), block.indices, block.indptr), shape=block.shape
    )
    scaled.has_canonical_format = True
    mean = column_means(scaled)
    second = probe.zeros(block.shape[1])
    probe.add_sparse(second, scaled, mean)
    return Moments(block.shape[0], block.shape[0], mean * scale, scale, second, dtype)


def merge_moments(parts: Iterable[Record | None], probe: Probe) -> Record | None:
    """Merge the records of disjoint sets of rows; the order changes only the rounding."""
    return reduce(lambda first, second: _merge_two(first, second, probe), parts, None)


def _merge_two(first: Record | None, second: Record | None, probe: Probe) -> Record | None:
    if first is None or second is None:
        return first if second is None else second
    if isinstance(first, BatchMoments) or isinstance(second, BatchMoments):
        return _merge_batched(first, second, probe)
    if isinstance(first, PairwiseSums) or isinstance(second, PairwiseSums):
        return merge_sums(_as_pairwise(first), _as_pairwise(second))
    total = first.weight + second.weight
    with np.errstate(over="ignore"):
        shift = second.mean - first.mean
    furthest = float(np.abs(shift).max(initial=0.0))
    scale = max(first.scale, second.scale, power_of_two_near(furthest, shift.dtype) if furthest else 0.0)
    moments = first.second * (first.scale / scale) ** 2
    moments += second.second * (second.scale / scale) ** 2
    if furthest:
        probe.add_rank_one(moments, shift / scale, first.weight * (second.weight / total))
    mean = first.mean + shift * (second.weight / total)
    n_samples = first.n_samples + second.n_samples
    return Moments(n_samples, total, mean, scale, moments, np.result_type(first.dtype, second.dtype))


def _merge_batched(first: Record, second: Record, probe: Probe) -> BatchMoments:
    if isinstance(first, BatchMoments) and isinstance(second, BatchMoments):
        return merge_batches(first, second, probe)
    raise ValueError(
        "Some rows come with the batch that they belong to and others without; give it for all or for none."
    )


def _as_pairwise(record: Moments | PairwiseSums) -> PairwiseSums:
    if isinstance(record, PairwiseSums):
        return record
    scatter = _whole_matrix(record, np.dtype(np.float64))
    return complete_sums(record.n_samples, record.weight, record.mean, record.scale, scatter, record.dtype)


def formed_gram(record: Record) -> FormedGram:
    """Return the full matrix S of a record made with `WholeGram`, in the working type of the data."""
    if isinstance(record, PairwiseSums):
        return pairwise_gram([record])
    matrix = _whole_matrix(record, record.dtype)
    n_samples = n_samples_of(record)
    if n_samples != record.weight:
        matrix *= n_samples / record.weight
    return FormedGram(matrix, n_samples, record.scale, common_mean(record))


def common_mean(record: Moments | BatchMoments) -> NDArray | None:
    """Return the mean about which rows were centred; None where each batch was about its own."""
    return None if isinstance(record, BatchMoments) else record.mean


def n_samples_of(record: Record) -> int:
    """Return how many samples the rows of a record stand for."""
    return max(record.n_samples, round(record.weight))


def _whole_matrix(moments: Moments | BatchMoments, dtype: np.dtype) -> NDArray:
    n_features = moments.mean.size
    matrix = np.empty((n_features, n_features), dtype=dtype)
    for start, stop, panel in panels(moments.second, n_features):
        matrix[start:stop, start:] = panel
        matrix[stop:, start:stop] = matrix[start:stop, stop:].T
    return matrix


class GramAccumulator:
    """Collects the centred Gram matrix of data that arrive in batches.

    Memory is that of one n_features × n_features matrix, whatever the number of samples. The result can be
    given to the ``fit`` of every selector that works through the Gram matrix.

    Attributes
    ----------
    n_samples, n_features : int
        What has been seen so far.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.blocks import GramAccumulator
    >>> accumulator = GramAccumulator()
    >>> for batch in np.array_split(np.arange(12.0).reshape(6, 2), 3):
    ...     accumulator = accumulator.update(batch)
    >>> accumulator.n_samples, accumulator.mean.tolist()
    (6, [5.0, 6.0])
    """

    def __init__(self) -> None:
        self.moments: Record | None = None

    def update(
        self, batch: Any, sample_weight: NDArray | None = None, labels: NDArray | None = None
    ) -> GramAccumulator:
        """Take in a batch of rows, dense or sparse; NaN marks a missing value. On an error nothing changes.

        With ``sample_weight`` each row counts so many times; those of weight 0 do not count. With ``labels``,
        such as donor, day or plate, rows of one label are centred by themselves, over all updates.
        """
        batch = batch if sparse.issparse(batch) else with_gaps(batch)
        if batch.ndim != 2:
            raise ValueError(f"A batch must have two dimensions, not {batch.ndim}.")
        if self.moments is not None and batch.shape[1] != self.n_features:
            raise ValueError(
                f"This batch has {batch.shape[1]} features, but earlier ones had {self.n_features}."
            )
        details = details_of_part(sample_weight, labels, batch.shape[0])
        record = block_moments(batch, WholeGram(), "The batch", details)
        self.moments = merge_moments([self.moments, record], WholeGram())
        return self

    def merge(self, other: GramAccumulator) -> GramAccumulator:
        """Take in what another accumulator has collected from other rows."""
        if self.moments is not None and other.moments is not None and self.n_features != other.n_features:
            raise ValueError(f"Cannot merge {self.n_features} features with {other.n_features}.")
        self.moments = merge_moments([self.moments, other.moments], WholeGram())
        return self

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
        return formed_gram(self._collected())

    def _collected(self) -> Record:
        if self.moments is None:
            raise ValueError("The accumulator has seen no rows yet; call update first.")
        return self.moments
