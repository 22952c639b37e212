"""TSFS: a student network learns the t-SNE embedding of a teacher from few features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect.common.checks import check_nonnegative, check_positive_int
from ufselect.common.seeds import generator
from ufselect.common.warn import warn_user
from ufselect.exceptions import ConstantDataError
from ufselect.selectors.base import PAPER_REGULARISERS, Columns, Fitted, Groups, UnsupervisedSelector
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import iterate
from ufselect.solvers.tsfs import (
    StudentNetwork,
    centred_and_scaled,
    import_torch,
    one_torch_thread,
    teacher_embedding,
    unit_variance,
)


class TSFS(UnsupervisedSelector):
    r"""Select features by a teacher and a student network.

    A teacher embeds the data by t-SNE into c dimensions; a student network with one hidden layer learns to
    predict the embedding :math:`y_i` from the standardised features :math:`x_i` while a penalty on the rows
    of its first layer makes it do without most of them [1]_:

    .. math::

        \min_{W_1, b_1, W_2, b_2}\; \frac{1}{2 n} \sum_{i=1}^{n}
        \bigl\| y_i - W_2^\top \tanh(W_1^\top x_i + b_1) - b_2 \bigr\|^2
        + \gamma \Bigl( \|W_1\|_{2,1} + \tfrac{1}{2} \|W_2\|_F^2 \Bigr)

    The student starts from :math:`W_1 = 0` and is trained by accelerated proximal gradient steps on all
    samples, which never raise the objective and leave rows of unneeded features at exactly zero. Training
    stops early when a sweep of ten steps gains less than ``tol``. Features are ranked by the row norms of
    :math:`W_1`; those with zero rows follow in the order in which a smaller γ would let them in.

    t-SNE takes n log n operations an iteration and a sweep 60 n d h for h hidden units; on 1560 × 617 data
    both together take some ten seconds. Everything runs in one thread, so that a seed gives one result.

    Use it when clusters are curved or of many scales, so that t-SNE shows them and PCA does not, and there
    are at least some hundred samples. It is slower than the spectral methods, and what t-SNE distorts is
    learnt with it.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    n_components : int, default=2
        Dimension c of the embedding. Beyond 3 the exact t-SNE is used, with n² operations an iteration.
    hidden : int, default=32
        Number h of hidden units.
    gamma : float, default=0.01
        Weight γ of the penalties. Features and embedding are standardised, so it means the same on every
        data set; from about 1 on, no feature is left.
    max_iter : int, default=100
        Most sweeps of ten gradient steps to make.
    tol : float, default=1e-3
        Stop early when the relative decrease of the objective over a sweep is at most this.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the embedding and of the starting network.
    verbose : bool, default=False
        Log each sweep.
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
        Row norms of :math:`W_1`; for zero rows the norm of the loss's gradient minus γ, at most 0.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    input_weights_ : ndarray of shape (n_features, hidden)
        :math:`W_1`.
    embedding_ : ndarray of shape (n_samples, n_components)
        The teacher's embedding, centred and scaled to mean variance 1.
    objective_history_ : ndarray
        Objective at the start and after each sweep; non-increasing.
    n_iter_ : int
        Number of sweeps.
    converged_ : bool
        Whether training stopped early, before ``max_iter``.

    Notes
    -----
    Needs PyTorch: ``pip install "ufselect[deep]"``. The penalty on :math:`W_2` is not in [1]_; without it the
    one on :math:`W_1` can be evaded by making :math:`W_1` small and :math:`W_2` large.

    References
    ----------
    .. [1] A. Mirzaei, V. Pourahmadi, M. Soltani and H. Sheikhzadeh (2020), "Deep feature selection using a
       teacher-student network", Neurocomputing 383.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect import TSFS
    >>> X = load_wine().data
    >>> TSFS(n_features_to_select=4, random_state=0).fit_transform(X).shape  # doctest: +SKIP
    (178, 4)
    """

    is_stochastic = True
    label = "TSFS"
    cost = "n log n + iterations · n d h"
    order = 130
    is_nested = True
    on_request = True  # a fit takes minutes, where the others take seconds
    requires = ("torch",)
    paper_grid: ClassVar = {"gamma": PAPER_REGULARISERS}

    feature_axes: ClassVar = {"input_weights_": 0}

    input_weights_: NDArray
    embedding_: NDArray
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int = 2,
        hidden: int = 32,
        gamma: float = 0.01,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.hidden = hidden
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        for name in ("n_components", "hidden", "max_iter"):
            check_positive_int(name, getattr(self, name))
        for name in ("gamma", "tol"):
            check_nonnegative(name, getattr(self, name))

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        import_torch()
        centred = centred_and_scaled(X)
        if not np.any(centred):
            raise ConstantDataError
        teacher_seed, student_seed = generator(self.random_state).integers(2**31, size=2).tolist()
        embedding = teacher_embedding(centred, self.n_components, teacher_seed)
        student = StudentNetwork(unit_variance(centred), embedding, self.hidden, self.gamma, student_seed)
        with one_torch_thread():
            result = iterate(student, max_iter=self.max_iter, tol=self.tol, callback=progress)
            scores = student.feature_scores(result.state)
        uses_features = bool(np.any(scores > 0))
        if not uses_features:
            warn_user(
                f"TSFS: gamma={self.gamma} is so large that the network uses no feature; lower gamma.",
                UserWarning,
            )
        return Fitted(
            scores,
            {
                "input_weights_": result.state.point[0].numpy(),
                "embedding_": embedding,
                **run_attributes("TSFS", result, is_judged=uses_features),
            },
        )
