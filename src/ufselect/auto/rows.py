"""The rows by which columns are judged: dense ones centred, sparse ones as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.centring import centre_and_scale, power_of_two_near
from ufselect.gram.sparse import column_means


@dataclass(frozen=True)
class Rows:
    """Data as products need them; sparse data are never made dense.

    Attributes
    ----------
    matrix : ndarray or CSR array of shape (n_samples, n_features)
        float64 data over a power of two; less their means if dense.
    mean : ndarray of shape (n_features,)
        Means of the columns of ``matrix``: zero where it is centred.
    gram : GramOperator
        S of the centred data.
    shift, unit : ndarray and float
        What was taken off each column of the data, and by what they were divided.
    """

    matrix: Any
    mean: NDArray
    gram: GramOperator
    shift: NDArray
    unit: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    def project(self, vectors: NDArray) -> NDArray:
        """Return the centred data times some vectors."""
        return np.asarray(self.matrix @ vectors) - self.mean @ vectors

    def explained_by(self, targets: NDArray) -> NDArray:
        """Return centred targets, one per column, times the data."""
        return np.asarray(targets.T @ self.matrix)

    def cluster_means(self, labels: NDArray) -> NDArray:
        """Return the mean of each cluster, one per row, of the centred data."""
        sizes = np.bincount(labels)
        return np.asarray(np.eye(sizes.size)[labels].T @ self.matrix) / sizes[:, None] - self.mean

    def squares(self) -> NDArray:
        """Return the sum of squares of each centred column."""
        if sparse.issparse(self.matrix):
            return np.asarray(self.gram.diag(), dtype=np.float64) * self.gram.scale**2
        return np.einsum("ij,ij->j", self.matrix, self.matrix)

    def columns(self, features: NDArray) -> NDArray:
        """Return some columns as a dense array; where they lie in space does not matter."""
        chosen = self.matrix[:, features]
        return chosen.toarray() if sparse.issparse(chosen) else np.ascontiguousarray(chosen)

    def points(self, features: NDArray) -> NDArray:
        """Return coordinates of the rows with the distances that they have in some columns.

        They are the columns, or as many coordinates as rows in place of more sparse columns.
        """
        if not sparse.issparse(self.matrix) or features.size <= self.shape[0]:
            return self.columns(features)
        chosen, mean = self.matrix[:, features], self.mean[features]
        beside = np.asarray(chosen @ mean)
        inner = (chosen @ chosen.T).toarray()
        rounding = len(inner) * np.finfo(np.float64).eps * np.trace(inner)
        inner += mean @ mean - beside[:, None] - beside
        # Centred rows are dependent, and large means leave rounding in their products; as much more on the
        # diagonal moves all rows alike.
        inner[np.diag_indices_from(inner)] += rounding
        return linalg.cholesky(inner, lower=True, check_finite=False, overwrite_a=True)

    def project_others(self, X: Any, vectors: NDArray) -> NDArray:
        """Return other rows of the same table, less the means of these and in their units, times vectors."""
        if sparse.issparse(X):
            return np.asarray(X.astype(np.float64) / self.unit @ vectors) - self.mean @ vectors
        return np.asarray((X - self.shift) / self.unit, dtype=np.float64) @ vectors - self.mean @ vectors


def rows_of(X: Any) -> Rows:
    """Return validated data as rows to judge by."""
    if sparse.issparse(X):
        unit = unit_of(X)
        matrix = sparse.csr_array(X, dtype=np.float64) / unit
        shift = np.zeros(matrix.shape[1])
        return Rows(matrix, column_means(matrix), gram_operator(matrix), shift, unit)
    mean, scale = centre_and_scale(X)
    matrix = np.asarray((X - mean) / scale, dtype=np.float64)
    return Rows(matrix, np.zeros(matrix.shape[1]), gram_operator(matrix), mean, scale)


def unit_of(X: Any) -> float:
    """Return a power of two that brings data near 1, so that sums of squares stay in range."""
    if sparse.issparse(X):
        return power_of_two_near(float(np.abs(X.data).max(initial=0.0)))
    return centre_and_scale(X)[1]
