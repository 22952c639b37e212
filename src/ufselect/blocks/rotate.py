r"""Wide data by blocks of features: the sample Gram matrix K = AAᵀ in one pass, a factor in a second.

With :math:`K = U \Lambda U^\top` and U cut to its k leading columns, :math:`F = U^\top A` gives the k leading
eigenpairs of S exactly. Each feature is centred within its block, which holds all samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.sketch import TruncatedGram
from ufselect.common.row_blocks import row_blocks
from ufselect.gram.centring import mean_and_scale, working_dtype
from ufselect.gram.spectrum import symmetric_eigenpairs


@dataclass(frozen=True)
class SampleGram:
    """K of some features in units of ``scale ** 2``, and the diagonal of S for them."""

    matrix: NDArray
    scale: float
    diagonal: tuple[tuple[int, NDArray], ...]
    dtype: np.dtype

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.matrix.nbytes


class ColumnBlocks(Protocol):
    """Data that can be walked through by blocks of features."""

    def sample_gram(self) -> SampleGram:
        """Return K of all features: one pass."""

    def rotated(self, rotation: NDArray, scale: float) -> Iterable[tuple[int, NDArray]]:
        """Yield (first feature, rotationᵀ A / scale) for each block of features: one pass."""


def block_sample_gram(block: Any, first: int, name: str) -> SampleGram:
    """Reduce one block of features, all samples of each."""
    mean, scale = mean_and_scale(block, name)
    n_samples, n_features = block.shape
    matrix = np.zeros((n_samples, n_samples))
    diagonal = np.zeros(n_features)
    for columns in row_blocks(n_features, n_samples * 8):
        centred = _centred(block[:, columns], mean[columns], scale)
        matrix += centred @ centred.T
        diagonal[columns] = np.einsum("ij,ij->j", centred, centred, dtype=np.float64)
    return SampleGram(matrix, scale, ((first, diagonal),), working_dtype(block.dtype))


def block_rotated(block: Any, rotation: NDArray, scale: float) -> NDArray:
    """Return the rows of the factor for one block of features."""
    mean, _ = mean_and_scale(block)
    rotation = rotation.astype(working_dtype(block.dtype), copy=False)
    rotated = np.empty((rotation.shape[1], block.shape[1]), dtype=rotation.dtype)
    for columns in row_blocks(block.shape[1], block.shape[0] * 8):
        rotated[:, columns] = rotation.T @ _centred(block[:, columns], mean[columns], scale)
    return rotated


def _centred(block: NDArray, mean: NDArray, scale: float) -> NDArray:
    centred = block - mean.astype(working_dtype(block.dtype))
    centred *= 1 / scale
    return centred


def merge_sample_grams(parts: Iterable[SampleGram]) -> SampleGram:
    """Add the records of disjoint sets of features."""
    parts = list(parts)
    scale = max(part.scale for part in parts)
    matrix = np.zeros_like(parts[0].matrix)
    diagonal: list[tuple[int, NDArray]] = []
    for part in parts:
        shrink = (part.scale / scale) ** 2
        matrix += part.matrix * shrink
        diagonal.extend((first, values * shrink) for first, values in part.diagonal)
    return SampleGram(matrix, scale, tuple(diagonal), np.result_type(*(part.dtype for part in parts)))


def rotated_gram(blocks: ColumnBlocks, n_features: int, max_rank: int) -> TruncatedGram:
    """Build the operator of wide data from two passes, with a factor of at most ``max_rank`` rows."""
    total = blocks.sample_gram()
    n_samples = total.matrix.shape[0]
    spectrum = symmetric_eigenpairs(total.matrix, min(max_rank, n_samples))
    diagonal = np.empty(n_features)
    for first, values in total.diagonal:
        diagonal[first : first + values.size] = values
    factor = np.empty((spectrum.values.size, n_features), dtype=total.dtype)
    for first, rows in blocks.rotated(spectrum.vectors, total.scale):
        factor[:, first : first + rows.shape[1]] = rows
    exact = np.zeros_like(spectrum.values)
    return TruncatedGram(factor, n_samples, total.scale, diagonal, spectrum.values, exact)
