r"""Rows with weights, in batches: second moments about the mean of each batch, in records that can be merged.

For two sets of rows of one batch with weights w₁, w₂, means c₁, c₂ and scatter matrices S₁, S₂,

.. math:: S = S_1 + S_2 + \frac{w_1 w_2}{w_1 + w_2}\, (c_2 - c_1)(c_2 - c_1)^\top .

Only the sum of S over all batches is kept, beside the weight and the mean of each.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.blocks.probes import Probe
from ufselect.common.row_blocks import row_blocks
from ufselect.gram.centring import NOT_FINITE, power_of_two_near, working_dtype
from ufselect.gram.row_details import RowDetails
from ufselect.gram.rows import RowLayout

# Adding to S costs as much as the product of some hundred rows, so many rows are centred at once.
CENTRED_BYTES = 2**23
ONE_BATCH = 0  # the label where there are none


@dataclass(frozen=True)
class Centre:
    """Weight and mean of the rows of a batch."""

    weight: float
    mean: NDArray


@dataclass(frozen=True)
class BatchMoments:
    """What a set of rows contributes to S within batches; `second` is in units of ``scale ** 2``."""

    n_samples: int
    centres: Mapping[Hashable, Centre]
    scale: float
    second: NDArray
    dtype: np.dtype

    def __sizeof__(self) -> int:
        """Tell a scheduler how much memory the record holds."""
        means = sum(centre.mean.nbytes for centre in self.centres.values())
        return object.__sizeof__(self) + means + self.second.nbytes

    @property
    def weight(self) -> float:
        """Total weight of the rows."""
        return sum(centre.weight for centre in self.centres.values())

    @property
    def mean(self) -> NDArray:
        """Mean of all rows."""
        weights = np.array([centre.weight for centre in self.centres.values()])
        return weights / weights.sum() @ np.array([centre.mean for centre in self.centres.values()])


def batch_moments(block: Any, probe: Probe, name: str, details: RowDetails) -> BatchMoments:
    """Reduce rows that all count; sparse ones are made dense a few at a time.

    Raises
    ------
    ValueError
        If the block, called ``name``, holds NaN or infinity.
    """
    dtype = working_dtype(block.dtype, name)
    parts = (
        _of_few_rows(block[rows], probe, name, details.of(rows), dtype)
        for rows in row_blocks(block.shape[0], block.shape[1] * dtype.itemsize, CENTRED_BYTES)
    )
    return reduce(lambda first, second: merge_batches(first, second, probe), parts)


def _of_few_rows(block: Any, probe: Probe, name: str, details: RowDetails, dtype: np.dtype) -> BatchMoments:
    rows = np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=dtype)
    labels = np.full(len(rows), ONE_BATCH) if details.labels is None else details.labels
    if not np.all(np.isfinite(rows)):
        raise ValueError(NOT_FINITE.format(name))
    present, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    layout = RowLayout(details.weights, codes, len(rows))
    # About the first row of each batch, so that no digits are lost to large means or far batches.
    with np.errstate(over="ignore"):
        deviations = rows - rows[first][codes]
    offsets = layout.means(deviations)
    deviations -= layout.spread(offsets).astype(dtype)
    means = rows[first] + offsets
    deviations = layout.rooted(deviations)
    scale = power_of_two_near(float(np.abs(deviations).max(initial=0.0)), dtype)
    second = probe.zeros(rows.shape[1])
    probe.add_rows(second, deviations * dtype.type(1 / scale))
    weights = layout.batch_weights[:, 0].tolist()
    centres = {
        label: Centre(weight, mean)
        for label, weight, mean in zip(present.tolist(), weights, means, strict=True)
    }
    return BatchMoments(len(rows), centres, scale, second, dtype)


def merge_batches(first: BatchMoments, second: BatchMoments, probe: Probe) -> BatchMoments:
    """Merge the records of disjoint sets of rows."""
    shared = first.centres.keys() & second.centres.keys()
    with np.errstate(over="ignore"):
        shifts = {label: second.centres[label].mean - first.centres[label].mean for label in shared}
    furthest = max((float(np.abs(shift).max(initial=0.0)) for shift in shifts.values()), default=0.0)
    scale = max(first.scale, second.scale, power_of_two_near(furthest) if furthest else 0.0)
    moments = first.second * (first.scale / scale) ** 2
    moments += second.second * (second.scale / scale) ** 2
    centres = {**first.centres, **second.centres}
    for label, shift in shifts.items():
        one, other = first.centres[label].weight, second.centres[label].weight
        part = other / (one + other)
        probe.add_rank_one(moments, shift / scale, one * part)
        centres[label] = Centre(one + other, first.centres[label].mean + shift * part)
    dtype = np.result_type(first.dtype, second.dtype)
    return BatchMoments(first.n_samples + second.n_samples, centres, scale, moments, dtype)
