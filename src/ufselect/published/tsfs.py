"""TSFS: a student network learns the t-SNE embedding of a teacher from few features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import Descent, iterate, run_attributes
from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import generator, warn_user
from ufselect.base import AT_LEAST_ONE, NON_NEGATIVE, FitResult, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.gram.rows import mean_and_scale, order_of_rows

# Rounding of the loss that its comparison with the quadratic model must tolerate.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


def teacher_embedding(centred: NDArray, n_components: int, seed: int) -> NDArray:
    """Embed centred data by t-SNE, centred and scaled to mean variance 1.

    One factor scales all axes, since the rotation of a t-SNE embedding is arbitrary. The perplexity is 30, or
    a third of the other samples if that is less. The start is PCA if there are enough features.
    """
    tsne = TSNE(
        n_components,
        perplexity=max(1.0, min(30.0, (len(centred) - 1) / 3)),
        init="pca" if n_components <= min(centred.shape) else "random",
        method="barnes_hut" if n_components <= 3 else "exact",
        random_state=seed,
    )
    embedding = tsne.fit_transform(centred).astype(np.float64)
    embedding -= embedding.mean(axis=0)
    return embedding / np.sqrt(np.mean(embedding**2))


@dataclass(frozen=True)
class StudentState:
    """The weights of the network, those before, and what the accelerated method carries along."""

    weights: NDArray  # W₁, b₁, W₂ and b₂ in one vector
    previous: NDArray
    momentum: float
    curvature: float
    objective: float


class StudentNetwork(Descent):
    """Monotone accelerated proximal gradient steps (Beck and Teboulle 2009) on the student's objective.

    One step of :func:`iterate` is a sweep of ten gradient steps, so the fluctuations of an accelerated method
    do not affect the stopping rule. ``inputs`` are standardised features, ``targets`` the teacher's
    embedding.
    """

    resolution = ROUNDING

    def __init__(self, inputs: NDArray, targets: NDArray, hidden: int, gamma: float, seed: int) -> None:
        self.inputs, self.targets = inputs, targets
        self.hidden, self.gamma, self.seed = hidden, gamma, seed

    def init(self) -> StudentState:
        rng = np.random.default_rng(self.seed)
        n_outputs = self.targets.shape[1]
        start = (
            np.zeros(self.inputs.shape[1] * self.hidden),  # W₁ = 0: without any feature
            rng.standard_normal(self.hidden),
            rng.standard_normal(self.hidden * n_outputs) / np.sqrt(self.hidden),
            np.zeros(n_outputs),
        )
        weights = np.concatenate(start)
        # For standardised features and embedding; too small a curvature is doubled at once.
        return StudentState(weights, weights, 1.0, 1.0, self.loss(weights) + self.penalty(weights))

    def step(self, state: StudentState) -> StudentState:
        for _ in range(10):
            state = self._advance(state)
        return state

    def _advance(self, state: StudentState) -> StudentState:
        """Take an extrapolated step, or a plain one if extrapolation would raise the objective.

        See O'Donoghue and Candès (2015), Foundations of Computational Mathematics 15.
        """
        momentum = (1 + np.sqrt(1 + 4 * state.momentum**2)) / 2
        ahead = state.weights + (state.momentum - 1) / momentum * (state.weights - state.previous)
        weights, curvature, objective = self._proximal_step(ahead, state.curvature)
        if objective > state.objective:
            momentum = 1.0
            weights, curvature, objective = self._proximal_step(state.weights, curvature)
        if objective > state.objective:  # only by rounding, at a stationary point
            return state
        return StudentState(weights, state.weights, momentum, curvature, objective)

    def _proximal_step(self, weights: NDArray, curvature: float) -> tuple[NDArray, float, float]:
        """Step along the gradient, shrink rows, and halve the step until the quadratic model holds."""
        value, slope = self.loss(weights), self.gradient(weights)
        curvature = 0.9 * curvature  # so that one bad place does not shorten all later steps
        while True:
            moved = weights - slope / curvature
            first, threshold = self.split(moved)[0], self.gamma / curvature
            norms = np.linalg.norm(first, axis=1, keepdims=True)
            first *= 1 - np.divide(threshold, norms, out=np.ones_like(norms), where=norms > threshold)
            change, loss = moved - weights, self.loss(moved)
            model = value + change @ (slope + 0.5 * curvature * change)
            # If rounding hides every descent, the step shrinks to nothing, and the state stays.
            if loss <= model + ROUNDING * abs(value) or not np.isfinite(curvature):
                return moved, curvature, loss + self.penalty(moved)
            curvature *= 2.0

    def scores(self, weights: NDArray) -> NDArray:
        """Return the row norms of W₁; for zero rows, minus the feature's distance from entering.

        At a minimum, a row is zero exactly when the gradient of the loss there has a norm of at most γ.
        """
        norms = np.linalg.norm(self.split(weights)[0], axis=1)
        slopes = np.linalg.norm(self.split(self.gradient(weights))[0], axis=1)
        return np.where(norms > 0, norms, np.minimum(slopes - self.gamma, 0.0))

    def split(self, weights: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return views of W₁, b₁, W₂ and b₂."""
        (d, h), m = (self.inputs.shape[1], self.hidden), self.targets.shape[1]
        w1, b1, w2, b2 = np.split(weights, np.cumsum([d * h, h, h * m]))
        return w1.reshape(d, h), b1, w2.reshape(h, m), b2

    def penalty(self, weights: NDArray) -> float:
        """Return the penalty on W₁."""
        return self.gamma * float(np.linalg.norm(self.split(weights)[0], axis=1).sum())

    def loss(self, weights: NDArray) -> float:
        """Return the loss and the penalty on W₂."""
        w2 = self.split(weights)[2]
        error = self._outputs(weights)[1] - self.targets
        return 0.5 * float(np.vdot(error, error) / len(error) + self.gamma * np.vdot(w2, w2))

    def gradient(self, weights: NDArray) -> NDArray:
        """Return the gradient of the loss by backpropagation."""
        hidden, outputs = self._outputs(weights)
        w2 = self.split(weights)[2]
        error = (outputs - self.targets) / len(outputs)
        back = error @ w2.T * (1 - hidden**2)
        slopes = self.inputs.T @ back, back.sum(axis=0), hidden.T @ error + self.gamma * w2, error.sum(axis=0)
        return np.concatenate([slope.ravel() for slope in slopes])

    def _outputs(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        w1, b1, w2, b2 = self.split(weights)
        hidden = np.tanh(self.inputs @ w1 + b1)
        return hidden, hidden @ w2 + b2


@dataclass(kw_only=True, eq=False, repr=False)
class TSFS(UnsupervisedSelector):
    r"""Select features by a teacher and a student network.

    The teacher embeds the data by t-SNE. The student, a network with one hidden layer, learns to predict the
    embedding from few features [1]_.

    Use it for clusters that t-SNE shows and PCA does not, such as curved ones or clusters of many scales, and
    with at least some hundred samples. It is slower than the spectral methods and also learns the distortions
    of t-SNE.

    Parameters
    ----------
    {n_features_to_select}
    n_components : int, default=2
        Dimension of the embedding. Beyond 3 the exact t-SNE is used, with n² operations per iteration.
    hidden : int, default=32
        Number h of hidden units.
    gamma : float, default=0.01
        Weight γ of the penalties. Features and embedding are standardised, so it is comparable across data
        sets; from about 1 on, no feature is used.
    max_iter : int, default=100
        Most sweeps of ten gradient steps to make.
    tol : float, default=1e-3
        Stop early when the relative decrease of the objective over a sweep is at most this.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the embedding and of the starting network.
    verbose : bool, default=False
        Log each sweep.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of :math:`W_1`; for zero rows, the norm of the gradient of the loss minus γ, at most 0.
    {ranking_and_support}
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

    See Also
    --------
    MCFS : Clusters of a neighbour graph; faster.
    AutoSelector : Select for clusters and compare with random columns on held-out rows.

    Notes
    -----
    With the embedding :math:`y_i` and the standardised features :math:`x_i` of sample i, the student solves

    .. math::

        \min_{W_1, b_1, W_2, b_2}\; \frac{1}{2 n} \sum_{i=1}^{n}
        \bigl\| y_i - W_2^\top \tanh(W_1^\top x_i + b_1) - b_2 \bigr\|^2
        + \gamma \Bigl( \|W_1\|_{2,1} + \tfrac{1}{2} \|W_2\|_F^2 \Bigr)

    The penalty on :math:`W_2` is not in [1]_; without it the penalty on :math:`W_1` can be evaded by making
    :math:`W_1` small and :math:`W_2` large.

    The student starts from :math:`W_1 = 0` and is trained by accelerated proximal gradient steps on all
    samples, which never raise the objective and set rows of unneeded features to exactly zero. Such
    features are ranked in the order in which they would enter with a smaller γ.

    t-SNE takes n log n operations per iteration and a sweep 60 n d h for h hidden units; on 1560 × 617 data
    both together take about ten seconds. Everything runs in one thread, so that a seed gives one result.

    References
    ----------
    .. [1] A. Mirzaei, V. Pourahmadi, M. Soltani and H. Sheikhzadeh (2020), "Deep feature selection using a
       teacher-student network", Neurocomputing 383.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import TSFS
    >>> X = scale(load_wine().data)
    >>> TSFS(n_features_to_select=4, random_state=0).fit_transform(X).shape
    (178, 4)
    """

    is_stochastic = True
    label = "TSFS"
    cost = "n log n + iterations · n d h"
    is_nested = True

    feature_axes: ClassVar = {"input_weights_": 0}

    input_weights_: NDArray = field(init=False)
    embedding_: NDArray = field(init=False)

    _parameter_constraints: ClassVar = {
        "n_components": [AT_LEAST_ONE],
        "hidden": [AT_LEAST_ONE],
        "gamma": [NON_NEGATIVE],
    }

    n_components: int = 2
    hidden: int = 32
    gamma: float = 0.01
    max_iter: int = 100
    tol: float = 1e-3
    random_state: Any = None
    verbose: bool = False

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        X = X.astype(np.float64, copy=False)
        centred = X - mean_and_scale(X)[0]
        largest = np.abs(centred).max()
        if not largest > 0:
            raise ConstantDataError
        # t-SNE magnifies the last digits, so these follow from the data alone: neither from their unit nor
        # from the order of the rows or the signs of the columns.
        centred = np.round(centred / largest, 12)
        order = order_of_rows(centred)
        centred = centred[order]
        signs = np.where(centred[np.abs(centred).argmax(axis=0), np.arange(X.shape[1])] < 0, -1.0, 1.0)
        centred *= signs
        teacher_seed, student_seed = generator(self.random_state).integers(2**31, size=2).tolist()
        deviation = np.sqrt(np.mean(centred**2, axis=0))
        inputs = np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
        # The order of sums, which t-SNE magnifies, depends on the threads. The limit of OpenMP holds for this
        # thread, that of BLAS for the whole process.
        with one_blas_thread(), threadpool_limits(limits=1, user_api="openmp"):
            embedding = teacher_embedding(centred, self.n_components, teacher_seed)
            student = StudentNetwork(inputs, embedding, self.hidden, self.gamma, student_seed)
            result = iterate(student, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        scores = student.scores(result.state.weights)
        uses_features = bool(np.any(scores > 0))
        if not uses_features:
            warn_user(
                f"TSFS: gamma={self.gamma} is too large, and the network uses no feature; lower gamma.",
                UserWarning,
            )
        return scores, {
            "input_weights_": student.split(result.state.weights)[0] * signs[:, None],
            "embedding_": embedding[np.argsort(order)],
            **run_attributes("TSFS", result, is_judged=uses_features),
        }
