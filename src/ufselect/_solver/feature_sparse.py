"""Feature-sparse PCA: the iteration of `FSPCA`, which ConstrainedDSCOFS starts from, and its proxies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import UnitRequest
from ufselect._solver.iterate import Descent
from ufselect._solver.sets import largest
from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import leading_pairs


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

    The r largest entries of ``diagonal`` give the first features. With ``rules``, a group of features counts
    as one in r, and some features are always selected. On any features, the optimum of a matrix of rank m is
    the sum of its diagonal entries, so the best groups are those with the largest sums. The objective of a
    state is :math:`-\mathrm{Tr}(W^\top S W)`.
    """

    def __init__(
        self,
        gram: GramOperator,
        n_components: int,
        n_rows: int,
        diagonal: NDArray,
        rules: UnitRequest | None = None,
    ) -> None:
        self.gram, self.n_components, self.n_rows, self.rules = gram, n_components, n_rows, rules
        most = n_rows if rules is None else rules.units.most_rows(n_rows)
        self.is_separable = most <= n_components
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
        rules = self.rules
        mask = largest(diagonal if rules is None else rules.weights(diagonal), self.n_rows).mask
        features = np.flatnonzero(mask if rules is None else rules.units.of_rows(mask))
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
