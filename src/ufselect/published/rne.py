"""RNE: robust neighbourhood embedding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import Descent, iterate, run_attributes
from ufselect._utils.validation import generator
from ufselect.base import AT_LEAST_ONE, NON_NEGATIVE, FitResult, UnsupervisedSelector
from ufselect.gram.rows import row_blocks
from ufselect.gram.spectrum import orthonormality_defect
from ufselect.graphs import nearest_neighbors, neighbor_matrix, usable_neighbors

EPSILON = float(np.finfo(np.float64).eps)  # what the authors' program adds to denominators


def lle_weights(X: NDArray, neighbors: NDArray[np.intp]) -> sparse.csr_array:
    r"""Return the weights of locally linear embedding (Roweis and Saul 2000, Science 290), one row a sample.

    With C the Gram matrix of the differences to the neighbours, they solve :math:`(C + \rho\,
    \mathrm{Tr}(C) I) w = 1` up to their sum, which is 1. As in the original, ρ is 1e-3 if there are more
    neighbours than features, else 0; where neighbours are linearly dependent it is 1e-10, which selects the
    smallest of the best weights.
    """
    n_samples, k = neighbors.shape
    weights = np.empty((n_samples, k))
    for rows in row_blocks(n_samples, 8 * k * X.shape[1], 2**24, min_rows=1):
        differences = X[neighbors[rows]] - X[rows, None]
        # The weights do not change with the unit of length, and squares must stay in range.
        reach = np.abs(differences).max(axis=(1, 2), keepdims=True)
        differences /= np.where(reach > 0, reach, 1.0)
        gram = differences @ differences.transpose(0, 2, 1)
        diagonal = np.einsum("ijj->ij", gram)
        trace = diagonal.sum(axis=1)
        gram[trace == 0] = np.eye(k)
        trace[trace == 0] = 1.0
        if k > X.shape[1]:
            ridges = np.full(trace.shape, 1e-3)
        else:  # only rounding would make a singular matrix regular
            ridges = np.where(np.linalg.eigvalsh(gram)[:, 0] < 1e-10 * trace, 1e-10, 0.0)
        diagonal += (ridges * trace)[:, None]
        solution = np.linalg.solve(gram, np.ones((*gram.shape[:2], 1)))[..., 0]
        weights[rows] = solution / solution.sum(axis=1, keepdims=True)
    return neighbor_matrix(neighbors, weights)


@dataclass(frozen=True)
class Embedding:
    """H, the split M = RH, its multiplier Y and weight γ, and the objective."""

    H: NDArray
    split: NDArray
    multiplier: NDArray
    penalty: float
    objective: float


class RobustEmbedding(Descent):
    r"""The augmented Lagrangian method for residuals R and a first H.

    The updates of H are

    .. math::

        H \leftarrow H \circ \sqrt{\frac
        {\alpha H + \gamma (R^\top M)_+ + (R^\top Y)_+ + \gamma (R^\top R)_- H}
        {\alpha H H^\top H + \gamma (R^\top M)_- + (R^\top Y)_- + \gamma (R^\top R)_+ H}}

    after each column has been scaled to unit length. The factors correct themselves from step to step, so
    products with R are in single precision, which halves the time.
    """

    def __init__(self, residuals: NDArray, alpha: float, start: NDArray) -> None:
        self.R, self.alpha, self.start = residuals, alpha, start
        self.pull = residuals.T.astype(np.float32)
        gram = self.pull @ self.pull.T
        self.positive, self.negative = np.maximum(gram, 0), np.maximum(-gram, 0)

    def init(self) -> Embedding:
        images = self.R @ self.start
        return Embedding(self.start, images, np.zeros_like(images), 10.0, self.objective(self.start, images))

    def step(self, state: Embedding) -> Embedding:
        H, penalty = state.H, state.penalty
        split, multiplier = (self.pull @ each.astype(np.float32) for each in (state.split, state.multiplier))
        gain = penalty * np.maximum(split, 0) + np.maximum(multiplier, 0)
        loss = penalty * np.maximum(-split, 0) + np.maximum(-multiplier, 0)
        for _ in range(30):  # this and the growth and limit of the penalty are those of the authors' program
            H = H / np.sqrt(np.einsum("ij,ij->j", H, H) + EPSILON)
            single = H.astype(np.float32)
            above = self.alpha * H + gain + penalty * (self.negative @ single)
            below = self.alpha * (H @ (H.T @ H)) + loss + penalty * (self.positive @ single)
            H = H * np.sqrt(above / (below + EPSILON))
        images = self.R @ H
        # M is the soft threshold of RH − Y/γ at 1/γ, after which Y⁺ = Y + γ(M − RH).
        dual = -np.clip(penalty * images - state.multiplier, -1, 1)
        split = images + (dual - state.multiplier) / penalty
        return Embedding(H, split, dual, min(1.1 * penalty, 1e10), self.objective(H, images))

    def objective(self, H: NDArray, images: NDArray) -> float:
        """Return the objective at H, of which ``images`` is RH."""
        overlap = orthonormality_defect(H)
        return float(np.abs(images).sum() + self.alpha / 4 * np.vdot(overlap, overlap))

    def is_settled(self, last: Embedding, state: Embedding, tol: float | None) -> bool:
        """Return whether the objective, which may rise, changed by at most ``tol`` (1e-3 if it is None)."""
        share = 1e-3 if tol is None else tol
        return abs(last.objective - state.objective) <= share * abs(last.objective)


@dataclass(kw_only=True, eq=False, repr=False)
class RNE(UnsupervisedSelector):
    r"""Select features by robust neighbourhood embedding.

    Use it to compare with published results [1]_. It selects features that neighbouring samples reconstruct
    as they reconstruct all features, and suits features of comparable scale. The problem has many local
    minima, so the selection depends on the random start and, through it, on the order of the features; as
    samples are scaled to unit length and H has no negative entries, it also changes with the sign of a
    feature and with a constant added to it. It is slow for many features, and takes memory for two matrices
    of them.

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
       multiplier, and multiply the penalty, 10 at first, by 1.1.

    Costs n² d for the neighbours, and per iteration 4 n d m + 120 d² m operations.

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

    embedding_: NDArray = field(init=False)

    _parameter_constraints: ClassVar = {
        "n_components": [AT_LEAST_ONE, None],
        "alpha": [NON_NEGATIVE],
        "tol": [NON_NEGATIVE, None],
    }

    n_neighbors: int = 5
    alpha: float = 1e3
    n_components: int | None = None
    init: NDArray | None = None
    transpose_weights: bool = False
    max_iter: int = 50
    tol: float | None = None
    random_state: Any = None
    verbose: bool = False

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_features = request.n_features
        if self.n_components is not None and self.n_components > n_features:
            raise ValueError(
                f"n_components={self.n_components} is more than the {n_features} features of X; lower it."
            )
        if self.init is None:
            shape = (request.columns.size, int(self.n_components or request.n_selected))
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
