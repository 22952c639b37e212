"""The rows of row-sparse PCA with the most variance: FSPCA's iteration, exchanges, branch and bound."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import UnitRequest
from ufselect._solver.iterate import Descent, iterate
from ufselect.dscofs.algorithm import PROVEN_GAP, DoubleSparsePCA, Start, largest, spectral_bound
from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import leading_pairs, leading_sum

RELATIVE_GAIN = 1e-9  # smaller gains are rounding
SHORTLIST = 2  # rows or groups tried exactly in place of each removed one


@dataclass(frozen=True)
class FeatureChoice:
    """Selected features: the diagonal that ranked them, their indices and loadings, and the objective."""

    diagonal: NDArray
    features: NDArray
    loadings: NDArray
    objective: float


class FeatureSparsePCA(Descent):
    r"""Maximise :math:`\mathrm{Tr}(W^\top S W)` subject to :math:`W^\top W = I`, :math:`\|W\|_{2,0} \le r`.

    For a matrix of rank at most m, the optimal features are those of its r largest diagonal entries. A step
    selects them for the proxy :math:`P = S W (W^\top S W)^{+} W^\top S`, which lies below S, has rank m and
    agrees with S on W. The optimum of P on the new features is therefore no worse than W, and the optimum of
    S is no worse than that of P. For r ≤ m the objective is the sum of the selected diagonal entries, so the
    start is optimal.

    The r largest entries of ``diagonal`` give the first features. A group of features counts as one in r. On
    any features, the optimum of a matrix of rank m is the sum of its diagonal entries, so the best groups are
    those with the largest sums. The objective of a state is :math:`-\mathrm{Tr}(W^\top S W)`.
    """

    def __init__(self, gram: GramOperator, n_components: int, rules: UnitRequest, diagonal: NDArray) -> None:
        self.gram, self.n_components, self.rules = gram, n_components, rules
        self.is_separable = rules.units.most_rows(rules.n_selected) <= n_components
        self.diagonal = gram.diag().astype(np.float64) if self.is_separable else diagonal

    def init(self) -> FeatureChoice:
        return self._choose(self.diagonal)

    def step(self, state: FeatureChoice) -> FeatureChoice:
        if self.is_separable:
            return state
        components = self.components(state)
        product = self.gram.matmat(components)
        new = self._choose(proxy_diagonal(components.astype(np.float64), product.astype(np.float64)))
        return new if new.objective <= state.objective else state

    def components(self, state: FeatureChoice) -> NDArray:
        """Return the loadings of all features, with zero rows for those not selected."""
        return spread(state.loadings, state.features, self.gram)

    def _choose(self, diagonal: NDArray) -> FeatureChoice:
        mask = largest(self.rules.weights(diagonal), self.rules.n_selected).mask
        features = np.flatnonzero(self.rules.units.of_rows(mask))
        pairs = leading_pairs(self.gram.subgram(features).astype(np.float64, copy=False), self.n_components)
        return FeatureChoice(diagonal, features, pairs.vectors, -float(pairs.values.sum()))


def proxy_diagonal(X: NDArray, product: NDArray) -> NDArray:
    r"""Return the diagonal of :math:`SX(X^\top SX)^{+}X^\top S \preceq S`, given ``product = S @ X``."""
    inner = X.T @ product
    return quotient_diagonal(product, leading_pairs((inner + inner.T) / 2, inner.shape[0]))


def quotient_diagonal(products: NDArray, pairs: Spectrum) -> NDArray:
    r"""Return the diagonal of :math:`P V \Lambda^{+} V^\top P^\top` for eigenpairs :math:`(\Lambda, V)`."""
    values, vectors = pairs.values, pairs.vectors
    cutoff = max(float(values[0]), 0.0) * vectors.shape[0] * np.finfo(values.dtype).eps
    kept = values > cutoff
    root = products @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.einsum("ij,ij->i", root, root)


def loadings_on(gram: GramOperator, features: NDArray, n_components: int) -> NDArray:
    """Return the best orthonormal loadings, n_features × m, that are zero outside some features."""
    block = np.asarray(gram.subgram(features), dtype=np.float64)
    return spread(leading_pairs(block, n_components).vectors, features, gram)


def spread(loadings: NDArray, features: NDArray, gram: GramOperator) -> NDArray:
    """Return loadings of some features with zero rows for the others, in the dtype of ``gram``."""
    whole = np.zeros((gram.shape[0], loadings.shape[1]), dtype=gram.dtype, order="F")
    whole[features] = loadings
    return whole


def search_rows(problem: DoubleSparsePCA, start: Start, X: NDArray) -> tuple[NDArray, list[float], float]:
    """Return the rows with the most variance, the objective of each improvement, and a bound.

    The entry constraint is not considered, so the best loadings on a support are eigenvectors. The supports
    of X, of the start, of the largest variances and a few random ones are improved by a proxy and by
    exchanges, the best of them further. On up to 50 features branch and bound follows, with up to 500 nodes;
    beyond, the bound is infinite.
    """
    gram, rules, n_components = problem.gram, problem.rules, X.shape[1]
    product = gram.matmat(start.point) if start.product is None else start.product
    # As many random supports as have 240 rows together, which bounds their time. The seed is fixed, and the
    # numbers follow the order of the norms, so that the order of columns does not matter.
    n_random = int(np.clip(240 // rules.n_selected, 1, 8))
    norms = gram.squared_column_norms()
    random = np.random.default_rng(20240917).random((n_random, gram.shape[0]))
    random = random[:, np.argsort(np.argsort(norms, kind="stable"))]
    # Standardised features have equal variances up to rounding; their ties are broken by the norms of S.
    variances = np.round(gram.diag() / gram.trace(), 9) + 1e-9 * norms / norms.max()

    supports = {}
    for scores in (np.einsum("ij,ij->i", X, X), proxy_diagonal(start.point, product), variances, *random):
        method = FeatureSparsePCA(gram, n_components, rules, scores)
        features = iterate(method, max_iter=50, tol=RELATIVE_GAIN).state.features
        supports[tuple(features.tolist())] = features
    support, captured = max(
        (
            improve_by_exchanges(gram, supports[key], n_components, rules, SHORTLIST)
            for key in sorted(supports)
        ),
        key=lambda improved: improved[1],
    )
    history = [-captured]
    support, _ = improve_by_exchanges(
        gram, support, n_components, rules, report=lambda value: history.append(-value)
    )
    if gram.shape[0] > 50:
        return support, history, np.inf
    support, captured, bound = BranchAndBound(gram.to_dense(), rules, n_components).run(support, 500)
    return support, [*history, min(-captured, history[-1])], bound


def improve_by_exchanges(
    gram: GramOperator,
    support: NDArray,
    n_components: int,
    rules: UnitRequest,
    shortlist: int = 8,
    report: Callable[[float], None] | None = None,
) -> tuple[NDArray, float]:
    r"""Exchange single rows, or groups of rows, until no exchange helps; return the rows and their value.

    ``support`` has the rows of whole groups, and kept groups are never removed. For each removed group the
    loadings of the remaining rows give a proxy whose diagonal :math:`q_j` bounds from below what a new row j
    adds; the groups with the largest sums, at first `SHORTLIST` and finally ``shortlist``, are tried exactly.
    """
    units, kept = rules.units, rules.kept.tolist()
    rows = np.sort(support)
    columns = np.array(gram.columns(rows), dtype=np.float64, order="F")
    pairs = leading_pairs(columns[rows], n_components)
    captured = leading_sum(columns[rows], n_components)
    tried = min(SHORTLIST, shortlist)
    is_large = rows.size > max(64, 4 * n_components)  # below, whole decompositions are no slower
    for _ in range(20):  # a safeguard: exchanges stop by themselves once none helps
        before = captured
        weights = np.bincount(units.codes[rows], pairs.vectors**2 @ np.maximum(pairs.values, 0), units.count)
        chosen = np.unique(units.codes[rows])
        for leaving in chosen[np.argsort(weights[chosen], kind="stable")].tolist():
            if leaving in kept:
                continue
            stays = units.codes[rows] != leaving
            others, beside = rows[stays], columns.T[stays].T  # column-major
            block = beside[others]
            if is_large:
                rest = _ritz_pairs(block, pairs.vectors[stays], n_components)
                gains = quotient_diagonal(beside, rest)
            elif others.size:
                gains = quotient_diagonal(beside, leading_pairs(block, n_components))
            else:
                gains = gram.diag().astype(np.float64)
            gains = units.sums(gains)
            gains[np.unique(units.codes[rows])] = -np.inf
            entering = np.argsort(-gains)[: min(tried, units.count - chosen.size)]
            if entering.size == 0:
                continue
            candidates = np.concatenate([units.members(unit) for unit in entering])
            added = np.asarray(gram.columns(candidates), dtype=np.float64)
            edges, corners = added[others], added[candidates]
            for unit in entering:
                own = units.codes[candidates] == unit
                edge = edges[:, own]
                grown = np.block([[block, edge], [edge.T, corners[own][:, own]]])
                if is_large:
                    start = np.eye(len(grown), n_components + edge.shape[1], n_components - others.size)
                    start[: others.size, :n_components] = rest.vectors
                    found = _ritz_pairs(grown, start, n_components)
                    reached = float(found.values.sum())
                else:
                    reached = leading_sum(grown, n_components)
                if reached > captured * (1 + RELATIVE_GAIN):
                    captured, pairs = reached, found if is_large else pairs
                    rows = np.append(others, candidates[own])
                    columns = np.hstack([beside, added[:, own]])
        pairs = leading_pairs(columns[rows], n_components)
        captured = float(pairs.values.sum())
        if report is not None:
            report(captured)
        if captured <= before * (1 + RELATIVE_GAIN):
            if tried >= shortlist:
                break
            tried = shortlist
    return np.sort(rows), captured


def _ritz_pairs(matrix: NDArray, vectors: NDArray, count: int) -> Spectrum:
    """Return the leading eigenpairs within the span of some vectors and their images.

    If the vectors are eigenvectors of a matrix that differs by a row, this is nearly exact, and never an
    overestimate.
    """
    basis = np.linalg.qr(np.hstack([vectors, matrix @ vectors]))[0]
    values, rotation = np.linalg.eigh(basis.T @ matrix @ basis)
    return Spectrum(values[::-1][:count], basis @ rotation[:, ::-1][:, :count])


class BranchAndBound:
    r"""Solve :math:`\max_{|T| = r} \sum_{k \le m} \lambda_k(S_{TT})` exactly.

    A node forces some features in and some out; what it can reach is bounded by the variance of the forced
    features plus the largest diagonal entries of the free ones, and by the eigenvalues and the spectral
    bound of all that are not out. The node with the largest bound is split first. If features come in groups,
    T is the union of r groups, a group counts with the sum of its entries, and all indices but those of
    ``support`` are indices of groups. Beyond some 50 features a proof takes too many nodes on real data.
    """

    def __init__(self, S: NDArray, rules: UnitRequest, n_components: int) -> None:
        self.S = np.asarray(S, dtype=np.float64)
        self.rules, self.units, self.n_rows = rules, rules.units, rules.n_selected
        self.n_components = n_components
        self.variances = self.units.sums(np.diag(self.S))
        self.best = -np.inf
        self.support = np.empty(0, dtype=np.intp)

    def run(self, incumbent: NDArray, max_nodes: int) -> tuple[NDArray, float, float]:
        """Search from a good subset until it is proven that none is better, or for ``max_nodes`` nodes.

        All subsets, the incumbent included, contain the kept groups or features. Returns the features of the
        best subset, its variance, and an upper bound on that of any subset: the same if it is proven.
        """
        self._offer(np.unique(self.units.codes[incumbent]))
        order = count()
        forced, allowed = tuple(self.rules.kept.tolist()), tuple(range(self.units.count))
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
