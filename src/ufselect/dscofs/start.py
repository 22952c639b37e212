"""The start of DSCOFS: PCA loadings, a random or given matrix, or loadings from a neighbour graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import linalg, sparse

from ufselect._utils.arrays import is_orthonormal, polar_factor, random_orthonormal
from ufselect._utils.validation import generator
from ufselect.gram import GramOperator, Spectrum
from ufselect.graphs.score_graph import centred_basis, score_graph, score_widths, smooth_vectors


@dataclass(frozen=True)
class Start:
    """A point with orthonormal columns and what is known about it.

    ``product`` is S @ point if it is known. ``is_informed`` marks points that already follow the data
    (loadings, an earlier solution); others get a first step without sparsity.
    """

    point: NDArray
    product: NDArray | None = None
    is_informed: bool = False

    def astype(self, dtype: DTypeLike) -> Start:
        """Return the start in another precision."""
        product = None if self.product is None else self.product.astype(dtype)
        return Start(self.point.astype(dtype), product, self.is_informed)


def pca_start(spectrum: Spectrum) -> Start:
    """Return the leading loadings, whose products with S are known."""
    return Start(spectrum.vectors, spectrum.vectors * spectrum.values, is_informed=True)


def best_random_start(gram: GramOperator, n_components: int, n_init: int, rng: np.random.Generator) -> Start:
    """Return, of ``n_init`` random orthonormal matrices, the one with the largest ``Tr(XᵀSX)``."""
    points = (random_orthonormal(gram.shape[0], n_components, rng) for _ in range(n_init))
    points = (point.astype(gram.dtype, copy=False) for point in points)
    starts = (Start(point, gram.matmat(point)) for point in points)
    return max(starts, key=lambda start: float(np.vdot(start.point, start.product)))


def given_start(point: NDArray, n_components: int, dtype: np.dtype) -> Start:
    """Return a user's starting point, one row per feature, in working precision."""
    point = point.astype(dtype)
    if point.shape[1:] != (n_components,):
        raise ValueError(
            f"init has shape {point.shape}; it must be (n_features, n_components) = "
            f"({len(point)}, {n_components})."
        )
    # Columns that float32 or printing has rounded are made exactly orthonormal.
    if not np.all(np.isfinite(point)) or not is_orthonormal(point, tol=1e-3):
        raise ValueError("The columns of init are not orthonormal; pass np.linalg.qr(init)[0] instead.")
    return Start(polar_factor(point))


def graph_start(X: Any, gram: GramOperator, n_components: int) -> NDArray:
    r"""Return loadings from which the smooth vectors of the whitened neighbour graph can be predicted.

    Samples are joined with their 5 nearest neighbours in the leading m, 1.5 m and 2 m whitened scores. The m
    smoothest vectors U of that graph are regressed on the standardised features Z by ridge regression with
    the mean non-zero eigenvalue of :math:`Z Z^\top` as penalty; the nearest orthonormal matrix is the start.
    The graph takes n² operations, and more than 2000 rows hardly change its smooth vectors.
    """
    if not np.all(np.isfinite(X.data if sparse.issparse(X) else X)):
        raise ValueError('init="graph" needs rows without missing values; fill them in or use init="pca".')
    if X.shape[0] > 2000:
        X = X[np.sort(generator(0).choice(X.shape[0], 2000, replace=False))]
    matrix: Any
    if sparse.issparse(X):
        matrix = sparse.csr_array(X, dtype=np.float64)
        mean = np.asarray(matrix.mean(axis=0)).ravel()
        squares = np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel()
        squares = np.maximum(squares - matrix.shape[0] * mean**2, 0)
    else:
        matrix = np.asarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float64)
        mean, squares = np.zeros(X.shape[1]), np.square(matrix).sum(axis=0)
    widths = score_widths(n_components, min(matrix.shape[0] - 1, matrix.shape[1]))
    axes = np.asarray(gram.eigenpairs(max(widths)).vectors, dtype=np.float64)
    scores = np.asarray(matrix @ axes) - mean @ axes
    scores /= np.linalg.norm(scores, axis=0)
    graph = score_graph(scores, [min(width, scores.shape[1]) for width in widths])
    basis = centred_basis(smooth_vectors(graph, n_components + 1)[1])[:, :n_components]
    if basis.shape[1] < n_components:
        raise ValueError(
            f'init="graph" found {basis.shape[1]} smooth vectors for n_components={n_components}; '
            f"use at most {basis.shape[1]} components."
        )
    return regressed_start(matrix, mean, squares, basis)


def regressed_start(matrix: Any, mean: NDArray, squares: NDArray, targets: NDArray) -> NDArray:
    r"""Return the orthonormal matrix nearest to the coefficients of targets on standardised features.

    .. math:: W = Z^\top \Bigl(Z Z^\top + \tfrac{\|Z\|_F^2}{\min(n, d)} I\Bigr)^{-1} U

    The ``targets`` U are orthonormal and centred; ``squares`` are sums of squares about the means.
    """
    inverse = np.divide(1, np.sqrt(squares), where=squares > 0, out=np.zeros_like(squares))
    is_sparse = sparse.issparse(matrix)
    scaled = matrix @ sparse.diags_array(inverse) if is_sparse else matrix * inverse
    kernel = (scaled @ scaled.T).toarray() if is_sparse else scaled @ scaled.T
    shift = scaled @ (mean * inverse)
    kernel += float(np.square(mean * inverse).sum()) - shift[:, None] - shift
    kernel[np.diag_indices_from(kernel)] += np.trace(kernel) / min(matrix.shape)
    targets = linalg.solve(kernel, targets, assume_a="pos", check_finite=False)
    coefficients = np.asarray(matrix.T @ targets) - np.outer(mean, targets.sum(axis=0))
    return polar_factor(coefficients * inverse[:, None])
