"""The start of DSCOFS: PCA loadings, or a random or given matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import is_orthonormal, polar_factor, random_orthonormal


@dataclass(frozen=True)
class Start:
    """A point with orthonormal columns and what is known about it.

    ``product`` is S @ point if it is known. ``is_informed`` marks points that already follow the data
    (loadings, an earlier solution); others get a first step without sparsity.
    """

    point: NDArray
    product: NDArray | None = None
    is_informed: bool = False

    def astype(self, dtype: DTypeLike) -> Start:
        """Return the start in another precision."""
        product = None if self.product is None else self.product.astype(dtype)
        return Start(self.point.astype(dtype), product, self.is_informed)


def pca_start(spectrum: Spectrum) -> Start:
    """Return the leading loadings, whose products with S are known."""
    return Start(spectrum.vectors, spectrum.vectors * spectrum.values, is_informed=True)


def best_random_start(gram: GramOperator, n_components: int, n_init: int, rng: np.random.Generator) -> Start:
    """Return, of ``n_init`` random orthonormal matrices, the one with the largest ``Tr(XᵀSX)``."""
    points = (random_orthonormal(gram.shape[0], n_components, rng) for _ in range(n_init))
    points = (point.astype(gram.dtype, copy=False) for point in points)
    starts = (Start(point, gram.matmat(point)) for point in points)
    return max(starts, key=lambda start: float(np.vdot(start.point, start.product)))


def given_start(point: NDArray, n_components: int, dtype: np.dtype) -> Start:
    """Return a user's starting point, one row per feature, in working precision."""
    point = point.astype(dtype)
    if point.shape[1:] != (n_components,):
        raise ValueError(
            f"init has shape {point.shape}; it must be (n_features, n_components) = "
            f"({len(point)}, {n_components})."
        )
    # Columns that float32 or printing has rounded are made exactly orthonormal.
    if not np.all(np.isfinite(point)) or not is_orthonormal(point, tol=1e-3):
        raise ValueError("The columns of init are not orthonormal; pass np.linalg.qr(init)[0] instead.")
    return Start(polar_factor(point))
