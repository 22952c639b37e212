"""The positive and negative parts of a Gram matrix, as multiplicative updates need them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FORMED_ORDER = 5792  # in single precision 128 MB; a larger matrix is built by blocks each time
BLOCK_BYTES = 2**25  # of a block of rows, small beside the matrix and large beside a call


class SignedGram:
    """The positive and negative parts of ``RᵀR``, in single precision.

    They only enter factors that correct themselves from step to step, and single precision halves the time.
    The positive part is kept where it is no larger than the data or than 5792 × 5792, and built by blocks of
    rows each time otherwise. The negative part is kept for tall data only: for wide data a product with it is
    that with the positive part less one with the few rows of R and its transpose.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples, n_features)
        The matrix R.
    """

    def __init__(self, residuals: NDArray) -> None:
        self.residuals = residuals.astype(np.float32)
        n_samples, n_features = residuals.shape
        self._positive = self._negative = None
        if n_features <= max(n_samples, FORMED_ORDER):
            gram = self.residuals.T @ self.residuals
            self._positive = np.maximum(gram, 0)
            if n_features < 2 * n_samples:
                self._negative = np.maximum(-gram, 0)

    def products(self, H: NDArray) -> tuple[NDArray, NDArray]:
        """Return the products of the positive and of the negative part with H."""
        H = H.astype(np.float32)
        positive = self._positive_product(H)
        if self._negative is not None:
            return positive, self._negative @ H
        return positive, np.maximum(positive - self.residuals.T @ (self.residuals @ H), 0)

    def _positive_product(self, H: NDArray) -> NDArray:
        if self._positive is not None:
            return self._positive @ H
        product = np.empty_like(H)
        step = max(1, BLOCK_BYTES // (4 * H.shape[0]))
        for start in range(0, H.shape[0], step):
            rows = slice(start, start + step)
            product[rows] = np.maximum(self.residuals[:, rows].T @ self.residuals, 0) @ H
        return product

    def pull(self, multiplier: NDArray) -> NDArray:
        """Return ``Rᵀ`` times an array."""
        return self.residuals.T @ multiplier.astype(np.float32)

    def block(self, indices: NDArray) -> NDArray:
        """Return the rows and columns of ``RᵀR`` at the indices."""
        if self._positive is None or self._negative is None:
            columns = self.residuals[:, indices]
            return columns.T @ columns
        square = np.ix_(indices, indices)
        return self._positive[square] - self._negative[square]
