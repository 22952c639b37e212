"""Greedy choice of features, one at a time, through products with the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator, Spectrum

# A feature whose residual has fallen to this many roundings of its variance lies in the span of those chosen.
SPENT_SHARE = 1e3


def greedy_determinant(rows: NDArray, n_chosen: int, ridge: float) -> tuple[NDArray, NDArray]:
    r"""Choose rows :math:`v_j` one at a time so that :math:`\log\det(\rho I + \sum v_j v_j^\top)` grows most.

    The gain of a row is :math:`\log(1 + v_j^\top M^{-1} v_j)` with M the matrix so far. The function is
    submodular: gains never grow, and the greedy value is at least 1 − 1/e of the best one's increase [1]_.

    Parameters
    ----------
    rows : ndarray of shape (n_features, n_components)
        One vector per feature.
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


def d_optimal_scores(loadings: NDArray, n_selected: int, ridge: float) -> NDArray:
    """Return the gains of a greedy D-optimal choice; the largest ``n_selected`` are those chosen."""
    leverage = np.square(loadings, dtype=np.float64).sum(axis=1)
    largest = np.partition(leverage, leverage.size - n_selected)[leverage.size - n_selected :]
    order, gains = greedy_determinant(loadings, n_selected, ridge * float(largest.mean()))
    # Gains fall by theory; where they are equal up to rounding the order of choice decides.
    gains[order] = np.minimum.accumulate(gains[order])
    rest = np.ones(gains.size, dtype=bool)
    rest[order] = False
    gains[rest] = np.minimum(gains[rest], np.nextafter(gains[order[-1]], -np.inf))
    return gains


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
    explained = gram.squared_column_norms()

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
        earlier = factor[: len(order)]
        column = gram.columns(np.array([chosen]))[:, 0] - earlier.T @ earlier[:, chosen]
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


def projection_scores(gram: GramOperator, spectrum: Spectrum | None, n_selected: int) -> NDArray:
    """Return scores that order features as greedy projection chooses them, for scores or for all features."""
    if spectrum is None:
        return scores_of_rounds(gram, n_selected, partial(greedy_reconstruction, gram))
    return scores_of_rounds(gram, n_selected, partial(greedy_score_projection, gram, spectrum))


def scores_of_rounds(
    gram: GramOperator, n_selected: int, choose: Callable[[int, NDArray], tuple[NDArray, NDArray]]
) -> NDArray:
    """Choose greedily in rounds; once the chosen span all others, the next round is among the rest."""
    allowed = gram.diag() > 0
    order = np.empty(0, dtype=np.intp)
    gains = np.zeros(allowed.size)
    while order.size < n_selected and np.any(allowed):
        chosen, gains = choose(n_selected - order.size, allowed)
        order = np.append(order, chosen)
        allowed[chosen] = False
    scores = gains / (1 + gains.sum())
    scores[order] = n_selected - np.arange(order.size)
    return scores
