"""The best features, proven: branch and bound for row-sparse PCA on few features."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import Spectrum
from ufselect.solvers.leading import leading_pairs, leading_sum
from ufselect.solvers.row_sparse.certificates import PROVEN_GAP, spectral_bound

MAX_FEATURES = 50  # beyond, the nodes that a proof takes are too many on real data


@dataclass(frozen=True)
class BestSubset:
    """The end of a search.

    Attributes
    ----------
    support : ndarray
        Features of the best subset found, ascending.
    captured : float
        Its variance along m axes.
    bound : float
        No subset carries more.
    is_proven : bool
        Whether the search was complete, so that the subset is the best.
    n_nodes : int
        Subproblems looked at.
    """

    support: NDArray
    captured: float
    bound: float
    is_proven: bool
    n_nodes: int


def best_subset(
    S: NDArray,
    n_rows: int,
    n_components: int,
    *,
    incumbent: NDArray,
    max_nodes: int,
    fixed: Sequence[int] = (),
) -> BestSubset:
    r"""Solve :math:`\max_{|T| = r} \sum_{k \le m} \lambda_k(S_{TT})` exactly.

    A node forces some features in and some out; what it can reach is bounded by the variance of the forced
    features plus the largest diagonal entries of the free ones, and by the eigenvalues and the spectral
    bound of all that are not out. The node with the largest bound is split first.

    Parameters
    ----------
    S : ndarray of shape (d, d)
        Positive semidefinite, d at most 50.
    n_rows, n_components : int
        r and m.
    incumbent : ndarray
        A good subset to start from.
    max_nodes : int
        Nodes after which to stop without proof.
    fixed : sequence of int
        Features that every subset has, the incumbent included.

    Raises
    ------
    ValueError
        If S has more than 50 features.
    """
    order = S.shape[0]
    if order > MAX_FEATURES:
        raise ValueError(f"Branch and bound is for at most {MAX_FEATURES} features, not {order}.")
    S = np.asarray(S, dtype=np.float64)
    search = _Search(S, n_rows, n_components)
    search.offer(incumbent)
    return search.run(max_nodes, tuple(int(feature) for feature in fixed))


class _Search:
    def __init__(self, S: NDArray, n_rows: int, n_components: int) -> None:
        self.S = S
        self.n_rows = n_rows
        self.n_components = n_components
        self.diagonal = np.diag(S)
        self.best = -np.inf
        self.support: NDArray = np.arange(n_rows)

    def offer(self, support: NDArray) -> None:
        """Keep a subset if it is the best so far."""
        support = np.sort(np.asarray(support))
        captured = leading_sum(self.S[np.ix_(support, support)], self.n_components)
        if captured > self.best:
            self.best, self.support = captured, support

    def run(self, max_nodes: int, fixed: tuple[int, ...]) -> BestSubset:
        order = count()
        everything = tuple(range(self.S.shape[0]))
        bound, branch = self._look_at(fixed, everything)
        heap = [(-bound, next(order), fixed, everything, branch)]
        n_nodes = 1
        while heap and -heap[0][0] > self._threshold() and n_nodes < max_nodes:
            _, _, forced, allowed, branch = heapq.heappop(heap)
            for child in (
                ((*forced, branch), allowed),
                (forced, tuple(f for f in allowed if f != branch)),
            ):
                bound, next_branch = self._look_at(*child)
                n_nodes += 1
                if bound > self._threshold():
                    heapq.heappush(heap, (-bound, next(order), *child, next_branch))
        is_proven = not heap or -heap[0][0] <= self._threshold()
        bound = self.best if is_proven else -heap[0][0]
        return BestSubset(self.support, self.best, bound, is_proven, n_nodes)

    def _threshold(self) -> float:
        return self.best * (1 + PROVEN_GAP)

    def _look_at(self, forced: tuple[int, ...], allowed: tuple[int, ...]) -> tuple[float, int]:
        """Bound a node, offer the subset it suggests, and name the feature to branch on."""
        kept = np.array(allowed)
        free = np.array([feature for feature in allowed if feature not in forced], dtype=np.intp)
        n_open = self.n_rows - len(forced)
        if n_open == 0 or free.size <= n_open:
            self.offer(np.array(forced, dtype=np.intp) if n_open == 0 else kept)
            return -np.inf, -1
        pairs = leading_pairs(self.S[np.ix_(kept, kept)], kept.size)
        pairs = Spectrum(np.maximum(pairs.values, 0), pairs.vectors)
        leading = pairs.head(self.n_components)
        leverage = leading.vectors**2 @ leading.values
        scores = dict(zip(allowed, leverage, strict=True))
        ordered = sorted(free.tolist(), key=lambda feature: -scores[feature])
        self.offer(np.array([*forced, *ordered[:n_open]]))
        spectral = spectral_bound(pairs, self.n_rows, self.n_components, is_complete=True)
        return min(spectral, self._split_bound(forced, free, n_open)), ordered[0]

    def _split_bound(self, forced: tuple[int, ...], free: NDArray, n_open: int) -> float:
        """Add up the forced block and the largest free variances.

        The leading eigenvalue sum of a positive semidefinite matrix is at most that of two complementary
        diagonal blocks together (Bourin and Lee, 2012), and that of a block at most its trace.
        """
        block = leading_sum(self.S[np.ix_(forced, forced)], self.n_components) if forced else 0.0
        return block + float(np.sort(self.diagonal[free])[::-1][:n_open].sum())
