"""Units of several features: their blocks of the Gram matrix, and what each unit would add."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.sets.units import Units


def gram_blocks(gram: GramOperator, units: Units) -> list[NDArray]:
    """Return the block of S of each unit, an array for each batch of units of one size."""
    return [
        np.array([gram.subgram(rows) for rows in members], dtype=np.float64) for _, members in units.batches
    ]


def squared_blocks(gram: GramOperator, units: Units) -> list[NDArray]:
    """Return the block of S² of each unit, as `gram_blocks` does."""
    return [np.array([_squared_block(gram, rows) for rows in members]) for _, members in units.batches]


def _squared_block(gram: GramOperator, rows: NDArray) -> NDArray:
    columns = np.asarray(gram.columns(rows), dtype=np.float64)
    return columns.T @ columns


def outer(vectors: NDArray) -> NDArray:
    """Return the outer product of each row with itself."""
    return vectors[:, :, None] * vectors[:, None, :]


def crossed(left: NDArray, right: NDArray) -> NDArray:
    """Return the outer products of the rows of two arrays, both ways round, added."""
    products = left[:, :, None] * right[:, None, :]
    return products + products.transpose(0, 2, 1)


def block_gains(variances: NDArray, products: NDArray, floors: NDArray) -> NDArray:
    r"""Return :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})` of each unit G: what it adds to the explained target.

    Parameters
    ----------
    variances : ndarray of shape (n_units, size, size)
        The blocks of R, what is left of S.
    products : ndarray of shape (n_units, size, size)
        The blocks of N, inner products of what is left through the target.
    floors : ndarray of shape (n_units,)
        Eigenvalues of R up to which a direction counts as spanned.
    """
    values, vectors = np.linalg.eigh(variances)
    seen = np.sum(vectors * (products @ vectors), axis=1)
    outside = values > floors[:, None]
    return np.sum(np.where(outside, np.maximum(seen, 0) / np.where(outside, values, 1.0), 0.0), axis=1)
