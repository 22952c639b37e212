"""Rows, the graph of neighbours in their principal-component scores, and the vectors smooth on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from ufselect.exceptions import ConstantDataError
from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.operator import column_means
from ufselect.gram.rows import centre_and_scale, order_of_rows, power_of_two_near, row_blocks
from ufselect.gram.spectrum import symmetric_pairs

N_NEIGHBORS = 5


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


def score_widths(n_clusters: int, rank: int) -> list[int]:
    """Return the numbers of scores over which the graph averages: 1, 1.5 and 2 times n_clusters."""
    return [min(rank, max(1, round(width * n_clusters))) for width in (1.0, 1.5, 2.0)]


def score_neighbours(scores: NDArray, width: int, n_neighbors: int = N_NEIGHBORS) -> NDArray[np.intp]:
    """Return the nearest other rows of each row in so many leading scores, in any order.

    Single precision is enough: if two distances agree to seven digits, either sample may be the neighbour.
    Products give exact enough distances, since scores have no large means, in a tenth of the time in which
    scikit-learn starts its threads.
    """
    points = scores.astype(np.float32)[:, :width]
    n_samples = len(points)
    # With neighbours among more than half of the others, a small graph would be nearly complete.
    n_neighbors = min(n_neighbors, max(1, (n_samples - 1) // 2))
    squares, factor = np.einsum("ij,ij->i", points, points), -2 * points.T
    indices = np.empty((n_samples, n_neighbors), dtype=np.intp)
    # The distances of a block of rows to all rows stay in the cache.
    for rows in row_blocks(n_samples, points.itemsize * n_samples, 2**18):
        # Without the squared norm of the row itself, which does not change the order.
        distances = points[rows] @ factor
        distances += squares
        within = np.arange(len(distances))
        distances[within, within + rows.start] = np.inf
        found, reach = indices[rows], np.empty((len(within), n_neighbors), dtype=distances.dtype)
        for place in range(n_neighbors):  # for so few neighbours several times faster than a partition
            found[:, place] = nearest = distances.argmin(axis=1)
            reach[:, place] = distances[within, nearest]
            distances[within, nearest] = np.inf
        # Of duplicates, which are equally far, the first must not be the neighbour of all.
        tied = np.flatnonzero(distances.min(axis=1) == reach[:, -1])
        distances[tied[:, None], found[tied]] = reach[tied]
        found[tied] = np.argpartition(distances[tied], n_neighbors - 1, axis=1)[:, :n_neighbors]
    return indices


def score_graph(scores: NDArray, widths: Sequence[int], n_neighbors: int = N_NEIGHBORS) -> sparse.csr_array:
    """Return the share, in [0, 1], of the graphs in which two samples are joined.

    There is one graph per width: samples are joined if one is among the nearest neighbours of the other in
    that many leading scores.
    """
    neighbours = {width: score_neighbours(scores, width, n_neighbors) for width in set(widths)}
    return joined([neighbours[width] for width in widths])


def joined(searches: Sequence[NDArray]) -> sparse.csr_array:
    """Return the graph of `score_graph` from the neighbours that are already known for each width."""
    n_samples, n_searches = len(searches[0]), len(searches)
    rows = np.arange(n_samples)[:, None]
    pairs = np.stack([(rows * n_samples + each, each * n_samples + rows) for each in searches])
    # Pair and search as one number: one sort is faster than sparse matrices with few entries.
    found = np.sort((pairs * n_searches + np.arange(n_searches)[:, None, None, None]).ravel())
    pairs = found[np.diff(found, prepend=-1) > 0] // n_searches
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    shares = np.diff(first, append=pairs.size) / n_searches
    starts = np.searchsorted(pairs[first], n_samples * np.arange(n_samples + 1))
    return sparse.csr_array((shares, pairs[first] % n_samples, starts), shape=(n_samples, n_samples))


def smooth_vectors(graph: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    r"""Return the leading eigenvalues of :math:`D^{-1/2} W D^{-1/2}` and :math:`D^{-1/2}` times its vectors.

    The vectors are the right eigenvectors of the random walk :math:`D^{-1} W`, smoothest first.
    """
    root = 1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    data = graph.data * np.repeat(root, np.diff(graph.indptr)) * root[graph.indices]
    # The index arrays are shared with the graph; neither matrix is sorted or changed.
    normalised = sparse.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)
    values, vectors = _leading_pairs(normalised, min(count, graph.shape[0]))
    return values[::-1], vectors[:, ::-1] * root[:, None]


def end_clearly(values: NDArray, count: int) -> bool:
    """Tell whether the eigenvalues of a random walk clearly end with the first ``count``.

    They do if the distance from 1 of the next one is at least twice that of the last; 0.005 is added to both,
    because smaller distances, on a graph that hardly mixes, mean nothing.
    """
    if values.size <= count:
        return False
    last, following = 1 - values[count - 1 : count + 1] + 0.005
    return bool(following >= 2 * last)


def _leading_pairs(matrix: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    """Return the largest eigenvalues, ascending, and their vectors, computed separately for each component.

    Every component has the eigenvalue 1, and the Lanczos method finds only one vector of an eigenvalue that
    several components share.
    """
    solve = partial(symmetric_pairs, dense_order=300, dense_share=0.2, which="LA", tol=1e-6)
    n_components, member = connected_components(matrix, directed=False)
    if n_components == 1:
        return solve(matrix, count)
    pairs = []
    for component in range(n_components):
        rows = np.flatnonzero(member == component)
        values, vectors = solve(matrix[rows][:, rows], min(count, rows.size))
        pairs += [(value, rows, vector) for value, vector in zip(values, vectors.T, strict=True)]
    pairs.sort(key=itemgetter(0))
    kept = pairs[-max(count, n_components) :]
    basis = np.zeros((matrix.shape[0], len(kept)))
    for place, (_, rows, vector) in enumerate(kept):
        basis[rows, place] = vector
    if n_components <= count:
        return np.array([value for value, _, _ in kept]), basis
    # Mixtures of the components' vectors also have the eigenvalue 1, and give every row coordinates.
    mixture = np.random.default_rng(20240918).standard_normal((n_components, count))
    return np.ones(count), basis @ np.linalg.qr(mixture)[0]


def centred_basis(vectors: NDArray) -> NDArray:
    """Return an orthonormal basis of the span of the columns without their means."""
    left, values, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return left[:, values > 1e-8 * max(values[0], np.finfo(float).tiny)]
