"""Rows and the graph of neighbours in their leading principal-component scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.exceptions import ConstantDataError
from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.operator import column_means
from ufselect.gram.rows import centre_and_scale, order_of_rows, power_of_two_near
from ufselect.graphs.score_graph import score_graph, score_widths


@dataclass(frozen=True)
class Rows:
    """Data as products need them; sparse data are never made dense."""

    matrix: Any  # an array or CSR array: float64 data over a power of two, less their means if dense
    mean: NDArray  # of the columns of the matrix: zero if it is centred
    gram: GramOperator
    shift: NDArray  # what was subtracted from each column of the data, and the divisor of all
    unit: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    def project(self, vectors: NDArray) -> NDArray:
        """Return the centred data times some vectors."""
        return np.asarray(self.matrix @ vectors) - self.mean @ vectors

    def cluster_means(self, labels: NDArray) -> NDArray:
        """Return the mean of each cluster, one per row, of the centred data."""
        sizes = np.bincount(labels)
        return np.asarray(np.eye(sizes.size)[labels].T @ self.matrix) / sizes[:, None] - self.mean

    def squares(self) -> NDArray:
        """Return the sum of squares of each centred column."""
        if sparse.issparse(self.matrix):
            return np.asarray(self.gram.diag(), dtype=np.float64) * self.gram.scale**2
        return np.einsum("ij,ij->j", self.matrix, self.matrix)

    def without(self, dropped: NDArray) -> Rows:
        """Return the rows that are not dropped, less their own means."""
        left = self.matrix[np.delete(np.arange(self.shape[0]), dropped)]
        fewer = rows_of(left)
        return replace(fewer, shift=self.shift + self.unit * fewer.shift, unit=self.unit * fewer.unit)

    def points(self, features: NDArray) -> NDArray:
        """Return coordinates of the rows with the distances that they have in some columns.

        They are the columns themselves, or as many coordinates as rows if sparse columns are more.
        """
        chosen, mean = self.matrix[:, features], self.mean[features]
        if not sparse.issparse(chosen):
            return np.ascontiguousarray(chosen)
        if features.size <= self.shape[0]:
            return chosen.toarray()
        beside = np.asarray(chosen @ mean)
        inner = (chosen @ chosen.T).toarray()
        rounding = len(inner) * np.finfo(np.float64).eps * np.trace(inner)
        inner += mean @ mean - beside[:, None] - beside
        # Centred rows are dependent, and large means leave rounding in their products; adding as much to the
        # diagonal moves all rows alike.
        inner[np.diag_indices_from(inner)] += rounding
        return linalg.cholesky(inner, lower=True, check_finite=False, overwrite_a=True)

    def project_others(self, X: Any, vectors: NDArray) -> NDArray:
        """Return other rows of the same table, less the means of these and in their units, times vectors."""
        if sparse.issparse(X):
            return np.asarray(X.astype(np.float64) / self.unit @ vectors) - self.mean @ vectors
        return np.asarray((X - self.shift) / self.unit, dtype=np.float64) @ vectors - self.mean @ vectors


def rows_of(X: Any) -> Rows:
    """Return validated data as `Rows`."""
    if sparse.issparse(X):
        unit = power_of_two_near(float(np.abs(X.data).max(initial=0.0)))
        matrix = sparse.csr_array(X, dtype=np.float64) / unit
        shift = np.zeros(matrix.shape[1])
        return Rows(matrix, column_means(matrix), gram_operator(matrix), shift, unit)
    mean, scale = centre_and_scale(X)
    matrix = np.asarray((X - mean) / scale, dtype=np.float64)
    return Rows(matrix, np.zeros(matrix.shape[1]), gram_operator(matrix), mean, scale)


def leading_scores(rows: Rows, count: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return up to ``count`` whitened principal-component scores, their spread and their axes."""
    vectors = np.asarray(rows.gram.eigenpairs(count).vectors, dtype=np.float64)
    if vectors.shape[1] == 0:
        raise ConstantDataError
    scores = rows.project(vectors)
    norms = np.linalg.norm(scores, axis=0)
    return scores / norms, norms / norms[0], vectors / norms


def outlying_rows(rows: Rows) -> NDArray:
    """Return the rows that make a leading principal component by themselves, at most a twentieth of all.

    The leverage of a row in the leading scores is 1 if it spans a component alone, and 1/2 for each of two
    such rows that lie close to each other; of most rows it is near the number of scores over that of rows.
    Without these rows others may stand out, so the search is repeated.
    """
    n_rows = rows.shape[0]
    kept = np.arange(n_rows)
    width = min(10, n_rows // 10, rows.shape[1])
    left = n_rows // 20
    for _ in range(3 if width else 0):
        if not rows.squares().any():
            break
        leverage = np.square(leading_scores(rows, width)[0]).sum(axis=1)
        worst = np.argsort(-leverage, kind="stable")[:left]
        worst = worst[leverage[worst] > 0.4]
        if not worst.size:
            break
        left -= worst.size
        kept = np.delete(kept, worst)
        rows = rows.without(worst)
    return np.setdiff1d(np.arange(n_rows), kept)


def sampled_indices(n_rows: int, max_samples: int, seed: int) -> NDArray:
    """Return the indices of all rows, or of ``max_samples`` drawn without replacement, in order."""
    if n_rows <= max_samples:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, max_samples, replace=False))


def sampled_rows(X: Any, max_samples: int, seed: int) -> tuple[Rows, NDArray]:
    """Return at most so many rows of X without outliers, and their places in X.

    They are drawn from, and stay in, an order that follows from their values, so that what is computed from
    them does not depend on the order of the rows of X.
    """
    order = order_of_rows(X)
    if order.size > max_samples:
        order = order[np.sort(np.random.default_rng(seed).choice(order.size, max_samples, replace=False))]
    rows = rows_of(X[order])
    outliers = outlying_rows(rows)
    return (rows.without(outliers), np.delete(order, outliers)) if outliers.size else (rows, order)


def score_ladder(rows: Rows, n_clusters: int) -> tuple[NDArray, NDArray, NDArray, list[int]]:
    """Return whitened scores, their spread and axes, and how many of them neighbours are searched in."""
    widths = score_widths(n_clusters, min(rows.shape[0] - 1, rows.shape[1]))
    scores, spread, axes = leading_scores(rows, max(widths))
    return scores, spread, axes, [min(width, spread.size) for width in widths]


def mean_graph(
    scores: NDArray, spread: NDArray, widths: Sequence[int], powers: Sequence[float]
) -> sparse.csr_array:
    """Return the mean of the graphs in scores that are weighted by powers of their spread."""
    graphs = [score_graph(scores * spread**power, widths) for power in powers]
    return sparse.csr_array(sum(graphs[1:], start=graphs[0]) / len(graphs))


def gaussian_scores(rng: np.random.Generator, n_samples: int, width: int) -> NDArray:
    """Return whitened scores of Gaussian data."""
    draw = rng.standard_normal((n_samples, width))
    return np.linalg.qr(draw - draw.mean(axis=0))[0]


def clear_powers(
    rows: Rows, n_clusters: int, n_draws: int = 2, max_rows: int = 200
) -> tuple[list[float], float]:
    """Return the powers whose graphs are cut more cleanly than those of Gaussian data, and by how much.

    The Gaussian data have the same singular values: graphs of few directions are cut more cleanly than graphs
    of many, clusters or not. The powers are those with the widest gap or nearly so; the second value is the
    largest gap in standard deviations of the draws.
    """
    scores, spread, _, widths = score_ladder(rows, n_clusters)
    scores = scores[sampled_indices(rows.shape[0], max(max_rows, 4 * n_clusters), 0)]
    gaps, excess = [], []
    powers = (0.0, 0.5)  # of the singular values in the scores: whitened and half whitened
    for power in powers:
        weights = spread**power
        null = gaussian_clarities(len(scores), tuple(weights), tuple(widths), n_clusters, n_draws)
        gaps.append(clarity(score_graph(scores * weights, widths), n_clusters) - float(np.mean(null)))
        excess.append(gaps[-1] / max(float(np.std(null, ddof=1)), 1e-3))
    # Averaging two graphs that do about as well improves selections; the slack was chosen on seven labelled
    # sets among 0.02, 0.05 and 0.065.
    return [power for power, gap in zip(powers, gaps, strict=True) if gap >= max(gaps) - 0.065], max(excess)


@lru_cache(maxsize=32)  # whitened, they are the same for every half of the rows
def gaussian_clarities(
    n_rows: int, weights: tuple[float, ...], widths: tuple[int, ...], n_clusters: int, n_draws: int
) -> list[float]:
    """Return how cleanly the graphs of some draws of weighted Gaussian scores are cut."""
    rng = np.random.default_rng(20240917)
    draws = (gaussian_scores(rng, n_rows, len(weights)) * weights for _ in range(n_draws))
    return [clarity(score_graph(scores, widths), n_clusters) for scores in draws]


def clarity(graph: sparse.csr_array, n_clusters: int) -> float:
    r"""Return how cleanly a graph of few samples can be cut into ``n_clusters`` parts.

    It is the mean of the eigenvalues :math:`\lambda_2, \dots, \lambda_c` of the random walk: the walk rarely
    leaves a clean cluster, and c minus the sum of the leading c eigenvalues is a lower bound of the
    normalised cut (von Luxburg 2007, Stat. Comput. 17).
    """
    root = 1 / np.sqrt(graph.sum(axis=1))
    leading = np.linalg.eigvalsh(graph.toarray() * root * root[:, None])[-n_clusters:-1]
    return float(leading.mean()) if leading.size else 0.0
