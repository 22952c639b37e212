r"""A teacher's embedding, and a student network that learns it from as few features as it can.

The student has one hidden layer, :math:`f(x) = W_2^\top \tanh(W_1^\top x + b_1) + b_2`, and minimises

.. math::

    F = \frac{1}{2 n} \sum_{i=1}^{n} \|y_i - f(x_i)\|^2
        + \gamma \left( \|W_1\|_{2,1} + \tfrac{1}{2} \|W_2\|_F^2 \right)

by accelerated proximal gradient steps, which set rows of :math:`W_1` to exactly zero. Without the term in
:math:`W_2` the penalty on :math:`W_1` could be evaded by making :math:`W_1` small and :math:`W_2` large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from ufselect.common.threads import OneThread, one_blas_thread
from ufselect.gram.centring import centre_and_scale
from ufselect.solvers.accelerated import ROUNDING, AcceleratedState, Point, advance, start_at
from ufselect.solvers.iterate import Descent

LARGEST_PERPLEXITY = 30.0  # the default of scikit-learn and of the t-SNE paper's range 5 to 50
MOST_TREE_DIMENSIONS = 3  # that the Barnes–Hut method of scikit-learn takes
STEPS_PER_SWEEP = 10  # a stretch that evens out the wiggles of an accelerated method
FIRST_CURVATURE = 0.9  # of standardised features and embedding; too small a value is doubled at once

_one_torch_thread = OneThread()


def import_torch() -> Any:
    """Return the torch module, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError('TSFS needs PyTorch: pip install "ufselect[deep]".') from error
    return torch


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch use one thread, so that sums run in one order and a seed gives one result."""
    torch = import_torch()
    with _one_torch_thread(torch.get_num_threads, torch.set_num_threads):
        yield


def centred_and_scaled(X: NDArray) -> NDArray:
    """Return float64 data, centred and divided by a power of two near the largest entry."""
    mean, scale = centre_and_scale(X)
    return (X.astype(np.float64) - mean) / scale


def teacher_embedding(centred: NDArray, n_components: int, seed: int) -> NDArray:
    """Embed centred data by t-SNE, centred and scaled to mean variance 1.

    One factor scales all axes, since t-SNE leaves their rotation open. The perplexity is 30, or a third of
    the other samples where that is less; the start is PCA where there are enough features. It runs in one
    thread: t-SNE magnifies the last digits of sums, which depend on the order of threads.
    """
    n_samples = len(centred)
    tsne = TSNE(
        n_components,
        perplexity=max(1.0, min(LARGEST_PERPLEXITY, (n_samples - 1) / 3)),
        init="pca" if n_components <= min(centred.shape) else "random",
        method="barnes_hut" if n_components <= MOST_TREE_DIMENSIONS else "exact",
        random_state=seed,
    )
    # OpenMP's limit is each thread's own and that of BLAS the whole process's.
    with one_blas_thread(), threadpool_limits(limits=1, user_api="openmp"):
        embedding = tsne.fit_transform(centred).astype(np.float64)
    embedding -= embedding.mean(axis=0)
    return embedding / np.sqrt(np.mean(embedding**2))


def unit_variance(centred: NDArray) -> NDArray:
    """Divide centred features by their standard deviations; constant ones stay zero."""
    deviation = np.sqrt(np.mean(centred**2, axis=0))
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)


class StudentNetwork(Descent):
    """Monotone accelerated proximal gradient steps on the student's objective.

    A method for :func:`ufselect.solvers.iterate`; one of its steps is a sweep of ten gradient steps, so that
    the stopping rule looks at a stretch of progress and not at the wiggles of an accelerated method.

    Parameters
    ----------
    inputs : ndarray of shape (n_samples, n_features)
        Standardised features.
    targets : ndarray of shape (n_samples, n_outputs)
        The teacher's embedding.
    hidden : int
        Number of hidden units.
    gamma : float
        Weight of the penalties.
    seed : int
        Seed of the starting network.
    """

    resolution = ROUNDING

    def __init__(self, inputs: NDArray, targets: NDArray, hidden: int, gamma: float, seed: int) -> None:
        self.torch = import_torch()
        self.inputs = self.torch.from_numpy(np.ascontiguousarray(inputs))
        self.targets = self.torch.from_numpy(np.ascontiguousarray(targets))
        self.hidden = hidden
        self.gamma = gamma
        self.seed = seed

    def init(self) -> AcceleratedState:
        """Start without any feature: W₁ = 0, so that features have to earn their rows."""
        rng = np.random.default_rng(self.seed)
        n_outputs = self.targets.shape[1]
        start = (
            np.zeros((self.inputs.shape[1], self.hidden)),
            rng.standard_normal(self.hidden),
            rng.standard_normal((self.hidden, n_outputs)) / np.sqrt(self.hidden),
            np.zeros(n_outputs),
        )
        weights = tuple(self.torch.from_numpy(array) for array in start)
        return start_at(self, weights, FIRST_CURVATURE, momentum=1.0)

    def step(self, state: AcceleratedState) -> AcceleratedState:
        for _ in range(STEPS_PER_SWEEP):
            state = advance(self, state)
        return state

    def feature_scores(self, state: AcceleratedState) -> NDArray:
        """Return the row norms of W₁; for zero rows, how far the feature is from entering, at most 0.

        At a minimum a row is zero exactly when the loss has a gradient of norm at most γ there.
        """
        _, gradient = self.smooth_gradient(state.point)
        norms = state.point[0].norm(dim=1).numpy()
        distance = np.minimum(gradient[0].norm(dim=1).numpy() - self.gamma, 0.0)
        return np.where(norms > 0, norms, distance)

    def proximal(self, weights: Sequence[Any], curvature: float) -> Point:
        return self._shrink_rows(weights[0], self.gamma / curvature), *weights[1:]

    def _shrink_rows(self, matrix: Any, threshold: float) -> Any:
        norms = matrix.norm(dim=1, keepdim=True)
        return matrix * self.torch.where(norms > threshold, 1 - threshold / norms, 0.0)

    def smooth(self, weights: Point) -> float:
        return float(self._loss(weights))

    def smooth_gradient(self, weights: Point) -> tuple[float, Sequence[Any]]:
        variables = tuple(w.detach().requires_grad_() for w in weights)
        value = self._loss(variables)
        return float(value.detach()), self.torch.autograd.grad(value, variables)

    def penalty(self, weights: Point) -> float:
        return self.gamma * float(weights[0].norm(dim=1).sum())

    def _loss(self, weights: Point) -> Any:
        """Return the loss and the penalty on W₂."""
        w1, b1, w2, b2 = weights
        error = self.torch.tanh(self.inputs @ w1 + b1) @ w2 + b2 - self.targets
        return 0.5 * (error.square().sum() / len(error) + self.gamma * w2.square().sum())
