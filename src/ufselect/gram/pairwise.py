r"""The Gram matrix of data with gaps from pairwise complete rows, in sums that can be merged.

For features j and k, over the rows where both are observed, with weights w and values z about a shift,

.. math::

    N_{jk} = \sum w_i, \quad T_{jk} = \sum w_i z_{ij}, \quad P_{jk} = \sum w_i z_{ij} z_{ik}, \qquad
    S_{jk} = \frac{n}{N_{jk}} \Bigl(P_{jk} - \frac{T_{jk} T_{kj}}{N_{jk}}\Bigr).

S is what it would be without gaps where values are missing at random. Its entries rest on different rows and
can contradict each other; then S has negative eigenvalues. They are set to zero and the features scaled so
that each keeps its variance [1]_.

References
----------
.. [1] R. Rebonato, P. Jäckel (1999), "The most general methodology to create a valid correlation matrix for
   risk management and option pricing purposes", Journal of Risk 2(2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.gram.centring import power_of_two_near
from ufselect.gram.dense import FormedGram
from ufselect.gram.missing import MissingSummary

# Products with a sparse mask are the faster ones up to about this share of missing entries.
SPARSE_SHARE = 0.1


@dataclass(frozen=True)
class PairwiseSums:
    """N, T and P of a set of rows, in float64; T and P in units of ``scale`` and ``scale ** 2``.

    Attributes
    ----------
    n_samples, weight : int, float
        Number of rows and their total weight.
    n_missing : int
        Number of missing entries.
    shift : ndarray of shape (n_features,)
        What the values are taken about.
    scale : float
        Power of two by which they are divided.
    pair_weights, sums, products : ndarray of shape (n_features, n_features)
        N, T and P.
    dtype : dtype
        The working type of the data.
    """

    n_samples: int
    weight: float
    n_missing: int
    shift: NDArray
    scale: float
    pair_weights: NDArray
    sums: NDArray
    products: NDArray
    dtype: np.dtype

    def __sizeof__(self) -> int:
        """Tell a scheduler how much memory the record holds."""
        return object.__sizeof__(self) + 3 * self.products.nbytes

    @property
    def mean(self) -> NDArray:
        """The means of the observed values, those of features without any their shift."""
        observed = self.pair_weights.diagonal()
        totals = self.sums.diagonal()
        return self.shift + self.scale * np.divide(
            totals, observed, out=np.zeros_like(totals), where=observed > 0
        )


def pairwise_sums(block: Any, weights: NDArray | None = None) -> PairwiseSums:
    """Reduce rows with gaps: a float array with NaN, or a CSR matrix with stored NaN, and no infinities."""
    weights = np.ones(block.shape[0]) if weights is None else weights
    shift, scale, values, missing = (_sparse_parts if sparse.issparse(block) else _dense_parts)(
        block, weights
    )
    weighted = _weighted(missing, weights)
    lost = weights @ missing
    total = float(weights.sum())
    return PairwiseSums(
        n_samples=block.shape[0],
        weight=total,
        n_missing=int(missing.sum()),
        shift=shift,
        scale=scale,
        pair_weights=total - lost[:, None] - lost + _dense(missing.T @ weighted),
        sums=(weights @ values)[:, None] - _dense(values.T @ weighted),
        products=_dense(values.T @ _weighted(values, weights)),
        dtype=np.dtype(np.float32) if block.dtype == np.float32 else np.dtype(np.float64),
    )


def _weighted(values: Any, weights: NDArray) -> Any:
    return values.multiply(weights[:, None]).tocsr() if sparse.issparse(values) else values * weights[:, None]


def _dense(matrix: Any) -> NDArray:
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def _dense_parts(block: NDArray, weights: NDArray) -> tuple[NDArray, float, NDArray, Any]:
    """Return the shift, the scale, scaled values with 0 for gaps, and the mask of gaps."""
    gaps = np.isnan(block)
    values = np.where(gaps, 0.0, block).astype(np.float64)
    first = values[np.argmin(gaps, axis=0), np.arange(block.shape[1])]
    values -= first
    values[gaps] = 0.0
    offset = _ratio(weights @ values, weights.sum() - weights @ gaps)
    values -= offset
    values[gaps] = 0.0
    scale = power_of_two_near(float(np.abs(values).max(initial=0.0)))
    values *= 1 / scale
    missing = (
        sparse.csr_array(gaps, dtype=np.float64) if gaps.mean() < SPARSE_SHARE else gaps.astype(np.float64)
    )
    return first + offset, scale, values, missing


def _sparse_parts(block: sparse.csr_array, weights: NDArray) -> tuple[NDArray, float, Any, sparse.csr_array]:
    """Do the same for sparse rows: columns that are mostly filled are centred, the others stay as they are.

    That at most doubles the stored entries, and a mean of mostly zeros is small beside the spread, so that no
    digits are lost to it.
    """
    block = sparse.csr_array(block).astype(np.float64)
    block.sum_duplicates()
    gaps = np.isnan(block.data)
    missing, values = block.copy(), block.copy()
    missing.data[:] = gaps
    missing.eliminate_zeros()
    values.data[gaps] = 0.0
    n_rows, n_features = block.shape
    filled = np.flatnonzero(np.bincount(block.indices, minlength=n_features) > n_rows / 2)
    shift = np.zeros(n_features)
    if filled.size:
        columns, holes = values[:, filled].toarray(), missing[:, filled].toarray()
        shift[filled] = _ratio(weights @ columns, weights.sum() - weights @ holes)
        centred = sparse.csr_array((columns - shift[filled]) * (holes == 0))
        values.data[np.isin(values.indices, filled)] = 0.0
        places = sparse.csr_array(
            (np.ones(filled.size), (np.arange(filled.size), filled)), shape=(filled.size, n_features)
        )
        values = sparse.csr_array(values + centred @ places)
    scale = power_of_two_near(float(np.abs(values.data).max(initial=0.0)))
    return shift, scale, values * (1 / scale), missing


def _ratio(totals: NDArray, weights: NDArray) -> NDArray:
    return np.divide(totals, weights, out=np.zeros_like(totals), where=weights > 0)


def complete_sums(
    n_samples: int, weight: float, mean: NDArray, scale: float, scatter: NDArray, dtype: np.dtype
) -> PairwiseSums:
    """Return the sums of rows without gaps from their mean and scatter matrix."""
    return PairwiseSums(
        n_samples,
        weight,
        0,
        mean,
        scale,
        np.full_like(scatter, weight),
        np.zeros_like(scatter),
        scatter,
        dtype,
    )


def merge_sums(first: PairwiseSums, second: PairwiseSums) -> PairwiseSums:
    """Merge the sums of two sets of rows, about a shift between theirs."""
    weight = first.weight + second.weight
    shift = first.mean + (second.mean - first.mean) * (second.weight / weight)
    furthest = float(np.abs([shift - first.shift, shift - second.shift]).max(initial=0.0))
    scale = max(first.scale, second.scale, power_of_two_near(furthest) if furthest else 0.0)
    one, other = _moved(first, shift, scale), _moved(second, shift, scale)
    return PairwiseSums(
        n_samples=first.n_samples + second.n_samples,
        weight=weight,
        n_missing=first.n_missing + second.n_missing,
        shift=shift,
        scale=scale,
        pair_weights=first.pair_weights + second.pair_weights,
        sums=one[0] + other[0],
        products=one[1] + other[1],
        dtype=np.result_type(first.dtype, second.dtype),
    )


def _moved(record: PairwiseSums, shift: NDArray, scale: float) -> tuple[NDArray, NDArray]:
    """Return T and P about another shift and in units of another scale."""
    ratio = record.scale / scale
    move = ((shift - record.shift) / scale)[:, None]
    sums, weights = record.sums * ratio, record.pair_weights
    cross = sums * move.T
    return sums - move * weights, record.products * ratio**2 - cross - cross.T + move * move.T * weights


def pairwise_gram(batches: Iterable[PairwiseSums]) -> FormedGram:
    """Return the operator of the sums of each batch, repaired where it has negative eigenvalues."""
    parts = list(batches)
    scale = max(part.scale for part in parts)
    scatter = np.add.reduce([_scatter(part) * (part.scale / scale) ** 2 for part in parts])
    weights = np.add.reduce([part.pair_weights for part in parts])
    n_rows, total = sum(part.n_samples for part in parts), sum(part.weight for part in parts)
    n_samples = max(n_rows, round(total))
    matrix = n_samples * _ratio(scatter, weights)
    repaired, correction = repair(matrix)
    gram = FormedGram(repaired.astype(np.result_type(*(part.dtype for part in parts))), n_samples, scale)
    share = sum(part.n_missing for part in parts) / (n_rows * parts[0].shift.size)
    gram.missing = MissingSummary("pairwise", share, correction)
    return gram


def _scatter(part: PairwiseSums) -> NDArray:
    """Return the sums of products about the means of the rows that both features have."""
    return part.products - _ratio(part.sums * part.sums.T, part.pair_weights)


def repair(matrix: NDArray) -> tuple[NDArray, float]:
    """Return the matrix without negative eigenvalues, with the same diagonal, and the relative change."""
    values, vectors = linalg.eigh(matrix, check_finite=False)
    rounding = matrix.shape[0] * np.finfo(matrix.dtype).eps * max(float(values[-1]), 0.0)
    if values[0] >= -rounding:
        return matrix, 0.0
    positive = values > 0
    factor = vectors[:, positive] * np.sqrt(values[positive])
    variances, reached = np.clip(matrix.diagonal(), 0, None), np.square(factor).sum(axis=1)
    factor *= np.sqrt(_ratio(variances, reached))[:, None]
    repaired = factor @ factor.T
    return repaired, float(np.linalg.norm(repaired - matrix) / np.linalg.norm(matrix))
