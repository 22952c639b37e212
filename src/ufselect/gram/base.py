"""What every representation of the centred Gram matrix can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ufselect.gram.missing import MissingSummary
from ufselect.gram.spectrum import Spectrum


@runtime_checkable
class GramOperator(Protocol):
    """The positive semidefinite matrix ``S = AᵀA / scale²`` through its products.

    ``A`` is the centred data, n_samples × n_features. ``scale`` is a power of two near the largest
    centred entry: it keeps squares inside the floating-point range for data of any unit, and being a
    power of two it changes no digit. Multiply by ``scale ** 2`` to return to the units of the data.
    """

    n_samples: int
    scale: float

    @property
    def shape(self) -> tuple[int, int]:
        """(n_features, n_features)."""

    @property
    def mean(self) -> NDArray | None:
        """Column means of the data; None for a bare matrix."""

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, that of the data."""

    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``S @ vectors`` for an n_features × k array."""

    def diag(self) -> NDArray:
        """Return the diagonal: the scaled sum of squares of each centred feature."""

    def trace(self) -> float:
        """Return the sum of the diagonal."""

    def columns(self, indices: NDArray) -> NDArray:
        """Return the dense columns ``S[:, indices]``, n_features × k."""

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the dense block ``S[indices][:, indices]``."""

    def eigenpairs(self, count: int) -> Spectrum:
        """Return up to ``count`` leading eigenpairs; fewer when the rank is smaller. The widest are kept."""

    def squared_column_norms(self) -> NDArray:
        """Return the diagonal of S²: the squared norm of each column, in float64."""

    def to_dense(self) -> NDArray:
        """Return S as an array; costs n_features² memory."""


# Columns of S worked on at once where all are needed: few enough to stay small beside the data.
COLUMN_BLOCK = 256


class RememberingGram(ABC):
    """What the representations share: eigenpairs that are remembered, and norms of the columns."""

    _widest: tuple[int, Spectrum] | None = None
    missing: MissingSummary | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(n_features, n_features)."""

    @abstractmethod
    def columns(self, indices: NDArray) -> NDArray:
        """Return the dense columns ``S[:, indices]``."""

    @abstractmethod
    def _leading_pairs(self, count: int) -> Spectrum:
        """Compute up to ``count`` leading eigenpairs."""

    def eigenpairs(self, count: int) -> Spectrum:
        """Return up to ``count`` leading eigenpairs; asking again for as many or fewer costs nothing."""
        asked, widest = self._widest or (0, None)
        if widest is None or (asked < count and widest.values.size == asked):
            widest = self._leading_pairs(count)
            self._widest = (count, widest)
        return widest.head(count)

    def squared_column_norms(self) -> NDArray:
        """Return the squared norm of each column of S, a block of columns at a time."""
        n_features = self.shape[0]
        norms = np.empty(n_features)
        for start in range(0, n_features, COLUMN_BLOCK):
            block = np.arange(start, min(start + COLUMN_BLOCK, n_features))
            norms[block] = np.square(self.columns(block), dtype=np.float64).sum(axis=0)
        return norms
