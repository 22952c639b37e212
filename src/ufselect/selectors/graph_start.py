"""A start of DSCOFS from vectors that are smooth on a graph of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.common.seeds import generator
from ufselect.gram import GramOperator
from ufselect.graphs.score_graph import centred_basis, score_graph, score_widths, smooth_vectors
from ufselect.sets import stiefel

# The graph takes n² operations; more rows hardly change its smooth vectors.
MAX_ROWS = 2000


def graph_start(X: Any, gram: GramOperator, n_components: int) -> NDArray:
    r"""Return loadings from which the smooth vectors of the whitened neighbour graph can be predicted.

    Samples are joined with their 5 nearest neighbours in the leading m, 1.5 m and 2 m whitened scores. The m
    smoothest vectors U of that graph are regressed on the standardised features Z by ridge regression with
    the mean non-zero eigenvalue of :math:`Z Z^\top` as penalty; the nearest orthonormal matrix is the start.

    Raises
    ------
    ValueError
        If values are missing, or if the graph has fewer smooth vectors than components.
    """
    if not np.all(np.isfinite(X.data if sparse.issparse(X) else X)):
        raise ValueError('init="graph" needs rows without missing values; fill them in or use init="pca".')
    X = X if X.shape[0] <= MAX_ROWS else X[np.sort(generator(0).choice(X.shape[0], MAX_ROWS, replace=False))]
    matrix, mean = _rows(X)
    widths = score_widths(n_components, min(matrix.shape[0] - 1, matrix.shape[1]))
    axes = np.asarray(gram.eigenpairs(max(widths)).vectors, dtype=np.float64)
    scores = np.asarray(matrix @ axes) - mean @ axes
    scores /= np.linalg.norm(scores, axis=0)
    graph = score_graph(scores, [min(width, scores.shape[1]) for width in widths])
    basis = centred_basis(smooth_vectors(graph, n_components + 1)[1])[:, :n_components]
    if basis.shape[1] < n_components:
        raise ValueError(
            f'init="graph" finds {basis.shape[1]} smooth vectors for n_components={n_components}; '
            f"choose at most {basis.shape[1]} components."
        )
    return regressed_start(matrix, mean, _squares(matrix, mean), basis, ridge=1.0)


def regressed_start(matrix: Any, mean: NDArray, squares: NDArray, targets: NDArray, ridge: float) -> NDArray:
    r"""Return the orthonormal matrix nearest to the coefficients of targets on standardised features.

    .. math:: W = Z^\top \Bigl(Z Z^\top + \rho \tfrac{\|Z\|_F^2}{\min(n, d)} I\Bigr)^{-1} U,

    or :math:`Z^\top U`, the correlations, for infinite ρ.

    Parameters
    ----------
    matrix : ndarray or CSR array of shape (n_samples, n_features)
        The data.
    mean, squares : ndarray of shape (n_features,)
        Means of the columns, and the sums of squares about them.
    targets : ndarray of shape (n_samples, n_targets)
        The orthonormal, centred vectors U.
    ridge : float
        The penalty ρ.
    """
    inverse = np.divide(1, np.sqrt(squares), where=squares > 0, out=np.zeros_like(squares))
    pulled = targets if np.isinf(ridge) else _ridge_solution(matrix, mean, inverse, targets, ridge)
    coefficients = np.asarray(matrix.T @ pulled) - np.outer(mean, pulled.sum(axis=0))
    return stiefel.project(coefficients * inverse[:, None])


def _ridge_solution(matrix: Any, mean: NDArray, inverse: NDArray, targets: NDArray, ridge: float) -> NDArray:
    """Solve with the Gram matrix of the standardised rows."""
    scaled = matrix * inverse if not sparse.issparse(matrix) else matrix @ sparse.diags_array(inverse)
    kernel = scaled @ scaled.T
    kernel = kernel.toarray() if sparse.issparse(kernel) else kernel
    shift = scaled @ (mean * inverse)
    kernel += float(np.square(mean * inverse).sum()) - shift[:, None] - shift
    penalty = ridge * np.trace(kernel) / min(matrix.shape)
    kernel[np.diag_indices_from(kernel)] += penalty
    return linalg.solve(kernel, targets, assume_a="pos", check_finite=False)


def _rows(X: Any) -> tuple[Any, NDArray]:
    """Return float64 rows, centred if dense, and the means of their columns."""
    if sparse.issparse(X):
        matrix = sparse.csr_array(X, dtype=np.float64)
        return matrix, np.asarray(matrix.mean(axis=0)).ravel()
    return np.asarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float64), np.zeros(X.shape[1])


def _squares(matrix: Any, mean: NDArray) -> NDArray:
    """Return the sum of squares of each column about its mean."""
    if not sparse.issparse(matrix):
        return np.square(matrix - mean).sum(axis=0)
    raw = np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel()
    return np.maximum(raw - matrix.shape[0] * mean**2, 0)
