r"""Low-rank factors of S for data with too many features to form it.

Wide data are read by blocks of features: the sample Gram matrix K = AAᵀ in one pass, a factor in a second.
With :math:`K = U \Lambda U^\top` and U cut to its k leading columns, :math:`F = U^\top A` gives the k leading
eigenpairs of S exactly. Each feature is centred within its block, which holds all samples. Other data are
reduced by products of S with a block of vectors, each of which takes a pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.gram.accumulate import Moments
from ufselect.gram.operator import LowRankGram
from ufselect.gram.rows import mean_and_scale, row_blocks, working_dtype
from ufselect.gram.spectrum import leading_spectrum


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


@dataclass(frozen=True)
class SampleGram:
    """K of some features in units of ``scale ** 2``, and their diagonal of S by the first feature."""

    matrix: NDArray
    scale: float
    diagonal: tuple[tuple[int, NDArray], ...]
    dtype: np.dtype

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.matrix.nbytes


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
    scale = max((part.scale for part in parts if part.matrix.any()), default=1.0)
    matrix = np.zeros_like(parts[0].matrix)
    diagonal: list[tuple[int, NDArray]] = []
    for part in parts:
        shrink = min(1.0, part.scale / scale) ** 2
        matrix += part.matrix * shrink
        diagonal.extend((first, values * shrink) for first, values in part.diagonal)
    return SampleGram(matrix, scale, tuple(diagonal), np.result_type(*(part.dtype for part in parts)))


def rotated_gram(source: Any, max_rank: int) -> LowRankGram:
    """Build the operator of wide data from two passes, with a factor of at most ``max_rank`` rows."""
    total: SampleGram = source.sample_gram()
    n_samples = total.matrix.shape[0]
    spectrum = leading_spectrum(total.matrix, min(max_rank, n_samples))
    diagonal = np.empty(source.n_features)
    for first, values in total.diagonal:
        diagonal[first : first + values.size] = values
    factor = np.empty((spectrum.values.size, source.n_features), dtype=total.dtype)
    for first, rows in source.rotated(spectrum.vectors, total.scale):
        factor[:, first : first + rows.shape[1]] = rows
    exact = np.zeros_like(spectrum.values)
    return LowRankGram(factor, n_samples, total.scale, diagonal, ritz_values=spectrum.values, residuals=exact)
