"""Whether the index arrays of a sparse matrix are sound; compiled code trusts them and crashes if not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def sparse_damage(matrix: Any) -> str | None:
    """Say what is wrong with a sparse matrix, or return None; nothing of it is changed.

    Unlike SciPy's ``check_format`` it neither prunes nor converts the arrays of the matrix.
    """
    if matrix.format not in ("csr", "csc", "bsr"):
        return None  # the others check their indices when they are made
    n_major, n_minor = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        n_major, n_minor = n_major // matrix.blocksize[0], n_minor // matrix.blocksize[1]
    if matrix.data.ndim != (3 if matrix.format == "bsr" else 1):
        return f"its values have {matrix.data.ndim} dimensions"
    n_values, n_indices = len(matrix.data), matrix.indices.size
    if n_values != n_indices:
        return f"it stores {n_values} values and {n_indices} indices"
    return pointer_damage(matrix.indptr, n_major, n_values) or index_damage(
        matrix.indices[: int(matrix.indptr[-1])], n_minor
    )


def pointer_damage(indptr: Any, n_rows: int, n_entries: int) -> str | None:
    """Say what is wrong with the row pointers of a compressed matrix, or return None."""
    if np.ndim(indptr) != 1 or indptr.dtype.kind not in "iu":
        return "its indptr is not a list of whole numbers"
    if indptr.size != n_rows + 1:
        return f"its indptr has {indptr.size} entries where its shape needs {n_rows + 1}"
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        return "its indptr does not ascend from 0"
    if indptr[-1] > n_entries:
        return f"its indptr ends at {indptr[-1]}, but only {n_entries} entries are stored"
    return None


def index_damage(indices: Any, n_columns: int) -> str | None:
    """Say what is wrong with the column indices of a compressed matrix, or return None."""
    if np.ndim(indices) != 1 or indices.dtype.kind not in "iu":
        return "its indices are not a list of whole numbers"
    if indices.size and not (indices.min() >= 0 and indices.max() < n_columns):
        return f"its indices point outside the {n_columns} places that its shape has"
    return None


def check_sparse(matrix: Any, name: str) -> None:
    """Refuse a sparse matrix whose index arrays would lead compiled code astray.

    Raises
    ------
    ValueError
        If they do; the message begins with ``name``.
    """
    damage = sparse_damage(matrix) if sparse.issparse(matrix) else None
    if damage is not None:
        raise ValueError(f"{name} is a damaged sparse matrix: {damage}; build or read it again.")


def canonical_csr(matrix: Any) -> sparse.csr_array:
    """Return CSR with sorted indices and no duplicates that shares the matrix's arrays where they are so.

    The matrix given is never changed, not even the flags in which SciPy remembers its format, so that threads
    may share it and its arrays may be read-only.
    """
    csr = matrix.tocsr()
    view = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    if view.has_canonical_format:
        return view
    own = view.copy()
    own.sum_duplicates()
    return own
