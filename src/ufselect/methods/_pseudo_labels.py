"""What NDFS and RUFS share: labels from K-means, and rows of coefficients that predict them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.cluster import KMeans

from ufselect.exceptions import ConstantDataError
from ufselect.gram import gram_operator
from ufselect.gram.centring import centre_and_scale, power_of_two_near
from ufselect.gram.sparse import column_means
from ufselect.gram.spectrum import auto_n_components

EPSILON = float(np.finfo(np.float64).eps)  # under the roots of squared norms, as published


def row_norms(matrix: NDArray) -> NDArray:
    r"""Return the smoothed norms :math:`\sqrt{\|w_j\|^2 + \varepsilon}` of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix) + EPSILON)


class CentredRows:
    """Centred data; rows of mean squared norm 1, so that penalties mean the same; sparse data stay sparse."""

    def __init__(self, X: Any) -> None:
        if sparse.issparse(X):
            size = power_of_two_near(float(np.abs(X.data).max(initial=0.0)))
            self.data = X.astype(np.float64) * (1 / size)
            self.mean = column_means(self.data)
        else:
            mean, size = centre_and_scale(X)
            self.data = (X - mean).astype(np.float64, copy=False) / size
            self.mean = np.zeros(X.shape[1])
        self.shape = self.data.shape
        unit = np.sqrt(self.squared_norms().mean())
        if not unit > 0:
            raise ConstantDataError
        self.data, self.mean = self.data / unit, self.mean / unit

    def squared_norms(self) -> NDArray:
        """Return the squared norm of each row."""
        if not sparse.issparse(self.data):
            return np.einsum("ij,ij->i", self.data, self.data)
        squares = np.asarray(self.data.multiply(self.data).sum(axis=1)).ravel()
        return np.clip(squares - 2 * (self.data @ self.mean) + self.mean @ self.mean, 0, None)

    def times(self, vectors: NDArray) -> NDArray:
        """Return ``A @ vectors`` for the centred data A."""
        return np.asarray(self.data @ vectors) - self.mean @ vectors

    def transposed_times(self, vectors: NDArray) -> NDArray:
        """Return ``A.T @ vectors``."""
        return np.asarray(self.data.T @ vectors) - np.outer(self.mean, vectors.sum(axis=0))

    @cached_property
    def gram(self) -> NDArray:
        """The products of the columns, ``AᵀA``."""
        return self.weighted_gram(np.ones(self.shape[0]))

    def weighted_gram(self, weights: NDArray) -> NDArray:
        """Return ``Aᵀ diag(weights) A`` for weights of the rows."""
        if not sparse.issparse(self.data):
            scaled = self.data * np.sqrt(weights)[:, None]
            return scaled.T @ scaled
        weighted = self.data.multiply(weights[:, None]).tocsr()
        shift = np.outer(self.mean, weighted.sum(axis=0))
        gram = (self.data.T @ weighted).toarray() - shift - shift.T
        gram += weights.sum() * np.outer(self.mean, self.mean)
        return gram

    def row_gram(self, roots: NDArray) -> NDArray:
        """Return ``A R² Aᵀ``."""
        if not sparse.issparse(self.data):
            scaled = self.data * roots
            return scaled @ scaled.T
        scaled, mean = self.data @ sparse.diags_array(roots), self.mean * roots
        shift = scaled @ mean
        return (scaled @ scaled.T).toarray() - shift - shift[:, None] + mean @ mean


class RowSparseRegression:
    r"""The quadratic that touches a row-sparse regression from above, ready to be solved for any labels.

    .. math::

        \min_W\; \sum_i b_i \|x_i^\top W - f_i\|^2 + \beta \sum_j \frac{\|w_j\|^2}{2 \rho_j}

    With :math:`\rho_j` the smoothed row norms of the last W this is at least
    :math:`\sum_i b_i \|x_i^\top W - f_i\|^2 + \beta \|W\|_{2,1}` up to a constant. A system of n or of d
    equations is factored, whichever is the smaller; :math:`\sqrt{2\rho}` scales it, so that rows which vanish
    do no harm. ``weights`` are b, 1 by default.
    """

    def __init__(
        self, rows: CentredRows, norms: NDArray, beta: float, weights: NDArray | None = None
    ) -> None:
        self.rows = rows
        self.roots = np.sqrt(2 * norms)
        self.weights = np.ones(rows.shape[0]) if weights is None else weights
        self.is_wide = rows.shape[0] < rows.shape[1]
        if self.is_wide:
            # In the units of √b, in which large weights of rows do no harm either.
            self.row_roots = np.sqrt(self.weights)
            matrix = rows.row_gram(self.roots) * self.row_roots * self.row_roots[:, None]
        else:
            gram = rows.gram if weights is None else rows.weighted_gram(weights)
            matrix = gram * self.roots * self.roots[:, None]
        # beta is not taken smaller than rounding allows
        matrix[np.diag_indices_from(matrix)] += max(beta, 1e-12 * float(matrix.trace()))
        self.factor = linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)

    def solve(self, labels: NDArray) -> NDArray:
        """Return W for these labels F."""
        if self.is_wide:
            solved = linalg.cho_solve(self.factor, labels * self.row_roots[:, None], check_finite=False)
            return self.roots[:, None] ** 2 * self.rows.transposed_times(solved * self.row_roots[:, None])
        right = self.roots[:, None] * self.rows.transposed_times(labels * self.weights[:, None])
        return self.roots[:, None] * linalg.cho_solve(self.factor, right, check_finite=False)


def label_count(n_clusters: int | str, X: Any) -> int:
    """Return the number of clusters, from the variance of the components where it is ``"auto"``."""
    if isinstance(n_clusters, str):
        return min(max(2, auto_n_components(gram_operator(X))), X.shape[0])
    if n_clusters > X.shape[0]:
        raise ValueError(f"n_clusters={n_clusters} is more than the {X.shape[0]} rows of X; lower it.")
    return int(n_clusters)


def kmeans_labels(X: Any, n_clusters: int, rng: np.random.Generator) -> NDArray:
    """Return the normalised indicator of the clusters of K-means, raised a little so that no entry is 0.

    A product with a positive number cannot move an entry away from 0.
    """
    clusters = KMeans(n_clusters, n_init=10, random_state=int(rng.integers(2**31))).fit(X).labels_
    indicator = np.eye(n_clusters)[clusters]
    return normalised(indicator / np.sqrt(np.maximum(indicator.sum(axis=0), 1)) + 0.02)


def normalised(labels: NDArray) -> NDArray:
    """Return the columns divided by their norms."""
    return labels / np.linalg.norm(labels, axis=0)


def orthogonality_penalty(labels: NDArray) -> float:
    r"""Return :math:`\|F^\top F - I\|_F^2`."""
    return float(np.sum(np.square(labels.T @ labels - np.eye(labels.shape[1]))))


def multiplicative_step(
    labels: NDArray, slope: NDArray, weight: float, value: Callable[[NDArray], float]
) -> NDArray:
    r"""Return non-negative labels with a lower value, or the same ones.

    For :math:`h(F) + \tfrac{\gamma}{2} \|F^\top F - I\|_F^2` the published rule multiplies each entry by
    :math:`\gamma F / (\tfrac12 \nabla h + \gamma F F^\top F)` and normalises the columns. Where that would
    raise the value a root of the factor is taken, which is a shorter step the same way. ``slope`` is half
    the gradient of h, ``weight`` :math:`\gamma` and ``value`` the function, penalty included.
    """
    above = weight * labels
    below = slope + above @ (labels.T @ labels)
    # Entries that have become 0 stay 0.
    factor = np.divide(above, np.maximum(below, above / 16), out=np.ones_like(labels), where=labels > 0)
    last = value(labels)
    for halvings in range(8):
        moved = normalised(labels * factor ** (0.5**halvings))
        if value(moved) < last:
            return moved
    return labels
