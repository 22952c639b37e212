"""What every representation of the centred Gram matrix can do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

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
    def dtype(self) -> np.dtype:
        """float32 or float64, that of the data."""

    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``S @ vectors`` for an n_features × k array."""

    def diag(self) -> NDArray:
        """Return the diagonal: the scaled sum of squares of each centred feature."""

    def trace(self) -> float:
        """Return the sum of the diagonal."""

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the dense block ``S[indices][:, indices]``."""

    def eigenpairs(self, count: int) -> Spectrum:
        """Return up to ``count`` leading eigenpairs; fewer when the rank is smaller."""

    def to_dense(self) -> NDArray:
        """Return S as an array; costs n_features² memory."""
