"""Clusters of rows: the cut of a graph of neighbours in whitened principal-component scores.

:func:`build_reference` goes from rows to scores, from scores to a graph, and from the graph to its clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.clusters.kmeans import contingencies, inertias, kmeans_runs
from ufselect.exceptions import ConstantDataError
from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.centring import centre_and_scale, power_of_two_near
from ufselect.gram.sparse import column_means
from ufselect.gram.spectrum import eigenpairs_between
from ufselect.graphs.score_graph import centred_basis, score_graph, score_widths, smooth_vectors


def kmeans_seeds(seed: int, n_runs: int) -> list[int]:
    """Return one seed per K-means run."""
    return np.random.RandomState(seed % 2**32).randint(np.iinfo(np.int32).max, size=n_runs).tolist()


def sampled_indices(n_rows: int, max_samples: int, seed: int) -> NDArray:
    """Return the indices of all rows, or of ``max_samples`` drawn without replacement, in order."""
    if n_rows <= max_samples:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, max_samples, replace=False))


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


@dataclass(frozen=True)
class Reference:
    """The clusters of some rows, and the graph that they come from."""

    rows: Rows
    scores: NDArray  # leading whitened principal-component scores: orthonormal columns
    spread: NDArray  # singular values over the first
    axes: NDArray  # what centred rows are multiplied by to give their scores
    widths: list[int]  # numbers of leading scores in which neighbours are searched
    powers: Sequence[float]  # of the singular values, which weight the scores; the graph averages over them
    graph: sparse.csr_array  # the share of searches that found two samples to be neighbours
    values: NDArray  # eigenvalues of the random walk on the graph, and vectors smooth on it, smoothest first
    vectors: NDArray
    labels: NDArray  # the consensus of several cuts of the graph, as consecutive integers from 0
    n_clusters: int  # asked for

    @cached_property
    def scatters(self) -> tuple[NDArray, NDArray]:
        """Sums of squares of each feature between and within the clusters."""
        between = np.bincount(self.labels) @ np.square(self.rows.cluster_means(self.labels))
        return between, np.maximum(self.rows.squares() - between, 0)

    @cached_property
    def embedding(self) -> NDArray:
        """Orthonormal, centred vectors that are smooth on the graph, at most one per cluster."""
        return centred_basis(self.vectors[:, : self.n_clusters])


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


def rows_to_cluster(X: Any, max_samples: int, seed: int) -> tuple[Rows, NDArray]:
    """Return the rows from which clusters are found, sampled and without outliers, and their places in X."""
    chosen = sampled_indices(X.shape[0], max_samples, seed)
    rows = rows_of(X if chosen.size == X.shape[0] else X[chosen])
    outliers = outlying_rows(rows)
    return (rows.without(outliers), np.delete(chosen, outliers)) if outliers.size else (rows, chosen)


def build_reference(
    rows: Rows, n_clusters: int, seed: int, powers: Sequence[float] | None = None
) -> Reference:
    """Build the graph of some rows, with the powers that `clear_powers` decides on by default, and cut it."""
    if powers is None:
        powers = clear_powers(rows, n_clusters)[0]
    scores, spread, axes, widths = _score_ladder(rows, n_clusters)
    graphs = [score_graph(scores * spread**power, widths) for power in powers]
    graph = sparse.csr_array(sum(graphs[1:], start=graphs[0]) / len(graphs))
    values, vectors = walk_pairs(graph, n_clusters)
    labels = _cut(values, vectors, n_clusters, seed)
    return Reference(rows, scores, spread, axes, widths, powers, graph, values, vectors, labels, n_clusters)


def _score_ladder(rows: Rows, n_clusters: int) -> tuple[NDArray, NDArray, NDArray, list[int]]:
    widths = score_widths(n_clusters, min(rows.shape[0] - 1, rows.shape[1]))
    scores, spread, axes = leading_scores(rows, max(widths))
    return scores, spread, axes, [min(width, spread.size) for width in widths]


def cut_again(reference: Reference, seed: int) -> Reference:
    """Cut the graph of a reference again, from other starts."""
    labels = _cut(reference.values, reference.vectors, reference.n_clusters, seed)
    return replace(reference, labels=labels)


def _cut(values: NDArray, vectors: NDArray, n_clusters: int, seed: int) -> NDArray:
    coordinates = diffusion_coordinates(values, vectors, n_clusters)
    return consensus(cut_runs(coordinates, n_clusters, kmeans_seeds(seed, 10)), n_clusters, seed)


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
    scores, spread, _, widths = _score_ladder(rows, n_clusters)
    rng = np.random.default_rng(20240917)
    scores = scores[sampled_indices(rows.shape[0], max(max_rows, 4 * n_clusters), 0)]
    drawn = [gaussian_scores(rng, *scores.shape) for _ in range(n_draws)]
    gaps, excess = [], []
    powers = (0.0, 0.5)  # of the singular values in the scores: whitened and half whitened
    for power in powers:
        graphs = [score_graph(each * spread**power, widths) for each in (scores, *drawn)]
        found, *null = [clarity(graph, n_clusters) for graph in graphs]
        gaps.append(found - float(np.mean(null)))
        excess.append(gaps[-1] / max(float(np.std(null, ddof=1)), 1e-3))
    # Averaging two graphs that do about as well improves selections; the slack was chosen on seven labelled
    # sets among 0.02, 0.05 and 0.065.
    return [power for power, gap in zip(powers, gaps, strict=True) if gap >= max(gaps) - 0.065], max(excess)


def walk_pairs(graph: sparse.csr_array, n_clusters: int) -> tuple[NDArray, NDArray]:
    """Return the leading eigenpairs of the random walk on a graph, as many as a cut needs.

    Vectors beyond one per cluster keep clusters apart that the first c mix. Their number and that of the
    steps of the walk, which fade vectors that carry noise, were chosen on fifteen labelled sets among 1, 1.5,
    2, 3, 4 per cluster and 1, 2, 4, 8, 16.
    """
    return smooth_vectors(graph, min(graph.shape[0] - 1, max(2, round(1.5 * n_clusters))))


def clarity(graph: sparse.csr_array, n_clusters: int) -> float:
    r"""Return how cleanly a graph of few samples can be cut into ``n_clusters`` parts.

    It is the mean of the eigenvalues :math:`\lambda_2, \dots, \lambda_c` of the random walk: the walk rarely
    leaves a clean cluster, and c minus the sum of the leading c eigenvalues is a lower bound of the
    normalised cut (von Luxburg 2007, Stat. Comput. 17).
    """
    root = 1 / np.sqrt(graph.sum(axis=1))
    leading = np.linalg.eigvalsh(graph.toarray() * root * root[:, None])[-n_clusters:-1]
    return float(leading.mean()) if leading.size else 0.0


def diffusion_coordinates(values: NDArray, vectors: NDArray, n_clusters: int) -> NDArray:
    r"""Return the diffusion coordinates of the samples by which they are cut into ``n_clusters`` clusters.

    Coordinate k of a sample is :math:`\lambda_k^t v_k` with :math:`\lambda_k, v_k` the eigenpairs of the
    random walk on the graph, after t = 4 steps of it: all pairs, or one per cluster if the eigenvalues
    clearly end with the clusters. Then further vectors only separate parts of a cluster, and K-means would
    rather halve a large cluster than keep a small one. They end clearly if the distance from 1 of the next
    eigenvalue is at least twice that of the last cluster's; 0.005 is added to both, because smaller
    distances, on a graph that hardly mixes, mean nothing.
    """
    if values.size > n_clusters:
        last, following = 1 - values[n_clusters - 1 : n_clusters + 1] + 0.005
        if following >= 2 * last:
            values, vectors = values[:n_clusters], vectors[:, :n_clusters]
    return vectors * np.maximum(values, 0) ** 4


def cut_runs(coordinates: NDArray, n_clusters: int, seeds: Sequence[int]) -> NDArray:
    """Cluster the rows, scaled to unit length, by one run of K-means per seed; one partition per row."""
    lengths = np.linalg.norm(coordinates, axis=1, keepdims=True)
    points = np.ascontiguousarray(coordinates / np.maximum(lengths, np.finfo(float).tiny))
    return kmeans_runs(points, n_clusters, seeds, "greedy-k-means++", is_exact=False)


def consensus(runs: NDArray, n_clusters: int, seed: int) -> NDArray:
    """Return the partition that several runs agree on, labelled by consecutive integers from 0.

    Samples are placed by the clusters that they share over the runs, in as few dimensions as that many
    clusters span, and clustered there. Many runs end in different minima of nearly the same value; what they
    have in common depends far less on the seed than the lowest of them.
    """
    shared = np.hstack([np.eye(int(runs.max()) + 1)[labels] for labels in runs])
    shared -= shared.mean(axis=0)
    n_rows, n_columns = shared.shape
    width = max(1, min(n_clusters, n_rows, n_columns) - 1)
    if n_rows < n_columns:  # the smaller of the two products has the same coordinates
        values, vectors = eigenpairs_between(shared @ shared.T, n_rows - width, n_rows - 1)
        points = vectors * np.sqrt(np.maximum(values, 0))
    else:
        points = shared @ eigenpairs_between(shared.T @ shared, n_columns - width, n_columns - 1)[1]
    points = np.ascontiguousarray(points)
    again = kmeans_runs(points, n_clusters, kmeans_seeds(seed, len(runs)), "greedy-k-means++")
    best = again[int(np.argmin(inertias(points, again)))]
    return np.unique(best, return_inverse=True)[1]


def rand_agreement(labels: NDArray, reference: NDArray) -> NDArray:
    """Return the adjusted Rand index (Hubert and Arabie 1985) of each partition, a row each, with another.

    Unlike mutual information, it does not grow with the number of clusters. It is 1 for two partitions of one
    part each.
    """
    tables = contingencies(reference, int(reference.max()) + 1, labels, int(labels.max()) + 1)
    together = _pairs(tables).sum(axis=(1, 2))
    ours, theirs = _pairs(tables.sum(axis=1)).sum(axis=1), _pairs(tables.sum(axis=2)).sum(axis=1)
    by_chance = ours * theirs / _pairs(np.array(reference.size))
    possible = (ours + theirs) / 2 - by_chance
    return np.where(possible > 0, (together - by_chance) / np.where(possible > 0, possible, 1), 1.0)


def _pairs(counts: NDArray) -> NDArray:
    return counts * (counts - 1) / 2
