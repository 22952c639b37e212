"""A reference partition: the cut of a graph of neighbours in whitened principal-component scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.auto.cut import clarity, consensus, cut_runs, diffusion_coordinates, walk_pairs
from ufselect.auto.rows import Rows
from ufselect.auto.sampling import kmeans_seeds
from ufselect.exceptions import ConstantDataError
from ufselect.graphs.score_graph import (
    centred_basis,
    score_graph,
    score_widths,
    smooth_values,
    smooth_vectors,
)

POWERS = (0.0, 0.5, 1.0)
N_RUNS = 20
# Gaps closer than this are a tie. Averaging two graphs that serve alike makes selections better; chosen on
# seven labelled sets among 0.02, 0.05 and 0.065; docs/tuning.md has the figures.
TIED_GAP = 0.065
NULL_DRAWS = 2
# Enough to compare powers: their graphs have as many samples, so what is missing they miss alike.
NULL_SAMPLES = 200
NULL_SEED = 20240917


@dataclass(frozen=True)
class Scores:
    """Leading whitened scores of some rows, and how to get those of others.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_scores)
        Orthonormal columns: every direction weighs the same.
    spread : ndarray of shape (n_scores,)
        Singular values over the first.
    axes : ndarray of shape (n_features, n_scores)
        What centred rows are multiplied with.
    """

    values: NDArray
    spread: NDArray
    axes: NDArray


@dataclass(frozen=True)
class Reference:
    """What candidates are fitted to and judged by.

    Attributes
    ----------
    rows : Rows
        The data.
    scores : Scores
        Their leading principal-component scores.
    widths : tuple of int
        Numbers of leading scores in which neighbours are looked for.
    powers : tuple of float
        Powers of the singular values by which the scores are weighted, 0 whitened, 1 as in the data; the
        graph averages over them.
    graph : sparse array of shape (n_samples, n_samples)
        The share of searches that found two samples to be neighbours.
    vectors : ndarray of shape (n_samples, n_vectors)
        Vectors smooth on the graph, smoothest first.
    labels : ndarray of shape (n_samples,)
        The consensus of several cuts of the graph, 0, 1, … without gaps.
    n_clusters : int
        Number of clusters asked for.
    gap : float
        How much more cleanly the graph can be cut than that of as many Gaussian scores with the same weights;
        NaN where the powers were given.
    share : float
        The gap over the largest possible one.
    """

    rows: Rows
    scores: Scores
    widths: tuple[int, ...]
    powers: tuple[float, ...]
    graph: sparse.csr_array
    vectors: NDArray
    labels: NDArray
    n_clusters: int
    gap: float
    share: float

    @cached_property
    def scatters(self) -> tuple[NDArray, NDArray]:
        """Sums of squares of each feature between and within the clusters."""
        between = np.bincount(self.labels) @ np.square(self.rows.cluster_means(self.labels))
        return between, np.maximum(self.rows.squares() - between, 0)

    @cached_property
    def embedding(self) -> NDArray:
        """Orthonormal, centred vectors that are smooth on the graph, at most one per cluster."""
        return centred_basis(self.vectors[:, : self.n_clusters])


@dataclass(frozen=True)
class _Weighted:
    power: float
    graph: sparse.csr_array
    pairs: tuple[NDArray, NDArray]
    gap: float


def leading_scores(rows: Rows, count: int) -> Scores:
    """Return up to ``count`` principal-component scores.

    Raises
    ------
    ConstantDataError
        If no feature varies.
    """
    vectors = np.asarray(rows.gram.eigenpairs(count).vectors, dtype=np.float64)
    if vectors.shape[1] == 0:
        raise ConstantDataError
    scores = rows.project(vectors)
    norms = np.linalg.norm(scores, axis=0)
    return Scores(scores / norms, norms / norms[0], vectors / norms)


def build_reference(
    rows: Rows,
    n_clusters: int,
    seed: int,
    powers: Sequence[float] | None = None,
) -> Reference:
    """Build the judge's graph and cut it into ``n_clusters`` parts.

    Of several degrees of whitening those are taken whose graphs are cut more cleanly than Gaussian data of
    the same spectrum would be, by the widest gap or as good as the widest; their graphs are averaged. With
    ``powers`` given, it is the graphs of these, and the gap is not worked out.
    """
    counts = score_widths(n_clusters, min(rows.shape[0] - 1, rows.shape[1]))
    scores = leading_scores(rows, max(counts))
    counts = [min(count, scores.values.shape[1]) for count in counts]
    if powers is None:
        tied = _widest(scores, counts, n_clusters)
        powers, graph = [cut.power for cut in tied], _mean_graph([cut.graph for cut in tied])
        values, vectors = tied[0].pairs if len(tied) == 1 else walk_pairs(graph, n_clusters)
        gap, share = _gap(values, scores, counts, n_clusters, powers)
    else:
        graph = _mean_graph([score_graph(scores.values * scores.spread**power, counts) for power in powers])
        values, vectors = walk_pairs(graph, n_clusters)
        gap = share = np.nan
    runs = cut_runs(
        diffusion_coordinates(values, vectors, n_clusters), n_clusters, kmeans_seeds(seed, N_RUNS)
    )
    return Reference(
        rows=rows,
        scores=scores,
        widths=tuple(counts),
        powers=tuple(powers),
        graph=graph,
        vectors=vectors,
        labels=consensus(runs, n_clusters, seed),
        n_clusters=n_clusters,
        gap=gap,
        share=share,
    )


def reference_like(reference: Reference, rows: Rows, seed: int) -> Reference:
    """Build a reference for other rows of the same table, with as many clusters and the same weights."""
    return build_reference(rows, min(reference.n_clusters, rows.shape[0]), seed, reference.powers)


def _widest(scores: Scores, counts: list[int], n_clusters: int) -> list[_Weighted]:
    """Return the graphs with the widest gap, or as good as the widest."""
    cuts = [_weighted(scores, counts, n_clusters, power) for power in POWERS[:2]]
    # Where the gap falls this fast, it cannot come back to a tie unless it falls and rises again.
    if cuts[0].gap - cuts[1].gap <= TIED_GAP / 2:
        cuts.append(_weighted(scores, counts, n_clusters, POWERS[2]))
    widest = max(cut.gap for cut in cuts)
    return [cut for cut in cuts if cut.gap >= widest - TIED_GAP]


def _weighted(scores: Scores, counts: list[int], n_clusters: int, power: float) -> _Weighted:
    """Return the graph of scores weighted by a power of their spread, its eigenpairs and its gap."""
    weights = scores.spread**power
    graph = score_graph(scores.values * weights, counts)
    pairs = walk_pairs(graph, n_clusters)
    null = gaussian_clarity(graph.shape[0], weights, counts, n_clusters)
    return _Weighted(power, graph, pairs, clarity(pairs[0], n_clusters) - null)


def _mean_graph(graphs: Sequence[sparse.csr_array]) -> sparse.csr_array:
    return sparse.csr_array(sum(graphs[1:], start=graphs[0]) / len(graphs))


def _gap(
    values: NDArray, scores: Scores, counts: list[int], n_clusters: int, powers: Sequence[float]
) -> tuple[float, float]:
    """Return how much more cleanly a graph is cut than a Gaussian one of its size, and the share of the most.

    The few samples that do for comparing powers do not do here: the more samples, the larger the eigenvalues
    of a graph in which each has few neighbours.
    """
    drawn = gaussian_scores(*scores.values.shape)
    graph = _mean_graph([score_graph(drawn * scores.spread**power, counts) for power in powers])
    null = clarity(smooth_vectors(graph, n_clusters)[0], n_clusters)
    found = clarity(values, n_clusters)
    return found - null, share_of_possible(found, null)


def gaussian_scores(n_samples: int, width: int) -> NDArray:
    """Return whitened scores of Gaussian data, the same for the same numbers."""
    return _whitened_draw(np.random.default_rng(NULL_SEED), n_samples, width)


def _whitened_draw(rng: np.random.Generator, n_samples: int, width: int) -> NDArray:
    draw = rng.standard_normal((n_samples, width))
    return np.linalg.qr(draw - draw.mean(axis=0))[0]


def share_of_possible(value: float, null: float) -> float:
    """Return how far a value is from that of Gaussian data to 1."""
    return float((value - null) / max(1 - null, np.finfo(float).eps))


def gaussian_clarity(n_samples: int, weights: NDArray, widths: Sequence[int], n_clusters: int) -> float:
    """Return how cleanly the graph of Gaussian scores with the given spread can be cut, over a few draws.

    Graphs of few directions are cut more cleanly than graphs of many, clusters or not.
    """
    rng = np.random.default_rng(NULL_SEED)
    n_drawn = min(n_samples, max(NULL_SAMPLES, 4 * n_clusters))
    width = min(weights.size, n_drawn - 1)
    counts = [min(count, width) for count in widths]
    clarities = []
    for _ in range(NULL_DRAWS):
        graph = score_graph(_whitened_draw(rng, n_drawn, width) * weights[:width], counts)
        clarities.append(clarity(smooth_values(graph, n_clusters), n_clusters))
    return float(np.mean(clarities))
