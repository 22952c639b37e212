"""SPCAFS: sparse PCA for feature selection."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect.common.checks import check_nonnegative, check_positive_int
from ufselect.gram import GramOperator, Spectrum
from ufselect.selectors.base import PAPER_REGULARISERS, Columns, Fitted, Groups
from ufselect.selectors.convergence import in_units_of, run_attributes
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.gram_selector import GramSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import iterate
from ufselect.solvers.reweighted.eigenproblem import ReweightedEigenproblem
from ufselect.solvers.reweighted.quadratic import negative_gram


class SPCAFS(GramSelector):
    r"""Select features by PCA with a penalty on the rows of the loadings.

    Finds an orthonormal loading matrix W (n_features × n_components) [1]_:

    .. math::

        \min_{W^\top W = I}\; -\mathrm{Tr}(W^\top S W) + \gamma \|W\|_{2,p}^p, \qquad
        \|W\|_{2,p}^p = \sum_j \|w_j\|_2^p,

    with S the scatter matrix of the centred data. Features are ranked by the row norms of W.

    1. Start from the PCA loadings.
    2. Weigh each feature by :math:`\tfrac{p}{2}(\|w_j\|^2 + \varepsilon)^{(p-2)/2}`, with ε = 2.2e-16.
    3. Take the leading eigenvectors of S less γ times these weights; repeat from 2. The objective never
       rises.

    A step costs d³ at worst for d ≤ n features and a few products n d m for wide or sparse data, where S is
    never formed. Small rows are computed to full relative accuracy, so that features which the penalty has
    all but removed are ranked by what speaks for them and not by rounding.

    Use it when PCA leverage is to concentrate on fewer features. γ has a meaning only relative to the
    eigenvalues of S: far below them the ranking is that of `PCALeverage`; from about a tenth of the largest
    on, only ``n_components`` rows stay apart from zero. Features with a large unit dominate: standardise
    first unless units are comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    n_components : int or "auto", default="auto"
        Number m of columns of W. ``"auto"`` counts a component while its share of the variance is larger than
        that of a piece of a stick broken at random.
    gamma : float, default=1.0
        Weight of the penalty, at least 0, in units of the data squared.
    p : float, default=0.5
        Exponent in (0, 2]; smaller is sparser.
    max_iter : int, default=50
        Most iterations to make.
    tol : float, default=1e-6
        Stop once the objective falls by no more than this, relative to it and the largest eigenvalue of S.
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
        Row norms of W; larger is better.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    components_ : ndarray of shape (n_components, n_features)
        The transpose of W.
    n_components_ : int
        The m used.
    objective_history_ : ndarray
        Objective at the start and after each iteration, in units of the data squared; non-increasing.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the decrease fell to ``tol`` within ``max_iter``.

    References
    ----------
    .. [1] Z. Li, F. Nie, J. Bian, D. Wu, X. Li (2021), "Sparse PCA via L2,p-norm regularization for
       unsupervised feature selection", IEEE Transactions on Pattern Analysis and Machine Intelligence.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import SPCAFS
    >>> pixels = load_digits().data
    >>> selector = SPCAFS(n_features_to_select=20, n_components=10, gamma=1e4).fit(pixels)
    >>> selector.transform(pixels).shape
    (1797, 20)
    """

    label = "SPCAFS"
    cost = "n d² + iterations · d³ (tall), iterations · n d m (wide)"
    order = 110
    is_nested = True
    paper_grid: ClassVar = {"gamma": PAPER_REGULARISERS}

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
        gamma: float = 1.0,
        p: float = 0.5,
        max_iter: int = 50,
        tol: float = 1e-6,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.gamma = gamma
        self.p = p
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit_gram(self, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        spectrum = component_spectrum(gram, self.n_components)
        method = self._method(gram, spectrum)
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=progress)
        m = spectrum.values.size
        return Fitted(
            np.sqrt(result.state.squared_norms),
            {
                "components_": result.state.vectors[:, :m].T,
                "n_components_": m,
                **run_attributes("SPCAFS", result, gram.scale),
            },
        )

    def _check_parameters(self) -> None:
        check_nonnegative("gamma", self.gamma)
        check_nonnegative("tol", self.tol)
        check_positive_int("max_iter", self.max_iter)
        if isinstance(self.p, bool) or not isinstance(self.p, Real) or not 0 < float(self.p) <= 2:
            raise ValueError(f"p must be a number above 0 and at most 2, not {self.p!r}.")

    def _method(self, gram: GramOperator, spectrum: Spectrum) -> ReweightedEigenproblem:
        loadings = spectrum.vectors.astype(np.float64, copy=False)
        largest = float(spectrum.values[0])
        return ReweightedEigenproblem(
            negative_gram(gram, largest),
            spectrum.values.size,
            in_units_of(gram.scale, "gamma", self.gamma),
            self.p,
            vectors=loadings,
            squared_norms=np.einsum("ij,ij->i", loadings, loadings),
            quadratic_value=-float(spectrum.values.sum()),
            unit=largest,
        )
