"""FSPCA: feature-sparse PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import SelectionRequest, UnitRequest
from ufselect._solver.iterate import Descent, SolverResult, Status, iterate, run_attributes
from ufselect._solver.sets import largest
from ufselect.base import Columns, FitResult, GramSelector, Groups
from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import component_spectrum, leading_pairs


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


class FSPCA(GramSelector):
    r"""Select the features whose own principal components capture the most variance.

    Use feature-sparse PCA [1]_ to keep as much variance as r features can hold, when r is fixed beforehand;
    there is no penalty to tune. The selection for a smaller r need not be part of the selection for a larger
    one.

    Like PCA, it follows variance: redundant features are selected together, and features with large units
    dominate. Standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
    refine : bool, default=True
        Whether to continue after step 1 (see Notes).
    max_iter : int, default=100
        Most iterations of step 2 to make.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Diagonal of the last proxy, of which the selected features have the r largest entries.
    {ranking_and_support}
    components_ : ndarray of shape (min(n_components, r), n_features)
        The transpose of W, zero outside the selected features.
    n_components_ : int
        The m used.
    objective_history_ : ndarray
        :math:`-\mathrm{Tr}(W^\top S W)` at the start and after each iteration, in units of the data squared;
        non-increasing.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the features stayed the same within ``max_iter``.

    See Also
    --------
    PCALeverage : Rank by the leverage of the full PCA; faster, and one ranking for all r.
    ConstrainedDSCOFS : Also limit the number of entries, with a certificate of optimality.
    ReconstructionSelector : Select columns from which the others can be reconstructed.

    Notes
    -----
    With S the scatter matrix of the centred data and r = ``n_features_to_select``, the problem is

    .. math::

        \max_{W}\; \mathrm{Tr}(W^\top S W) \quad\text{s.t.}\quad W^\top W = I_m,\; \|W\|_{2,0} \le r.

    1. Select the r largest diagonal entries of the best rank-m approximation of S ("Go"); this is optimal if
       the rank of S is at most m.
    2. With W the m leading eigenvectors of S on these features, form the proxy
       :math:`P = S W (W^\top S W)^{+} W^\top S` and select its r largest diagonal entries.
    3. Repeat step 2 until the features stay the same ("IPU"). The objective never falls. For r ≤ m the
       r features of largest variance are optimal.

    Costs a truncated PCA, and n d m + r³ for each of a handful of steps. S is not formed for wide or sparse
    data.

    References
    ----------
    .. [1] L. Tian, F. Nie, R. Wang, X. Li (2020), "Learning feature sparse principal subspace", Advances in
       Neural Information Processing Systems 33.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import FSPCA
    >>> pixels = load_digits().data
    >>> FSPCA(n_features_to_select=20, n_components=10).fit_transform(pixels).shape
    (1797, 20)
    """

    label = "FSPCA"
    cost = "n d² (tall), n² d (wide) + iterations · (n d m + r³)"
    supports = frozenset({"keep", "feature_groups"})

    _parameter_constraints: ClassVar = {"refine": ["boolean"]}

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int | str = "auto",
        refine: bool = True,
        max_iter: int = 100,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        feature_groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep, exclude, feature_groups, max_correlation)
        self.n_components = n_components
        self.refine = refine
        self.max_iter = max_iter
        self.verbose = verbose

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        spectrum = component_spectrum(gram, self.n_components)
        m, roots = spectrum.values.size, spectrum.vectors * np.sqrt(spectrum.values)
        nearest = np.einsum("ij,ij->i", roots, roots)  # diagonal of the best rank-m approximation of S
        method = FeatureSparsePCA(gram, m, request.n_selected, nearest, request.rules)
        if self.refine:
            result = iterate(method, max_iter=self.max_iter, tol=0.0, callback=request.progress)
        else:
            start = method.init()
            result = SolverResult(start, np.array([start.objective]), 0, {}, Status.CONVERGED)
        return request.units.of_rows(request.units.sums(result.state.diagonal)), {
            "components_": method.components(result.state).T,
            "n_components_": m,
            **run_attributes("FSPCA", result, gram.scale),
        }
