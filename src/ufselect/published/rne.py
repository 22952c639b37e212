"""RNE: robust neighbourhood embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import Descent, iterate, run_attributes
from ufselect._utils.arrays import orthonormality_defect, row_blocks
from ufselect._utils.validation import generator
from ufselect.base import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    Columns,
    FitResult,
    Groups,
    UnsupervisedSelector,
)
from ufselect.graphs import nearest_neighbors, neighbor_matrix, usable_neighbors

EPSILON = float(np.finfo(np.float64).eps)  # what the authors' program adds to denominators


def lle_weights(
    X: NDArray, neighbors: NDArray[np.intp], ridge: float | None = None, block_bytes: int = 2**24
) -> sparse.csr_array:
    r"""Return the weights of locally linear embedding.

    For each sample i the weights of its neighbours j minimise

    .. math::

        \Bigl\|x_i - \sum_j w_{ij} x_j\Bigr\|^2 + \rho\, \mathrm{Tr}(C_i) \sum_j w_{ij}^2
        \quad\text{s.t.}\quad \sum_j w_{ij} = 1,

    with :math:`C_i` the Gram matrix of the differences :math:`x_j - x_i` (Roweis and Saul 2000, Science 290):
    up to their sum, they solve :math:`(C_i + \rho\, \mathrm{Tr}(C_i) I) w_i = 1`. Row i of the result holds
    them; rows sum to 1.

    ``ridge`` is ρ; None means 1e-3 if there are more neighbours than features, as they do, else 0. Where the
    neighbours of a sample are linearly dependent it is at least 1e-10, which selects the smallest of the best
    weights.
    """
    n_samples, k = neighbors.shape
    if ridge is None:
        ridge = 1e-3 if k > X.shape[1] else 0.0
    weights = np.empty((n_samples, k))
    for rows in row_blocks(n_samples, 8 * k * X.shape[1], block_bytes, min_rows=1):
        differences = X[neighbors[rows]].astype(np.float64) - X[rows, None]
        # The weights do not change with the unit of length, and squares must stay in range.
        reach = np.abs(differences).max(axis=(1, 2), keepdims=True)
        differences /= np.where(reach > 0, reach, 1.0)
        gram = differences @ differences.transpose(0, 2, 1)
        diagonal = np.einsum("ijj->ij", gram)
        trace = diagonal.sum(axis=1)
        gram[trace == 0] = np.eye(k)
        trace[trace == 0] = 1.0
        ridges = np.full(trace.shape, ridge)
        if ridge < 1e-10:  # only rounding would make a singular matrix regular
            ridges[np.linalg.eigvalsh(gram)[:, 0] < 1e-10 * trace] = 1e-10
        diagonal += (ridges * trace)[:, None]
        solution = np.linalg.solve(gram, np.ones((*gram.shape[:2], 1)))[..., 0]
        weights[rows] = solution / solution.sum(axis=1, keepdims=True)
    return neighbor_matrix(neighbors, weights)


class SignedGram:
    """The positive and negative parts of ``RᵀR``, in single precision.

    They only enter factors that correct themselves from step to step, and single precision halves the time.
    The positive part is stored if it is no larger than the data or than 128 MB (``formed_order`` features),
    and otherwise computed in blocks of rows each time. The negative part is stored for tall data only: for
    wide data, its product is that of the positive part minus a product with R and its transpose, which has
    few rows.
    """

    def __init__(self, residuals: NDArray, formed_order: int = 5792, block_bytes: int = 2**25) -> None:
        self.residuals = residuals.astype(np.float32)
        n_samples, n_features = residuals.shape
        self._block_rows = max(1, block_bytes // (4 * max(1, n_features)))
        self._positive = self._negative = None
        if n_features <= max(n_samples, formed_order):
            gram = self.residuals.T @ self.residuals
            self._positive = np.maximum(gram, 0)
            if n_features < 2 * n_samples:
                self._negative = np.maximum(-gram, 0)

    def products(self, H: NDArray) -> tuple[NDArray, NDArray]:
        """Return the products of the positive and of the negative part with H."""
        H = H.astype(np.float32)
        if self._positive is not None:
            positive = self._positive @ H
        else:
            positive = np.empty_like(H)
            for start in range(0, H.shape[0], self._block_rows):
                rows = slice(start, start + self._block_rows)
                positive[rows] = np.maximum(self.residuals[:, rows].T @ self.residuals, 0) @ H
        if self._negative is not None:
            return positive, self._negative @ H
        return positive, np.maximum(positive - self.residuals.T @ (self.residuals @ H), 0)

    def block(self, indices: NDArray) -> NDArray:
        """Return the rows and columns of ``RᵀR`` at the indices."""
        if self._positive is None or self._negative is None:
            columns = self.residuals[:, indices]
            return columns.T @ columns
        square = np.ix_(indices, indices)
        return self._positive[square] - self._negative[square]


class ActiveEntries:
    """The entries of H in a mask, column by column, with the blocks of ``RᵀR`` that couple each column."""

    def __init__(self, mask: NDArray, gram: SignedGram) -> None:
        self.mask = mask
        self.columns, self.rows = np.nonzero(mask.T)
        self._n_columns = mask.shape[1]
        members = np.split(self.rows, np.cumsum(np.count_nonzero(mask, axis=0))[:-1])
        blocks = [sparse.coo_array(gram.block(rows)) for rows in members]
        coupling = sparse.block_diag(blocks, format="csr", dtype=np.float64)
        self._positive, self._negative = coupling.maximum(0), (-coupling).maximum(0)
        self._positive.eliminate_zeros()
        self._negative.eliminate_zeros()
        # The pairs of entries in one row, and which two columns each pair belongs to.
        n_entries = self.rows.size
        shape = (n_entries, mask.shape[0])
        in_row = sparse.csr_array((np.ones(n_entries), self.rows, np.arange(n_entries + 1)), shape=shape)
        self._first, self._second = sparse.triu(in_row @ in_row.T, k=1).nonzero()
        codes = self.columns[self._first] * self._n_columns + self.columns[self._second]
        self._pair = np.unique(codes, return_inverse=True)[1]

    def multiply(
        self, values: NDArray, gain: NDArray, loss: NDArray, alpha: float, penalty: float
    ) -> NDArray:
        """Return the entries after scaling their columns to unit length and one multiplication."""
        squares = np.bincount(self.columns, weights=values * values, minlength=self._n_columns)
        values = values / np.sqrt(squares + EPSILON)[self.columns]
        first, second = values[self._first], values[self._second]
        overlap = np.bincount(self._pair, weights=first * second)[self._pair]
        cubes = (  # HHᵀH for columns of unit length
            values
            + np.bincount(self._first, weights=second * overlap, minlength=values.size)
            + np.bincount(self._second, weights=first * overlap, minlength=values.size)
        )
        return values * _factor(
            alpha * values + gain + penalty * (self._negative @ values),
            alpha * cubes + loss + penalty * (self._positive @ values),
        )


def _factor(numerator: NDArray, denominator: NDArray) -> NDArray:
    """Return the factor of a multiplicative update; both arguments are non-negative and overwritten."""
    denominator += EPSILON
    numerator /= denominator
    return np.sqrt(numerator, out=numerator)


@dataclass(frozen=True)
class Embedding:
    """The state after an iteration.

    H and its objective; the multiplier Y of the split M = RH; ``RᵀY`` and ``RᵀM``; the products of the
    positive and the negative part of ``RᵀR`` with H; the weight γ of the augmented term; the active entries
    that were last updated alone, None before H has become sparse.
    """

    H: NDArray
    multiplier: NDArray
    pull_multiplier: NDArray
    pull_split: NDArray
    products: tuple[NDArray, NDArray]
    penalty: float
    active: ActiveEntries | None
    objective: float


class RobustEmbedding(Descent):
    r"""The augmented Lagrangian method of robust neighbourhood embedding.

    With the split M = RH, a step updates H by multiplications, M by soft thresholding and the multiplier Y,
    then raises the penalty γ by a tenth. The updates of H are

    .. math::

        H \leftarrow H \circ \sqrt{\frac
        {\alpha H + \gamma (R^\top M)_+ + (R^\top Y)_+ + \gamma (R^\top R)_- H}
        {\alpha H H^\top H + \gamma (R^\top M)_- + (R^\top Y)_- + \gamma (R^\top R)_+ H}}

    after each column has been scaled to unit length. They soon drive most entries of H to nearly zero. From
    then on only the first of a step's updates is made for all entries; the others are made for the active
    (not negligible) entries, while the negligible ones repeat their first factor.

    ``residuals`` is R, ``start`` the first H. Updating the active entries alone is faster if their share is
    at most ``sparse_share``.
    """

    def __init__(self, residuals: NDArray, alpha: float, start: NDArray, sparse_share: float = 0.15) -> None:
        self.R, self.alpha, self.start, self.sparse_share = residuals, alpha, start, sparse_share
        self.gram = SignedGram(residuals)

    def init(self) -> Embedding:
        # The first penalty, its growth and its limit are those of the authors' program.
        H, images = self.start, self.R @ self.start
        return self._state(H, images, np.zeros_like(images), np.zeros_like(H), 0.0, 10.0, None)

    def step(self, state: Embedding) -> Embedding:
        H, active = self._update(state)
        images = self.R @ H
        # M = T + Y⁺/γ with T = RH − Y/γ and Y⁺ = −clip(γT, −1, 1) is soft thresholding of T at 1/γ.
        multiplier = -np.clip(state.penalty * images - state.multiplier, -1, 1)
        pull = self.gram.residuals.T @ multiplier.astype(np.float32)
        change = (pull - state.pull_multiplier) / state.penalty
        return self._state(H, images, multiplier, pull, change, min(1.1 * state.penalty, 1e10), active)

    def is_settled(self, last: Embedding, state: Embedding, tol: float | None) -> bool:
        """Return whether the objective, which may rise, changed by at most ``tol`` (1e-3 if it is None)."""
        share = 1e-3 if tol is None else tol
        return abs(last.objective - state.objective) <= share * abs(last.objective)

    def residuals(self, state: Embedding) -> dict[str, float]:
        return {"orthogonality": float(np.linalg.norm(orthonormality_defect(state.H)))}

    def multiply(
        self, H: NDArray, products: tuple[NDArray, NDArray], gain: NDArray, loss: NDArray, penalty: float
    ) -> tuple[NDArray, NDArray]:
        """Return H after one multiplication of all entries, and the factors."""
        scale = 1 / np.sqrt(np.einsum("ij,ij->j", H, H) + EPSILON)
        H = H * scale
        positive, negative = products
        factor = _factor(
            self.alpha * H + gain + negative * (penalty * scale),
            self.alpha * (H @ (H.T @ H)) + loss + positive * (penalty * scale),
        )
        return H * factor, factor

    def _state(
        self,
        H: NDArray,
        images: NDArray,
        multiplier: NDArray,
        pull_multiplier: NDArray,
        pull_change: NDArray | float,
        penalty: float,
        active: ActiveEntries | None,
    ) -> Embedding:
        products = self.gram.products(H)
        pull_split = products[0] - products[1] + pull_change
        overlap = orthonormality_defect(H)
        objective = float(np.abs(images).sum() + self.alpha / 4 * np.vdot(overlap, overlap))
        return Embedding(H, multiplier, pull_multiplier, pull_split, products, penalty, active, objective)

    def _update(self, state: Embedding) -> tuple[NDArray, ActiveEntries | None]:
        """Return H after the multiplications of one step, and the active entries."""
        penalty, active = state.penalty, state.active
        gain = penalty * np.maximum(state.pull_split, 0) + np.maximum(state.pull_multiplier, 0)
        loss = penalty * np.maximum(-state.pull_split, 0) + np.maximum(-state.pull_multiplier, 0)
        H, factor = self.multiply(state.H, state.products, gain, loss, penalty)
        # In columns of unit length the squares of such entries are lost to rounding in the objective.
        mask = H > 1e-8
        n_active = np.count_nonzero(mask)
        if n_active > self.sparse_share * H.size:
            for _ in range(29):  # 30 with the first, as in the authors' program
                H, _ = self.multiply(H, self.gram.products(H), gain, loss, penalty)
            return H, active
        # Chosen anew if an inactive entry has grown, or half of the active ones have become negligible.
        if active is None or np.any((H > 1e-6) & ~active.mask) or 2 * n_active < active.rows.size:
            active = ActiveEntries(mask, self.gram)
        entries = active.rows, active.columns
        values, fixed = H[entries], (gain[entries], loss[entries])
        # One more than in the authors' program makes up for updating the negligible entries roughly.
        for _ in range(30):
            values = active.multiply(values, *fixed, self.alpha, penalty)
        # The guess must not overflow, nor make an entry large before its next exact update. The square of
        # the smallest entry is a normal float; an entry at zero could never grow again.
        guess = H * np.minimum(factor, 4.0) ** 30
        H = np.clip(guess, np.where(H > 0, 1e-150, 0.0), 1e-4)
        H[entries] = values
        return H, active


class RNE(UnsupervisedSelector):
    r"""Select features by robust neighbourhood embedding.

    Use it to compare with published results [1]_. It selects features that neighbouring samples reconstruct
    as they reconstruct all features, and suits features of comparable scale. The problem has many local
    minima, so the selection depends on the random start; as samples are scaled to unit length and H has no
    negative entries, it also changes with the sign of a feature and with a constant added to it. It is slow
    for many features; memory stays bounded.

    Parameters
    ----------
    {n_features_to_select}
    {n_neighbors}
    alpha : float, default=1e3
        Weight α of the orthogonality term.
    n_components : int or None, default=None
        Number m of columns of H; None for the number of selected features, as in [1]_, or for the width of
        ``init``.
    init : ndarray of shape (n_features, n_components) or None, default=None
        Non-negative start; None draws it uniformly from [0, 1).
    transpose_weights : bool, default=False
        Whether to use the transpose of W, to reproduce the results of the authors' program. That program
        stores the weights of a sample in a row but applies the transpose, so it does not minimise a
        reconstruction error.
    max_iter : int, default=50
        Number of iterations.
    tol : float or None, default=None
        Stop once the objective changes by no more than this share of itself; None makes all iterations, as
        in [1]_.
    {random_start}
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of H, larger is better; 0 for constant features, which are not used.
    {ranking_and_support}
    embedding_ : ndarray of shape (n_features, n_components)
        The matrix H.
    objective_history_ : ndarray
        Objective at the start and after each iteration; it may rise.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the last relative change was at most ``tol``, or 1e-3 if ``tol`` is None.
    n_neighbors_ : int
        The number of neighbours used.

    See Also
    --------
    ReconstructionSelector : Select columns from which the others can be reconstructed.
    MCFS : Features for clusters of neighbouring rows.

    Notes
    -----
    A non-negative, nearly orthogonal matrix H (n_features × n_components) solves

    .. math::

        \min_{H \ge 0} \; \|(I - W) X H\|_1 + \tfrac{\alpha}{4} \|H^\top H - I\|_F^2,

    with X the samples scaled to unit length and W the weights of locally linear embedding, which reconstruct
    each sample from its k nearest neighbours.

    1. Find the neighbours and the weights W.
    2. With the split M = (I − W)XH, in turn update H by 30 multiplications, M by soft thresholding and the
       multiplier, and multiply the penalty, 10 at first, by 1.1. Once most entries of H are negligible, these
       are updated only roughly.

    Costs n² d for the neighbours, and per iteration 4 n d m + 4 d² m operations, with 30 times the second
    term while H is dense.

    References
    ----------
    .. [1] Y. Liu, D. Ye, W. Li, H. Wang, Y. Gao (2020), "Robust neighborhood embedding for unsupervised
       feature selection", Knowledge-Based Systems 193.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import RNE
    >>> pixels = load_digits().data[:300]
    >>> RNE(n_features_to_select=20, random_state=0).fit_transform(pixels).shape
    (300, 20)
    """

    is_stochastic = True
    label = "RNE"
    cost = "n² d + iterations · (n + d) d m"

    feature_axes: ClassVar = {"embedding_": 0}

    embedding_: NDArray

    _parameter_constraints: ClassVar = {
        "n_components": [AT_LEAST_ONE, None],
        "alpha": [NON_NEGATIVE],
        "tol": [NON_NEGATIVE, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_neighbors: int = 5,
        alpha: float = 1e3,
        n_components: int | None = None,
        init: NDArray | None = None,
        transpose_weights: bool = False,
        max_iter: int = 50,
        tol: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        feature_groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep, exclude, feature_groups, max_correlation)
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_components = n_components
        self.init = init
        self.transpose_weights = transpose_weights
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_features = request.n_features
        if self.n_components is not None and self.n_components > n_features:
            raise ValueError(
                f"n_components={self.n_components} is more than the {n_features} features of X; lower it."
            )
        if self.init is None:
            shape = (request.columns.size, self.n_components or request.n_selected)
            start = generator(self.random_state).random(shape)
        else:
            start = request.table.numbers("init", self.init)
            width = self.n_components or (start.shape[1] if start.ndim == 2 else request.n_selected)
            if start.shape != (n_features, width) or not np.all(np.isfinite(start)) or np.any(start < 0):
                raise ValueError(
                    f"init must be a finite non-negative array of shape ({n_features}, {width}), "
                    f"n_features × n_components; its shape is {start.shape}."
                )
            start = start[request.columns]
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        varying = X.max(axis=0) > X.min(axis=0)
        largest = float(np.abs(X).max()) or 1.0  # squares of huge data would overflow
        samples = normalize(X.astype(np.float64) / largest)
        weights = lle_weights(samples, nearest_neighbors(samples, n_neighbors)[0])
        residuals = samples - (weights.T if self.transpose_weights else weights) @ samples
        method = RobustEmbedding(residuals[:, varying], float(self.alpha), start[varying])
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        embedding = np.zeros_like(start)
        embedding[varying] = result.state.H
        return np.linalg.norm(embedding, axis=1), {
            "embedding_": embedding,
            "n_neighbors_": n_neighbors,
            **run_attributes("RNE", result, is_judged=self.tol is not None),
        }
