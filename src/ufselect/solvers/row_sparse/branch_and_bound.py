"""The best features, proven: branch and bound for row-sparse PCA on few features."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import Spectrum
from ufselect.sets.units import Units
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
    units: Units | None = None,
) -> BestSubset:
    r"""Solve :math:`\max_{|T| = r} \sum_{k \le m} \lambda_k(S_{TT})` exactly.

    A node forces some features in and some out; what it can reach is bounded by the variance of the forced
    features plus the largest diagonal entries of the free ones, and by the eigenvalues and the spectral
    bound of all that are not out. The node with the largest bound is split first. Where features come in
    groups, T is the union of r groups, and a group counts with the sum of its entries.

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
        Groups, or else features, that every subset has, the incumbent included.
    units : Units, optional
        The groups; without them each feature is one.

    Raises
    ------
    ValueError
        If S has more than 50 features.
    """
    order = S.shape[0]
    if order > MAX_FEATURES:
        raise ValueError(f"Branch and bound is for at most {MAX_FEATURES} features, not {order}.")
    S = np.asarray(S, dtype=np.float64)
    units = Units.single(order) if units is None else units
    search = _Search(S, n_rows, n_components, units)
    search.offer(np.unique(units.codes[incumbent]))
    return search.run(max_nodes, tuple(int(feature) for feature in fixed))


class _Search:
    """Nodes and what is known so far; all numbers are those of groups but for ``support``."""

    def __init__(self, S: NDArray, n_chosen: int, n_components: int, units: Units) -> None:
        self.S = S
        self.n_chosen = n_chosen
        self.n_components = n_components
        self.units = units
        self.variances = units.sums(np.diag(S))
        self.best = -np.inf
        self.support = np.empty(0, dtype=np.intp)

    def features(self, chosen: Sequence[int] | NDArray) -> NDArray:
        """Return the features of some groups, one group after the other."""
        return np.concatenate([self.units.members(int(unit)) for unit in chosen])

    def offer(self, chosen: Sequence[int] | NDArray) -> None:
        """Keep a subset if it is the best so far."""
        support = np.sort(self.features(chosen))
        captured = leading_sum(self.S[np.ix_(support, support)], self.n_components)
        if captured > self.best:
            self.best, self.support = captured, support

    def run(self, max_nodes: int, fixed: tuple[int, ...]) -> BestSubset:
        order = count()
        everything = tuple(range(self.units.count))
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
        """Bound a node, offer the subset it suggests, and name the group to branch on."""
        free = np.array([unit for unit in allowed if unit not in forced], dtype=np.intp)
        n_open = self.n_chosen - len(forced)
        if n_open == 0 or free.size <= n_open:
            self.offer(forced if n_open == 0 else allowed)
            return -np.inf, -1
        pairs = self._pairs(allowed)
        leading = pairs.head(self.n_components)
        leverage = leading.vectors**2 @ leading.values
        scores = dict(zip(allowed, leverage, strict=True))
        ordered = sorted(free.tolist(), key=lambda unit: -scores[unit])
        self.offer([*forced, *ordered[:n_open]])
        spectral = spectral_bound(pairs, self.n_chosen, self.n_components, is_complete=True)
        return min(spectral, self._split_bound(forced, free, n_open)), ordered[0]

    def _pairs(self, allowed: tuple[int, ...]) -> Spectrum:
        """Return the eigenpairs of the features of some groups, with the norms over each as entries."""
        kept = self.features(allowed)
        pairs = leading_pairs(self.S[np.ix_(kept, kept)], kept.size)
        starts = np.cumsum([0, *self.units.sizes[list(allowed[:-1])]])
        norms = np.sqrt(np.add.reduceat(np.square(pairs.vectors), starts, axis=0))
        return Spectrum(np.maximum(pairs.values, 0), norms)

    def _split_bound(self, forced: tuple[int, ...], free: NDArray, n_open: int) -> float:
        """Add up the forced block and the largest free variances.

        The leading eigenvalue sum of a positive semidefinite matrix is at most that of two complementary
        diagonal blocks together (Bourin and Lee, 2012), and that of a block at most its trace.
        """
        block = 0.0
        if forced:
            features = self.features(forced)
            block = leading_sum(self.S[np.ix_(features, features)], self.n_components)
        return block + float(np.sort(self.variances[free])[::-1][:n_open].sum())
