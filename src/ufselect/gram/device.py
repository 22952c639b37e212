"""The Gram matrix of arrays of other libraries, formed where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufselect._utils.arrays import row_blocks
from ufselect._utils.validation import as_numpy
from ufselect.gram.centring import power_of_two_near
from ufselect.gram.operator import FORM_RATIO, FormedGram


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
