"""Leading eigenpairs of a block of S: the variance that its features carry, their loadings, their proxy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.common.eigen import eigenpairs_between
from ufselect.gram import GramOperator, Spectrum


def leading_pairs(matrix: NDArray, count: int) -> Spectrum:
    """Return the ``count`` largest eigenvalues of a symmetric matrix, at most all, and their eigenvectors.

    Zeros count like others, other than in ``GramOperator.eigenpairs``. Only the lower triangle is read.
    """
    order = matrix.shape[0]
    values, vectors = eigenpairs_between(matrix, max(order - count, 0), order - 1)
    return Spectrum(values[::-1], vectors[:, ::-1])


def leading_sum(matrix: NDArray, count: int) -> float:
    """Return the sum of the ``count`` largest eigenvalues of a positive semidefinite matrix."""
    order = matrix.shape[0]
    if count >= order:
        return float(np.trace(matrix))
    return float(linalg.eigvalsh(matrix, check_finite=False)[order - count :].sum())


def captured_variance(gram: GramOperator, support: NDArray, n_components: int) -> float:
    """Return the most variance that the features named carry along m axes, the sum of leading eigenvalues."""
    block = np.asarray(gram.subgram(support), dtype=np.float64)
    return leading_sum(block, n_components)


def proxy_diagonal(X: NDArray, product: NDArray) -> NDArray:
    r"""Return the diagonal of :math:`SX(X^\top SX)^{+}X^\top S \preceq S`, given ``product = S @ X``."""
    inner = X.T @ product
    return quotient_diagonal(product, leading_pairs((inner + inner.T) / 2, inner.shape[0]))


def quotient_diagonal(products: NDArray, pairs: Spectrum) -> NDArray:
    r"""Return the diagonal of :math:`P V \Lambda^{+} V^\top P^\top` for eigenpairs :math:`(\Lambda, V)`."""
    values, vectors = pairs.values, pairs.vectors
    cutoff = max(float(values[0]), 0.0) * vectors.shape[0] * np.finfo(values.dtype).eps
    kept = values > cutoff
    root = products @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.einsum("ij,ij->i", root, root)


def loadings_on(gram: GramOperator, features: NDArray, n_components: int) -> NDArray:
    """Return the best orthonormal loadings that vanish off some features, n_features × m."""
    block = np.asarray(gram.subgram(features), dtype=np.float64)
    return spread(leading_pairs(block, n_components).vectors, features, gram)


def spread(loadings: NDArray, features: NDArray, gram: GramOperator) -> NDArray:
    """Return loadings of some features with zero rows for the others, as ``gram`` takes them."""
    whole = np.zeros((gram.shape[0], loadings.shape[1]), dtype=gram.dtype, order="F")
    whole[features] = loadings
    return whole
