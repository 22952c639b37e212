"""Branch and bound for row-sparse PCA: features that are proven to be the best, if features are few."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import Units
from ufselect.dscofs.problem import PROVEN_GAP, spectral_bound
from ufselect.gram import Spectrum
from ufselect.gram.spectrum import leading_pairs, leading_sum


class BranchAndBound:
    r"""Solve :math:`\max_{|T| = r} \sum_{k \le m} \lambda_k(S_{TT})` exactly.

    A node forces some features in and some out; what it can reach is bounded by the variance of the forced
    features plus the largest diagonal entries of the free ones, and by the eigenvalues and the spectral
    bound of all that are not out. The node with the largest bound is split first. If features come in groups,
    T is the union of r groups, a group counts with the sum of its entries, and all indices but those of
    ``support`` are indices of groups. Beyond some 50 features a proof takes too many nodes on real data.
    """

    def __init__(self, S: NDArray, n_rows: int, n_components: int, units: Units | None = None) -> None:
        self.S = np.asarray(S, dtype=np.float64)
        self.n_rows = n_rows
        self.n_components = n_components
        self.units = Units.single(len(S)) if units is None else units
        self.variances = self.units.sums(np.diag(self.S))
        self.best = -np.inf
        self.support = np.empty(0, dtype=np.intp)

    def run(
        self, incumbent: NDArray, max_nodes: int, fixed: Sequence[int] = ()
    ) -> tuple[NDArray, float, float]:
        """Search from a good subset until it is proven that none is better, or for ``max_nodes`` nodes.

        All subsets, the incumbent included, contain the ``fixed`` groups or features. Returns the features of
        the best subset, its variance, and an upper bound on that of any subset: the same if it is proven.
        """
        self._offer(np.unique(self.units.codes[incumbent]))
        order = count()
        forced, allowed = tuple(fixed), tuple(range(self.units.count))
        bound, branch = self._look_at(forced, allowed)
        heap = [(-bound, next(order), forced, allowed, branch)]
        n_nodes = 1
        while heap and -heap[0][0] > self._threshold() and n_nodes < max_nodes:
            _, _, forced, allowed, branch = heapq.heappop(heap)
            without = tuple(unit for unit in allowed if unit != branch)
            for child in (((*forced, branch), allowed), (forced, without)):
                bound, next_branch = self._look_at(*child)
                n_nodes += 1
                if bound > self._threshold():
                    heapq.heappush(heap, (-bound, next(order), *child, next_branch))
        is_proven = not heap or -heap[0][0] <= self._threshold()
        return self.support, self.best, self.best if is_proven else -heap[0][0]

    def _threshold(self) -> float:
        return self.best * (1 + PROVEN_GAP)

    def _features(self, chosen: Sequence[int] | NDArray) -> NDArray:
        """Return the features of some groups, one group after the other."""
        return np.concatenate([self.units.members(int(unit)) for unit in chosen])

    def _offer(self, chosen: Sequence[int] | NDArray) -> None:
        """Keep a subset if it is the best so far."""
        support = np.sort(self._features(chosen))
        captured = leading_sum(self.S[np.ix_(support, support)], self.n_components)
        if captured > self.best:
            self.best, self.support = captured, support

    def _look_at(self, forced: tuple[int, ...], allowed: tuple[int, ...]) -> tuple[float, int]:
        """Return a bound on a node and the group to branch on, and offer the subset that it suggests."""
        free = np.array([unit for unit in allowed if unit not in forced], dtype=np.intp)
        n_open = self.n_rows - len(forced)
        if n_open == 0 or free.size <= n_open:
            self._offer(forced if n_open == 0 else allowed)
            return -np.inf, -1
        # Eigenpairs of the allowed features, with the norm over each group as its entry.
        features = self._features(allowed)
        pairs = leading_pairs(self.S[np.ix_(features, features)], features.size)
        firsts = np.cumsum([0, *self.units.sizes[list(allowed[:-1])]])
        norms = np.sqrt(np.add.reduceat(np.square(pairs.vectors), firsts, axis=0))
        pairs = Spectrum(np.maximum(pairs.values, 0), norms)
        leading = pairs.head(self.n_components)
        scores = dict(zip(allowed, leading.vectors**2 @ leading.values, strict=True))
        ordered = sorted(free.tolist(), key=lambda unit: -scores[unit])
        self._offer([*forced, *ordered[:n_open]])
        spectral = spectral_bound(pairs, self.n_rows, self.n_components, is_complete=True)
        # The leading eigenvalue sum of a positive semidefinite matrix is at most that of two complementary
        # diagonal blocks together (Bourin and Lee, 2012), and that of a block at most its trace.
        split = float(np.sort(self.variances[free])[::-1][:n_open].sum())
        if forced:
            features = self._features(forced)
            split += leading_sum(self.S[np.ix_(features, features)], self.n_components)
        return min(spectral, split), ordered[0]
