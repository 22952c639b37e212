"""SPCAFS: sparse PCA for feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import in_units_of, iterate, run_attributes
from ufselect._solver.reweighted import (
    FormedQuadratic,
    Quadratic,
    ReweightedEigenproblem,
    lowest_eigenvectors,
)
from ufselect.base import NON_NEGATIVE, FitResult, GramSelector, Interval
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import component_spectrum


class NegativeGram(Quadratic):
    """``M = −S`` through products only, for data whose Gram matrix is too large to form."""

    def __init__(self, gram: GramOperator, floor: float) -> None:
        super().__init__(-gram.diag(), floor)
        self.gram = gram
        self.max_light = min(int(0.8 * gram.n_samples), 1000, self.order - 1)

    def matmat(self, vectors: NDArray) -> NDArray:
        return -self.gram.matmat(vectors)

    def columns(self, indices: NDArray) -> NDArray:
        return -self.gram.columns(indices)

    def _lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        roots = np.sqrt(diagonal)[:, None]
        return lowest_eigenvectors(
            lambda block: self.matmat(block / roots) / roots, lambda block: block, diagonal, start, count
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SPCAFS(GramSelector):
    r"""Select features by PCA with a penalty on the rows of the loadings.

    Use sparse PCA for feature selection [1]_ to concentrate PCA leverage on fewer features. The effect of
    ``gamma`` depends on the eigenvalues of the scatter matrix S: far below them the ranking is that of
    `PCALeverage`; from about a tenth of the largest on, only ``n_components`` rows differ from zero.

    Features with large units dominate: standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
    gamma : float, default=1.0
        Weight of the penalty, at least 0, in units of the data squared: in other units of X, and with more
        rows, the same value selects other features.
    p : float, default=0.5
        Exponent in (0, 2]; smaller is sparser.
    max_iter : int, default=50
        Most iterations to make.
    tol : float, default=1e-6
        Stop once the objective falls by no more than this, relative to its value and to the largest
        eigenvalue of S.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W; larger is better.
    {ranking_and_support}
    components_ : ndarray of shape (n_components, n_features)
        The transpose of W.
    n_components_ : int
        The m used.
    {iterations}

    See Also
    --------
    PCALeverage : The ranking without a penalty.
    FSPCA : Set the number of features instead of a penalty.
    SPCAPSD : A convex variant without a number of components.

    Notes
    -----
    The orthonormal loadings W (n_features × n_components) solve

    .. math::

        \min_{W^\top W = I}\; -\mathrm{Tr}(W^\top S W) + \gamma \|W\|_{2,p}^p, \qquad
        \|W\|_{2,p}^p = \sum_j \|w_j\|_2^p.

    1. Start from the PCA loadings.
    2. Weight each feature by :math:`\tfrac{p}{2}(\|w_j\|^2 + \varepsilon)^{(p-2)/2}`, with ε = 2.2e-16.
    3. Take the leading eigenvectors of S less γ times these weights; repeat from 2. The objective never
       rises.

    A step costs at most d³ for d ≤ n features and a few products n d m for wide or sparse data, for which S
    is never formed. Small rows are computed to full relative accuracy, so rounding errors do not rank the
    features that the penalty has nearly removed.

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
    is_nested = True

    _parameter_constraints: ClassVar = {"gamma": [NON_NEGATIVE], "p": [Interval(Real, 0, 2, closed="right")]}

    n_components: int | str = "auto"
    gamma: float = 1.0
    p: float = 0.5
    max_iter: int = 50
    tol: float = 1e-6
    verbose: bool = False

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        spectrum = component_spectrum(gram, self.n_components)
        m = spectrum.values.size
        largest, order = float(spectrum.values[0]), gram.shape[0]
        quadratic: Quadratic
        # S of order 4000 takes 128 MB, and products with wide data are cheaper than those with a formed S.
        if order > 4000 or order > 1.15 * gram.n_samples:
            quadratic = NegativeGram(gram, -largest)
        else:
            quadratic = FormedQuadratic(-gram.to_dense().astype(np.float64, copy=False), -largest)
        method = ReweightedEigenproblem(
            quadratic,
            m,
            in_units_of(gram.scale, "gamma", self.gamma),
            self.p,
            vectors=spectrum.vectors.astype(np.float64, copy=False),
            value=-float(spectrum.values.sum()),
            unit=largest,
        )
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        return np.sqrt(result.state.squared_norms), {
            "components_": result.state.vectors[:, :m].T,
            "n_components_": m,
            **run_attributes("SPCAFS", result, gram.scale),
        }
