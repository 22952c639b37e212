"""Choose the representation of the Gram matrix that suits the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram.accumulate import GramAccumulator
from ufselect.gram.base import GramOperator
from ufselect.gram.dask import DaskBlocks, is_dask
from ufselect.gram.dense import dense_gram
from ufselect.gram.reduction import BlockSource, LocalBlocks, ReducedData, reduce_accumulator, reduce_blocks
from ufselect.gram.sparse import SparseGram


def gram_operator(
    X: NDArray | sparse.sparray | sparse.spmatrix | ReducedData, *, copy: bool = True
) -> GramOperator:
    """Build the centred Gram operator of validated data, n_samples × n_features.

    Data that were reduced before (see `reduce_data`) bring their operator along. With ``copy=False`` wide
    dense data are centred in every product where that loses no digits, instead of once in a copy.
    """
    if isinstance(X, ReducedData):
        return X.gram
    if sparse.issparse(X):
        return SparseGram(X)
    return dense_gram(X, copy=copy)


def block_source(X: Any) -> BlockSource:
    """Return the blocks of a dask collection or a memory-mapped array."""
    return DaskBlocks(X) if is_dask(X) else LocalBlocks(X)


def is_out_of_core(X: Any) -> bool:
    """Tell whether X is to be reduced before a fit: dask, memory-mapped, accumulated or reduced already."""
    return isinstance(X, (np.memmap, GramAccumulator, ReducedData)) or is_dask(X)


def reduce_data(X: Any, n_components: int | None = None) -> ReducedData:
    """Reduce data that are not in memory to their Gram operator.

    Parameters
    ----------
    X : dask array, dask data frame, numpy.memmap, GramAccumulator or ReducedData
        The data, of shape (n_samples, n_features).
    n_components : int, optional
        Leading eigenpairs that will be asked for, where known.

    Returns
    -------
    ReducedData
        Can be given to ``fit`` instead of the data, any number of times.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import MaxVariance
    >>> from ufselect.gram import GramAccumulator, reduce_data
    >>> reduced = reduce_data(GramAccumulator().update(np.diag([1.0, 3.0, 2.0])))
    >>> reduced.shape, reduced.route
    ((3, 3), 'formed')
    >>> MaxVariance(n_features_to_select=1).fit(reduced).get_support()
    array([False,  True, False])
    """
    if isinstance(X, ReducedData):
        return X
    if isinstance(X, GramAccumulator):
        return reduce_accumulator(X)
    return reduce_blocks(block_source(X), n_components)
