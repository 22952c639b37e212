"""Principal components that read only r features: the best choice for a proxy of low rank, repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import GramOperator, Spectrum
from ufselect.sets.largest import mask_of_largest


@dataclass(frozen=True)
class FeatureChoice:
    """A choice of features: the diagonal it was made by, their indices, their loadings and the objective."""

    diagonal: NDArray
    features: NDArray
    loadings: NDArray
    objective: float


class FeatureSparsePCA:
    r"""Maximise :math:`\mathrm{Tr}(W^\top S W)` subject to :math:`W^\top W = I`, :math:`\|W\|_{2,0} \le r`.

    For a matrix of rank at most m, the optimal features are those of its r largest diagonal entries. The
    start takes them from the best rank-m approximation of S; a step takes them from the proxy :math:`P = S
    W (W^\top S W)^{+} W^\top S`, which lies below S, has rank m and agrees with S on W: its optimum on the
    new features is no worse than W, and that of S no worse than that of P. For r ≤ m the objective is the
    sum of the selected diagonal entries, so that the start is optimal.

    The objective of the states is :math:`-\mathrm{Tr}(W^\top S W)`.

    Parameters
    ----------
    gram : GramOperator
        The matrix S.
    spectrum : Spectrum
        Its m leading eigenpairs.
    n_rows : int
        The number r of features.
    """

    unit = 0.0
    resolution = 0.0

    def __init__(self, gram: GramOperator, spectrum: Spectrum, n_rows: int) -> None:
        self.gram = gram
        self.spectrum = spectrum
        self.n_rows = n_rows
        self.is_separable = n_rows <= spectrum.values.size

    def init(self) -> FeatureChoice:
        if self.is_separable:
            return self._choose(self.gram.diag().astype(np.float64))
        return self._choose(_row_sums_of_squares(self.spectrum.vectors * np.sqrt(self.spectrum.values)))

    def step(self, state: FeatureChoice) -> FeatureChoice:
        if self.is_separable:
            return state
        product = self.gram.matmat(self.components(state)).astype(np.float64, copy=False)
        inner = product[state.features].T @ state.loadings
        values, vectors = linalg.eigh((inner + inner.T) / 2, check_finite=False)
        kept = values > values[-1] * values.size * np.finfo(np.float64).eps
        proxy_root = product @ (vectors[:, kept] / np.sqrt(values[kept]))
        new = self._choose(_row_sums_of_squares(proxy_root))
        return new if new.objective <= state.objective else state

    def residuals(self, state: FeatureChoice) -> dict[str, float]:
        return {}

    def components(self, state: FeatureChoice) -> NDArray:
        """Return the loadings with zero rows for the features left out."""
        whole = np.zeros((self.gram.shape[0], state.loadings.shape[1]), dtype=self.gram.dtype)
        whole[state.features] = state.loadings
        return whole

    def _choose(self, diagonal: NDArray) -> FeatureChoice:
        features = np.flatnonzero(mask_of_largest(diagonal, self.n_rows))
        block = self.gram.subgram(features).astype(np.float64, copy=False)
        m = min(self.spectrum.values.size, features.size)
        values, loadings = linalg.eigh(
            block, subset_by_index=[features.size - m, features.size - 1], check_finite=False
        )
        return FeatureChoice(diagonal, features, loadings[:, ::-1], -float(values.sum()))


def _row_sums_of_squares(matrix: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", matrix, matrix)
