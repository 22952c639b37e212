"""Some rows and columns of a Gram matrix, through the operator of all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from ufselect.gram.base import GramOperator, RememberingGram
from ufselect.gram.spectrum import Spectrum, symmetric_eigenpairs


class RestrictedGram(RememberingGram):
    """The block ``S[features][:, features]`` of an operator, as an operator.

    It is the Gram matrix of the data without the other columns. Products go through the whole operator, so
    nothing is copied.

    Parameters
    ----------
    whole : GramOperator
        The operator of all features.
    features : ndarray of int
        The features to keep, in the order in which they are to appear.
    """

    def __init__(self, whole: GramOperator, features: NDArray) -> None:
        self.whole = whole
        self.features = features
        self.n_samples = whole.n_samples
        self.scale = whole.scale

    @property
    def shape(self) -> tuple[int, int]:
        return (self.features.size, self.features.size)

    @property
    def mean(self) -> NDArray | None:
        return None if self.whole.mean is None else self.whole.mean[self.features]

    @property
    def dtype(self) -> np.dtype:
        return self.whole.dtype

    def matmat(self, vectors: NDArray) -> NDArray:
        spread = np.zeros((self.whole.shape[0], vectors.shape[1]), dtype=self.dtype, order="F")
        spread[self.features] = vectors
        return self.whole.matmat(spread)[self.features]

    def diag(self) -> NDArray:
        return self.whole.diag()[self.features]

    def trace(self) -> float:
        return float(self.diag().sum(dtype=np.float64))

    def columns(self, indices: NDArray) -> NDArray:
        return self.whole.columns(self.features[indices])[self.features]

    def subgram(self, indices: NDArray) -> NDArray:
        return self.whole.subgram(self.features[indices])

    def to_dense(self) -> NDArray:
        return self.whole.subgram(self.features)

    def _leading_pairs(self, count: int) -> Spectrum:
        operator = LinearOperator(
            self.shape,
            matvec=lambda v: self.matmat(v.reshape(-1, 1))[:, 0],
            matmat=self.matmat,
            dtype=self.dtype,
        )
        return symmetric_eigenpairs(operator, count)
