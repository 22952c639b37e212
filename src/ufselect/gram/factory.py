"""Choose the representation of the Gram matrix that suits the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram.base import GramOperator
from ufselect.gram.dense import dense_gram
from ufselect.gram.laid_out import laid_out_gram
from ufselect.gram.pairwise import pairwise_gram, pairwise_sums
from ufselect.gram.rows import RowLayout, plain_layout
from ufselect.gram.sparse import SparseGram

MAX_SPARSE_ORDER = 10_000  # as for data outside memory: S is formed, and all its eigenvalues are needed


def gram_operator(X: Any, *, copy: bool = True, layout: RowLayout | None = None) -> GramOperator:
    """Build the centred Gram operator of validated data, n_samples × n_features; NaN marks a missing entry.

    With ``copy=False`` wide dense data are centred in every product where that loses no digits, instead of
    once in a copy. ``layout`` gives weights and batches of the rows.
    """
    values = X.data if sparse.issparse(X) else X
    is_missing = has_missing(values)
    if layout is None and not is_missing:
        return SparseGram(X) if sparse.issparse(X) else dense_gram(X, copy=copy)
    layout = plain_layout(X.shape[0]) if layout is None else layout
    if not sparse.issparse(X):
        return laid_out_gram(X, layout)
    return _sparse_with_gaps(X, layout) if is_missing else SparseGram(X, layout)


def has_missing(values: NDArray) -> bool:
    """Tell whether there is a NaN, without a copy of the data."""
    return values.size > 0 and bool(np.isnan(values.min()))


def _sparse_with_gaps(X: Any, layout: RowLayout) -> GramOperator:
    if X.shape[1] > MAX_SPARSE_ORDER:
        raise ValueError(
            f"X is sparse with missing values and {X.shape[1]} features; with more than {MAX_SPARSE_ORDER} "
            "features fill them in first."
        )
    rows = [np.flatnonzero(layout.batches == batch) for batch in range(layout.n_batches)]
    X = X.tocsr()
    return pairwise_gram(pairwise_sums(X[part], layout.weights[part]) for part in rows)
