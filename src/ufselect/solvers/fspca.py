"""Principal components that read only r features: the best choice for a proxy of low rank, repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator, Spectrum
from ufselect.sets.largest import mask_of_largest
from ufselect.sets.units import RowRules
from ufselect.solvers.iterate import Descent
from ufselect.solvers.leading import leading_pairs, proxy_diagonal, spread


@dataclass(frozen=True)
class FeatureChoice:
    """A choice of features: the diagonal it was made by, their indices, their loadings and the objective."""

    diagonal: NDArray
    features: NDArray
    loadings: NDArray
    objective: float


class FeatureSparsePCA(Descent):
    r"""Maximise :math:`\mathrm{Tr}(W^\top S W)` subject to :math:`W^\top W = I`, :math:`\|W\|_{2,0} \le r`.

    For a matrix of rank at most m, the optimal features are those of its r largest diagonal entries. A step
    takes them from the proxy :math:`P = S W (W^\top S W)^{+} W^\top S`, which lies below S, has rank m and
    agrees with S on W: its optimum on the new features is no worse than W, and that of S no worse than that
    of P [1]_. For r ≤ m the objective is the sum of the selected diagonal entries, so that the start is
    optimal.

    The objective of the states is :math:`-\mathrm{Tr}(W^\top S W)`.

    Parameters
    ----------
    gram : GramOperator
        The matrix S.
    n_components : int
        The number m of components.
    n_rows : int
        The number r of features.
    diagonal : ndarray of shape (n_features,)
        Scores of which the r largest give the first features.
    rules : RowRules, optional
        Groups of features that count as one in r, and features that are always chosen. A matrix of rank m
        carries the sum of its diagonal entries on any features, so that the best groups are those with the
        largest sums.

    References
    ----------
    .. [1] L. Tian, F. Nie, R. Wang, X. Li (2020), "Learning feature sparse principal subspace", Advances in
       Neural Information Processing Systems 33.
    """

    def __init__(
        self,
        gram: GramOperator,
        n_components: int,
        n_rows: int,
        diagonal: NDArray,
        rules: RowRules | None = None,
    ) -> None:
        self.gram = gram
        self.n_components = n_components
        self.n_rows = n_rows
        self.rules = rules
        most = n_rows if rules is None else rules.units.most_rows(n_rows)
        self.is_separable = most <= n_components
        self.diagonal = gram.diag().astype(np.float64) if self.is_separable else diagonal

    @classmethod
    def from_spectrum(
        cls, gram: GramOperator, spectrum: Spectrum, n_rows: int, rules: RowRules | None = None
    ) -> FeatureSparsePCA:
        """Return the method that starts from the best approximation of S with the rank of the spectrum."""
        roots = spectrum.vectors * np.sqrt(spectrum.values)
        return cls(gram, spectrum.values.size, n_rows, np.einsum("ij,ij->i", roots, roots), rules)

    def init(self) -> FeatureChoice:
        return self._choose(self.diagonal)

    def step(self, state: FeatureChoice) -> FeatureChoice:
        if self.is_separable:
            return state
        components = self.components(state)
        product = self.gram.matmat(components)
        new = self._choose(proxy_diagonal(*(part.astype(np.float64) for part in (components, product))))
        return new if new.objective <= state.objective else state

    def components(self, state: FeatureChoice) -> NDArray:
        """Return the loadings with zero rows for the features left out."""
        return spread(state.loadings, state.features, self.gram)

    def _choose(self, diagonal: NDArray) -> FeatureChoice:
        features = np.flatnonzero(self._mask(diagonal))
        pairs = leading_pairs(self.gram.subgram(features).astype(np.float64, copy=False), self.n_components)
        return FeatureChoice(diagonal, features, pairs.vectors, -float(pairs.values.sum()))

    def _mask(self, diagonal: NDArray) -> NDArray:
        if self.rules is None:
            return mask_of_largest(diagonal, self.n_rows)
        return self.rules.units.of_rows(mask_of_largest(self.rules.weights(diagonal), self.n_rows))
