"""Greedy choice of features, one at a time, through products with the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import FactoredGram, GramOperator, Spectrum

# A feature whose residual has fallen to this many roundings of its variance lies in the span of those chosen.
SPENT_SHARE = 1e3
COLUMN_BLOCK = 256


def greedy_determinant(rows: NDArray, n_chosen: int, ridge: float) -> tuple[NDArray, NDArray]:
    r"""Choose rows :math:`v_j` one at a time so that :math:`\log\det(\rho I + \sum v_j v_j^\top)` grows most.

    The gain of a row is :math:`\log(1 + v_j^\top M^{-1} v_j)` with M the matrix so far. The function is
    submodular: gains never grow, and the greedy value is at least 1 − 1/e of the best one's increase [1]_.

    Parameters
    ----------
    rows : ndarray of shape (n_features, n_components)
        One vector a feature.
    n_chosen : int
        Number of rows to choose.
    ridge : float
        The positive weight ρ: the larger, the less a row similar to those chosen is marked down.

    Returns
    -------
    order : ndarray of shape (n_chosen,)
        The rows chosen, first one first.
    gains : ndarray of shape (n_features,)
        Gain of each chosen row when it was chosen, and of each other row at the end.

    References
    ----------
    .. [1] G. L. Nemhauser, L. A. Wolsey and M. L. Fisher (1978), "An analysis of approximations for
       maximizing submodular set functions", Mathematical Programming 14.
    """
    rows = np.asarray(rows, dtype=np.float64)
    inverse = np.eye(rows.shape[1]) / ridge
    leverage = np.einsum("ij,ij->i", rows, rows) / ridge
    available = leverage.copy()
    order = np.empty(n_chosen, dtype=np.intp)
    gains = np.empty(len(rows))
    for step in range(n_chosen):
        chosen = int(np.argmax(available))
        order[step] = chosen
        gains[chosen] = np.log1p(leverage[chosen])
        direction = inverse @ rows[chosen]
        shrink = 1 + rows[chosen] @ direction
        inverse -= np.outer(direction, direction / shrink)
        leverage -= np.square(rows @ direction) / shrink
        np.maximum(leverage, 0, out=leverage)
        available = np.where(np.isneginf(available), -np.inf, leverage)
        available[chosen] = -np.inf
    rest = np.isfinite(available)
    gains[rest] = np.log1p(leverage[rest])
    return order, gains


def greedy_score_projection(
    gram: GramOperator, spectrum: Spectrum, n_chosen: int, allowed: NDArray
) -> tuple[NDArray, NDArray]:
    r"""Choose features whose span explains most of the whitened principal-component scores.

    Maximises :math:`\|P_C U\|_F^2`, the sum of the squared multiple correlations of the columns of U with
    the chosen features C, one feature at a time.

    Parameters
    ----------
    gram : GramOperator
        S of the centred data.
    spectrum : Spectrum
        Its leading eigenpairs.
    n_chosen : int
        Number of features to choose.
    allowed : ndarray of bool
        The features to choose from.

    Returns
    -------
    order : ndarray
        The features chosen, first one first; fewer than ``n_chosen`` once they span all allowed ones.
    gains : ndarray of shape (n_features,)
        What each feature would add at the end; 0 for those chosen or spent.
    """
    products = np.sqrt(np.asarray(spectrum.values, dtype=np.float64))[:, None] * spectrum.vectors.T
    return greedy_target_projection(gram, products, n_chosen, allowed)


def greedy_target_projection(
    gram: GramOperator, products: NDArray, n_chosen: int, allowed: NDArray
) -> tuple[NDArray, NDArray]:
    r"""Choose features whose span explains most of given targets T, orthonormal columns over the samples.

    Maximises :math:`\|P_C T\|_F^2` one feature at a time, given ``products``, :math:`T^\top A` in units
    of ``gram``. Other parameters and returned values are those of `greedy_score_projection`.
    """
    targets = products

    def gain(residual: NDArray) -> NDArray:
        return np.einsum("ij,ij->j", targets, targets) / residual

    def deflate(column: NDArray, chosen: int, root: float, _: NDArray) -> None:
        nonlocal targets
        targets = targets - np.outer(targets[:, chosen] / root, column)

    return _forward(gram, n_chosen, allowed, gain, deflate)


def greedy_reconstruction(gram: GramOperator, n_chosen: int, allowed: NDArray) -> tuple[NDArray, NDArray]:
    r"""Choose features whose span explains most of the variance of all features.

    Maximises :math:`\|P_C A\|_F^2` for the centred data A one feature at a time, with the recursion of
    [1]_: two products of S with a vector a step, and no residual matrix.

    Parameters and returned values are those of `greedy_score_projection`.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi and M. S. Kamel (2013), "Efficient greedy feature selection for
       unsupervised learning", Knowledge and Information Systems 35.
    """
    explained = _squared_column_norms(gram)

    def gain(residual: NDArray) -> NDArray:
        return np.maximum(explained, 0) / residual

    def deflate(column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        nonlocal explained
        image = _product(gram, column) - earlier.T @ (earlier @ column)
        explained = explained - 2 * column * image + (column @ column) * np.square(column)

    return _forward(gram, n_chosen, allowed, gain, deflate)


def _forward(
    gram: GramOperator,
    n_chosen: int,
    allowed: NDArray,
    gain: Callable[[NDArray], NDArray],
    deflate: Callable[[NDArray, int, float, NDArray], None],
) -> tuple[NDArray, NDArray]:
    """Add the feature of largest gain until enough are chosen or all others lie in their span.

    Column j of the residual Gram matrix is that of S less what the chosen features explain: a pivoted
    Cholesky factorisation whose pivots the gain decides.
    """
    n_features = gram.shape[0]
    start = np.asarray(gram.diag(), dtype=np.float64)
    residual = start.copy()
    floor = start * np.finfo(gram.dtype).eps * SPENT_SHARE
    factor = np.zeros((n_chosen, n_features))
    order: list[int] = []
    open_ = allowed & (residual > floor)
    while len(order) < n_chosen and np.any(open_):
        gains = np.where(open_, gain(np.where(open_, residual, 1.0)), -np.inf)
        chosen = int(np.argmax(gains))
        unit = np.zeros(n_features)
        unit[chosen] = 1.0
        earlier = factor[: len(order)]
        column = _product(gram, unit) - earlier.T @ earlier[:, chosen]
        root = np.sqrt(residual[chosen])
        column /= root
        deflate(column, chosen, root, earlier)
        factor[len(order)] = column
        residual -= np.square(column)
        order.append(chosen)
        open_ &= residual > floor
        open_[chosen] = False
    gains = np.where(open_, gain(np.where(open_, residual, 1.0)), 0.0)
    return np.array(order, dtype=np.intp), gains


def _product(gram: GramOperator, vector: NDArray) -> NDArray:
    column = vector.astype(gram.dtype)[:, None]
    return np.asarray(gram.matmat(column)[:, 0], dtype=np.float64)


def _squared_column_norms(gram: GramOperator) -> NDArray:
    """Return the squared norm of each column of S."""
    if isinstance(gram, FactoredGram):
        image = (gram.factor @ gram.factor.T) @ gram.factor
        return np.einsum("ij,ij->j", gram.factor, image, dtype=np.float64)
    n_features = gram.shape[0]
    norms = np.empty(n_features)
    for start in range(0, n_features, COLUMN_BLOCK):
        columns = np.arange(start, min(start + COLUMN_BLOCK, n_features))
        units = np.zeros((n_features, columns.size), dtype=gram.dtype)
        units[columns, np.arange(columns.size)] = 1
        norms[columns] = np.square(gram.matmat(units), dtype=np.float64).sum(axis=0)
    return norms
