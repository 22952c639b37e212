"""Choose the representation of the Gram matrix that suits the data."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ufselect.gram.base import GramOperator
from ufselect.gram.dense import dense_gram
from ufselect.gram.sparse import SparseGram


def gram_operator(X: Any, *, copy: bool = True) -> GramOperator:
    """Build the centred Gram operator of validated data, n_samples × n_features.

    With ``copy=False`` wide dense data are centred in every product where that loses no digits, instead of
    once in a copy.
    """
    if sparse.issparse(X):
        return SparseGram(X)
    return dense_gram(X, copy=copy)
