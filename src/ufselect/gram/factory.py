"""Choose the representation of the Gram matrix that suits the data."""

from __future__ import annotations

from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram.base import GramOperator
from ufselect.gram.dense import dense_gram
from ufselect.gram.sparse import SparseGram


def gram_operator(X: NDArray | sparse.sparray | sparse.spmatrix) -> GramOperator:
    """Build the centred Gram operator of validated data, n_samples × n_features."""
    if sparse.issparse(X):
        return SparseGram(X)
    return dense_gram(X)
