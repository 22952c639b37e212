"""A reference partition: spectral clustering of the judge's graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ufselect.auto.criteria import (
    WIDTHS,
    neighbour_agreement,
    neighbour_graph,
    principal_scores,
    score_widths,
)
from ufselect.auto.sampling import kmeans_seeds
from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.centring import centre_and_scale
from ufselect.gram.spectrum import symmetric_eigenpairs
from ufselect.metrics.kmeans import kmeans_runs

N_RUNS = 20
POWERS = (0.0, 0.5, 1.0)
MAX_DRAWS = 3
NULL_RUNS = 5
DRAWN_SAMPLES = 1000


@dataclass(frozen=True)
class Reference:
    """What candidates are fitted to and judged by.

    Attributes
    ----------
    A : ndarray of shape (n_samples, n_features)
        Centred data, float64, scaled by a power of two.
    gram : GramOperator
        S of A.
    graph : sparse array of shape (n_samples, n_samples)
        Neighbours in the whitened scores, weighted by how sure they are.
    embedding : ndarray of shape (n_samples, at most n_clusters)
        Orthonormal, centred vectors that are smooth on the graph.
    labels : ndarray of shape (n_samples,)
        Spectral clustering of the graph, 0, 1, … without gaps.
    power : float
        Power of the singular values by which the scores are weighted: 0 whitened, 1 as in the data.
    gap : float
        Agreement of the labels with the graph beyond that of Gaussian scores with the same weights.
    """

    A: NDArray
    gram: GramOperator
    graph: sparse.csr_array
    embedding: NDArray
    labels: NDArray
    power: float
    gap: float


def build_reference(
    X: NDArray,
    n_clusters: int,
    seed: int,
    powers: Sequence[float] = POWERS,
    widths: Sequence[float] = WIDTHS,
) -> Reference:
    """Build the judge's graph of dense data and cut it into ``n_clusters`` parts.

    Of several degrees of whitening the one is taken whose graph is cut more cleanly than Gaussian data of the
    same spectrum would be, by the widest gap.
    """
    mean, scale = centre_and_scale(X)
    A = np.asarray((X - mean) / scale, dtype=np.float64)
    gram = gram_operator(A)
    counts = score_widths(n_clusters, min(A.shape[0] - 1, A.shape[1]), widths)
    scores, values = principal_scores(A, gram, max(counts))
    counts = [min(count, scores.shape[1]) for count in counts]
    references = [_cut_scores(A, gram, scores, values, counts, n_clusters, seed, power) for power in powers]
    return max(references, key=lambda reference: reference.gap)


def _cut_scores(
    A: NDArray,
    gram: GramOperator,
    scores: NDArray,
    values: NDArray,
    counts: list[int],
    n_clusters: int,
    seed: int,
    power: float,
) -> Reference:
    weights = values**power
    graph = neighbour_graph(scores * weights, counts)
    vectors = smooth_vectors(graph, n_clusters)
    labels = cut(vectors, n_clusters, seed)
    clarity = float(neighbour_agreement(labels[None], graph)[0])
    gap = clarity - gaussian_clarity(len(A), weights, counts, n_clusters, seed)
    return Reference(A, gram, graph, centred_basis(vectors), labels, power, gap)


def gaussian_clarity(
    n_samples: int, weights: NDArray, widths: list[int], n_clusters: int, seed: int
) -> float:
    """Return how cleanly the graph of Gaussian scores with the given spread is cut, over a few draws.

    Graphs of few directions are cut more cleanly than graphs of many, clusters or not.
    """
    rng = np.random.default_rng(seed)
    clarities = []
    for _ in range(max(1, min(MAX_DRAWS, DRAWN_SAMPLES // n_samples))):
        draw = rng.standard_normal((n_samples, weights.size))
        scores = np.linalg.qr(draw - draw.mean(axis=0))[0]
        graph = neighbour_graph(scores * weights, widths)
        labels = cut(smooth_vectors(graph, n_clusters), n_clusters, seed, NULL_RUNS)
        clarities.append(neighbour_agreement(labels[None], graph)[0])
    return float(np.mean(clarities))


def smooth_vectors(graph: sparse.csr_array, count: int) -> NDArray:
    r"""Return the leading eigenvectors of :math:`D^{-1/2} W D^{-1/2}`, rows scaled by :math:`D^{-1/2}`."""
    root = 1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    normalised = sparse.csr_array(sparse.diags_array(root) @ graph @ sparse.diags_array(root))
    # Adding the identity makes the matrix positive semidefinite and keeps the order of its eigenvalues.
    shifted = LinearOperator(
        normalised.shape,
        matvec=lambda v: normalised @ v + v,
        matmat=lambda v: normalised @ v + v,
        dtype=np.float64,
    )
    return symmetric_eigenpairs(shifted, min(count, graph.shape[0])).vectors * root[:, None]


def centred_basis(vectors: NDArray) -> NDArray:
    """Return an orthonormal basis of the span of the columns without their means."""
    left, values, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return left[:, values > 1e-8 * max(values[0], np.finfo(float).tiny)]


def cut(vectors: NDArray, n_clusters: int, seed: int, n_runs: int = N_RUNS) -> NDArray:
    """Cluster the rows of the vectors, scaled to unit length, by the best of several K-means runs [1]_.

    References
    ----------
    .. [1] A. Y. Ng, M. I. Jordan and Y. Weiss (2001), "On spectral clustering: analysis and an algorithm",
       Advances in Neural Information Processing Systems 14.
    """
    points = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
    seeds = kmeans_seeds(seed, n_runs)
    runs = kmeans_runs(np.ascontiguousarray(points), n_clusters, seeds, "greedy-k-means++")
    best = min(runs, key=lambda labels: _inertia(points, labels))
    return np.unique(best, return_inverse=True)[1]


def _inertia(points: NDArray, labels: NDArray) -> float:
    codes = np.unique(labels, return_inverse=True)[1]
    sums = np.zeros((codes.max() + 1, points.shape[1]))
    np.add.at(sums, codes, points)
    centres = sums / np.bincount(codes)[:, None]
    return float(np.square(points - centres[codes]).sum())
