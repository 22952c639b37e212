"""Which part of S is accumulated from blocks of rows, and how it is laid out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.row_blocks import row_blocks

PANEL = 256  # rows at once: the square on the diagonal, stored in full, is then little of a large S


class Probe(Protocol):
    """Which part of S is accumulated."""

    def zeros(self, n_features: int) -> NDArray:
        """Return empty second moments."""

    def add_rows(self, second: NDArray, centred: NDArray) -> None:
        """Add the contribution of centred rows in place."""

    def add_sparse(self, second: NDArray, block: sparse.csr_array, mean: NDArray) -> None:
        """Add the contribution of a whole sparse block about its mean in place."""

    def add_rank_one(self, second: NDArray, direction: NDArray, weight: float) -> None:
        """Add ``weight · direction directionᵀ`` in place."""


class WholeGram:
    """All of S, as one vector of panels of `PANEL` rows from the diagonal to the right.

    S is symmetric, so this takes half the memory and half the traffic between machines.
    """

    def zeros(self, n_features: int) -> NDArray:
        return np.zeros(sum((stop - start) * (n_features - start) for start, stop in _cuts(n_features)))

    def add_rows(self, second: NDArray, centred: NDArray) -> None:
        for start, stop, panel in panels(second, centred.shape[1]):
            # A matrix with its own transpose takes half the work of a general product.
            columns, width = centred[:, start:stop], stop - start
            panel[:, :width] += columns.T @ columns
            panel[:, width:] += columns.T @ centred[:, stop:]

    def add_sparse(self, second: NDArray, block: sparse.csr_array, mean: NDArray) -> None:
        """Add the moments about a shift that is the mean for well-filled columns and zero for the others.

        What is then left to subtract is at most half of what was summed, because the squared mean of a
        column is at most its filled share times its mean square. So at most one binary digit is lost.
        """
        n_samples, n_features = block.shape
        filled = np.flatnonzero(np.bincount(block.indices, minlength=n_features) > n_samples / 2)
        shift = np.zeros(n_features)
        shift[filled] = mean[filled]
        thin = block.astype(np.float64)
        if filled.size:
            thin.data[np.isin(thin.indices, filled)] = 0.0
            thin.eliminate_zeros()
            for rows in row_blocks(n_samples, filled.size * 8):
                full_part = block[rows][:, filled].toarray() - mean[filled]
                self._add_filled(second, thin[rows], full_part, filled)
        self._add_thin(second, thin)
        self.add_rank_one(second, mean - shift, -float(n_samples))

    def _add_thin(self, second: NDArray, thin: sparse.csr_array) -> None:
        columns = thin.tocsc()
        for start, stop, panel in panels(second, thin.shape[1]):
            product = columns[:, start:].T @ columns[:, start:stop].tocsr()
            panel += product.toarray().T

    def _add_filled(
        self, second: NDArray, thin: sparse.csr_array, full_part: NDArray, filled: NDArray
    ) -> None:
        cross = np.asarray(thin.T @ full_part)
        cross[filled] = full_part.T @ full_part
        for start, stop, panel in panels(second, thin.shape[1]):
            to_the_right = np.searchsorted(filled, start)
            panel[:, filled[to_the_right:] - start] += cross[start:stop, to_the_right:]
            # Rows of filled features, without the columns of filled features that were just added.
            inside = slice(to_the_right, np.searchsorted(filled, stop))
            rows = cross[start:, inside].T.copy()
            rows[:, filled[to_the_right:] - start] = 0.0
            panel[filled[inside] - start] += rows

    def add_rank_one(self, second: NDArray, direction: NDArray, weight: float) -> None:
        for start, stop, panel in panels(second, direction.size):
            panel += np.outer(weight * direction[start:stop], direction[start:])


def _cuts(n_features: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n_features, PANEL):
        yield start, min(start + PANEL, n_features)


def panels(second: NDArray, n_features: int) -> Iterator[tuple[int, int, NDArray]]:
    """Yield (start, stop, S[start:stop, start:]) as views into the vector of panels."""
    offset = 0
    for start, stop in _cuts(n_features):
        shape = (stop - start, n_features - start)
        yield start, stop, second[offset : offset + shape[0] * shape[1]].reshape(shape)
        offset += shape[0] * shape[1]
