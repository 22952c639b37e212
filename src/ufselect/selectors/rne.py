"""Robust neighbourhood embedding."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from ufselect.common.checks import check_nonnegative, check_positive_int
from ufselect.common.seeds import generator
from ufselect.graphs import lle_weights, nearest_neighbors, usable_neighbors
from ufselect.selectors.base import PAPER_REGULARISERS, Columns, Fitted, Groups, UnsupervisedSelector
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import iterate
from ufselect.solvers.rne.embedding import RobustEmbedding


class RNE(UnsupervisedSelector):
    r"""Select features by robust neighbourhood embedding.

    Looks for a non-negative, nearly orthogonal matrix H (n_features × n_components) whose few features are
    reconstructed from neighbouring samples as all features are [1]_:

    .. math::

        \min_{H \ge 0} \; \|(I - W) X H\|_1 + \tfrac{\alpha}{4} \|H^\top H - I\|_F^2,

    with X the samples scaled to unit length and W the weights of locally linear embedding, which reconstruct
    each sample from its k nearest neighbours. Features are ranked by the row norms of H.

    1. Find the neighbours and the weights W.
    2. Split M = (I − W)XH; in turn update H by 30 multiplications, M by soft thresholding and the
       multiplier, and let the penalty, 10 at first, grow by 1.1; 50 times.
    3. Once most entries of H are negligible, update the others alone.

    Costs n² d for the neighbours, and per iteration 4 n d m + 4 d² m operations; an iteration whose H is
    still dense costs 30 times the second term.

    Use it to compare with published results. The objective rewards features with small residuals, so that
    it is best suited to features of comparable scale, and the problem has many local minima: the selection
    depends on the random start. It is slow for many features; memory stays bounded.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    n_neighbors : int, default=5
        Number k of neighbours; lowered to n_samples − 1, with a warning, if there are fewer samples.
    alpha : float, default=1e3
        Weight α of the orthogonality term.
    n_components : int or None, default=None
        Number m of columns of H; None takes the number of selected features, as in [1]_, or the width of
        ``init``.
    init : ndarray of shape (n_features, n_components) or None, default=None
        Non-negative start; None draws it uniformly from [0, 1).
    transpose_weights : bool, default=False
        Whether to use the transpose of W, as the authors' program does. It stores the weights of a sample in
        a row and then applies the transpose, so that what it minimises is no reconstruction error; the
        option is there to reproduce its results.
    max_iter : int, default=50
        Number of iterations.
    tol : float or None, default=None
        Stop once the objective changes by no more than this share of itself; None makes all iterations, as
        in [1]_.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random start.
    verbose : bool, default=False
        Log each iteration.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of H, larger is better; 0 for constant features, which take no part.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    embedding_ : ndarray of shape (n_features, n_components)
        The matrix H.
    objective_history_ : ndarray
        Objective at the start and after each iteration. It need not fall in every one.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the last relative change was at most ``tol``, or 1e-3 without one.
    n_neighbors_ : int
        The number of neighbours used.

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
    order = 90
    paper_grid: ClassVar = {"alpha": PAPER_REGULARISERS}

    feature_axes: ClassVar = {"embedding_": 0}

    embedding_: NDArray
    n_neighbors_: int
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

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
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_components = n_components
        self.init = init
        self.transpose_weights = transpose_weights
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        start = self._start(wanted)
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        varying = X.max(axis=0) > X.min(axis=0)
        largest = float(np.abs(X).max()) or 1.0  # squares of huge data would overflow
        samples = normalize(X.astype(np.float64) / largest)
        weights = lle_weights(samples, nearest_neighbors(samples, n_neighbors)[0])
        residuals = samples - (weights.T if self.transpose_weights else weights) @ samples
        method = RobustEmbedding(residuals[:, varying], float(self.alpha), start[varying])
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=progress)
        embedding = np.zeros_like(start)
        embedding[varying] = result.state.H
        return Fitted(
            np.linalg.norm(embedding, axis=1),
            {
                "embedding_": embedding,
                "n_neighbors_": n_neighbors,
                **run_attributes("RNE", result, is_judged=self.tol is not None),
            },
        )

    def _check_parameters(self) -> None:
        check_nonnegative("alpha", self.alpha)
        check_positive_int("max_iter", self.max_iter)
        if self.tol is not None:
            check_nonnegative("tol", self.tol)
        if self.n_components is not None:
            check_positive_int("n_components", self.n_components)

    def _start(self, wanted: Wanted) -> NDArray:
        """Return the starting matrix, given or drawn."""
        if self.n_components is not None and self.n_components > wanted.n_features:
            raise ValueError(
                f"n_components={self.n_components} is more than the {wanted.n_features} features of X; "
                "lower it."
            )
        if self.init is None:
            shape = (wanted.columns.size, self.n_components or wanted.n_selected)
            return generator(self.random_state).random(shape)
        start = np.array(self.init, dtype=np.float64)
        width = self.n_components or (start.shape[1] if start.ndim == 2 else wanted.n_selected)
        n_features = wanted.n_features
        if start.shape != (n_features, width) or not np.all(np.isfinite(start)) or np.any(start < 0):
            raise ValueError(
                f"init must be a finite non-negative array of shape ({n_features}, {width}), "
                f"n_features × n_components; its shape is {start.shape}."
            )
        return wanted.restrict_rows(start)
