"""The graphs for several numbers of clusters, decomposed no further than is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import NDArray
from scipy import sparse

from ufselect.auto.cut import clarity, walk_pairs
from ufselect.graphs.score_graph import DENSE_ORDER, joined, score_neighbours, score_widths, smooth_vectors

# Eigenvalues that tell of most graphs that they cannot be cut cleanly: one more than five clean parts have.
FEW = 6


class CountGraphs:
    """Graphs of neighbours in leading scores, one for each number of clusters.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_scores)
        Orthonormal scores.
    """

    def __init__(self, scores: NDArray) -> None:
        self.scores = scores
        self._graphs: dict[int, sparse.csr_array] = {}
        self._pairs: dict[int, tuple[NDArray, NDArray]] = {}
        self._values: dict[int, NDArray] = {}

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.scores)

    def build(self, counts: Sequence[int]) -> None:
        """Build the graphs for several numbers at once, which share the search of a width."""
        widths = {
            count: score_widths(count, self.scores.shape[1]) for count in counts if count not in self._graphs
        }
        neighbours = score_neighbours(self.scores, {width for some in widths.values() for width in some})
        self._graphs |= {count: joined(neighbours, some) for count, some in widths.items()}

    def graph(self, count: int) -> sparse.csr_array:
        """Return the graph for a number of clusters."""
        if count not in self._graphs:
            self.build([count])
        return self._graphs[count]

    def pairs(self, count: int) -> tuple[NDArray, NDArray]:
        """Return the eigenpairs of the random walk that a cut into so many parts needs."""
        if count not in self._pairs:
            self._pairs[count] = walk_pairs(self.graph(count), count)
        return self._pairs[count]

    def values(self, count: int) -> NDArray:
        """Return as many leading eigenvalues of the random walk as there are clusters."""
        if count in self._pairs:
            return self._pairs[count][0][:count]
        if count not in self._values:
            self._values[count] = smooth_vectors(self.graph(count), count)[0]
        return self._values[count]

    def is_clean(self, count: int, least: float) -> bool:
        """Tell whether the graph can be cut so cleanly, from few eigenvalues if these tell."""
        is_known = count in self._pairs or count in self._values
        if not is_known and count > FEW and self.n_samples > DENSE_ORDER:
            first = smooth_vectors(self.graph(count), FEW)[0]
            # Eigenvalues fall: those left out are at most the last one.
            if (first[1:].sum() + (count - FEW) * first[-1]) / (count - 1) < least:
                return False
        return clarity(self.values(count), count) >= least
