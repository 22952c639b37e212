"""FSPCA: feature-sparse PCA."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.common.checks import check_positive_int
from ufselect.gram import GramOperator
from ufselect.selectors.base import Columns, Fitted, Groups
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.gram_selector import GramSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import SolverResult, Status, iterate
from ufselect.solvers.fspca import FeatureSparsePCA


class FSPCA(GramSelector):
    r"""Select the features whose own principal components capture the most variance.

    Chooses r features, with no penalty to tune [1]_:

    .. math::

        \max_{W}\; \mathrm{Tr}(W^\top S W) \quad\text{s.t.}\quad W^\top W = I_m,\; \|W\|_{2,0} \le r,

    with S the scatter matrix of the centred data and r = ``n_features_to_select``.

    1. Take the r largest diagonal entries of the best rank-m approximation of S ("Go"); this is optimal if
       the rank of S is at most m.
    2. With W the m leading eigenvectors of S on these features, form the proxy
       :math:`P = S W (W^\top S W)^{+} W^\top S` and take its r largest diagonal entries.
    3. Repeat step 2 until the features stay the same ("IPU"). The objective never falls.

    Costs a truncated PCA, and n d m + r³ a step, of which a handful are made. S is not formed for wide or
    sparse data.

    Use it to keep as much variance as r features can hold, when r is fixed beforehand. The selection is
    made for this r: that for a smaller r need not be part of it. It follows variance, like PCA: it takes
    redundant features, and those with a large unit dominate; standardise first unless units are comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_components : int or "auto", default="auto"
        Number m of components. ``"auto"`` keeps a component while its share of the variance is larger than
        that of a piece of a stick broken at random. For r ≤ m the problem falls apart, and the r
        features of largest variance are optimal.
    refine : bool, default=True
        Whether to go on after step 1.
    max_iter : int, default=100
        Most iterations of step 2 to make.
    verbose : bool, default=False
        Log each iteration.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Diagonal of the last proxy, of which the selected features have the r largest entries.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
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
    order = 100
    honours = frozenset({"keep", "groups"})

    components_: NDArray
    n_components_: int
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

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
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.refine = refine
        self.max_iter = max_iter
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit_gram(self, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        spectrum = component_spectrum(gram, self.n_components)
        method = FeatureSparsePCA.from_spectrum(gram, spectrum, wanted.n_selected, wanted.rules)
        if self.refine:
            result = iterate(method, max_iter=self.max_iter, tol=0.0, callback=progress)
        else:
            result = _start_alone(method)
        return Fitted(
            wanted.units.of_rows(wanted.units.sums(result.state.diagonal)),
            {
                "components_": method.components(result.state).T,
                "n_components_": spectrum.values.size,
                **run_attributes("FSPCA", result, gram.scale),
            },
        )

    def _check_parameters(self) -> None:
        check_positive_int("max_iter", self.max_iter)
        if not isinstance(self.refine, bool):
            raise ValueError(f"refine must be True or False, not {self.refine!r}.")


def _start_alone(method: FeatureSparsePCA) -> SolverResult:
    state = method.init()
    return SolverResult(state, np.array([state.objective]), 0, {}, Status.CONVERGED)
