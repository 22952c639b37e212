"""The Gram matrix through its products: what every representation offers, the dense ones, and the choice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from scipy.linalg import get_blas_funcs
from scipy.sparse.linalg import LinearOperator

from ufselect._utils.validation import as_numpy, canonical_csr, has_missing
from ufselect.gram.rows import RowInfo, centre_and_scale, is_extreme, power_of_two_near, row_blocks
from ufselect.gram.spectrum import EXACT, Spectrum, leading_spectrum, polar_factor

# Forming S is faster than applying it through the data up to about square data, for which it takes no more
# memory than the centred copy that it makes unnecessary.
FORM_RATIO = 1.15


@dataclass(frozen=True)
class MissingSummary:
    """How missing values were treated, and how much that changed.

    Attributes
    ----------
    route : {"completed", "pairwise"}
        Values were filled in by a shrunken low-rank fit; or each entry of S was computed from the rows in
        which both features are observed.
    share : float
        Share of the entries of X that are missing.
    correction : float
        "completed": share of the total variance that was added because filled-in values vary less than
        observed ones do. "pairwise": relative change of S, in the Frobenius norm, that made it positive
        semidefinite.
    """

    route: str
    share: float
    correction: float


class GramOperator(ABC):
    """The positive semidefinite matrix ``S = AᵀA / scale²`` through its products.

    ``A`` is the centred data, n_samples × n_features. ``scale`` is a power of two near the largest
    centred entry: it keeps squares inside the floating-point range for data of any unit, and being a
    power of two it changes no digit. Multiply by ``scale ** 2`` to return to the units of the data.

    Attributes
    ----------
    shape : tuple of int
        (n_features, n_features).
    dtype : numpy.dtype
        float32 or float64, that of the data.
    n_samples : int
        Number of samples behind S.
    scale : float
        See above.
    mean : ndarray of shape (n_features,) or None
        Column means of the data; None for a bare matrix.
    missing : MissingSummary or None
        What was done about missing values, if there were any.
    feature_names : ndarray of shape (n_features,) or None
        Names of the features, if they are known.
    route : {"formed", "gathered", "rotated", "sketched", "given"}
        How data outside memory were reduced to the operator; see `ReductionSummary`.
    n_passes : int
        How often they were read for it.
    """

    is_reduced = True  # a fit takes it in place of rows

    shape: tuple[int, int]
    dtype: np.dtype
    n_samples: int
    scale: float
    mean: NDArray | None = None
    missing: MissingSummary | None = None
    feature_names: NDArray | None = None
    route: str = "given"
    n_passes: int = 0
    _widest: tuple[int, float, Spectrum] | None = None
    _single: GramOperator | None = None

    @abstractmethod
    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``S @ vectors`` for an n_features × k array."""

    @abstractmethod
    def diag(self) -> NDArray:
        """Return the diagonal: the scaled sum of squares of each centred feature."""

    @abstractmethod
    def columns(self, indices: NDArray) -> NDArray:
        """Return the dense columns ``S[:, indices]``, n_features × k."""

    @abstractmethod
    def subgram(self, indices: NDArray) -> NDArray:
        """Return the dense block ``S[indices][:, indices]``."""

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.diag().sum(dtype=np.float64))

    def captured(self, vectors: NDArray) -> float:
        """Return ``Tr(Vᵀ S V)``, the variance along some vectors."""
        return float(np.vdot(vectors.T, self.matmat(vectors).T))

    def to_dense(self) -> NDArray:
        """Return S as an array; costs n_features² memory."""
        return self.subgram(np.arange(self.shape[0]))

    def squared_column_norms(self) -> NDArray:
        """Return the diagonal of S²: the squared norm of each column, in float64."""
        norms = np.empty(self.shape[0])
        for start in range(0, norms.size, 256):  # few enough columns at once to stay small beside the data
            block = np.arange(start, min(start + 256, norms.size))
            norms[block] = np.square(self.columns(block), dtype=np.float64).sum(axis=0)
        return norms

    def eigenpairs(self, count: int, tol: float = EXACT) -> Spectrum:
        """Return up to ``count`` leading eigenpairs, fewer when the rank is smaller.

        Residuals are at most ``tol`` times the eigenvalue; above a ``tol`` of 1e-6 large matrices are
        decomposed in float32, which leaves about 1e-5. The largest set is cached: asking again for as many or
        fewer, with no smaller ``tol``, costs nothing.
        """
        asked, reached, widest = self._widest or (0, tol, None)
        if widest is None or reached > tol or (asked < count and widest.values.size == asked):
            widest = self._rough_pairs(count, tol) if tol > 1e-6 else None
            widest = self._leading_pairs(count, tol) if widest is None else widest
            self._widest = (count, tol, widest)
        return widest.head(count)

    def _rough_pairs(self, count: int, tol: float) -> Spectrum | None:
        """Return eigenpairs found in float32; None if that saves nothing or some are lost in rounding."""
        single = self.single() if self.pays_in_single(count) else None
        if single is None:
            return None
        rough = single.eigenpairs(count, tol)
        if rough.values.size < count or rough.values[-1] < 1e-3 * rough.values[0]:
            return None
        vectors = polar_factor(rough.vectors.astype(self.dtype))
        return Spectrum(rough.values.astype(self.dtype), vectors, max(tol, 1e-5))

    def pays_in_single(self, n_vectors: int) -> bool:
        """Tell whether products with ``n_vectors`` vectors take longer than a conversion to float32."""
        n_features = self.shape[0]
        return self.dtype != np.float32 and n_vectors * n_features * min(n_features, self.n_samples) > 2e6

    def single(self) -> GramOperator | None:
        """Return the matrix in float32 for products in half the time, cached; None without a dense form."""
        if self._single is None:
            self._single = self._in_single()
        return self._single

    def _in_single(self) -> GramOperator | None:
        return None

    def _leading_pairs(self, count: int, tol: float) -> Spectrum:
        """Compute up to ``count`` leading eigenpairs."""
        operator = LinearOperator(
            self.shape,
            matvec=lambda v: self.matmat(v.reshape(-1, 1))[:, 0],
            matmat=self.matmat,
            dtype=self.dtype,
        )
        return leading_spectrum(operator, count, tol)


class FormedGram(GramOperator):
    """An explicit n_features × n_features matrix S, symmetric and positive semidefinite."""

    def __init__(
        self, matrix: NDArray, n_samples: int, scale: float = 1.0, mean: NDArray | None = None
    ) -> None:
        self.matrix = matrix
        self.shape, self.dtype = (matrix.shape[0], matrix.shape[0]), matrix.dtype
        self.n_samples, self.scale, self.mean = n_samples, scale, mean

    def matmat(self, vectors: NDArray) -> NDArray:
        # S is symmetric; wide rows times S run faster in BLAS than S times thin columns.
        return (vectors.T @ self.matrix).T

    def diag(self) -> NDArray:
        return self.matrix.diagonal().copy()

    def columns(self, indices: NDArray) -> NDArray:
        return self.matrix[indices].T  # symmetric, and whole rows are contiguous

    def subgram(self, indices: NDArray) -> NDArray:
        return self.matrix[np.ix_(indices, indices)]

    def to_dense(self) -> NDArray:
        return self.matrix

    def _in_single(self) -> GramOperator:
        return FormedGram(self.matrix.astype(np.float32), self.n_samples, self.scale)

    def _leading_pairs(self, count: int, tol: float) -> Spectrum:
        return leading_spectrum(self.matrix, count, tol)


class RowsGram(GramOperator):
    """``S = FᵀF`` through its rows F, n_rows × n_features; few rows give eigenpairs by the small ``F Fᵀ``."""

    n_rows: int

    @abstractmethod
    def _scores(self, vectors: NDArray) -> NDArray:
        """Return ``F vectors``, transposed."""

    @abstractmethod
    def _back(self, scores: NDArray) -> NDArray:
        """Return ``Fᵀ scores`` for scores that are given transposed and may be overwritten."""

    @abstractmethod
    def _taken(self, columns: NDArray | slice) -> NDArray:
        """Return some columns of F."""

    def matmat(self, vectors: NDArray) -> NDArray:
        return self._back(self._scores(vectors))

    def captured(self, vectors: NDArray) -> float:
        scores = self._scores(vectors)
        return float(np.vdot(scores, scores))

    def columns(self, indices: NDArray) -> NDArray:
        return self._back(np.ascontiguousarray(self._taken(indices).T))

    def subgram(self, indices: NDArray) -> NDArray:
        columns = self._taken(indices)
        return columns.T @ columns

    def _row_products(self) -> NDArray:
        """Return ``F Fᵀ``."""
        gram = np.zeros((self.n_rows, self.n_rows), dtype=self.dtype)
        for columns in row_blocks(self.shape[0], self.n_rows * self.dtype.itemsize):
            block = self._taken(columns)
            gram += block @ block.T
        return gram

    def _leading_pairs(self, count: int, tol: float) -> Spectrum:
        # F Fᵀ is formed up to 8 MB, or a small share of the rows themselves.
        if self.n_rows <= max(1000, 0.15 * self.shape[0]):
            small = leading_spectrum(self._row_products(), count, tol)
        else:
            operator = LinearOperator(
                (self.n_rows, self.n_rows),
                matvec=lambda vector: self._scores(self._back(vector.reshape(1, -1).copy()))[0],
                dtype=self.dtype,
            )
            small = leading_spectrum(operator, count, tol)
        # Small eigenvalues lose digits on the way; the nearest orthonormal columns restore them.
        vectors = polar_factor(self._back(np.ascontiguousarray((small.vectors / np.sqrt(small.values)).T)))
        return Spectrum(small.values, vectors, small.error)


class FactoredGram(RowsGram):
    """``S = FᵀF`` for a k × n_features factor F, applied as ``Fᵀ(F V)``.

    With the centred data as factor this is the exact operator for wide data. ``row_weights`` are the sample
    weights of the rows of the factor, if they have any.
    """

    def __init__(
        self,
        factor: NDArray,
        n_samples: int,
        scale: float = 1.0,
        mean: NDArray | None = None,
        row_weights: NDArray | None = None,
    ) -> None:
        self.factor, self.n_rows = factor, len(factor)
        self.shape, self.dtype = (factor.shape[1], factor.shape[1]), factor.dtype
        self.n_samples, self.scale, self.mean = n_samples, scale, mean
        self.row_weights = row_weights

    def _scores(self, vectors: NDArray) -> NDArray:
        # Wide rows times the factor run faster in BLAS than the factor times thin columns, except for the
        # first product in float32.
        is_single = self.dtype == np.float32
        return (self.factor @ vectors).T if is_single else vectors.T @ self.factor.T

    def _back(self, scores: NDArray) -> NDArray:
        return (scores @ self.factor).T

    def _taken(self, columns: NDArray | slice) -> NDArray:
        return self.factor[:, columns]

    def to_dense(self) -> NDArray:
        return self.factor.T @ self.factor

    def diag(self) -> NDArray:
        return np.einsum("ij,ij->j", self.factor, self.factor)

    def _in_single(self) -> GramOperator:
        return FactoredGram(self.factor.astype(np.float32), self.n_samples, self.scale)

    def squared_column_norms(self) -> NDArray:
        image = self._row_products() @ self.factor
        return np.einsum("ij,ij->j", self.factor, image, dtype=np.float64)

    def _row_products(self) -> NDArray:
        return self.factor @ self.factor.T


class LowRankGram(FactoredGram):
    """``FᵀF`` with the true diagonal of S, which includes the variance that the factor leaves out.

    Products and eigenpairs are those of the factor. If it approximates S, ``ritz_values`` are estimated
    eigenvalues, largest first, and ``residuals`` the norms ``‖S v − λ v‖`` of their pairs.
    """

    def __init__(
        self,
        factor: NDArray,
        n_samples: int,
        scale: float,
        diagonal: NDArray,
        mean: NDArray | None = None,
        ritz_values: NDArray | None = None,
        residuals: NDArray | None = None,
    ) -> None:
        super().__init__(factor, n_samples, scale, mean)
        self._diagonal = diagonal.astype(factor.dtype)
        self.ritz_values, self.residuals = ritz_values, residuals

    def diag(self) -> NDArray:
        return self._diagonal.copy()

    def columns(self, indices: NDArray) -> NDArray:
        block = super().columns(indices)
        place = np.arange(len(indices))
        block[indices, place] = np.maximum(block[indices, place], self._diagonal[indices])
        return block

    def subgram(self, indices: NDArray) -> NDArray:
        block = super().subgram(indices)
        np.fill_diagonal(block, np.maximum(block.diagonal(), self._diagonal[indices]))
        return block

    def squared_column_norms(self) -> NDArray:
        own = np.einsum("ij,ij->j", self.factor, self.factor, dtype=np.float64)
        return super().squared_column_norms() + np.maximum(np.square(self._diagonal) - np.square(own), 0)

    def missing_share(self) -> float:
        """Return the share of the trace of S that an approximating factor leaves out."""
        trace = self.trace()
        if self.ritz_values is None or not trace:
            return 0.0
        return max(0.0, 1 - float(np.vdot(self.factor, self.factor)) / trace)

    def subspace_error(self, n_components: int) -> float:
        r"""Return an upper estimate of the sine of the angle to the true leading subspace.

        It is :math:`\|R\|_F / (\theta_m - \theta_{m+1})` for the Ritz values θ and the residuals R of the
        leading pairs, after Davis and Kahan; 1 if the gap is not resolved.
        """
        if self.ritz_values is None or self.residuals is None:
            return 0.0
        if n_components >= self.ritz_values.size:
            return 1.0 if self.missing_share() > np.sqrt(np.finfo(self.dtype).eps) else 0.0
        gap = self.ritz_values[n_components - 1] - self.ritz_values[n_components]
        size = float(np.linalg.norm(self.residuals[:n_components]))
        return 0.0 if size == 0 else min(1.0, size / gap) if gap > 0 else 1.0


class ImplicitGram(RowsGram):
    """``S = (X − 1cᵀ)ᵀ(X − 1cᵀ)`` applied through the data as they are.

    As in :class:`~ufselect.gram.SparseGram`, scores are centred between the two products, which makes the
    correction for the second one vanish. Rounding grows with the size of the means, so this is for data
    whose means are of the order of their spread. The data are not copied.
    """

    mean: NDArray

    def __init__(self, data: NDArray, mean: NDArray, scale: float) -> None:
        self.data, self.mean, self.scale = data, mean, scale
        self.n_samples = self.n_rows = data.shape[0]
        self.shape, self.dtype = (data.shape[1], data.shape[1]), data.dtype
        self._diagonal: NDArray | None = None

    def _scores(self, vectors: NDArray) -> NDArray:
        scores = vectors.T @ self.data.T
        scores -= (self.mean @ vectors)[:, None]
        scores *= 1 / self.scale
        return scores

    def _back(self, scores: NDArray) -> NDArray:
        scores -= scores.mean(axis=1, keepdims=True)
        product = scores @ self.data
        product *= 1 / self.scale
        return product.T

    def _taken(self, columns: NDArray | slice) -> NDArray:
        block = self.data[:, columns] if isinstance(columns, slice) else self.data.take(columns, axis=1)
        block = block - self.mean[columns]
        block *= 1 / self.scale
        return block

    def diag(self) -> NDArray:
        if self._diagonal is None:
            total = np.zeros(self.shape[0])
            for rows in row_blocks(self.n_samples, self.shape[0] * self.data.itemsize, min_rows=1):
                # In one order of memory, so that equal variances are equal whatever the layout of the data.
                block = np.subtract(self.data[rows], self.mean, order="C")
                block *= 1 / self.scale
                total += np.einsum("ij,ij->j", block, block)
            self._diagonal = total.astype(self.dtype)
        return self._diagonal.copy()

    def _in_single(self) -> GramOperator:
        factor = _centred_copy(self.data, self.mean, self.scale, np.float32)
        return FactoredGram(factor, self.n_samples, self.scale)


class TallGram(ImplicitGram):
    """S of about as many rows as columns or more, formed when that is cheaper.

    It is formed in float32 for what float32 can do, in half the time. The rest takes few products, which go
    through the data until they have cost as much as forming S.
    """

    _n_vectors = 0

    @cached_property
    def matrix(self) -> NDArray:
        return _accumulate(self.data, self.mean, self.scale, self.dtype)

    def matmat(self, vectors: NDArray) -> NDArray:
        self._n_vectors += vectors.shape[1]
        if "matrix" in vars(self) or 4 * self._n_vectors > self.shape[0]:
            return (vectors.T @ self.matrix).T
        return super().matmat(vectors)

    def to_dense(self) -> NDArray:
        return self.matrix

    def columns(self, indices: NDArray) -> NDArray:
        return self.matrix[indices].T

    def pays_in_single(self, n_vectors: int) -> bool:
        d = self.shape[0]
        is_cheaper = "matrix" not in vars(self) and self.n_samples * d**2 > 2e7 and 8 * n_vectors < d
        return (is_cheaper and self.dtype != np.float32) or super().pays_in_single(n_vectors)

    def _in_single(self) -> GramOperator:
        if "matrix" in vars(self):
            matrix = self.matrix.astype(np.float32)
        else:
            matrix = _accumulate(self.data, self.mean, self.scale, np.float32)
        return FormedGram(matrix, self.n_samples, self.scale)

    def _rough_pairs(self, count: int, tol: float) -> Spectrum | None:
        if tol < 1e-5:  # for steps that end in float64
            _ = self.matrix
        return super()._rough_pairs(count, tol)

    def _leading_pairs(self, count: int, tol: float) -> Spectrum:
        return leading_spectrum(self.matrix, count, tol)


class SparseGram(GramOperator):
    """``S = (X − 1cᵀ)ᵀ(X − 1cᵀ)`` for sparse X with column means c, or with weights and batches.

    The product is computed as ``Xᵀ(W − mean(W))`` with ``W = XV − 1(cᵀV)``: removing the mean of W makes
    the correction for the second factor vanish, so rounding grows with mean/std and not with its square,
    as it would in ``XᵀX − n c cᵀ``. X is never changed; a copy is made if it is not CSR with sorted indices
    and no duplicates.
    """

    def __init__(self, X: sparse.sparray | sparse.spmatrix, rows: RowInfo | None = None) -> None:
        self.data = canonical_csr(X)
        n_rows, self.n_features = self.data.shape
        self.shape, self.dtype = (self.n_features, self.n_features), self.data.dtype
        self.rows = RowInfo(np.ones(n_rows)) if rows is None else rows
        self.n_samples = self.rows.n_samples
        self.scale = power_of_two_near(float(np.abs(self.data.data).max(initial=0.0)), self.dtype)
        self.inner_scale = self.scale
        if is_extreme(self.scale, self.dtype):
            self.data = self.data * self.dtype.type(1 / self.scale)
            self.inner_scale = 1.0
        means = column_means(self.data)[None] if self.rows.is_plain else self.rows.means(self.data)
        self.means = means.astype(self.dtype)
        self.mean = self.means[0] * (self.scale / self.inner_scale) if self.rows.is_plain else None
        self._diagonal: NDArray | None = None
        self._fullest = int(np.bincount(self.data.indices, minlength=1).max(initial=0))
        self._by_column: sparse.csc_array | None = None

    def matmat(self, vectors: NDArray) -> NDArray:
        scores = np.asarray(self.data @ vectors)
        scores -= self.rows.expand(self.means @ vectors)
        scores -= self.rows.expand(self.rows.means(scores).astype(scores.dtype))
        scores *= 1 / self.inner_scale
        product = np.asarray(self.data.T @ self.rows.weighted(scores))
        product *= 1 / self.inner_scale
        return product

    def diag(self) -> NDArray:
        """Sum the squares of the centred columns over stored entries, and add those of the zeros."""
        if self._diagonal is None:
            mean = self.means.astype(np.float64) / self.inner_scale
            n_stored, columns = np.diff(self.data.indptr), self.data.indices
            batches, weights = np.repeat(self.rows.batches, n_stored), np.repeat(self.rows.weights, n_stored)
            squares = weights * (self.data.data / self.inner_scale - mean[batches, columns]) ** 2
            stored = np.bincount(columns, weights=squares, minlength=self.n_features)
            places = batches * self.n_features + columns
            stored_weight = np.bincount(places, weights=weights, minlength=mean.size).reshape(mean.shape)
            zeros = ((self.rows.batch_weights - stored_weight) * mean**2).sum(axis=0)
            self._diagonal = (stored + zeros).astype(self.dtype)
        return self._diagonal.copy()

    def columns(self, indices: NDArray) -> NDArray:
        """Return columns of S, from the stored entries alone if no column of X is more than half full.

        Then ``XᵀX − n c cᵀ`` subtracts at most half of a sum of squares, and loses no more than a digit.
        """
        if self.rows.is_plain and self._fullest <= self.n_samples // 2:
            if self._by_column is None:
                self._by_column = self.data.tocsc()
            chosen = self._by_column[:, indices]
            product = (chosen.T.tocsr() @ self.data).toarray().T
            product -= np.outer(self.means[0] * self.n_samples, self.means[0, indices])
            product *= 1 / self.inner_scale**2
            return product
        units = np.zeros((self.n_features, len(indices)), dtype=self.dtype)
        units[indices, np.arange(len(indices))] = 1
        return self.matmat(units)

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the block from dense, centred slices of the few columns named, row block by row block."""
        columns = self.data[:, indices].tocsr()
        mean = self.means[:, indices]
        gram = np.zeros((len(indices), len(indices)), dtype=self.dtype)
        for rows in row_blocks(self.data.shape[0], len(indices) * self.dtype.itemsize):
            block = columns[rows].toarray()
            block -= self.rows.expand(mean, rows)
            block *= 1 / self.inner_scale
            block = self.rows.rooted(block, rows)
            gram += block.T @ block
        return gram


def column_means(X: sparse.csr_array) -> NDArray:
    """Return column means of CSR without duplicates in float64, as exact as possible.

    A constant column gets exactly its value.
    """
    n_samples, n_features = X.shape
    n_stored = np.bincount(X.indices, minlength=n_features)
    if n_stored.max(initial=0) < n_samples:
        return np.bincount(X.indices, weights=X.data, minlength=n_features) / n_samples
    first = np.zeros(n_features)
    first[X.indices[::-1]] = X.data[::-1]
    # Columns stored in full are summed as differences to their first value: no digits lost to a large mean.
    first[n_stored < n_samples] = 0.0
    total = np.bincount(X.indices, weights=X.data - first[X.indices], minlength=n_features)
    return first + total / n_samples


class RestrictedGram(GramOperator):
    """The block ``S[features][:, features]`` of an operator, whose products go through the whole operator."""

    def __init__(self, whole: GramOperator, features: NDArray) -> None:
        self.whole, self.features = whole, features
        self.shape, self.dtype = (features.size, features.size), whole.dtype
        self.n_samples, self.scale = whole.n_samples, whole.scale
        self.mean = None if whole.mean is None else whole.mean[features]
        self.missing = whole.missing

    def matmat(self, vectors: NDArray) -> NDArray:
        spread = np.zeros((self.whole.shape[0], vectors.shape[1]), dtype=self.dtype, order="F")
        spread[self.features] = vectors
        return self.whole.matmat(spread)[self.features]

    def diag(self) -> NDArray:
        return self.whole.diag()[self.features]

    def columns(self, indices: NDArray) -> NDArray:
        return self.whole.columns(self.features[indices])[self.features]

    def subgram(self, indices: NDArray) -> NDArray:
        return self.whole.subgram(self.features[indices])


def correlations(gram: GramOperator, indices: NDArray) -> NDArray:
    """Return the correlations of all features with some, n_features × k; 0 for constant features.

    They are rounded to twelve digits, so that identical features have a correlation of 1.
    """
    deviations = np.sqrt(np.asarray(gram.diag(), dtype=np.float64))
    varying = deviations > 0
    weights = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varying)
    products = np.asarray(gram.columns(indices), dtype=np.float64)
    return np.round(np.clip(products * weights[:, None] * weights[indices], -1, 1), 12)


def gram_operator(X: Any, *, copy: bool = True, rows: RowInfo | None = None) -> GramOperator:
    """Build the centred Gram operator of validated data in the representation that suits them.

    For n_features up to about n_samples, and up to about 1,000 to 2,000 if ``copy`` is False, S of dense
    data is accumulated from centred blocks of rows, so that no centred copy of the data exists. Otherwise one
    centred copy is kept as the factor, unless ``copy`` is False and the means are of the order of the spread:
    then the data are used as they are and products are centred. Sparse data are never made dense.

    X holds floats without infinities; NaN marks a missing entry.
    """
    from ufselect.gram.missing import pairwise_gram, pairwise_sums, weighted_gram  # builds on the classes

    is_sparse = sparse.issparse(X)
    n_rows, n_features = X.shape
    if has_missing(X.data if is_sparse else X):
        rows = RowInfo(np.ones(n_rows)) if rows is None else rows
        if not is_sparse:
            return weighted_gram(X, rows)
        if n_features > 10_000:  # as for data outside memory: S is formed, and all its eigenvalues are needed
            raise ValueError(
                f"X is sparse with missing values and {n_features} features; with more than 10000 features, "
                "fill in the missing values first."
            )
        parts = [np.flatnonzero(rows.batches == batch) for batch in range(rows.n_batches)]
        csr = X.tocsr()
        return pairwise_gram(pairwise_sums(csr[part], rows.weights[part]) for part in parts)
    if is_sparse:
        return SparseGram(X, rows)
    if rows is not None:
        return weighted_gram(X, rows)
    mean, scale = centre_and_scale(X)
    # With few products, about 25 with 10 vectors and 60 with one, forming S is cheaper up to these widths.
    widest = np.inf if copy else 1100 * (2 - n_features / n_rows)
    forms = n_features <= min(FORM_RATIO * n_rows, widest)
    # A mean of at most eight times the spread costs no more than a digit in products that are centred later.
    if not copy and np.abs(mean).max() <= 8 * scale and not is_extreme(scale, X.dtype):
        return TallGram(X, mean, scale) if forms else ImplicitGram(X, mean, scale)
    if forms:
        return FormedGram(_accumulate(X, mean, scale, X.dtype), n_rows, scale, mean)
    return FactoredGram(_centred_copy(X, mean, scale, X.dtype), n_rows, scale, mean)


def _centred_copy(X: NDArray, mean: NDArray, scale: float, dtype: DTypeLike) -> NDArray:
    """Return the centred data over their scale, rounded to a type at the end."""
    centred = np.empty(X.shape, dtype=dtype)
    for rows in row_blocks(len(X), X.shape[1] * X.itemsize, min_rows=1):  # while they are in the cache
        block = X[rows] - mean
        np.multiply(block, 1 / scale, out=centred[rows], casting="same_kind")
    return centred


def _accumulate(X: NDArray, mean: NDArray, scale: float, dtype: DTypeLike) -> NDArray:
    """Return S, computed in ``dtype``."""
    if X.nbytes <= 2**24:  # NumPy's own product is faster if a copy is small
        centred = _centred_copy(X, mean, scale, dtype)
        return centred.T @ centred
    n_samples, n_features = X.shape
    gram = np.zeros((n_features, n_features), dtype=dtype, order="F")
    (syrk,) = get_blas_funcs(("syrk",), (gram,))
    for rows in row_blocks(n_samples, n_features * X.itemsize):
        block = np.subtract(X[rows], mean, order="C")
        block = np.multiply(block, 1 / scale, dtype=dtype, casting="same_kind")
        gram = syrk(1.0, block.T, beta=1.0, c=gram, overwrite_c=True)
    for start in range(0, n_features, 256):  # a square of 256 stays in the cache while it is transposed
        stop = min(start + 256, n_features)
        corner = gram[start:stop, start:stop]
        diagonal = corner.diagonal().copy()
        corner += corner.T.copy()
        np.fill_diagonal(corner, diagonal)
        gram[stop:, start:stop] = gram[start:stop, stop:].T
    return gram.T  # symmetric: the transpose only turns Fortran order into C order


def device_gram(X: Any, xp: Any, block_bytes: int = 2**26) -> FormedGram | None:
    """Form S of validated rows on their device and return it, n_features² numbers, to NumPy.

    Eigenpairs, sorting and iterations then run in NumPy. None for more columns than rows, since S would be
    larger than the data, and for missing values. X is in single or double precision, in any library ``xp``
    that follows the array API standard, without infinities; ``block_bytes`` is for a centred block of rows.
    """
    n_rows, n_features = X.shape
    if n_features > FORM_RATIO * n_rows or bool(xp.any(xp.isnan(X))):
        return None
    itemsize = xp.finfo(X.dtype).bits // 8
    blocks = list(row_blocks(n_rows, n_features * itemsize, block_bytes))
    # About the first row, so that no digits are lost to large means.
    first, largest = X[:1, :], 0.0
    shift = xp.zeros_like(first)
    for rows in blocks:
        difference = X[rows, :] - first
        shift = shift + xp.sum(difference, axis=0, keepdims=True) / n_rows
        largest = max(largest, float(xp.max(xp.abs(difference))))
    scale = power_of_two_near(largest, np.float32 if itemsize == 4 else np.float64)
    matrix: Any = 0.0
    for rows in blocks:
        centred = (X[rows, :] - first - shift) * (1 / scale)
        matrix = xp.matmul(centred.T, centred) + matrix
    mean = as_numpy(first)[0].astype(np.float64) + as_numpy(shift)[0]
    return FormedGram(as_numpy(matrix), int(n_rows), scale, mean.astype(as_numpy(first).dtype))
