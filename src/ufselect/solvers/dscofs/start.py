"""Starting points on the Stiefel manifold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator, Spectrum
from ufselect.sets import stiefel

ORTHONORMAL = 1e-3  # what float32 or a printed matrix leaves of orthonormal columns is made exact


@dataclass(frozen=True)
class Start:
    """A point with orthonormal columns and what is known about it.

    ``product`` is S @ point where it came for free. ``is_informed`` tells points that already follow the
    data (loadings, an earlier solution) from points that deserve a first step without sparsity.
    """

    point: NDArray
    product: NDArray | None = None
    is_informed: bool = False

    def on(self, rows: NDArray) -> Start:
        """Return the orthonormal matrix nearest to some of the rows."""
        return Start(stiefel.project(self.point[rows]))


def pca_start(spectrum: Spectrum) -> Start:
    """Return the leading loadings; S times an eigenvector is known."""
    return Start(spectrum.vectors, spectrum.vectors * spectrum.values, is_informed=True)


def best_random_start(gram: GramOperator, n_components: int, n_init: int, rng: np.random.Generator) -> Start:
    """Return, of ``n_init`` random orthonormal matrices, the one with the largest ``Tr(XᵀSX)``."""
    best, largest = None, -np.inf
    for _ in range(n_init):
        point = stiefel.random_point(gram.shape[0], n_components, rng).astype(gram.dtype, copy=False)
        product = gram.matmat(point)
        captured = float(np.vdot(point, product))
        if captured > largest:
            best, largest = Start(point, product), captured
    if best is None:
        raise ValueError(f"n_init={n_init} must be at least 1.")
    return best


def given_start(start: NDArray, n_features: int, n_components: int, dtype: np.dtype) -> Start:
    """Return a user's starting point in working precision.

    Raises
    ------
    ValueError
        If it has the wrong shape or its columns are not orthonormal.
    """
    start = np.asarray(start, dtype=dtype)
    if start.shape != (n_features, n_components):
        raise ValueError(
            f"init has shape {start.shape}; it must be (n_features, n_components) = "
            f"({n_features}, {n_components})."
        )
    if not np.all(np.isfinite(start)) or not stiefel.contains(start, ORTHONORMAL):
        raise ValueError("The columns of init are not orthonormal; pass np.linalg.qr(init)[0] instead.")
    return Start(stiefel.project(start))
