"""FSPCA: feature-sparse PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import SolverResult, Status, iterate, run_attributes
from ufselect.base import FitResult, GramSelector
from ufselect.dscofs.row_search import FeatureSparsePCA
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import component_spectrum


@dataclass(kw_only=True, eq=False, repr=False)
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

    n_components: int | str = "auto"
    refine: bool = True
    max_iter: int = 100
    verbose: bool = False

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        spectrum = component_spectrum(gram, self.n_components)
        m, roots = spectrum.values.size, spectrum.vectors * np.sqrt(spectrum.values)
        nearest = np.einsum("ij,ij->i", roots, roots)  # diagonal of the best rank-m approximation of S
        method = FeatureSparsePCA(gram, m, request, nearest)
        if self.refine:
            result = iterate(method, max_iter=self.max_iter, tol=0.0, callback=request.progress)
        else:
            start = method.init()
            result = SolverResult(start, np.array([start.objective]), 0, Status.CONVERGED)
        return request.units.of_rows(request.units.sums(result.state.diagonal)), {
            "components_": method.components(result.state).T,
            "n_components_": m,
            **run_attributes("FSPCA", result, gram.scale),
        }
