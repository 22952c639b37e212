"""Columns that are exact copies of each other, found in one pass over the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram.centring import row_blocks

PART_BYTES = 2**26
HASH_SEED = 20240917  # any will do: a collision only costs a comparison


def identical_columns(X: Any) -> list[NDArray]:
    """Return the sets of identical columns, each as indices in order, by first column.

    Each column gets a hash of its bits; only columns with equal hashes are compared, so that the cost is
    linear in the size of the data.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Floating-point data; −0 equals 0.
    """
    X = sparse.csc_array(X) if sparse.issparse(X) else X
    hashes = _sparse_hashes(X) if sparse.issparse(X) else _dense_hashes(X)
    _, codes, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    buckets = np.split(order, np.cumsum(counts)[:-1])
    found = [same for bucket in buckets if bucket.size > 1 for same in _equal_sets(X, bucket)]
    return sorted(found, key=lambda same: int(same[0]))


def _bits(values: NDArray) -> NDArray:
    """Return the bits of numbers as integers, those of −0 as those of 0."""
    positive = np.ascontiguousarray(values + 0.0)
    return positive.view(np.uint64 if positive.itemsize == 8 else np.uint32).astype(np.uint64)


def _row_weights(n_rows: int) -> NDArray:
    return np.random.default_rng(HASH_SEED).integers(1, 2**63, n_rows, dtype=np.uint64) * 2 + 1


def _mixed(bits: NDArray) -> NDArray:
    """Spread high bits over low ones: trailing zeros of round numbers would stay zeros in every product."""
    return bits ^ (bits >> np.uint64(32)) ^ (bits >> np.uint64(47))


def _dense_hashes(X: NDArray) -> NDArray:
    """Sum the bits of each column with random odd weights, modulo 2⁶⁴."""
    weights = _row_weights(X.shape[0])
    total = np.zeros(X.shape[1], dtype=np.uint64)
    for rows in row_blocks(X.shape[0], X.shape[1] * 8):
        total += (_mixed(_bits(X[rows])) * weights[rows, None]).sum(axis=0)
    return total


def _sparse_hashes(X: Any) -> NDArray:
    columns = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    total = np.zeros(X.shape[1], dtype=np.uint64)
    np.add.at(total, columns, _mixed(_bits(X.data)) * _row_weights(X.shape[0])[X.indices])
    return total


def _equal_sets(X: Any, bucket: NDArray) -> list[NDArray]:
    """Split columns with one hash into sets that are equal indeed."""
    sets = []
    while bucket.size > 1:
        first = _column_bits(X, bucket[:1])
        equal = np.concatenate(
            [np.all(_column_bits(X, part) == first, axis=0) for part in _parts(bucket, X.shape[0])]
        )
        if np.count_nonzero(equal) > 1:
            sets.append(bucket[equal])
        bucket = bucket[~equal]
    return sets


def _column_bits(X: Any, columns: NDArray) -> NDArray:
    block = X[:, columns]
    return _bits(block.toarray() if sparse.issparse(block) else block)


def _parts(columns: NDArray, n_rows: int) -> list[NDArray]:
    """Cut columns into parts that are small in memory, however many are all zero."""
    step = max(1, PART_BYTES // (8 * n_rows))
    return [columns[start : start + step] for start in range(0, columns.size, step)]
